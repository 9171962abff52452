//! What is wrong with a link.

use crate::core::{Category, Finding, Place, Rule, Severity};
use std::path::Path;

pub(crate) static LINK_LEAVES: Rule = Rule {
    code: "FI010",
    slug: "link-leaves-folder",
    category: Category::Security,
    severity: Severity::Error,
    rows: &["CON-11"],
    doc: "A symbolic link leads out of the folder (or out of the hub repository that the folder is a snapshot of). It was not followed: what it names is not part of what you were given. Replace the link by the file if you trust it.",
};

pub(crate) static LINK_REFUSED: Rule = Rule {
    code: "FI011",
    slug: "link-refused",
    category: Category::Security,
    severity: Severity::Error,
    rows: &[],
    doc: "With `--no-symlinks` no symbolic link is followed, and this is one.",
};

pub(crate) fn link_leaves(name: &str, target: &Path) -> Finding {
    let message = format!("the link `{name}` leads to `{}`, outside the folder", target.display());
    LINK_LEAVES
        .found(Place::File(name.into()), message)
        .subject(name)
        .help("replace the link by the file if you trust it")
}

pub(crate) fn link_refused(name: &str) -> Finding {
    let message = format!("`{name}` is a symbolic link, and links are refused");
    LINK_REFUSED
        .found(Place::File(name.into()), message)
        .subject(name)
        .help("drop `--no-symlinks` to follow links inside the folder")
}
