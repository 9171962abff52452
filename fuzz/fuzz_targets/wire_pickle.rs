//! The opcode walk: it ends, and it comes to the same answer however the bytes are cut into windows.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tensorcask::fuzzing::pickle(data));
