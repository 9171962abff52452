//! Names of temporaries, and what is left of runs that were killed.

use super::system::{System, is_running, try_lock};
use std::{
    fs::File,
    io,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

/// Stands in the name of a temporary folder that lies inside the folder whose set it will replace.
pub(super) const SET: &str = "set";
const MARK: &str = ".tensorcask-";
const ENDING: &str = ".tmp";
/// Bytes of the target's name that go into the temporary one: file systems stop at 255 for the whole.
const NAME_BYTES: usize = 180;

/// A name for a temporary of this process: `.NAME.tensorcask-PROCESS-NUMBER.tmp`.
pub(super) fn temporary_name(name: &str) -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!(".{}{MARK}{}-{number}{ENDING}", cut(name), owner())
}

#[cfg(not(test))]
fn owner() -> u32 {
    std::process::id()
}

#[cfg(test)]
thread_local! {
    /// Lets a test stand for a process that is gone.
    pub(super) static OWNER: std::cell::Cell<u32> = std::cell::Cell::new(std::process::id());
}

#[cfg(test)]
fn owner() -> u32 {
    OWNER.get()
}

fn cut(name: &str) -> &str {
    let end = (0..=NAME_BYTES.min(name.len())).rev().find(|end| name.is_char_boundary(*end));
    name.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// Whether an entry is a temporary of ours, of a living run or of a dead one.
pub(crate) fn is_temporary(entry: &str) -> bool {
    parse(entry).is_some()
}

/// (target's name, process) of a temporary.
fn parse(entry: &str) -> Option<(&str, u32)> {
    let (name, numbers) = entry.strip_prefix('.')?.strip_suffix(ENDING)?.rsplit_once(MARK)?;
    let (process, number) = numbers.split_once('-')?;
    number.parse::<u64>().ok()?;
    Some((name, process.parse().ok()?))
}

/// Names of temporary files and folders in `folder` that runs of this program left behind: their process is gone.
///
/// A name holds the target's name. Running the same conversion again finishes the work and removes them; a folder
/// `.set.…` may be the place of the earlier set, if the shard index names it, and must then not be removed by hand.
///
/// # Errors
/// When the folder cannot be listed.
pub fn leftovers(folder: impl AsRef<Path>) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().into_string()
            && parse(&name).is_some_and(|(_, process)| is_dead(&entry.path(), process))
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// A process number may be in use again, or belong to another machine or container that shares the folder; a lock
/// may be unknown to the file system. So both must agree.
fn is_dead(path: &Path, process: u32) -> bool {
    !is_running(process) && File::open(path).is_ok_and(|file| try_lock(&file))
}

/// Removes what dead runs left behind for a target called `name`. What cannot be removed stays and is named later.
pub(super) fn remove_dead(system: &dyn System, folder: &Path, name: &str) {
    for entry in leftovers(folder).unwrap_or_default() {
        if parse(&entry).is_some_and(|(of, _)| of == cut(name)) {
            let path = folder.join(&entry);
            let _ = if path.is_dir() { system.remove_folder(&path) } else { system.remove(&path) };
        }
    }
}
