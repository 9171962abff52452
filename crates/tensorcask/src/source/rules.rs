//! What is wrong with a link.

use crate::core::{Finding, Place, rules};
use std::path::Path;

rules! {
    LINK_LEAVES "FI010" "link-leaves-folder" Security Error ["CON-11"] "A symbolic link leads out of the folder (or out of the hub repository that the folder is a snapshot of). It was not followed: what it names is not part of what you were given. Replace the link by the file if you trust it."
    LINK_REFUSED "FI011" "link-refused" Security Error [] "With `--no-symlinks` no symbolic link is followed, and this is one."
}

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
