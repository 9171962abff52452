//! Puts finished output in its place, so that at every moment the old is whole or the new is.
//!
//! A set inside an existing folder is switched by one rename: that of its single file, or of an index that names the
//! new shards where they lie, in the temporary folder. Until then nothing of the old set was touched; from then on
//! nothing of it is needed, and the new shards can take names that old shards have.

use super::{
    Replaced,
    system::{System, is_refused},
};
use crate::core::Error;
use std::{
    fs::File,
    io::{self, Read, Seek},
    path::{Path, PathBuf},
};

/// What every way of committing needs.
pub(super) struct Place<'a> {
    pub(super) system: &'a dyn System,
    pub(super) staging: &'a Path,
    pub(super) sync: bool,
}

/// Why it did not work.
pub(super) struct Failed {
    pub(super) error: Error,
    /// The set is switched, and whole only through names in the temporary folder.
    pub(super) staging_is_needed: bool,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed { error, staging_is_needed: false }
    }
}

impl Place<'_> {
    fn sync_folder(&self, folder: &Path) -> Result<(), Error> {
        if !self.sync {
            return Ok(());
        }
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        self.system.sync_folder(folder).map_err(|error| Error::io(folder, error))
    }

    /// Moves a file to its name; copies it where the file system does not rename and nothing is at that name.
    fn put(&self, from: &Path, to: &Path, overwrite: bool) -> Result<(), Error> {
        let moved = if overwrite { self.system.rename(from, to) } else { self.system.rename_new(from, to) };
        match moved {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(super::exists(to)),
            Err(error) if is_refused(&error) && to.symlink_metadata().is_ok() => Err(Error::Unsupported {
                path: to.to_owned(),
                message: format!(
                    "the file system does not rename ({error}), so the existing file cannot be replaced whole; it was left as it is: write to a new name"
                ),
            }),
            Err(error) if is_refused(&error) => self.copy(from, to).map_err(|error| Error::io(to, error)),
            Err(error) => Err(Error::io(to, error)),
        }
    }

    /// Not atomic: the name is there before its bytes are. Hence only for a name that was free, and read back.
    fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        let target = self.system.create(to)?;
        let copied = self.copy_into(from, &target);
        if copied.is_err() {
            let _ = self.system.remove(to);
        } else {
            let _ = self.system.remove(from);
        }
        copied
    }

    fn copy_into(&self, from: &Path, target: &File) -> io::Result<()> {
        let (mut source, mut block, mut at) = (File::open(from)?, vec![0; 1 << 20], 0);
        loop {
            let n = source.read(&mut block)?;
            let Some(bytes) = block.get(..n).filter(|bytes| !bytes.is_empty()) else { break };
            self.system.write_at(target, at, bytes)?;
            at += n as u64;
        }
        if self.sync {
            self.system.sync(target)?;
        }
        source.rewind()?;
        let (mut target, mut again) = (target, vec![0; 1 << 20]);
        target.rewind()?;
        loop {
            let n = source.read(&mut block)?;
            let (Some(want), Some(have)) = (block.get(..n), again.get_mut(..n)) else { break };
            if n == 0 {
                break;
            }
            target.read_exact(have)?;
            if want != have {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the copy reads back with other bytes",
                ));
            }
        }
        Ok(())
    }
}

/// One file.
pub(super) fn file(place: &Place<'_>, target: &Path, overwrite: bool) -> Result<(), Failed> {
    place.put(place.staging, target, overwrite)?;
    Ok(place.sync_folder(target.parent().unwrap_or(Path::new(".")))?)
}

/// A folder that is not there yet.
pub(super) fn new_folder(place: &Place<'_>, target: &Path, names: &[String]) -> Result<(), Failed> {
    place.sync_folder(place.staging)?;
    match place.system.rename_new(place.staging, target) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(super::exists(target).into());
        }
        Err(error) if is_refused(&error) => {
            place.system.create_folder(target).map_err(|error| Error::io(target, error))?;
            let filled = names
                .iter()
                .try_for_each(|name| place.put(&place.staging.join(name), &target.join(name), false));
            if let Err(error) = filled {
                let _ = place.system.remove_folder(target);
                return Err(error.into());
            }
            place.sync_folder(target)?;
        }
        Err(error) => return Err(Error::io(target, error).into()),
    }
    Ok(place.sync_folder(target.parent().unwrap_or(Path::new(".")))?)
}

