//! The `safetensors` crate's way to the names of a file: map it, `deserialize`, `names`. Prints what the example `list_names` of
//! tensorcask prints: median seconds, count, bytes of memory that the first call added at its peak.

use std::{fs::File, time::Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: peer_list_names PATH [ROUNDS]")?;
    let rounds = arguments.next().map_or(Ok(9), |rounds| rounds.parse::<usize>())?;
    let before = status_kib("RssAnon");
    let (mut seconds, mut n_names, mut added) = (Vec::new(), 0, 0);
    for round in 0..rounds.max(1) {
        let start = Instant::now();
        let file = File::open(&path)?;
        // SAFETY: the benchmark's own file, which nobody changes meanwhile; if somebody does, this process ends.
        let map = unsafe { memmap2::Mmap::map(&file)? };
        let tensors = safetensors::SafeTensors::deserialize(&map)?;
        let names = tensors.names();
        seconds.push(start.elapsed().as_secs_f64());
        n_names = names.len();
        if round == 0 {
            added = status_kib("RssAnon").saturating_sub(before) * 1024;
        }
    }
    seconds.sort_by(f64::total_cmp);
    println!("{:.6} {n_names} {added}", seconds[seconds.len() / 2]);
    Ok(())
}

fn status_kib(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
