//! What is wrong with a file that is no tensor file, or one that is named and not read.

use crate::core::{Rule, rule};

pub(super) static EMPTY_FILE: Rule = rule!("FI001" "empty-file" Structure Error [] "The file is named like weights and has no bytes. A download or copy that died at its start leaves such a file, and so does a disk that was full. Fetch the file again.");

pub(super) static LFS_POINTER: Rule = rule!("FI002" "lfs-pointer" Structure Error ["CON-19", "integrity 2.3"] "The file is the small text that Git-LFS keeps in a repository in place of a large file: it holds the size and the SHA-256 of the weights and not the weights. A clone made without git-lfs leaves it so. Run `git lfs pull` in the clone, or download the file itself and compare its size and digest with those of the pointer.");

pub(super) static ERROR_PAGE: Rule = rule!("FI003" "error-page" Structure Error ["CON-19"] "The file is named like weights and holds what a server answered in their place: an HTML page, an XML or JSON error, or a line of text. Its title or message is quoted. Usually the download needed a sign-in, an accepted licence or another address, and the program that made it did not look at the status. Download the file again.");

pub(super) static PICKLE_NOT_INSPECTED: Rule = rule!("FI005" "pickle-not-inspected" Security Error ["CON-06", "CON-09", "CON-14", "CON-15", "CON-16", "CON-17"] "The usual loader of this file unpickles it or a member of it, and a pickle can call any function of any installed module: loading the file can run code with your rights. This version of tensorcask does not look inside pickles, so it says nothing about what would run. Ask for the same weights as safetensors, or load the file only where nothing is at stake.");

pub(super) static NOT_READ: Rule = rule!("FI007" "not-read" Structure Note ["CON-07", "CON-08", "CON-13", "CON-20"] "The file's format is known by its content, but this version of tensorcask does not read it. Nothing in it was checked, so the verdict on structure and security stays `incomplete`. Use the tools of the format, or convert the weights to a format that is read.");

/// For rows that only name what they see.
pub(super) static NAMED: &[&Rule] = &[&NOT_READ];
/// For rows whose loader unpickles.
pub(super) static PICKLED: &[&Rule] = &[&PICKLE_NOT_INSPECTED];
/// For rows that are one or the other by their members.
pub(super) static EITHER: &[&Rule] = &[&NOT_READ, &PICKLE_NOT_INSPECTED];
/// For a pointer.
pub(super) static POINTER: &[&Rule] = &[&LFS_POINTER];
/// For an error page.
pub(super) static PAGE: &[&Rule] = &[&ERROR_PAGE];
/// For a file of no bytes.
pub(super) static EMPTY: &[&Rule] = &[&EMPTY_FILE];
