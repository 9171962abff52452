//! Output that is there whole or not at all.
//!
//! Everything is written under a temporary name beside its target, synced, and renamed. A process that is killed
//! leaves what was there before, and perhaps a temporary file or folder whose name tells whose it is
//! (`.NAME.tensorcask-PROCESS-NUMBER.tmp`); the next run on the same target removes it, and [`leftovers`] names it.
//!
//! Where a file system refuses an operation:
//!
//! | refused | then |
//! | --- | --- |
//! | preallocation | the file grows as it is written |
//! | sync | nothing to wait for |
//! | rename of a file, no file of that name yet | copied to its name, read back and compared; not atomic: a killed run leaves a part |
//! | rename of a file onto an existing one | an error; the existing file stays as it was |
//! | rename of a new folder | the folder is created and filled file by file as above, the index last |
//! | hard links, in a folder that exists | the shards are renamed before the index; where one has the name of an old shard: an error, the old set stays as it was |
//!
//! Modes are never set after the fact: a file is created with what the umask leaves of 0666.

mod commit;
mod leftover;
mod old_set;
mod system;

pub(crate) use leftover::is_temporary;
pub use leftover::leftovers;
pub use old_set::OldSet;
pub(crate) use old_set::Replaced;
pub(crate) use system::{Real, System};

use crate::core::{Error, Result};
use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

/// How a sink treats its target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SinkOptions {
    /// Replace what is there.
    pub(crate) overwrite: bool,
    /// Wait until the bytes are on the disk before the target appears.
    pub(crate) sync: bool,
}

/// Where output gathers until [`commit`](Sink::commit); dropped before that, it leaves nothing.
pub(crate) struct Sink {
    system: Arc<dyn System>,
    options: SinkOptions,
    kind: Kind,
    /// The temporary file or folder.
    staging: PathBuf,
    /// Held as long as the sink lives: other runs see by it that the temporary is not left over.
    locks: Mutex<Vec<File>>,
    keep: bool,
}

enum Kind {
    File { target: PathBuf },
    NewFolder { target: PathBuf },
    IntoFolder { folder: PathBuf, old: Replaced },
}

impl Sink {
    /// Output to one file. A link is followed: the file that it leads to is replaced.
    ///
    /// # Errors
    /// When the target exists and may not be overwritten, is no regular file, or is a link to nothing.
    pub(crate) fn file(system: Arc<dyn System>, target: &Path, options: SinkOptions) -> Result<Self> {
        let (target, _) = check(target, false, options.overwrite)?;
        let (folder, name) = parent_and_name(&target)?;
        leftover::remove_dead(&*system, &folder, &name);
        let staging = folder.join(leftover::temporary_name(&name));
        Ok(Sink {
            system,
            options,
            kind: Kind::File { target },
            staging,
            locks: Mutex::default(),
            keep: false,
        })
    }

    /// Output of a set of files into a folder: a new one, or an existing one whose earlier set (found by `old_set`) is
    /// replaced while its other files stay.
    ///
    /// # Errors
    /// When the folder exists and may not be overwritten, or is no folder.
    pub(crate) fn folder(
        system: Arc<dyn System>,
        target: &Path,
        options: SinkOptions,
        old_set: impl FnOnce(&Path) -> Result<Replaced>,
    ) -> Result<Self> {
        let (target, is_there) = check(target, true, options.overwrite)?;
        let (kind, staging) = if is_there {
            let staging = target.join(leftover::temporary_name(leftover::SET));
            (Kind::IntoFolder { old: old_set(&target)?, folder: target }, staging)
        } else {
            let (folder, name) = parent_and_name(&target)?;
            leftover::remove_dead(&*system, &folder, &name);
            (Kind::NewFolder { target }, folder.join(leftover::temporary_name(&name)))
        };
        system.create_folder(&staging).map_err(|error| Error::io(&staging, error))?;
        let sink = Sink { system, options, kind, staging, locks: Mutex::default(), keep: false };
        if let Kind::IntoFolder { folder, .. } = &sink.kind {
            sink.hold(folder).filter(|free| *free).ok_or_else(|| {
                Error::usage(
                    format!("another process is writing a set into `{}`", folder.display()),
                    "run again when it has ended",
                )
            })?;
        }
        sink.hold(&sink.staging);
        Ok(sink)
    }

    fn hold(&self, folder: &Path) -> Option<bool> {
        let Ok(file) = File::open(folder) else { return Some(true) };
        let free = system::try_lock(&file);
        self.locks.lock().ok()?.push(file);
        Some(free)
    }

    /// The temporary file or folder: complete, and good for reading, once every part is written.
    pub(crate) fn staged(&self) -> &Path {
        &self.staging
    }

