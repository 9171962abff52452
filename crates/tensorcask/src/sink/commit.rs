//! Puts finished output in its place, so that at every moment the old is whole or the new is.
//!
//! A set inside an existing folder is switched by one rename, that of its last file (the index, or the single file).
//! The shards before it must not take a name that the old index uses. Where they would, the old shards first get a
//! second name inside the temporary folder and the old index is replaced by one that uses those names: the old set is
//! then whole under other names until the switch.

use super::{
    old_set::OldSet,
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
    /// The old set could not be put back and is whole only through names in the temporary folder.
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
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the copy reads back with other bytes"));
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
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(super::exists(target).into()),
        Err(error) if is_refused(&error) => {
            place.system.create_folder(target).map_err(|error| Error::io(target, error))?;
            let filled = names.iter().try_for_each(|name| place.put(&place.staging.join(name), &target.join(name), false));
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
pub(super) fn into_folder(place: &Place<'_>, folder: &Path, names: &[String], old: &OldSet) -> Result<(), Failed> {
    let mut switch = Switch { place, folder, undo: Vec::new() };
    if let Err(error) = switch.run(names, old) {
        let staging_is_needed = !switch.undo();
        return Err(Failed { error, staging_is_needed });
    }
    place.sync_folder(folder)?;
    for name in old.files().filter(|name| !names.contains(name)) {
        let path = folder.join(name);
        match place.system.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::io(path, error).into()),
            _ => {}
        }
    }
    Ok(())
}

struct Switch<'a> {
    place: &'a Place<'a>,
    folder: &'a Path,
    /// (name in the folder, its earlier file); `None`: there was none.
    undo: Vec<(PathBuf, Option<PathBuf>)>,
}

impl Switch<'_> {
    fn run(&mut self, names: &[String], old: &OldSet) -> Result<(), Error> {
        let (Some(last), system) = (names.last(), self.place.system) else { return Ok(()) };
        let back = self.place.staging.join("back");
        system.create_folder(&back).map_err(|error| Error::io(&back, error))?;
        self.step_aside(names, old)?;
        self.place.sync_folder(self.place.staging)?;
        for name in names.iter().filter(|name| *name != last) {
            self.put(name)?;
        }
        self.place.sync_folder(self.folder)?;
        self.put(last)
    }

    /// Gives the old set other names, if the new shards would take its own.
    fn step_aside(&mut self, names: &[String], old: &OldSet) -> Result<(), Error> {
        let taken: Vec<&String> = old.shards.iter().filter(|name| names.contains(name)).collect();
        let Some(index) = &old.index else {
            // One file for one file needs no more than the one rename.
            if taken.is_empty() || names.len() == 1 {
                return Ok(());
            }
            return Err(Error::usage(
                format!(
                    "`{}` holds shards of the same names without an index; they cannot be replaced at one stroke",
                    self.folder.display()
                ),
                "write to a new folder",
            ));
        };
        let (system, aside) = (self.place.system, self.place.staging.join("old"));
        let Some(prefix) = self.place.staging.file_name().and_then(|name| name.to_str()) else { return Ok(()) };
        // An index that cannot be rewritten is too damaged to be worth keeping alive.
        let renamed = (index.renamed)(&|shard| {
            let moves = taken.iter().any(|name| *name == shard);
            if moves { format!("{prefix}/old/{shard}") } else { shard.to_owned() }
        });
        let Some(bytes) = renamed.filter(|_| !taken.is_empty()) else { return Ok(()) };
        system.create_folder(&aside).map_err(|error| Error::io(&aside, error))?;
        for name in taken {
            let path = self.folder.join(name);
            // The file behind a link: the link itself would lead elsewhere from another folder.
            let linked = std::fs::canonicalize(&path).and_then(|file| system.link(&file, &aside.join(name)));
            match linked {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {} // a shard that was missing before
                Err(error) if is_refused(&error) => {
                    return Err(Error::Unsupported {
                        path,
                        message: format!(
                            "the new shards have the names of the old ones, and the file system gives a file no second name ({error}); the old set was left as it is: write to a new folder"
                        ),
                    });
                }
                other => other.map_err(|error| Error::io(&path, error))?,
            }
        }
        let staged = self.place.staging.join("old-index");
        let file = system.create(&staged).map_err(|error| Error::io(&staged, error))?;
        system.write_at(&file, 0, &bytes).map_err(|error| Error::io(&staged, error))?;
        if self.place.sync {
            system.sync(&file).map_err(|error| Error::io(&staged, error))?;
        }
        self.place.sync_folder(&aside)?;
        self.place.sync_folder(self.place.staging)?;
        self.put_from(&staged, &index.name)?;
        self.place.sync_folder(self.folder)
    }

    fn put(&mut self, name: &str) -> Result<(), Error> {
        self.put_from(&self.place.staging.join(name), name)
    }

    fn put_from(&mut self, from: &Path, name: &str) -> Result<(), Error> {
        let to = self.folder.join(name);
        let backup = self.place.staging.join("back").join(format!("{}-{name}", self.undo.len()));
        if to.symlink_metadata().is_err() {
            self.place.put(from, &to, true)?;
            self.undo.push((to, None));
            return Ok(());
        }
        let earlier = match self.place.system.link(&to, &backup) {
            Ok(()) => Some(backup),
            // Without a second name it cannot be put back should a later step fail. Only a stray or the file of the
            // switch itself comes here: shards of the old set were linked before.
            Err(error) if is_refused(&error) => {
                return self.place.put(from, &to, true);
            }
            Err(error) => return Err(Error::io(to, error)),
        };
        self.place.put(from, &to, true)?;
        self.undo.push((to, earlier));
        Ok(())
    }

    /// Puts the earlier files back, the last change first; whether all of it worked.
    fn undo(&mut self) -> bool {
        let mut all = true;
        while let Some((path, earlier)) = self.undo.pop() {
            let undone = match earlier {
                Some(backup) => self.place.system.rename(&backup, &path),
                None => self.place.system.remove(&path),
            };
            all &= undone.is_ok();
        }
        all
    }
}
