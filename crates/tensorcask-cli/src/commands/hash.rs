//! `hash PATH…`: one root a checkpoint, the same whatever the container and the sharding.

use super::{Exit, Targets, failure, options, whole};
use crate::{
    args::HashArgs,
    progress::Bar,
    render::{
        Out, json,
        numbers::{counted, escape, name},
        say, text,
    },
    report::shown,
};
use anyhow::Result;
use serde::{Serialize, Serializer};
use std::io::Write;
use tensorcask::{
    Checkpoint, OpenOptions, Severity, TensorInfo,
    ops::hash::{Identity, digest_text, identity},
};

/// `hash PATH…`
pub(crate) fn run(args: &HashArgs, out: &mut Out) -> Result<Exit> {
    let options = options(&args.reading);
    let targets = Targets::find(&args.paths, &options);
    let (is_one, skipped, n_results) = (targets.is_one(), targets.skipped, targets.items.len());
    let (mut findings, mut unfinished) = (false, false);
    let mut stream = json::Stream::default();
    for item in targets.items {
        let path = item.path.clone();
        match hash(item, &options) {
            Ok((checkpoint, identity)) => {
                let row = Row { path: shown(&path), checkpoint: &checkpoint, identity: &identity };
                if args.talk.json {
                    stream.add(out, &row)?;
                } else if !args.talk.quiet {
                    lines(out, &row, args.talk.verbose)?;
                }
            }
            Err(error) if is_one => return Err(error),
            Err(error) => {
                let failure = failure(&path, error)?;
                let is_rejected = failure.error.kind == "rejected";
                findings |= is_rejected;
                unfinished |= !is_rejected;
                if args.talk.json {
                    stream.add(out, &failure)?;
                } else if !args.talk.quiet {
                    text::failure(out, &failure)?;
                    text::findings(out, &failure.error.findings, Severity::Warning, args.talk.verbose)?;
                }
            }
        }
    }
    if args.talk.json {
        stream.finish(out)?;
    } else if !args.talk.quiet && (n_results > 1 || skipped > 0) {
        out.flush()?;
        say(format_args!("{}, {skipped} skipped", counted(n_results as u64, "result")));
    }
    Ok(Exit::of(findings, unfinished))
}

fn hash(item: super::Item, options: &OpenOptions) -> Result<(Checkpoint, Identity)> {
    let checkpoint = whole(item.read(options)?)?;
    if checkpoint.tensors.is_empty() && !checkpoint.unread.is_empty() {
        let message = format!(
            "{} is recognised but not read by this version: there is nothing to hash",
            checkpoint.format
        );
        return Err(tensorcask::Error::Unsupported { path: checkpoint.path, message }.into());
    }
    let bar = Bar::new();
    let identity = identity(&checkpoint, &bar)?;
    Ok((checkpoint, identity))
}

fn lines(out: &mut Out, row: &Row<'_>, verbose: bool) -> Result<()> {
    writeln!(out, "{}  {}", row.identity.root, escape(&row.path))?;
    if verbose {
        writeln!(out, "{}  content, names left out", row.identity.content_root)?;
        for (tensor, digest) in row.sorted() {
            writeln!(out, "  {}  {} {} {}", digest, tensor.dtype, tensor.view.shape, name(&tensor.name))?;
        }
    }
    Ok(())
}

/// One result.
struct Row<'a> {
    path: String,
    checkpoint: &'a Checkpoint,
    identity: &'a Identity,
}

impl Row<'_> {
    /// The tensors with their digests, sorted by name.
    fn sorted(&self) -> Vec<(&TensorInfo, String)> {
        let digests = self.identity.tensors.iter().map(digest_text);
        let mut rows: Vec<_> = self.checkpoint.tensors.iter().zip(digests).collect();
        rows.sort_by(|a, b| a.0.name.cmp(&b.0.name));
        rows
    }
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document<'a> {
            path: &'a str,
            root: &'a str,
            content_root: &'a str,
            tensors: Vec<Tensor<'a>>,
        }
        #[derive(Serialize)]
        struct Tensor<'a> {
            name: &'a str,
            dtype: &'a str,
            shape: &'a [u64],
            digest: String,
        }
        let sorted = self.sorted();
        let tensors = sorted.iter().map(|(tensor, digest)| Tensor {
            name: &tensor.name,
            dtype: tensor.dtype.name(),
            shape: &tensor.view.shape,
            digest: digest.clone(),
        });
        Document {
            path: &self.path,
            root: &self.identity.root,
            content_root: &self.identity.content_root,
            tensors: tensors.collect(),
        }
        .serialize(serializer)
    }
}
