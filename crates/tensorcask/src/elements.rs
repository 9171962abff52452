//! The one reader of elements: any [`View`] as its canonical stream of bytes.
//!
//! The canonical stream is row-major, little-endian and dense; block types are their stored blocks. Hashing,
//! comparing, converting and loading are closures over it, and nothing else looks inside [`Data`].
//! Dense native elements come straight from a source's view where it gives one: for a file that is its map, and a map
//! is a third faster to hash than reads into a buffer (`benches/README.md`). Everything else is read.

mod boxes;

use crate::{
    checkpoint::Checkpoint,
    core::{ByteOrder, DType, Data, Error, Result, Span, TensorInfo, View},
    source::{Bytes, Sources},
};
use std::{cell::Cell, io, ops::Range, path::PathBuf};

/// Bytes of the largest block that [`canonical`] emits: it is still in the second-level cache when the next
/// consumer comes.
pub const BLOCK_BYTES: usize = 256 << 10;

thread_local! {
    static BLOCK: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Emits the bytes `range` of the canonical stream of `view`, in order, in blocks of at most [`BLOCK_BYTES`].
///
/// With negative strides an extent starts at the element of the lowest offset, not at element zero.
///
/// # Errors
/// What `emit` returns; [`Error::Io`] when the bytes cannot be read; [`Error::Unsupported`] when they are not here,
/// when the view reaches outside its extent, and for strided or big-endian block types.
pub fn canonical(
    sources: &Sources,
    dtype: &DType,
    view: &View,
    range: Range<u64>,
    emit: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let stream = Stream::new(sources, dtype, view)?;
    // Taken, not borrowed: `emit` may come back here, or let its thread steal a job that does.
    let mut block = BLOCK.take();
    let outcome = stream.blocks(range, &mut block, emit);
    BLOCK.set(block);
    outcome
}

/// Bytes of the canonical stream of `view`.
///
/// # Errors
/// [`Error::Unsupported`] when the element type has no size and the view does not say it either.
pub fn stream_len(dtype: &DType, view: &View) -> Result<u64> {
    match (dtype.byte_len(&view.shape), &view.data, &view.strides) {
        (Ok(len), ..) => Ok(len),
        // Stored densely, whatever the elements are: its bytes are the stream.
        (Err(_), Data::Extent(span), None) => Ok(span.len),
        (Err(_), Data::Missing { want, .. }, _) => Ok(*want),
        (Err(_), ..) => Err(unsupported(format!("{dtype} {} has no size in bytes", view.shape))),
    }
}

impl Checkpoint {
    /// The elements of one tensor, row-major and little-endian. Zero copy where they lie so in a file that may be
    /// mapped: such bytes stay mapped as long as they are held, and touching them after another process has cut the
    /// file short ends the process with a signal ([`crate::open`] without maps copies instead).
    ///
    /// # Errors
    /// [`Error::Usage`] when no tensor is called `name`, otherwise as [`canonical`].
    pub fn load(&self, name: &str) -> Result<Bytes> {
        let tensor = self.tensor(name).ok_or_else(|| {
            Error::usage(format!("no tensor is called `{name}`"), "`tensorcask inspect` lists the names")
        })?;
        self.require(tensor)?;
        load(&self.sources, &tensor.dtype, &tensor.view).map_err(|error| self.place_error(error))
    }

    /// That the bytes of `tensor` are here.
    ///
    /// # Errors
    /// [`Error::Unsupported`] that names the tensor.
    pub(crate) fn require(&self, tensor: &TensorInfo) -> Result<()> {
        let Data::Missing { want, have, file } = &tensor.view.data else { return Ok(()) };
        let place = file.as_ref().map(|file| format!(" in `{file}`")).unwrap_or_default();
        let message =
            format!("tensor `{}` is incomplete: {have} of its {want} bytes are here{place}", tensor.name);
        Err(Error::Unsupported { path: self.path.clone(), message })
    }

    /// Gives an error from the sources, which know relative names only, the path that the user gave.
    pub(crate) fn place_error(&self, error: Error) -> Error {
        let place = |relative: PathBuf| {
            if self.path.is_dir() { self.path.join(relative) } else { self.path.clone() }
        };
        match error {
            Error::Io { path, source } => Error::Io { path: place(path), source },
            Error::Unsupported { path, message } if path.as_os_str().is_empty() => {
                Error::Unsupported { path: self.path.clone(), message }
            }
            other => other,
        }
    }
}

fn load(sources: &Sources, dtype: &DType, view: &View) -> Result<Bytes> {
    let stream = Stream::new(sources, dtype, view)?;
    if let Order::Dense(span) = stream.order
        && let Some(bytes) = bytes_of(sources, span, &(0..stream.len))
    {
        return Ok(bytes);
    }
    let too_large = || Error::io("", io::ErrorKind::OutOfMemory.into());
    let len = usize::try_from(stream.len).map_err(|_| too_large())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| too_large())?;
    bytes.resize(len, 0);
    stream.read(0, &mut bytes)?;
    Ok(Bytes::new(bytes))
}

