//! Every command is a function over the table.

pub mod convert;
pub mod diff;
pub mod hash;
mod progress;
mod verdict;
mod verify;

pub use progress::Progress;
pub use verdict::{Identity, Security, Structure, Verdict, verdict};
pub use verify::{VerifyOptions, verify};

/// Rules that the commands themselves report.
pub(crate) static RULES: [&[&crate::core::Rule]; 2] = [convert::RULES, verify::RULES];
