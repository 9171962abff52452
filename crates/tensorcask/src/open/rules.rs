//! What is wrong with a file or folder before any format has its say.

use crate::core::rules;

rules! {
    CONTRADICTS_NAME "FI004" "content-contradicts-name" Structure Error ["CON-09"] "The file's name promises one format and its content is another. Loaders that go by the name fail or misread it; scanners that go by the name look in the wrong place. Find out where the file comes from, and give it its right name if you trust it."
    POLYGLOT "FI006" "polyglot" Security Error ["CON-10"] "The same bytes are a valid file of two formats: two programs open it and see different content. No honest writer makes such a file. Do not load it; ask for the file in one format."
    INCOMPLETE_DOWNLOAD "FI008" "incomplete-download" Structure Warning ["integrity 2.1", "integrity 2.2"] "A left-over of a running or dead download (`.incomplete`) lies here. The files beside it may be whole, but the set may not be: finish the download, or delete the left-over."
    INTERRUPTED_WRITE "FI012" "interrupted-write" Structure Warning [] "A temporary file or folder of an interrupted write of tensorcask lies here. The files beside it are whole: the old ones, or the new ones, perhaps through the names in that folder. Run the same conversion again, which finishes or removes it; do not delete it by hand."
    UNRECOGNIZED_CONTENT "FI013" "unrecognized-content" Structure Warning [] "A file in the folder is named like weights and no format claims its content, so nothing can be said about it."
}
