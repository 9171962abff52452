//! The few things a sink asks of the operating system, behind one trait: a test lets any of them fail, or lets the
//! process "die" there.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

/// What a sink asks of the operating system.
pub(crate) trait System: Send + Sync {
    /// Creates a file that did not exist, with the mode that the umask gives.
    fn create(&self, path: &Path) -> io::Result<File>;
    /// Asks for the blocks of a file of `len` bytes. `Err` only when they are certainly not to be had.
    fn preallocate(&self, file: &File, len: u64) -> io::Result<()>;
    /// Writes all of `bytes` at `offset`.
    fn write_at(&self, file: &File, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Waits until the bytes of a file are on the disk.
    fn sync(&self, file: &File) -> io::Result<()>;
    /// Waits until the entries of a folder are on the disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Creates a folder that did not exist.
    fn create_folder(&self, path: &Path) -> io::Result<()>;
    /// Moves `from` to `to`, in place of what is there.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Moves `from` to `to`; `AlreadyExists` when something is there.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives the file `from` a second name.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder of ours with all that is in it.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
}

/// The system itself.
pub(crate) struct Real;

impl System for Real {
    fn create(&self, path: &Path) -> io::Result<File> {
        // Read access too: the fallback for file systems without rename reads the file back.
        File::options().read(true).write(true).create_new(true).open(path)
    }

    fn preallocate(&self, file: &File, len: u64) -> io::Result<()> {
        preallocate(file, len)
    }

    fn write_at(&self, file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        write_all_at(file, offset, bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        harmless(file.sync_data())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        if !cfg!(unix) {
            return Ok(()); // Windows has no such call; its rename is written through by the file system's own log.
        }
        match File::open(folder) {
            Ok(folder) => harmless(folder.sync_all()),
            // A folder that may be written and not read cannot be opened for the call.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        std::fs::create_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        rename_new(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_dir_all(path)
    }
}

/// A sync that the file system does not have is no failure: there is nothing more to wait for. A lost write is one.
fn harmless(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        other => other,
    }
}

/// Whether the file system refuses this kind of operation, rather than this one case of it.
pub(crate) fn is_refused(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::Unsupported
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::CrossesDevices
            | io::ErrorKind::TooManyLinks
    )
}

#[cfg(target_os = "linux")]
fn preallocate(file: &File, len: u64) -> io::Result<()> {
    if len == 0 {
        return Ok(());
    }
    // The system call, not the C library's function: that one writes zeros where the file system has no support.
    let asked = rustix::io::retry_on_intr(|| {
        rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, len)
    });
    match asked {
        Err(error @ (rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT | rustix::io::Errno::FBIG)) => {
            Err(error.into())
        }
        _ => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn preallocate(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn write_all_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => {
                bytes = &bytes[n..];
                offset += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::{fs, io::Errno};
    match fs::renameat_with(fs::CWD, from, fs::CWD, to, fs::RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => look_then_rename(from, to),
        other => other.map_err(Into::into),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    look_then_rename(from, to)
}

/// For file systems that cannot refuse to replace: another process may create `to` between the look and the rename.
fn look_then_rename(from: &Path, to: &Path) -> io::Result<()> {
    if to.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    std::fs::rename(from, to)
}

/// Holds an open file or folder against other processes that ask with [`try_lock`]; `false` when another one holds it.
/// Where the system has no such locks, everyone gets them.
pub(crate) fn try_lock(file: &File) -> bool {
    #[cfg(unix)]
    {
        use rustix::{fs, io::Errno};
        !matches!(fs::flock(file, fs::FlockOperation::NonBlockingLockExclusive), Err(Errno::WOULDBLOCK))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        true
    }
}

/// Whether a process of this number runs here. Where that cannot be asked: yes.
pub(crate) fn is_running(process: u32) -> bool {
    #[cfg(unix)]
    {
        use rustix::{io::Errno, process};
        let pid = i32::try_from(process).ok().and_then(process::Pid::from_raw);
        pid.is_none_or(|pid| !matches!(process::test_kill_process(pid), Err(Errno::SRCH)))
    }
    #[cfg(not(unix))]
    {
        let _ = process;
        true
    }
}

/// The path behind `path` when it is a link, else `path` itself; `Err(target)` for a link to nothing.
pub(crate) fn follow(path: &Path) -> io::Result<Result<PathBuf, PathBuf>> {
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => match std::fs::canonicalize(path) {
            Ok(target) => Ok(Ok(target)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Err(std::fs::read_link(path)?)),
            Err(error) => Err(error),
        },
        Ok(_) => Ok(Ok(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Ok(path.to_owned())),
        Err(error) => Err(error),
    }
}
