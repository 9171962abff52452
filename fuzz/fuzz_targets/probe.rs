//! Every probe and every reader behind it: the first byte chooses the name, the rest is the file.
#![no_main]

use libfuzzer_sys::fuzz_target;

const NAMES: &[&str] = &[
    "x.bin", "x.safetensors", "x.gguf", "x.pt", "x.ckpt", "x.pkl", "x.npy", "x.npz", "x.h5", "x.keras", "x.onnx",
    "x.tflite", "x.json", "x.safetensors.index.json", "x.incomplete", "x",
];

fuzz_target!(|data: &[u8]| {
    if let Some((first, rest)) = data.split_first() {
        tensorcask::fuzzing::read(NAMES[usize::from(*first) % NAMES.len()], rest);
    }
});
