//! Every command is a function over the table.

pub mod convert;
mod progress;

pub use progress::Progress;
