//! Elements of a tensor into a buffer, and the digest over them.

use crate::{
    checkpoint::Checkpoint,
    core::{ByteOrder, DType, Data, Error, Result, TensorInfo},
};

/// Fills `out` with the canonical stream of `tensor` from byte `start` on.
pub(super) fn fill(ck: &Checkpoint, tensor: &TensorInfo, start: u64, out: &mut [u8]) -> Result<()> {
    // Dense and native: its bytes are the stream, and are read straight to where they are wanted.
    if let Data::Extent(span) = &tensor.view.data
        && tensor.view.strides.is_none()
        && (tensor.view.byte_order == ByteOrder::Little || tensor.dtype.block() == Some((1, 1)))
        && start.checked_add(out.len() as u64).is_some_and(|end| end <= span.len)
    {
        let read = ck.sources.io(span.source).read_at(span.start.saturating_add(start), out);
        return read.map_err(|error| Error::io(ck.path.clone(), error));
    }
    Err(Error::Unsupported {
        path: ck.path.clone(),
        message: format!("tensor `{}` is not stored densely", tensor.name),
    })
}

/// T of the weights identity from E.
pub(super) fn tensor_digest(dtype: &DType, shape: &[u64], elements: &[u8; 32]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"tensorcask tensor 1\0");
    hasher.update(&u32::try_from(dtype.name().len()).unwrap_or(u32::MAX).to_le_bytes());
    hasher.update(dtype.name().as_bytes());
    hasher.update(&u32::try_from(shape.len()).unwrap_or(u32::MAX).to_le_bytes());
    for dim in shape {
        hasher.update(&dim.to_le_bytes());
    }
    hasher.update(elements);
    hasher.finalize().into()
}
