//! Encodings that formats share.
#![warn(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods
)]
pub(crate) mod json;
pub(crate) mod pickle;
pub(crate) mod zip;
