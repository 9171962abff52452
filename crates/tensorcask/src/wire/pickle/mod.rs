//! Pickle, after `CPython`'s `pickletools` (protocols 0 to 5): the opcodes, and a walk over them that resolves nothing,
//! builds nothing and runs nothing.

mod opcodes;
mod walk;

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "tests slice bytes of their own")]
mod tests;

pub(crate) use walk::{Walk, Walker};
