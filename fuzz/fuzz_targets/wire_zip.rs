//! The zip directory probe.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tensorcask::fuzzing::zip(data));
