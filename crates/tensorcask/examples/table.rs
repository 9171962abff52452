//! Prints the table of a checkpoint and what was found: `cargo run --release --example table -- PATH`.

use std::{io::Write, time::Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("give a path")?;
    let start = Instant::now();
    let checkpoint = tensorcask::OpenOptions::new().read(&path)?;
    let elapsed = start.elapsed();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for tensor in checkpoint.tensors.iter().take(50) {
        writeln!(
            out,
            "{:8} {:16} {:10} {}",
            tensor.dtype,
            tensor.view.shape,
            tensor.byte_len(),
            tensor.name
        )?;
    }
    for finding in &checkpoint.findings {
        let word = finding.severity.name();
        writeln!(out, "{word}[{}] {}: {}", finding.rule.code, finding.rule.slug, finding.message)?;
    }
    writeln!(out, "{}: {} tensors, opened in {elapsed:?}", checkpoint.format, checkpoint.tensors.len())?;
    Ok(())
}
