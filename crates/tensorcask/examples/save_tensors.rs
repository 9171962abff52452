//! Saves tensors from memory and says how long the library call takes, the sync included.
//!
//! usage: `save_tensors PATH N_TENSORS BYTES_EACH` prints seconds; the making of the bytes does not count.

use std::{error::Error, io::Write, time::Instant};
use tensorcask::{
    DType,
    save::{SaveOptions, save},
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, n_tensors, bytes_each] = &arguments[..] else {
        return Err("usage: save_tensors PATH N_TENSORS BYTES_EACH".into());
    };
    let (n_tensors, bytes_each): (usize, usize) = (n_tensors.parse()?, bytes_each.parse()?);
    // Not zeros: such pages are shared, and some file systems do not store them.
    let mut bytes = vec![0u8; n_tensors * bytes_each];
    let mut state = 1u64;
    for word in bytes.chunks_exact_mut(8) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        word.copy_from_slice(&state.to_le_bytes());
    }
    let names: Vec<String> =
        (0..n_tensors).map(|number| format!("model.layers.{number}.mlp.weight")).collect();
    let shape = [bytes_each as u64];
    let tensors: Vec<(&str, DType, &[u64], &[u8])> = names
        .iter()
        .zip(bytes.chunks_exact(bytes_each))
        .map(|(name, bytes)| (name.as_str(), DType::U8, &shape[..], bytes))
        .collect();
    let start = Instant::now();
    save(path, &tensors, &[("format", "pt")], &SaveOptions::default())?;
    writeln!(std::io::stdout(), "{:.6}", start.elapsed().as_secs_f64())?;
    Ok(())
}
