//! The words everyone speaks: element types, spans, findings, limits, errors. Standard library only.

mod dims;
mod dtype;
mod error;
mod finding;
mod limits;
mod names;
mod tensor;
mod text;

pub use dims::Dims;
pub use dtype::{DType, SizeError};
pub use error::{Error, Report, Result};
pub use finding::{Category, Finding, Place, Rule, Severity};
pub(crate) use finding::{rule, rules};
pub use limits::{Budget, Limit, LimitHit, Limits};
pub(crate) use names::NameIndex;
pub use tensor::{ByteOrder, Data, Piece, TensorInfo, View};
pub use text::Text;

use std::num::NonZeroU32;

/// Names one [`Source`](crate::source::Source) of a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct SourceId(NonZeroU32);

impl SourceId {
    /// The id of the source at `position` in the checkpoint's list.
    pub(crate) fn at(position: usize) -> Self {
        let number = u32::try_from(position).ok().and_then(|p| NonZeroU32::new(p.checked_add(1)?));
        SourceId(number.expect("a checkpoint holds fewer than 2^32 sources: `Limits::files` is smaller"))
    }

    pub(crate) fn position(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Where something lies: `len` bytes of a source from `start` on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Span {
    /// The source that holds the bytes.
    pub source: SourceId,
    /// Offset of the first byte from the start of that source.
    pub start: u64,
    /// Number of bytes.
    pub len: u64,
}

impl Span {
    /// Offset of the first byte after the span.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.len)
    }
}
