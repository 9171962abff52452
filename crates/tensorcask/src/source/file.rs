//! Files read at offsets, and mapped when a caller asks for a view and maps are allowed.
//!
//! Headers are always read, never mapped: a file that another process cuts short then gives an error. A mapped
//! file that is cut short ends the process with a signal when the lost bytes are touched.

use super::{Bytes, ReadAt};
use std::{fs::File, io, ops::Range, path::Path, sync::Arc, sync::OnceLock};

struct FileSource {
    file: File,
    len: u64,
    map: Option<OnceLock<Option<Bytes>>>,
}

/// Opens a regular file for reading at offsets. Its length is taken from the open file, not from the path.
pub(crate) fn open_file(path: &Path, mmap: bool) -> io::Result<Arc<dyn ReadAt>> {
    // A pipe would block in `open` and a device has no length: look before opening, and again at what was opened.
    only_regular(&std::fs::metadata(path)?)?;
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    only_regular(&metadata)?;
    Ok(Arc::new(FileSource { file, len: metadata.len(), map: mmap.then(OnceLock::new) }))
}

fn only_regular(metadata: &std::fs::Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let what = if metadata.is_dir() { "a folder" } else { "a pipe or a device" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("is {what}, not a regular file")))
}

impl ReadAt for FileSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        read_exact_at(&self.file, buf, offset)
    }

    fn view(&self, range: Range<u64>) -> Option<Bytes> {
        self.map.as_ref()?.get_or_init(|| map(&self.file)).as_ref()?.slice(range)
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buf, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buf.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buf, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                buf = &mut buf[n..];
                offset += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(feature = "mmap")]
#[expect(unsafe_code, reason = "the one place where a file is mapped")]
fn map(file: &File) -> Option<Bytes> {
    // SAFETY: `Mmap::map` asks that the file is not changed while mapped. Nothing can promise that for a file that
    // others may write; callers who need the promise open with `mmap(false)` (`--no-mmap`). If the world breaks it,
    // the user sees changed bytes, or a signal (SIGBUS) where the file was cut short; no memory of ours is harmed,
    // since the map is read-only and only ever handed out as plain bytes.
    unsafe { memmap2::Mmap::map(file) }.ok().map(Bytes::new)
}

#[cfg(not(feature = "mmap"))]
fn map(_: &File) -> Option<Bytes> {
    None
}
