//! Splits a checkpoint into shards, or merges shards into one file, and proves it:
//! `cargo run --release --example reshard -- SOURCE TARGET [BYTES OF A SHARD]`.

use std::{path::Path, process::ExitCode, time::Instant};
use tensorcask::ops::convert::{ConvertOptions, plan};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its user")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (source, target, max_shard_bytes) = match &arguments[..] {
        [source, target] => (source, target, None),
        [source, target, bytes] => (source, target, bytes.parse().ok()),
        _ => {
            eprintln!("reshard SOURCE TARGET [BYTES OF A SHARD]");
            return ExitCode::from(2);
        }
    };
    match reshard(Path::new(source), Path::new(target), max_shard_bytes) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn reshard(source: &Path, target: &Path, max_shard_bytes: Option<u64>) -> tensorcask::Result<String> {
    let began = Instant::now();
    let checkpoint = tensorcask::open(source)?;
    let mut options = ConvertOptions::default();
    options.max_shard_bytes = max_shard_bytes;
    options.overwrite = true;
    let planned = plan(&checkpoint, target, &options)?;
    let receipt = planned.run(&checkpoint, &())?;
    let (n_tensors, n_files) = (receipt.tensors.len(), planned.files.len());
    Ok(format!("{n_tensors} tensors in {n_files} files, proved, {:.3} s", began.elapsed().as_secs_f64()))
}
