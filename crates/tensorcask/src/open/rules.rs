//! What is wrong with a file or folder before any format has its say.

use crate::{
    core::{Category, Rule, Severity},
    source,
};

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

pub(super) static INTERRUPTED_WRITE: Rule = Rule {
    code: "FI012",
    slug: "interrupted-write",
    category: Category::Structure,
    severity: Severity::Warning,
    rows: &[],
    doc: "A temporary file or folder of an interrupted write of tensorcask lies here. The files beside it are whole: the old ones, or the new ones, perhaps through the names in that folder. Run the same conversion again, which finishes or removes it; do not delete it by hand.",
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
    &source::LINK_LEAVES,
    &source::LINK_REFUSED,
    &INTERRUPTED_WRITE,
    &UNRECOGNIZED_CONTENT,
];
