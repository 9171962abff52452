//! Counted views of bytes that outlive the checkpoint.

use super::ReadAt;
use std::{
    io,
    ops::{Deref, Range},
    sync::Arc,
};

/// Bytes without a lifetime: a range of memory or of a map that is kept alive as long as the view.
#[derive(Clone)]
pub struct Bytes {
    owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
    range: Range<usize>,
}

impl Bytes {
    /// All bytes of `owner`.
    pub fn new(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let len = owner.as_ref().len();
        Bytes { owner: Arc::new(owner), range: 0..len }
    }

    /// The bytes of `range`, which counts from the start of this view.
    pub fn slice(&self, range: Range<u64>) -> Option<Self> {
        let start = self.range.start.checked_add(usize::try_from(range.start).ok()?)?;
        let end = self.range.start.checked_add(usize::try_from(range.end).ok()?)?;
        (start <= end && end <= self.range.end)
            .then(|| Bytes { owner: self.owner.clone(), range: start..end })
    }
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        (*self.owner).as_ref().get(self.range.clone()).unwrap_or_default()
    }
}

impl ReadAt for Bytes {
    fn len(&self) -> u64 {
        self.range.len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(buf.len() as u64);
        let bytes = end.and_then(|end| self.slice(offset..end)).ok_or(io::ErrorKind::UnexpectedEof)?;
        buf.copy_from_slice(&bytes);
        Ok(())
    }

    fn view(&self, range: Range<u64>) -> Option<Bytes> {
        self.slice(range)
    }
}