    /// Starts one file of the output. A sink for a file has one, whatever its name.
    pub(crate) fn create(&self, name: &str, len: u64) -> Result<Part> {
        // Errors speak of the name that the caller gave, not of the temporary one.
        let (path, shown) = match &self.kind {
            Kind::File { target } => (self.staging.clone(), target.clone()),
            Kind::NewFolder { target: folder } | Kind::IntoFolder { folder, .. } => {
                (self.staging.join(name), folder.join(name))
            }
        };
        let file = self.system.create(&path).map_err(|error| Error::io(&shown, error))?;
        if matches!(self.kind, Kind::File { .. })
            && let (Ok(held), Ok(mut locks)) = (file.try_clone(), self.locks.lock())
        {
            system::try_lock(&held);
            locks.push(held);
        }
        let part = Part { system: self.system.clone(), file, path: shown, at: 0 };
        self.system.preallocate(&part.file, len).map_err(|error| Error::io(&part.path, error))?;
        Ok(part)
    }

    /// Puts the output in its place. `names` are the files of a set; the last one is what makes the set current (its
    /// index). When this fails, what was there before is
    /// there still, or the new set is, complete but with shards in the temporary folder.
    pub(crate) fn commit(mut self, names: &[String]) -> Result<()> {
        let place = commit::Place { system: &*self.system, staging: &self.staging, sync: self.options.sync };
        let done = match &self.kind {
            Kind::File { target } => commit::file(&place, target, self.options.overwrite),
            Kind::NewFolder { target } => commit::new_folder(&place, target, names),
            Kind::IntoFolder { folder, old } => commit::into_folder(&place, folder, names, old),
        };
        self.keep = matches!(&done, Err(failed) if failed.staging_is_needed);
        if done.is_ok()
            && let Kind::IntoFolder { folder, .. } = &self.kind
        {
            leftover::remove_dead(&*self.system, folder, leftover::SET);
        }
        done.map_err(|failed| failed.error)
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        // Gone already after a commit by rename. What cannot be removed is named by `leftovers`.
        let _ = match self.kind {
            Kind::File { .. } => self.system.remove(&self.staging),
            _ => self.system.remove_folder(&self.staging),
        };
    }
}

/// One file of the output while it is written.
pub(crate) struct Part {
    system: Arc<dyn System>,
    file: File,
    path: PathBuf,
    at: u64,
}

impl Part {
    /// Appends `bytes` to what was written by this function.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_at(self.at, bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Writes `bytes` at an offset.
    pub(crate) fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.system.write_at(&self.file, offset, bytes).map_err(|error| Error::io(&self.path, error))
    }

    /// Waits until what was written is on the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        self.system.sync(&self.file).map_err(|error| Error::io(&self.path, error))
    }
}

/// The error for a target that may not be replaced.
fn exists(target: &Path) -> Error {
    Error::usage(format!("`{}` exists already", target.display()), "give `--overwrite` to replace it")
}

/// The path that would really be written, and whether something is there that would be replaced.
///
/// # Errors
/// As [`Sink::file`] and [`Sink::folder`].
pub(crate) fn check(target: &Path, is_folder: bool, overwrite: bool) -> Result<(PathBuf, bool)> {
    let target = real_target(target)?;
    let shown = target.display();
    match target.metadata() {
        Ok(found) if is_folder && !found.is_dir() => {
            Err(Error::usage(format!("`{shown}` is not a folder"), "give a folder for a set of shards"))
        }
        Ok(found) if !is_folder && found.is_dir() => Err(Error::usage(
            format!("`{shown}` is a folder"),
            "give the name of a file, or write a set into the folder",
        )),
        Ok(found) if !is_folder && !found.is_file() => Err(Error::usage(
            format!("`{shown}` is a device, pipe or socket, which cannot be replaced whole"),
            "give the name of a file",
        )),
        Ok(_) if !overwrite => Err(exists(&target)),
        Ok(_) => Ok((target, true)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            parent_and_name(&target)?;
            Ok((target, false))
        }
        Err(error) => Err(Error::io(target, error)),
    }
}

/// The path that is really written: links followed, a closing slash dropped.
fn real_target(target: &Path) -> Result<PathBuf> {
    let target: PathBuf = target.components().collect();
    match system::follow(&target).map_err(|error| Error::io(&target, error))? {
        Ok(path) => Ok(path),
        Err(to) => Err(Error::usage(
            format!("`{}` is a link to `{}`, which does not exist", target.display(), to.display()),
            "remove the link, or create what it leads to",
        )),
    }
}

fn parent_and_name(target: &Path) -> Result<(PathBuf, String)> {
    let name = target.file_name().ok_or_else(|| {
        Error::usage(format!("`{}` has no file name", target.display()), "give a path that ends in a name")
    })?;
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let missing = io::Error::new(io::ErrorKind::NotFound, "there is no such folder to write into");
        return Err(Error::io(folder, missing));
    }
    Ok((folder.to_owned(), name.to_string_lossy().into_owned()))
}

#[cfg(test)]
mod tests;
