//! What was done, tensor by tensor, with the digests that prove it.

use crate::{
    core::{Finding, Text},
    ops::hash::Digest,
};
use std::path::PathBuf;

/// The outcome of a conversion.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Receipt {
    /// What was read.
    pub source: PathBuf,
    /// What was written.
    pub target: PathBuf,
    /// Whether every tensor and all metadata of the source can be got back.
    pub lossless: bool,
    /// What is lost.
    pub losses: Vec<Finding>,
    /// One row a tensor, in the order of the source.
    pub tensors: Vec<ReceiptRow>,
}

/// One tensor that was written. Digests are those of the weights identity, over element type, shape and elements.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReceiptRow {
    /// The tensors that it comes from.
    pub source_names: Vec<Text>,
    /// Its name in the target.
    pub name: Text,
    /// What was done to it, in order.
    pub steps: Vec<&'static str>,
    /// Of what was read.
    pub source_digest: Digest,
    /// Of the stream as it was written.
    pub expected_digest: Digest,
    /// Of the finished file, read again.
    pub target_digest: Digest,
    /// Whether the last two are the same.
    pub equal: bool,
}
