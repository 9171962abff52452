//! Every safetensors file and shard index of the corpus, cut at every byte of its header and with every byte of it
//! changed: a table, findings or an error; never a panic, and never more memory than promised.

use crate::{
    cases::load,
    memory::{allowed, used},
};
use std::fs;
use tensorcask::{Bytes, Error, OpenOptions, ops};

/// Bytes of a header that are cut and changed one by one; of longer headers both ends are taken.
const MOST_BYTES: usize = 400;

/// Where the header of these bytes ends, if its length field can be believed; else the whole counts as header.
fn header_end(bytes: &[u8]) -> usize {
    let length = bytes.first_chunk::<8>().map(|length| u64::from_le_bytes(*length));
    let end = length.and_then(|length| usize::try_from(length).ok()?.checked_add(8));
    end.unwrap_or(usize::MAX).min(bytes.len())
}

/// Positions up to `end`, thinned out in the middle of a long header.
fn positions(end: usize) -> Vec<usize> {
    if end <= MOST_BYTES {
        return (0..end).collect();
    }
    let half = MOST_BYTES / 2;
    let middle = (half..end - half).step_by((end - MOST_BYTES).div_ceil(half).max(1));
    (0..half).chain(middle).chain(end - half..end).collect()
}

/// Opens the bytes and holds the call against what is promised for any bytes.
fn open(what: &str, name: &str, bytes: &[u8]) {
    let input = Bytes::new(bytes.to_vec());
    let (result, used) = used(|| OpenOptions::new().read_bytes(name, input));
    let allowed = allowed(header_end(bytes) as u64);
    assert!(used.peak <= allowed, "{what}: {} bytes at once, {allowed} are promised", used.peak);
    match result {
        Ok(checkpoint) => {
            assert!(!checkpoint.format.is_empty(), "{what}: no format");
            ops::verdict(&checkpoint);
        }
        Err(Error::Unrecognized { .. } | Error::Limit { .. }) => {}
        Err(other) => panic!("{what}: {other:?}"),
    }
}

fn mutants(case: &str, name: &str, bytes: &[u8], header_end: usize) -> usize {
    let positions = positions(header_end);
    for &at in &positions {
        open(&format!("{case} cut at {at}"), name, &bytes[..at]);
        for changed in [bytes[at] ^ 1, bytes[at] ^ 0x80, 0, 0xff] {
            if changed != bytes[at] {
                let mut mutant = bytes.to_vec();
                mutant[at] = changed;
                open(&format!("{case} with {changed:#04x} at {at}"), name, &mutant);
            }
        }
    }
    positions.len()
}

#[test]
fn every_cut_and_every_changed_byte_of_a_safetensors_header() {
    let mut n_bytes = 0;
    for case in load(&["safetensors"]) {
        // The inputs of recipes are long runs of one character; `limits.rs` has headers of that kind.
        let Ok(bytes) = fs::read(case.folder.join("input.safetensors")) else { continue };
        open(&case.name, "input.safetensors", &bytes);
        n_bytes += mutants(&case.name, "input.safetensors", &bytes, header_end(&bytes));
    }
    assert!(n_bytes > 10_000, "only {n_bytes} header bytes were tried");
}

#[test]
fn every_cut_and_every_changed_byte_of_a_shard_index() {
    let mut n_bytes = 0;
    for case in load(&["shards"]) {
        let Ok(entries) = fs::read_dir(case.folder.join("input")) else { continue };
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.ends_with(".index.json") {
                let bytes = fs::read(&path).expect("the index can be read");
                n_bytes += mutants(&case.name, &name, &bytes, bytes.len());
            }
        }
    }
    assert!(n_bytes > 3_000, "only {n_bytes} index bytes were tried");
}
