//! Opens a checkpoint and lists its names, and says how long the library call takes.
//!
//! usage: `list_names PATH [ROUNDS]` prints the median in seconds, then the names' count and the bytes of memory that
//! the first call added at its peak (Linux; an upper bound, since pages of the program count too).

use std::{error::Error, io::Write, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: list_names PATH [ROUNDS]")?;
    let rounds = arguments.next().map_or(Ok(9), |rounds| rounds.parse::<usize>())?;
    let before = status_kib("VmRSS");
    let (mut seconds, mut n_names, mut added) = (Vec::new(), 0, 0);
    for round in 0..rounds.max(1) {
        let start = Instant::now();
        let checkpoint = tensorcask::open(&path)?;
        let names: Vec<&str> = checkpoint.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        seconds.push(start.elapsed().as_secs_f64());
        n_names = names.len();
        if round == 0 {
            added = status_kib("VmHWM").saturating_sub(before) * 1024;
        }
    }
    seconds.sort_by(f64::total_cmp);
    writeln!(std::io::stdout(), "{:.6} {n_names} {added}", seconds[seconds.len() / 2])?;
    Ok(())
}

/// A line of the process's status in KiB; 0 where the system has none.
fn status_kib(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
