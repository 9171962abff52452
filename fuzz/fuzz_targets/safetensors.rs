//! The safetensors reader: any bytes give a table and findings, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tensorcask::fuzzing::read("model.safetensors", data));
