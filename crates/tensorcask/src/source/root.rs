//! The folder beside a file. A name that a file gives is looked up here, and never leaves the folder.

use super::{ReadAt, open_file};
use crate::core::Text;
use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Opens siblings by their relative name.
pub trait Root: Send + Sync {
    /// Opens the file called `name`: relative, `/` between parts, no `..`.
    ///
    /// # Errors
    /// [`RootError`], sorted by what the caller has to report.
    fn open(&self, name: &str) -> Result<Arc<dyn ReadAt>, RootError>;

    /// The entries of the folder itself, or of the folder `below` it, sorted by the bytes of their names.
    ///
    /// # Errors
    /// What the system says.
    fn list(&self, below: &str) -> io::Result<Vec<Entry>>;
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: Text,
    /// What it is, after following a link.
    pub kind: EntryKind,
    /// Whether it is a symbolic link.
    pub is_link: bool,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link whose target is not there.
    DeadLink,
    /// A pipe, socket or device.
    Other,
}

/// Which symbolic links are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Links {
    /// Inside the folder, or inside the same hub repository (its `snapshots/` point into `blobs/`).
    #[default]
    Inside,
    /// None.
    Refused,
}

/// Why a name could not be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum RootError {
    /// The name is absolute, holds `..`, a drive letter or a backslash.
    Escapes,
    /// A link on the way leaves the folder; `to` is its target.
    LinkLeaves {
        /// Where the link leads.
        to: PathBuf,
    },
    /// A link, and links are refused.
    LinkRefused,
    /// Nothing of that name.
    NotFound,
    /// It is there and cannot be read.
    Io(io::Error),
}

impl fmt::Display for RootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RootError::Escapes => f.write_str("the name is no plain relative path"),
            RootError::LinkLeaves { to } => {
                write!(f, "the link leads to `{}`, outside the folder", to.display())
            }
            RootError::LinkRefused => f.write_str("it is a symbolic link, and links are refused"),
            RootError::NotFound => f.write_str("there is no such file"),
            RootError::Io(error) => error.fmt(f),
        }
    }
}

/// Whether a name from a file is a plain relative path under POSIX *and* Windows rules.
pub(crate) fn is_plain(name: &str) -> bool {
    let bytes = name.as_bytes();
    let drive = bytes.get(1) == Some(&b':') && bytes.first().is_some_and(u8::is_ascii_alphabetic);
    !name.is_empty()
        && !drive
        && !name.contains(['\\', '\0'])
        && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// A folder on disk.
pub(crate) struct FolderRoot {
    folder: PathBuf,
    /// The canonical folder that links may not leave: the folder itself, or its hub repository.
    bounds: PathBuf,
    links: Links,
    mmap: bool,
}

impl FolderRoot {
    /// The folder, with links held inside `within` where it is given and wider.
    pub(crate) fn new(folder: &Path, links: Links, mmap: bool, within: Option<&Path>) -> io::Result<Self> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        Ok(FolderRoot { folder: folder.to_owned(), bounds: bounds(within.unwrap_or(folder))?, links, mmap })
    }

    /// The canonical folder that links may not leave.
    pub(crate) fn bounds(&self) -> &Path {
        &self.bounds
    }

    /// The path of `name`, once every link on the way is known to stay inside.
    pub(crate) fn resolve(&self, name: &str) -> Result<PathBuf, RootError> {
        if !is_plain(name) {
            return Err(RootError::Escapes);
        }
        let path = self.folder.join(name);
        let linked = name
            .split('/')
            .scan(self.folder.clone(), |at, part| {
                at.push(part);
                Some(at.is_symlink())
            })
            .any(|is_link| is_link);
        if !linked {
            // Whether it is there shows when it is opened.
            return Ok(path);
        }
        if self.links == Links::Refused {
            return Err(RootError::LinkRefused);
        }
        match std::fs::canonicalize(&path) {
            Ok(target) if target.starts_with(&self.bounds) => Ok(target),
            Ok(to) => Err(RootError::LinkLeaves { to }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(RootError::NotFound),
            Err(error) => Err(RootError::Io(error)),
        }
    }
}

/// The canonical folder that links found in `folder` may not leave.
pub(crate) fn bounds(folder: &Path) -> io::Result<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let canonical = std::fs::canonicalize(folder)?;
    Ok(hub_repository(&canonical).map(Path::to_path_buf).unwrap_or(canonical))
}

/// The repository folder (`models--…`, with `snapshots/` and `blobs/`) that `canonical` is a snapshot of.
fn hub_repository(canonical: &Path) -> Option<&Path> {
    let snapshots =
        canonical.ancestors().find(|at| at.file_name().is_some_and(|name| name == "snapshots"))?;
    let repository = snapshots.parent()?;
    repository.join("blobs").is_dir().then_some(repository)
}

impl Root for FolderRoot {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadAt>, RootError> {
        open_file(&self.resolve(name)?, self.mmap).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => RootError::NotFound,
            _ => RootError::Io(error),
        })
    }

    fn list(&self, below: &str) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(self.folder.join(below))? {
            let entry = entry?;
            // A name that is no UTF-8 cannot be named by a file either; it is listed with replacement characters.
            let name = entry.file_name().to_string_lossy().into_owned().into();
            let own = entry.file_type()?;
            let is_link = own.is_symlink();
            // Only a link needs a second look; the listing itself tells of all others.
            let target = if is_link {
                std::fs::metadata(entry.path()).map(|found| found.file_type()).ok()
            } else {
                Some(own)
            };
            let kind = match target {
                Some(found) if found.is_file() => EntryKind::File,
                Some(found) if found.is_dir() => EntryKind::Folder,
                Some(_) => EntryKind::Other,
                None => EntryKind::DeadLink,
            };
            entries.push(Entry { name, kind, is_link });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }
}

/// No folder: for bytes in memory.
pub struct NoRoot;

impl Root for NoRoot {
    fn open(&self, _: &str) -> Result<Arc<dyn ReadAt>, RootError> {
        Err(RootError::NotFound)
    }

    fn list(&self, _: &str) -> io::Result<Vec<Entry>> {
        Ok(Vec::new())
    }
}
