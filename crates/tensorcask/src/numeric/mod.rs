//! Numbers out of bytes: what one stored element means.

mod scalar;

#[cfg(test)]
mod reference;

pub use scalar::{Scalar, decode};
