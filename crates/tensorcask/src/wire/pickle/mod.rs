//! Pickle, after `CPython`'s `pickletools` (protocols 0 to 5): the opcodes, and a walk over them that resolves nothing,
//! builds nothing and runs nothing.

mod opcodes;
mod walk;

pub(crate) use walk::{Walk, Walker};
