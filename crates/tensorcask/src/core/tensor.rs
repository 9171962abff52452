//! One row of the table: a named, typed view of bytes that lie somewhere.

use super::{DType, Dims, Span, Text};
use std::sync::Arc;

/// A named, typed, shaped value and where its bytes are.
#[derive(Clone, PartialEq, Debug)]
pub struct TensorInfo {
    /// Its name in the checkpoint; any text, never a path.
    pub name: Text,
    /// Type of its elements.
    pub dtype: DType,
    /// Shape, order and place of its elements.
    pub view: View,
    /// The shared buffer that it is a view of, in formats that have such.
    pub storage: Option<Box<Span>>,
}

/// How elements are laid over bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct View {
    /// Sizes per axis in elements, outermost first.
    pub shape: Dims,
    /// Step per axis in elements; `None` is dense row-major.
    pub strides: Option<Box<[i64]>>,
    /// Order of the bytes of one element.
    pub byte_order: ByteOrder,
    /// The bytes.
    pub data: Data,
}

/// Order of the bytes of one element.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ByteOrder {
    /// Least significant byte first.
    #[default]
    Little,
    /// Most significant byte first.
    Big,
}

/// Where the bytes of a view are.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Data {
    /// One run of bytes. Overlapping extents are aliases of each other.
    Extent(Span),
    /// Views put together at offsets.
    Pieces(Arc<[Piece]>),
    /// One block repeated.
    Fill(Arc<[u8]>),
    /// Described, but the bytes are not here: a cut file, an absent shard, a damaged entry.
    Missing {
        /// Bytes that the tensor takes; 0 where the file does not say.
        want: u64,
        /// Bytes of it that are here.
        have: u64,
        /// The file that should hold them, if it is not one of the open ones.
        file: Option<Text>,
    },
}

/// A view placed inside a larger tensor.
#[derive(Clone, PartialEq, Debug)]
pub struct Piece {
    /// Offset per axis in elements.
    pub at: Dims,
    /// The part.
    pub view: View,
}

impl TensorInfo {
    /// A dense row-major little-endian tensor.
    pub fn dense(name: Text, dtype: DType, shape: Dims, data: Data) -> Self {
        let view = View { shape, strides: None, byte_order: ByteOrder::Little, data };
        TensorInfo { name, dtype, view, storage: None }
    }

    /// Bytes of the tensor when dense; 0 where it has no size.
    pub fn byte_len(&self) -> u64 {
        match (&self.view.data, self.dtype.byte_len(&self.view.shape)) {
            (_, Ok(len)) => len,
            (Data::Extent(span), Err(_)) => span.len,
            (Data::Missing { want, .. }, Err(_)) => *want,
            _ => 0,
        }
    }

    /// Number of elements; saturates.
    pub fn n_elements(&self) -> u64 {
        self.view.shape.iter().fold(1, |n, dim| n.saturating_mul(*dim))
    }

    /// Whether its bytes are not here.
    pub fn is_missing(&self) -> bool {
        matches!(self.view.data, Data::Missing { .. })
    }
}
