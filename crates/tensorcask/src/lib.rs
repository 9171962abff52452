//! One layer under every file of trained weights: open it without executing anything in it, say what it really is,
//! verify it, convert it with proof.
//!
//! A checkpoint is a *table of tensors over ranges of bytes*. [`open`] builds the table from headers alone; what a
//! command does is a function over the table.
//!
//! ```
//! use tensorcask::{DType, save::save};
//!
//! # fn main() -> tensorcask::Result<()> {
//! # let folder = std::env::temp_dir().join(format!("tensorcask-doc-front-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! let path = folder.join("model.safetensors");
//! save(&path, &[("embed.weight", DType::U8, &[2, 3], &[1, 2, 3, 4, 5, 6])], &[], &Default::default())?;
//!
//! let checkpoint = tensorcask::open(&path)?;
//! let tensor = checkpoint.tensor("embed.weight").expect("it was saved");
//! assert_eq!((tensor.dtype.name(), &tensor.view.shape[..]), ("U8", &[2, 3][..]));
//! assert_eq!(&*checkpoint.load("embed.weight")?, [1, 2, 3, 4, 5, 6]);
//!
//! let identity = tensorcask::ops::hash::identity(&checkpoint, &())?;
//! assert!(identity.root.starts_with("tcw1:"));
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok(()) }
//! ```
//!
//! [`OpenOptions::read`] is the lenient way in: it lists every tensor that can be read and says in
//! [`Checkpoint::findings`] all that is wrong. Bytes come as [`Bytes`], views without a lifetime; where a file may be
//! mapped they are not copied. A mapped file that another process cuts short ends the reading process with a signal;
//! [`OpenOptions::mmap`] turns maps off.

pub mod checkpoint;
pub mod core;
pub mod elements;
pub mod format;
pub mod formats;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod numeric;
pub mod ops;
pub mod rules;
pub mod save;
pub mod sink;
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
