//! The JSON scanner and tree: they take and refuse what serde_json does, and read the same values.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tensorcask::fuzzing::json(data));
