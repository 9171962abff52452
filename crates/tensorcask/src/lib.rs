//! One layer under every file of trained weights: open it without executing anything in it, say what it really is,
//! verify it, convert it with proof.

pub mod checkpoint;
pub mod core;
pub mod elements;
pub mod format;
pub mod formats;
pub mod numeric;
pub mod ops;
pub mod source;

mod checks;
mod open;
mod wire;

pub use checkpoint::{Checkpoint, Findings, Metadata, Value};
pub use core::{
    ByteOrder, Category, DType, Data, Dims, Error, Finding, Limits, Place, Result, Rule, Severity, Span,
    TensorInfo, Text, View,
};
pub use open::{Discovery, OpenOptions, open};
pub use source::{Bytes, Links};
