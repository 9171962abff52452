//! The registry: every format this version knows. Adding one is one folder and one line here.
#![warn(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::disallowed_methods)]

mod safetensors;
mod sharded;

use crate::format::Format;

/// Every format, in the order in which equal matches win.
pub static ALL: &[&dyn Format] = &[&safetensors::Safetensors, &sharded::Sharded];