/// A folder with other files, and perhaps an earlier set, in it.
pub(super) fn into_folder(
    place: &Place<'_>,
    folder: &Path,
    names: &[String],
    old: &Replaced,
) -> Result<(), Failed> {
    let into = Into { place, folder, old };
    match names {
        [] => Ok(()),
        [single] => into.single(single),
        [shards @ .., index] if into.links(&shards[0]) => into.shards(shards, index),
        [shards @ .., index] => into.shards_without_links(shards, index),
    }?;
    place.sync_folder(folder)?;
    for name in old.set.files().filter(|name| !names.contains(name)) {
        let path = folder.join(name);
        match place.system.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io(path, error).into());
            }
            _ => {}
        }
    }
    Ok(())
}

struct Into<'a> {
    place: &'a Place<'a>,
    folder: &'a Path,
    old: &'a Replaced,
}

impl Into<'_> {
    /// The switch is the rename of the one file.
    fn single(&self, name: &str) -> Result<(), Failed> {
        let names_it = self.old.set.shards.iter().any(|shard| shard == name);
        if let Some(index) = self.old.set.index.as_ref().filter(|_| names_it) {
            if self.old.set.shards.len() > 1 {
                return Err(Error::usage(
                    format!(
                        "`{}` holds an index that names `{name}` beside other shards",
                        self.folder.display()
                    ),
                    "write to a new folder",
                )
                .into());
            }
            // The file alone is the old set as well; with the new file under it the index would be wrong.
            let path = self.folder.join(index);
            self.place.system.remove(&path).map_err(|error| Error::io(path, error))?;
        }
        Ok(self.place.put(&self.place.staging.join(name), &self.folder.join(name), true)?)
    }

    /// Whether files can have second names here.
    fn links(&self, name: &str) -> bool {
        self.place
            .system
            .link(&self.place.staging.join(name), &self.place.staging.join("second-name"))
            .is_ok()
    }

    /// The switch is the rename of an index that names the shards where they lie, in the temporary folder. Then they
    /// get their names beside it (old shards of the same names belong to no set any more), and the index is replaced
    /// by one that uses them.
    fn shards(&self, shards: &[String], index: &str) -> Result<(), Failed> {
        let (system, staging) = (self.place.system, self.place.staging);
        let staged_index = staging.join(index);
        let first = self.first_index(&staged_index).map_err(|error| Error::io(&staged_index, error))?;
        self.place.sync_folder(staging)?;
        self.place.put(&first, &self.folder.join(index), true)?;
        let needed = |error: Error| Failed { error, staging_is_needed: true };
        self.place.sync_folder(self.folder).map_err(needed)?;
        for name in shards {
            let (path, second) = (self.folder.join(name), staging.join(format!("{name}.second-name")));
            let named =
                system.link(&staging.join(name), &second).and_then(|()| system.rename(&second, &path));
            named.map_err(|error| needed(Error::io(path, error)))?;
        }
        self.place.sync_folder(self.folder).map_err(needed)?;
        self.place.put(&staged_index, &self.folder.join(index), true).map_err(needed)
    }

    /// The index with the shards' present places.
    fn first_index(&self, staged: &Path) -> io::Result<PathBuf> {
        let folder = self.place.staging.file_name().unwrap_or_default().to_string_lossy();
        let bytes = std::fs::read(staged)?;
        let renamed = (self.old.renamed_index)(&bytes, &|shard| format!("{folder}/{shard}"));
        let first = self.place.staging.join("first-index");
        let file = self.place.system.create(&first)?;
        self.place.system.write_at(&file, 0, &renamed.ok_or(io::ErrorKind::InvalidData)?)?;
        if self.place.sync {
            self.place.system.sync(&file)?;
        }
        Ok(first)
    }

    /// For file systems where a file has one name: the shards, then the index. Only for names that are free.
    fn shards_without_links(&self, shards: &[String], index: &str) -> Result<(), Failed> {
        if let Some(taken) = shards.iter().find(|name| self.folder.join(name).symlink_metadata().is_ok()) {
            return Err(Error::Unsupported {
                path: self.folder.join(taken),
                message: "a new shard has the name of an old one, and the file system gives a file no second name; \
                          the old set was left as it is: write to a new folder"
                    .to_owned(),
            }
            .into());
        }
        let put = |name: &str, overwrite| {
            self.place.put(&self.place.staging.join(name), &self.folder.join(name), overwrite)
        };
        let placed = shards
            .iter()
            .try_for_each(|name| put(name, false))
            .and_then(|()| self.place.sync_folder(self.folder))
            .and_then(|()| put(index, self.old.set.index.is_some()));
        if placed.is_err() {
            for name in shards {
                let _ = self.place.system.remove(&self.folder.join(name));
            }
        }
        Ok(placed?)
    }
}
