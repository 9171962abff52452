//! Identity of the weights: one digest a tensor and one root, the same in every container and sharding.
//!
//! With all integers little-endian and `‖` for "followed by":
//!
//! - E = BLAKE3 of the tensor's canonical stream ([`canonical`]): bytes as stored, no normalising.
//! - T = BLAKE3("tensorcask tensor 1\0" ‖ u32 length ‖ dtype name ‖ u32 rank ‖ rank × u64 dims ‖ E).
//! - root = BLAKE3("tensorcask weights 1\0" ‖ for each tensor, sorted by the bytes of its name: u32 length ‖ name ‖ T).
//! - content root = BLAKE3("tensorcask content 1\0" ‖ the sorted T): for containers that name differently.
//!
//! An alias counts under each of its names. A large tensor is hashed by subtrees, so that all cores work on it.

use super::Progress;
use crate::{
    checkpoint::Checkpoint,
    core::{DType, Result, TensorInfo},
    elements::{canonical, stream_len},
    source::Sources,
};
use blake3::hazmat::{self, HasherExt, Mode};
use rayon::prelude::*;
use std::{fmt::Write, ops::Range};

/// Bytes of a subtree that one thread hashes in one go: a power of two times 1024, as BLAKE3 asks. Above it, work is
/// shared; below, sharing costs more than it gives.
const SUBTREE_BYTES: u64 = 1 << 20;

/// A BLAKE3 digest.
pub type Digest = [u8; 32];

/// What [`identity`] finds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// `tcw1:` and 64 hexadecimal digits: names, types, shapes and elements.
    pub root: String,
    /// The same with the names left out.
    pub content_root: String,
    /// Digest of each tensor (T), in the order of [`Checkpoint::tensors`].
    pub tensors: Vec<Digest>,
}

/// Hashes every tensor of `ck`, on all cores, in memory that does not grow with the weights.
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) that names the tensor whose bytes are not here;
/// [`Error::Io`](crate::Error::Io) when bytes cannot be read.
pub fn identity(ck: &Checkpoint, progress: &dyn Progress) -> Result<Identity> {
    ck.tensors.iter().try_for_each(|tensor| ck.require(tensor))?;
    progress.start("hash", ck.tensors.iter().map(TensorInfo::byte_len).sum());
    let digest = |tensor: &TensorInfo| {
        let elements = element_digest(&ck.sources, tensor, progress)?;
        Ok(tensor_digest(&tensor.dtype, &tensor.view.shape, &elements))
    };
    let tensors = ck.tensors.par_iter().map(digest).collect::<Result<Vec<_>>>();
    let tensors = tensors.map_err(|error| ck.place_error(error))?;
    let named = ck.tensors.iter().map(|tensor| tensor.name.as_str()).zip(&tensors);
    Ok(Identity { root: root(named), content_root: content_root(&tensors), tensors })
}

/// E of one tensor.
///
/// # Errors
/// As [`canonical`].
pub fn element_digest(sources: &Sources, tensor: &TensorInfo, progress: &dyn Progress) -> Result<Digest> {
    let len = stream_len(&tensor.dtype, &tensor.view)?;
    let job = Job { sources, tensor, progress };
    if len <= SUBTREE_BYTES {
        return Ok(job.leaf(0..len)?.finalize().into());
    }
    let middle = hazmat::left_subtree_len(len);
    let (left, right) = rayon::join(|| job.subtree(0..middle), || job.subtree(middle..len));
    Ok(hazmat::merge_subtrees_root(&left?, &right?, Mode::Hash).into())
}

/// T from E, which [`element_digest`] or [`StreamDigest`] gives.
pub fn tensor_digest(dtype: &DType, shape: &[u64], elements: &Digest) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"tensorcask tensor 1\0");
    update_sized(&mut hasher, dtype.name().as_bytes());
    hasher.update(&len32(shape.len()));
    for dim in shape {
        hasher.update(&dim.to_le_bytes());
    }
    hasher.update(elements).finalize().into()
}

/// The root of tensors given as (name, T), in any order.
pub fn root<'a>(tensors: impl Iterator<Item = (&'a str, &'a Digest)>) -> String {
    let mut sorted: Vec<_> = tensors.collect();
    sorted.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"tensorcask weights 1\0");
    for (name, digest) in sorted {
        update_sized(&mut hasher, name.as_bytes());
        hasher.update(digest);
    }
    root_text(&hasher)
}

/// The root with the names left out, of the T in any order.
pub fn content_root(tensors: &[Digest]) -> String {
    let mut sorted: Vec<_> = tensors.iter().collect();
    sorted.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"tensorcask content 1\0");
    for digest in sorted {
        hasher.update(digest);
    }
    root_text(&hasher)
}

/// A digest as 64 lower-case hexadecimal digits.
pub fn digest_text(digest: &Digest) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// E of a canonical stream that somebody else walks, in order.
#[derive(Clone, Default, Debug)]
pub struct StreamDigest(blake3::Hasher);

impl StreamDigest {
    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// E of all bytes taken.
    pub fn finish(&self) -> Digest {
        self.0.finalize().into()
    }
}

struct Job<'a> {
    sources: &'a Sources,
    tensor: &'a TensorInfo,
    progress: &'a dyn Progress,
}

impl Job<'_> {
    /// Chaining value of a subtree that is not the whole tree.
    fn subtree(&self, range: Range<u64>) -> Result<hazmat::ChainingValue> {
        let len = range.end - range.start;
        if len <= SUBTREE_BYTES {
            return Ok(self.leaf(range)?.finalize_non_root());
        }
        let middle = range.start + hazmat::left_subtree_len(len);
        let (left, right) =
            rayon::join(|| self.subtree(range.start..middle), || self.subtree(middle..range.end));
        Ok(hazmat::merge_subtrees_non_root(&left?, &right?, Mode::Hash))
    }

    fn leaf(&self, range: Range<u64>) -> Result<blake3::Hasher> {
        let len = range.end - range.start;
        let mut hasher = blake3::Hasher::new();
        hasher.set_input_offset(range.start);
        canonical(self.sources, &self.tensor.dtype, &self.tensor.view, range, &mut |block| {
            hasher.update(block);
            Ok(())
        })?;
        self.progress.add(len);
        Ok(hasher)
    }
}

fn update_sized(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&len32(bytes.len())).update(bytes);
}

/// Lengths of names and ranks: [`Text`](crate::Text) is below 4 GiB, and a rank is bounded by the header.
fn len32(len: usize) -> [u8; 4] {
    u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes()
}

fn root_text(hasher: &blake3::Hasher) -> String {
    format!("tcw1:{}", digest_text(hasher.finalize().as_bytes()))
}

#[cfg(test)]
mod tests;
