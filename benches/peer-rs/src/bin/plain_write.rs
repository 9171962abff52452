//! The limit for saving: one sequential write of bytes that are in memory, then fdatasync, rename and a sync of the folder.
//!
//! usage: `plain_write PATH BYTES` prints seconds; the making of the bytes does not count.

use std::{fs::File, io::Write, path::Path, time::Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(n_bytes)) = (arguments.next(), arguments.next()) else {
        return Err("usage: plain_write PATH BYTES".into());
    };
    // Not zeros: such pages are shared, and some file systems do not store them.
    let mut bytes = vec![0u8; n_bytes.parse()?];
    let mut state = 1u64;
    for word in bytes.chunks_exact_mut(8) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        word.copy_from_slice(&state.to_le_bytes());
    }
    let (path, partial) = (Path::new(&path), format!("{path}.partial"));
    let start = Instant::now();
    let mut file = File::create_new(&partial)?;
    file.write_all(&bytes)?;
    file.sync_data()?;
    std::fs::rename(&partial, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()?;
    println!("{:.6}", start.elapsed().as_secs_f64());
    Ok(())
}
