//! Every command is a function over the table.

pub mod diff;
pub mod hash;
mod progress;

pub use progress::Progress;
