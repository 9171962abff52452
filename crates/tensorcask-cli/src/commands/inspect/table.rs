//! The table of tensors for people, with what it adds up to.

use super::document::{Places, Totals};
use crate::{
    render::{
        BOLD, DIM, Out,
        json::MetadataValue,
        numbers::{count, counted, escape, message, name, size},
        text::colour,
    },
    report::{Row, rows, shown},
};
use std::{
    fmt::Write as _,
    io::{self, Write},
};
use tensorcask::{Checkpoint, Data, TensorInfo, Value, source::Origin};

/// Findings that are listed; `check` shows the rest.
const FINDINGS: usize = 20;

/// Writes everything.
pub(super) fn write(out: &mut Out, checkpoint: &Checkpoint, verbose: bool) -> io::Result<()> {
    head(out, checkpoint)?;
    rows_of(out, checkpoint)?;
    totals(out, &checkpoint.tensors)?;
    metadata(out, checkpoint)?;
    findings(out, &rows(checkpoint, |_| true), if verbose { usize::MAX } else { FINDINGS })
}

/// `model.safetensors: safetensors, 1 file, 4.97 GB`
pub(super) fn head(out: &mut Out, checkpoint: &Checkpoint) -> io::Result<()> {
    let files = checkpoint.sources.iter().filter(|(_, source)| matches!(source.origin, Origin::File));
    let (n_files, bytes) = files.fold((0, 0u64), |(n, bytes), (id, _)| {
        (n + 1, bytes.saturating_add(checkpoint.sources.io(id).len()))
    });
    let version =
        checkpoint.format_version.as_ref().map(|version| format!(" {}", name(version))).unwrap_or_default();
    let path = out.paint(BOLD, escape(&shown(&checkpoint.path)));
    writeln!(out, "{path}: {}{version}, {}, {}", checkpoint.format, counted(n_files, "file"), size(bytes))
}

fn rows_of(out: &mut Out, checkpoint: &Checkpoint) -> io::Result<()> {
    if checkpoint.tensors.is_empty() {
        return Ok(());
    }
    let places = Places::of(checkpoint);
    // Sidecars are files too, but they hold no tensors: one file of tensors needs no column.
    let mut files = checkpoint.tensors.iter().map(|tensor| places.place(tensor).0);
    let first = files.next();
    let has_files = files.any(|file| Some(&file) != first.as_ref());
    let mut lines = vec![
        ["TENSOR", "DTYPE", "SHAPE", "SIZE", "OFFSET", if has_files { "FILE" } else { "" }].map(String::from),
    ];
    for tensor in &checkpoint.tensors {
        let (file, offset) = places.place(tensor);
        lines.push([
            name(&tensor.name).into_owned(),
            name(tensor.dtype.name()).into_owned(),
            tensor.view.shape.to_string(),
            size(tensor.byte_len()),
            place(tensor, offset),
            file.filter(|_| has_files).map(|file| name(&file).into_owned()).unwrap_or_default(),
        ]);
    }
    let mut widths = [0; 6];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for (position, cells) in lines.iter().enumerate() {
        let mut line = String::new();
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            // Numbers end at the same column, words begin at it.
            let _ = if matches!(column, 3 | 4) {
                write!(line, "{cell:>width$}  ")
            } else {
                write!(line, "{cell:<width$}  ")
            };
        }
        let line = line.trim_end();
        if position == 0 {
            let line = out.paint(DIM, line);
            writeln!(out, "{line}")?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// The offset, or why there is none.
pub(super) fn place(tensor: &TensorInfo, offset: Option<u64>) -> String {
    match (&tensor.view.data, offset) {
        (Data::Missing { have, .. }, _) => format!("missing, {} here", size(*have)),
        (_, Some(offset)) => offset.to_string(),
        _ => "-".into(),
    }
}

fn totals(out: &mut Out, tensors: &[TensorInfo]) -> io::Result<()> {
    let totals = Totals::of(tensors);
    let line = format!(
        "{}, {}, {}",
        counted(totals.tensors, "tensor"),
        counted(totals.parameters, "parameter"),
        size(totals.bytes)
    );
    let line = out.paint(BOLD, line);
    writeln!(out, "{line}")?;
    if totals.by_dtype.len() > 1 {
        for (dtype, share) in &totals.by_dtype {
            let n_tensors = counted(share.tensors, "tensor");
            writeln!(
                out,
                "  {}: {n_tensors}, {} parameters, {}",
                name(dtype),
                count(share.parameters),
                size(share.bytes)
            )?;
        }
    }
    Ok(())
}

fn metadata(out: &mut Out, checkpoint: &Checkpoint) -> io::Result<()> {
    for (key, value) in &checkpoint.metadata {
        writeln!(out, "metadata {}: {}", name(key), value_text(value))?;
    }
    Ok(())
}

/// A value on one line, cut at 200 characters.
fn value_text(value: &Value) -> String {
    match value {
        Value::Str(text) => name(text).into_owned(),
        other => name(&serde_json::to_string(&MetadataValue(other)).unwrap_or_default()).into_owned(),
    }
}

fn findings(out: &mut Out, rows: &[Row], most: usize) -> io::Result<()> {
    for row in rows.iter().take(most) {
        let head =
            out.paint(colour(row.severity), format_args!("{}[{}]", row.severity.name(), row.rule.code));
        writeln!(out, "{head}: {}", message(&row.message))?;
    }
    if rows.len() > most {
        writeln!(out, "{} more findings: `tensorcask check` shows them", count((rows.len() - most) as u64))?;
    }
    Ok(())
}
