//! What lies under a path: one checkpoint, or a folder to walk; and what dead writers left beside it.

use super::{OpenOptions, file_name, files, rules};
use crate::{
    core::{Error, Finding, Place, Result},
    format::Match,
    source::{Entry, EntryKind, FolderRoot, Root},
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// Folders that hold no checkpoint of their own.
const NEVER_WALKED: &[&str] = &[".git", ".locks", ".no_exist", ".cache", "__pycache__"];
/// Deeper nesting than this is not walked; real trees have below ten levels.
const DEEPEST: usize = 64;

/// The checkpoints under a path.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Discovery {
    /// One path a checkpoint, sorted by their bytes.
    pub paths: Vec<PathBuf>,
    /// Files that promise no weights, dead links and special files that were passed over.
    pub skipped: u64,
    /// The folder that links may not leave, when the path was walked.
    pub within: Option<PathBuf>,
}

impl OpenOptions {
    /// Finds the checkpoints under `path`: the path itself if it is a file or a known layout; else every checkpoint in
    /// the tree below it.
    ///
    /// # Errors
    /// [`Error::Unrecognized`] when a folder holds none; [`Error::Io`] when it cannot be listed.
    pub fn discover(&self, path: impl AsRef<Path>) -> Result<Discovery> {
        let path = path.as_ref();
        let mut found = Discovery::default();
        if !std::fs::metadata(path).map_err(|error| Error::io(path, error))?.is_dir() {
            found.paths.push(path.to_owned());
            return Ok(found);
        }
        let own = self.walk(path, 0, &mut found)?;
        if found.paths.is_empty() {
            return Err(Error::Unrecognized { path: path.to_owned() });
        }
        found.paths.sort_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
        // A folder that is one checkpoint keeps its own rule for links; what was walked is held inside the walked folder.
        found.within = (!own || found.paths.len() > 1).then(|| path.to_owned());
        Ok(found)
    }

    /// Walks one folder; true if it is a checkpoint itself.
    fn walk(&self, folder: &Path, depth: usize, found: &mut Discovery) -> Result<bool> {
        let io_error = |error| Error::io(folder, error);
        let root = FolderRoot::new(folder, self.links, self.mmap, None).map_err(io_error)?;
        let listing = root.list("").map_err(io_error)?;
        let own = self.folder_match(&root, &file_name(folder)).map_err(io_error)? > Match::No;
        if own {
            found.paths.push(folder.to_owned());
        }
        let is_hub_repository = ["snapshots", "blobs"]
            .iter()
            .all(|name| listing.iter().any(|entry| entry.name == *name && entry.kind == EntryKind::Folder));
        for entry in &listing {
            let path = folder.join(&*entry.name);
            match entry.kind {
                // What an interrupted write left is named beside its target.
                _ if crate::sink::is_temporary(&entry.name) => {}
                EntryKind::Folder if NEVER_WALKED.contains(&&*entry.name) => {}
                EntryKind::Folder if is_hub_repository && entry.name != "snapshots" => {}
                // A link to a folder inside would give its checkpoints twice; one that leaves is a finding of its own.
                EntryKind::Folder if entry.is_link && leaves(&path, &root) => found.paths.push(path),
                EntryKind::Folder if entry.is_link => found.skipped += 1,
                // The folder's reader looks into what lies below it.
                EntryKind::Folder if own => {}
                EntryKind::Folder if depth < DEEPEST => drop(self.walk(&path, depth + 1, found)?),
                EntryKind::File if self.is_result(entry, &path, own) => found.paths.push(path),
                EntryKind::File if own && files::promises_weights(self.formats, &entry.name) => {}
                _ => found.skipped += 1,
            }
        }
        Ok(own)
    }

    /// Whether a file is a result of its own in a walk.
    fn is_result(&self, entry: &Entry, path: &Path, in_checkpoint: bool) -> bool {
        if in_checkpoint {
            // The folder's reader takes the rest; an adapter is a checkpoint beside the model.
            return is_adapter(&entry.name) && files::promises_weights(self.formats, &entry.name);
        }
        if files::promises_weights(self.formats, &entry.name) || entry.name.ends_with(".incomplete") {
            return true;
        }
        // Whatever a file is called: if its content is a weight file, it is one.
        matches!(self.claimed(path), Ok(true))
    }

    fn claimed(&self, path: &Path) -> io::Result<bool> {
        let io = crate::source::open_file(path, false)?;
        files::Registry { formats: self.formats }.claims(&file_name(path), io.as_ref())
    }
}

/// Whether a link leads out of the folder that `root` keeps to.
fn leaves(path: &Path, root: &FolderRoot) -> bool {
    std::fs::canonicalize(path).is_ok_and(|target| !target.starts_with(root.bounds()))
}

/// Weights that are put on top of a model and are no part of it.
pub(super) fn is_adapter(name: &str) -> bool {
    name.starts_with("adapter_model")
}

/// Findings about what a dead download or a dead write left beside `path`.
pub(super) fn leftovers(path: &Path, is_folder: bool) -> Vec<Finding> {
    let mut names = Vec::new();
    if is_folder {
        collect_incomplete(path, "", 0, &mut names);
        collect_incomplete(
            &path.join(".cache/huggingface/download"),
            ".cache/huggingface/download/",
            4,
            &mut names,
        );
        // A snapshot's blobs are where its downloads run.
        if let Some(blobs) = path
            .parent()
            .filter(|up| up.ends_with("snapshots"))
            .and_then(Path::parent)
            .map(|up| up.join("blobs"))
        {
            collect_incomplete(&blobs, "../../blobs/", 0, &mut names);
        }
    } else if path.extension().is_some_and(|ext| ext == "incomplete") {
        names.push(file_name(path));
    }
    names.sort_unstable();
    let folder = if is_folder { Some(path) } else { path.parent() };
    let mut interrupted = folder.and_then(|folder| crate::sink::leftovers(folder).ok()).unwrap_or_default();
    // Beside a file, only what was meant for it is its own left-over.
    let own = format!(".{}.", file_name(path));
    interrupted.retain(|name| is_folder || name.starts_with(&own));
    let interrupted = interrupted.into_iter().map(|name| {
        let message = format!("`{name}` is left over from a write that was interrupted");
        let help = "run the same conversion again, which finishes or removes it; do not delete it by hand";
        rules::INTERRUPTED_WRITE.found(Place::File(name.as_str().into()), message).subject(name).help(help)
    });
    names
        .into_iter()
        .map(|name| {
            let message = format!("`{name}` is left over from a download that is running or died");
            let help = "finish the download, or delete the left-over";
            rules::INCOMPLETE_DOWNLOAD
                .found(Place::File(name.as_str().into()), message)
                .subject(name)
                .help(help)
        })
        .chain(interrupted)
        .collect()
}

fn collect_incomplete(folder: &Path, prefix: &str, depth: usize, names: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".incomplete") {
            names.push(format!("{prefix}{name}"));
        } else if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect_incomplete(&entry.path(), &format!("{prefix}{name}/"), depth - 1, names);
        }
    }
}
