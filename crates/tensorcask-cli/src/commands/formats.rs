//! `formats`: what this version reads, writes and recognises, from the registry.

use super::Exit;
use crate::{
    args::FormatsArgs,
    render::{Out, json},
};
use anyhow::Result;
use serde::Serialize;
use std::io::Write;
use tensorcask::{
    format::{FormatInfo, Status},
    formats,
};

/// `formats [--matrix]`
pub(crate) fn run(args: &FormatsArgs, out: &mut Out) -> Result<Exit> {
    let infos: Vec<&FormatInfo> = formats::ALL.iter().map(|format| format.info()).collect();
    if args.json {
        #[derive(Serialize)]
        struct Document<'a> {
            schema: u32,
            formats: Vec<Row<'a>>,
        }
        let formats = infos.iter().map(|info| Row::new(info)).collect();
        json::document(out, &Document { schema: json::SCHEMA, formats })?;
        return Ok(Exit::Done);
    }
    let rows = if args.matrix { matrix(&infos) } else { list(&infos) };
    table(out, &rows)?;
    Ok(Exit::Done)
}

/// A format, in the form of the document.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    title: &'a str,
    extensions: &'a [&'a str],
    status: &'a str,
    reads: bool,
    writes: bool,
    specification: &'a str,
}

impl<'a> Row<'a> {
    fn new(info: &'a FormatInfo) -> Self {
        Row {
            id: info.id,
            title: info.title,
            extensions: info.extensions,
            status: status(info),
            reads: reads(info),
            writes: writes(info),
            specification: info.specification,
        }
    }
}

fn status(info: &FormatInfo) -> &'static str {
    match info.status {
        Status::ReadWrite => "read, write",
        Status::Read => "read",
        Status::Recognised => "recognised",
    }
}

fn reads(info: &FormatInfo) -> bool {
    info.status != Status::Recognised
}

fn writes(info: &FormatInfo) -> bool {
    info.status == Status::ReadWrite
}

fn list(infos: &[&FormatInfo]) -> Vec<Vec<String>> {
    let mut rows = vec![["FORMAT", "NAME", "STATUS", "EXTENSIONS"].map(String::from).to_vec()];
    for info in infos {
        let extensions: Vec<_> = info.extensions.iter().map(|extension| format!(".{extension}")).collect();
        rows.push(vec![info.id.into(), info.title.into(), status(info).into(), extensions.join(" ")]);
    }
    rows
}

/// One row a source; what can be done with it, and the formats that it converts to.
fn matrix(infos: &[&FormatInfo]) -> Vec<Vec<String>> {
    let targets: Vec<&FormatInfo> = infos.iter().copied().filter(|info| writes(info)).collect();
    let mut head: Vec<String> =
        ["FORMAT", "name it", "inspect", "check", "hash, diff"].map(String::from).to_vec();
    head.extend(targets.iter().map(|target| format!("to {}", target.id)));
    let mark = |yes: bool| if yes { "yes".to_owned() } else { "-".to_owned() };
    let mut rows = vec![head];
    for info in infos {
        let mut row = vec![info.id.to_owned(), mark(true)];
        row.extend((0..3 + targets.len()).map(|_| mark(reads(info))));
        rows.push(row);
    }
    rows
}

fn table(out: &mut Out, rows: &[Vec<String>]) -> Result<()> {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        writeln!(out, "{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}