/// A view that can be read at any byte of its canonical stream.
pub(crate) struct Stream<'a> {
    sources: &'a Sources,
    view: &'a View,
    len: u64,
    order: Order<'a>,
}

/// How the stored bytes become the stream.
enum Order<'a> {
    /// They are the stream.
    Dense(Span),
    /// One block over and over.
    Repeat(&'a [u8]),
    /// Elements of this layout are put in order.
    Elements(boxes::Element),
}

impl<'a> Stream<'a> {
    /// # Errors
    /// As [`canonical`], but for reading.
    pub(crate) fn new(sources: &'a Sources, dtype: &DType, view: &'a View) -> Result<Self> {
        let len = stream_len(dtype, view)?;
        let native =
            view.byte_order == ByteOrder::Little || dtype.block().is_some_and(|(_, bytes)| bytes == 1);
        let order = match &view.data {
            Data::Missing { want, have, .. } => {
                return Err(unsupported(format!("only {have} of {want} bytes are here")));
            }
            Data::Extent(span) if native && boxes::is_dense(view) => {
                if span.len < len {
                    let shape = &view.shape;
                    return Err(unsupported(format!(
                        "{dtype} {shape} needs {len} bytes, its extent has {}",
                        span.len
                    )));
                }
                Order::Dense(*span)
            }
            Data::Fill(block)
                if native && block.len() as u64 == dtype.block().map_or(0, |(_, bytes)| bytes) =>
            {
                Order::Repeat(block)
            }
            _ => Order::Elements(boxes::Element::of(dtype, view)?),
        };
        Ok(Stream { sources, view, len, order })
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Emits `range` through `block`, which grows to at most [`BLOCK_BYTES`].
    fn blocks(
        &self,
        range: Range<u64>,
        block: &mut Vec<u8>,
        emit: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        if let Order::Dense(span) = &self.order
            && range.end <= self.len
            && let Some(bytes) = bytes_of(self.sources, *span, &range)
        {
            return bytes.chunks(BLOCK_BYTES).try_for_each(emit);
        }
        let mut at = range.start;
        while at < range.end {
            let left = usize::try_from(range.end - at).unwrap_or(usize::MAX);
            let n = left.min(BLOCK_BYTES);
            if block.len() < n {
                block.resize(n, 0);
            }
            let block = &mut block[..n];
            self.read(at, block)?;
            emit(block)?;
            at += n as u64;
        }
        Ok(())
    }

    /// Fills `out` with the stream from byte `at` on.
    pub(crate) fn read(&self, at: u64, out: &mut [u8]) -> Result<()> {
        if at.checked_add(out.len() as u64).is_none_or(|end| end > self.len) {
            let (n, len) = (out.len(), self.len);
            return Err(unsupported(format!("{n} bytes from {at} on are asked of a tensor of {len} bytes")));
        }
        match &self.order {
            Order::Dense(span) => read_at(self.sources, *span, at, out),
            Order::Repeat(block) => {
                let phase = usize::try_from(at % block.len().max(1) as u64).unwrap_or_default();
                for (byte, value) in out.iter_mut().zip(block.iter().cycle().skip(phase)) {
                    *byte = *value;
                }
                Ok(())
            }
            Order::Elements(element) => boxes::read(self.sources, self.view, *element, at, out),
        }
    }
}

/// The bytes `range` of `span` without a copy, where its source can give them.
fn bytes_of(sources: &Sources, span: Span, range: &Range<u64>) -> Option<Bytes> {
    let (start, end) = (span.start.checked_add(range.start)?, span.start.checked_add(range.end)?);
    sources.io(span.source).view(start..end)
}

/// Reads from byte `at` of `span` on; the caller has checked that `out` fits.
fn read_at(sources: &Sources, span: Span, at: u64, out: &mut [u8]) -> Result<()> {
    let offset = span.start.checked_add(at).ok_or_else(|| unsupported("an extent ends past 2^64".into()))?;
    let read = sources.io(span.source).read_at(offset, out);
    read.map_err(|source| Error::io(sources.locate(span).file.as_str(), source))
}

fn unsupported(message: String) -> Error {
    Error::Unsupported { path: PathBuf::new(), message }
}

#[cfg(test)]
mod tests;
