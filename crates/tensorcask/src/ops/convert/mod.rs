//! The same weights in other files, with proof.
//!
//! [`plan`] says what will be written and what is lost; [`Plan::run`] writes it under a temporary name, opens the
//! finished output with the ordinary reader, compares every tensor's digest, and only then puts it in its place.
//!
//! ```
//! use tensorcask::{ops::convert::{ConvertOptions, plan}, save::save, DType};
//!
//! # fn main() -> tensorcask::Result<()> {
//! # let folder = std::env::temp_dir().join(format!("tensorcask-doc-convert-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! let one = folder.join("one.safetensors");
//! save(&one, &[("w", DType::U8, &[2, 2], &[1, 2, 3, 4]), ("b", DType::U8, &[2], &[5, 6])], &[], &Default::default())?;
//!
//! let checkpoint = tensorcask::open(&one)?;
//! let mut options = ConvertOptions::default();
//! options.max_shard_bytes = Some(4);
//! let receipt = plan(&checkpoint, &folder.join("shards"), &options)?.run(&checkpoint, &())?;
//! assert!(receipt.lossless && receipt.tensors.iter().all(|row| row.equal));
//! assert!(folder.join("shards/model-00002-of-00002.safetensors").exists());
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok(()) }
//! ```

pub(crate) mod destination;
mod lanes;
mod names;
mod pattern;
mod plan;
mod proof;
mod receipt;
mod rules;
mod run;
mod tree;
mod units;

pub use plan::{Plan, Target, plan};
pub use receipt::{Receipt, ReceiptRow};
pub use rules::RULES;

/// What is asked of a conversion.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// Id of the target's format; `None` takes it from the target's name.
    pub format: Option<String>,
    /// Tensor bytes of one shard at most, for a folder; a larger tensor gets a shard of its own.
    pub max_shard_bytes: Option<u64>,
    /// Replace an existing target.
    pub overwrite: bool,
    /// Slugs or codes of losses that may happen.
    pub accept: Vec<String>,
    /// Shell patterns: only tensors that one of them matches are written. Empty: all.
    pub include: Vec<String>,
    /// Shell patterns: tensors that one of them matches are not written.
    pub exclude: Vec<String>,
    /// (old, new): a tensor that matches `old`, a shell pattern, is called `new`; each `*` is carried over. The first
    /// that matches counts. The names are those after [`strip_prefix`](Self::strip_prefix).
    pub rename: Vec<(String, String)>,
    /// Prefixes taken off the names that begin with them, one after the other.
    pub strip_prefix: Vec<String>,
    /// Bytes of spare room in each header for later edits in place.
    pub reserve_bytes: u64,
    /// Wait until the output is on the disk.
    pub sync: bool,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        ConvertOptions {
            format: None,
            max_shard_bytes: None,
            overwrite: false,
            accept: Vec::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            rename: Vec::new(),
            strip_prefix: Vec::new(),
            reserve_bytes: 0,
            sync: true,
        }
    }
}
