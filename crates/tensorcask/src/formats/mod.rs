//! The registry: every format this version knows. Adding one is one folder and one line here.
#![warn(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods
)]

mod recognised;
mod safetensors;
mod sharded;

use crate::format::Format;

/// Every format, in the order in which equal matches win: those that are read, then those that are named.
pub static ALL: &[&dyn Format] = &join::<{ READ.len() + recognised::ALL.len() }>();

const READ: &[&dyn Format] = &[&safetensors::Safetensors, &sharded::Sharded];

#[expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "evaluated at compile time")]
const fn join<const N: usize>() -> [&'static dyn Format; N] {
    let mut all = [READ[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < READ.len() { READ[at] } else { recognised::ALL[at - READ.len()] };
        at += 1;
    }
    all
}
