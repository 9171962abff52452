//! `diff A B`: which tensors and metadata differ.

use super::{Exit, options, whole};
use crate::{
    args::DiffArgs,
    progress::Bar,
    render::{
        GREEN, Out, RED, json,
        numbers::{counted, message, name},
    },
};
use anyhow::Result;
use serde::Serialize;
use std::io::{self, Write};
use tensorcask::{
    Text,
    ops::diff::{Diff, diff},
};

/// Lines of one kind that are shown before the rest is counted.
const SHOWN: usize = 50;

/// `diff A B`
pub(crate) fn run(args: &DiffArgs, out: &mut Out) -> Result<Exit> {
    let options = options(&args.reading);
    let a = whole(options.read(&args.a)?)?;
    let b = whole(options.read(&args.b)?)?;
    let bar = Bar::new();
    let found = diff(&a, &b, &bar)?;
    drop(bar);
    if args.talk.json {
        json::document(out, &Document::new(&found))?;
    } else if !args.talk.quiet {
        text(out, &found, a.tensors.len(), args.talk.verbose)?;
    }
    Ok(if found.equal { Exit::Done } else { Exit::Findings })
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    equal: bool,
    only_a: Vec<&'a str>,
    only_b: Vec<&'a str>,
    changed: Vec<Changed<'a>>,
    metadata: Vec<Metadata<'a>>,
}

#[derive(Serialize)]
struct Changed<'a> {
    name: &'a str,
    /// `dtype`, `shape`, `bytes`
    what: Vec<&'a str>,
    /// The same with both sides.
    details: &'a [String],
}

#[derive(Serialize)]
struct Metadata<'a> {
    key: &'a str,
    a: Option<&'a str>,
    b: Option<&'a str>,
}

impl<'a> Document<'a> {
    fn new(found: &'a Diff) -> Self {
        let names = |names: &'a [Text]| names.iter().map(Text::as_str).collect();
        let changed = found.changed.iter().map(|change| Changed {
            name: &change.name,
            what: change.what.iter().map(|what| first_word(what)).collect(),
            details: &change.what,
        });
        let metadata = found.metadata.iter().map(|change| Metadata {
            key: &change.key,
            a: change.a.as_deref(),
            b: change.b.as_deref(),
        });
        Document {
            schema: json::SCHEMA,
            equal: found.equal,
            only_a: names(&found.only_a),
            only_b: names(&found.only_b),
            changed: changed.collect(),
            metadata: metadata.collect(),
        }
    }
}

fn first_word(text: &str) -> &str {
    text.split([' ', ':']).next().unwrap_or(text)
}

fn text(out: &mut Out, found: &Diff, n_tensors: usize, verbose: bool) -> io::Result<()> {
    let most = if verbose { usize::MAX } else { SHOWN };
    list(out, most, "only in A", found.only_a.iter().map(|tensor| name(tensor).into_owned()))?;
    list(out, most, "only in B", found.only_b.iter().map(|tensor| name(tensor).into_owned()))?;
    let change = |change: &tensorcask::ops::diff::Change| {
        format!("{}: {}", name(&change.name), message(&change.what.join("; ")))
    };
    list(out, most, "changed", found.changed.iter().map(change))?;
    let side = |value: &Option<String>| {
        value.as_ref().map_or_else(|| "none".into(), |value| format!("`{}`", name(value)))
    };
    let item = |change: &tensorcask::ops::diff::MetadataChange| {
        format!("{}: {} -> {}", name(&change.key), side(&change.a), side(&change.b))
    };
    list(out, most, "metadata", found.metadata.iter().map(item))?;
    if found.equal {
        let word = out.paint(GREEN, "equal");
        return writeln!(out, "{word}: {} and all metadata", counted(n_tensors as u64, "tensor"));
    }
    let word = out.paint(RED, "different");
    writeln!(
        out,
        "{word}: {} only in A, {} only in B, {} changed; {} of metadata",
        found.only_a.len(),
        found.only_b.len(),
        found.changed.len(),
        counted(found.metadata.len() as u64, "item"),
    )
}

fn list(
    out: &mut Out,
    most: usize,
    label: &str,
    lines: impl ExactSizeIterator<Item = String>,
) -> io::Result<()> {
    let more = lines.len().saturating_sub(most);
    for line in lines.take(most) {
        writeln!(out, "{label}: {line}")?;
    }
    if more > 0 {
        writeln!(out, "{label}: {} more, shown with `-v`", crate::render::numbers::count(more as u64))?;
    }
    Ok(())
}
