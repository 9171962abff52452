//! A shard index beside two small shards.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tensorcask::fuzzing::shard_index(data));
