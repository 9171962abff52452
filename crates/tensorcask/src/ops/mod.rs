//! Every command is a function over the table.

pub mod diff;
pub mod hash;
mod progress;
mod verdict;

pub use progress::Progress;
pub use verdict::{Identity, Security, Structure, Verdict, verdict};
