//! Every command is a function over the table.

mod progress;

pub use progress::Progress;
