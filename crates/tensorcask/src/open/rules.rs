//! What is wrong with a file or folder before any format has its say.

use crate::core::{Category, Finding, Place, Rule, Severity};
use std::path::Path;

pub(super) static CONTRADICTS_NAME: Rule = Rule {
    code: "FI004",
    slug: "content-contradicts-name",
    category: Category::Structure,
    severity: Severity::Error,
    rows: &["CON-09"],
    doc: "The file's name promises one format and its content is another. Loaders that go by the name fail or misread it; scanners that go by the name look in the wrong place. Find out where the file comes from, and give it its right name if you trust it.",
};

pub(super) static POLYGLOT: Rule = Rule {
    code: "FI006",
    slug: "polyglot",
    category: Category::Security,
    severity: Severity::Error,
    rows: &["CON-10"],
    doc: "The same bytes are a valid file of two formats: two programs open it and see different content. No honest writer makes such a file. Do not load it; ask for the file in one format.",
};

pub(super) static INCOMPLETE_DOWNLOAD: Rule = Rule {
    code: "FI008",
    slug: "incomplete-download",
    category: Category::Structure,
    severity: Severity::Warning,
    rows: &["integrity 2.1", "integrity 2.2"],
    doc: "A left-over of a running or dead download (`.incomplete`) lies here. The files beside it may be whole, but the set may not be: finish the download, or delete the left-over.",
};

pub(super) static LINK_LEAVES: Rule = Rule {
    code: "FI010",
    slug: "link-leaves-folder",
    category: Category::Security,
    severity: Severity::Error,
    rows: &["CON-11"],
    doc: "A symbolic link leads out of the folder (or out of the hub repository that the folder is a snapshot of). It was not followed: what it names is not part of what you were given. Replace the link by the file if you trust it.",
};

pub(super) static LINK_REFUSED: Rule = Rule {
    code: "FI011",
    slug: "link-refused",
    category: Category::Security,
    severity: Severity::Error,
    rows: &[],
    doc: "With `--no-symlinks` no symbolic link is followed, and this is one.",
};

pub(super) static INTERRUPTED_WRITE: Rule = Rule {
    code: "FI012",
    slug: "interrupted-write",
    category: Category::Structure,
    severity: Severity::Warning,
    rows: &[],
    doc: "A temporary file or folder of an interrupted write of tensorcask lies here. The files beside it are as they were before that write. Delete the left-over, or run the same conversion again: it removes it.",
};

pub(super) static UNRECOGNIZED_CONTENT: Rule = Rule {
    code: "FI013",
    slug: "unrecognized-content",
    category: Category::Structure,
    severity: Severity::Warning,
    rows: &[],
    doc: "A file in the folder is named like weights and no format claims its content, so nothing can be said about it.",
};

pub(crate) static ALL: &[&Rule] = &[
    &CONTRADICTS_NAME,
    &POLYGLOT,
    &INCOMPLETE_DOWNLOAD,
    &LINK_LEAVES,
    &LINK_REFUSED,
    &INTERRUPTED_WRITE,
    &UNRECOGNIZED_CONTENT,
];

pub(super) fn link_leaves(name: &str, target: &Path) -> Finding {
    let message = format!("the link `{name}` leads to `{}`, outside the folder", target.display());
    LINK_LEAVES
        .found(Place::File(name.into()), message)
        .subject(name)
        .help("replace the link by the file if you trust it")
}

pub(super) fn link_refused(name: &str) -> Finding {
    let message = format!("`{name}` is a symbolic link, and links are refused");
    LINK_REFUSED
        .found(Place::File(name.into()), message)
        .subject(name)
        .help("drop `--no-symlinks` to follow links inside the folder")
}
