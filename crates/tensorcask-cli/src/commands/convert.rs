//! `convert SRC DST`: plan, losses by name, run, proof.

use super::{Exit, options, whole};
use crate::{
    args::ConvertArgs,
    progress::Bar,
    render::{
        Out, json,
        numbers::{counted, escape, message, name, size},
        say,
    },
    report::{Row, shown},
};
use anyhow::Result;
use serde::Serialize;
use std::{
    fs,
    io::{self, Write},
};
use tensorcask::{
    Checkpoint, Error, Finding, Text,
    ops::{
        convert::{ConvertOptions, Plan, Receipt, plan},
        hash::digest_text,
    },
};

/// A job of this size lasts: it is announced.
const LONG_JOB_BYTES: u64 = 100_000_000;

/// `convert SRC DST`
pub(crate) fn run(args: &ConvertArgs, out: &mut Out) -> Result<Exit> {
    let checkpoint = whole(options(&args.reading).read(&args.source)?)?;
    let plan = plan(&checkpoint, &args.target, &wanted(args))?;
    if args.dry_run {
        if args.talk.json {
            json::document(out, &PlanDocument::new(&checkpoint, &plan))?;
        } else if !args.talk.quiet {
            writeln!(out, "would write {}, {}:", escape(&shown(&plan.target)), plan.format)?;
            text(out, &checkpoint, &plan, args.talk.verbose)?;
            let n_tensors = counted(plan.targets.len() as u64, "tensor");
            let lossless = if plan.is_lossless() { "lossless" } else { "not lossless" };
            let n_files = counted(plan.files.len() as u64, "file");
            writeln!(out, "{n_tensors}, {} in {n_files}, {lossless}; nothing is written", size(plan.bytes))?;
        }
        return Ok(Exit::Done);
    }
    if !args.talk.quiet {
        for loss in &plan.losses {
            say(format_args!("lost: {}", message(&loss.message)));
        }
        if args.talk.verbose && !args.talk.json {
            text(out, &checkpoint, &plan, true)?;
            out.flush()?;
        }
        if plan.bytes >= LONG_JOB_BYTES {
            say(intent(&checkpoint, &plan));
        }
    }
    let bar = Bar::new();
    let receipt = plan.run(&checkpoint, &bar)?;
    drop(bar);
    let document = ReceiptDocument::new(&receipt);
    if let Some(path) = &args.receipt {
        let mut text = Vec::new();
        json::document(&mut text, &document)?;
        fs::write(path, text).map_err(|error| Error::io(path, error))?;
    }
    if args.talk.json {
        json::document(out, &document)?;
    } else if !args.talk.quiet {
        let n_tensors = counted(plan.targets.len() as u64, "tensor");
        let n_files = counted(plan.files.len() as u64, "file");
        let lossless = if receipt.lossless { "lossless" } else { "not lossless" };
        let target = escape(&shown(&plan.target)).into_owned();
        writeln!(
            out,
            "{target}: {n_tensors}, {} in {n_files}, read back and equal, {lossless}",
            size(plan.bytes)
        )?;
    }
    Ok(Exit::Done)
}

fn wanted(args: &ConvertArgs) -> ConvertOptions {
    let mut wanted = ConvertOptions::default();
    wanted.format.clone_from(&args.to);
    wanted.max_shard_bytes = args.max_shard_size;
    wanted.overwrite = args.overwrite;
    wanted.accept.clone_from(&args.accept);
    wanted.include.clone_from(&args.include);
    wanted.exclude.clone_from(&args.exclude);
    wanted.rename.clone_from(&args.rename);
    wanted.strip_prefix.clone_from(&args.strip_prefix);
    wanted.reserve_bytes = args.reserve;
    wanted
}

/// What a long job will read and write.
fn intent(checkpoint: &Checkpoint, plan: &Plan) -> String {
    let tensors: u64 = plan.targets.iter().map(|target| target.bytes).fold(0, u64::saturating_add);
    format!(
        "reads {} from {}, writes {} in {} to {}, then reads that back",
        size(tensors),
        escape(&shown(&checkpoint.path)),
        size(plan.bytes),
        counted(plan.files.len() as u64, "file"),
        escape(&shown(&plan.target)),
    )
}

/// The plan for people. One line a file, and with `-v` one a tensor.
fn text(out: &mut Out, checkpoint: &Checkpoint, plan: &Plan, verbose: bool) -> io::Result<()> {
    for file in &plan.files {
        writeln!(out, "  {}  {}", name(&file.name), size(plan.file_len(file)))?;
    }
    for target in &plan.targets {
        let source = checkpoint.tensors.get(target.source).map(|tensor| &tensor.name);
        let renamed = source.filter(|source| **source != target.spec.name);
        if let Some(source) = renamed {
            writeln!(out, "renames {} to {}", name(source), name(&target.spec.name))?;
        } else if verbose {
            let spec = &target.spec;
            writeln!(out, "keeps {} {} {}", name(&spec.name), spec.dtype, spec.shape)?;
        }
    }
    for loss in &plan.losses {
        writeln!(out, "loses {}[{}]: {}", loss.rule.slug, loss.rule.code, message(&loss.message))?;
    }
    Ok(())
}

/// The proof, in the form of the document.
#[derive(Serialize)]
struct ReceiptDocument<'a> {
    schema: u32,
    source: String,
    target: String,
    lossless: bool,
    losses: Vec<Row>,
    tensors: Vec<ReceiptTensor<'a>>,
}

#[derive(Serialize)]
struct ReceiptTensor<'a> {
    source_names: Vec<&'a str>,
    name: &'a str,
    steps: &'a [&'static str],
    source_digest: String,
    expected_digest: String,
    target_digest: String,
    equal: bool,
}

fn losses(losses: &[Finding]) -> Vec<Row> {
    losses.iter().map(|loss| Row::new(loss, None)).collect()
}

impl<'a> ReceiptDocument<'a> {
    fn new(receipt: &'a Receipt) -> Self {
        let tensors = receipt.tensors.iter().map(|row| ReceiptTensor {
            source_names: row.source_names.iter().map(Text::as_str).collect(),
            name: &row.name,
            steps: &row.steps,
            source_digest: digest_text(&row.source_digest),
            expected_digest: digest_text(&row.expected_digest),
            target_digest: digest_text(&row.target_digest),
            equal: row.equal,
        });
        ReceiptDocument {
            schema: json::SCHEMA,
            source: shown(&receipt.source),
            target: shown(&receipt.target),
            lossless: receipt.lossless,
            losses: losses(&receipt.losses),
            tensors: tensors.collect(),
        }
    }
}

/// The plan, in the form of the document: `convert --dry-run --json`.
#[derive(Serialize)]
struct PlanDocument<'a> {
    schema: u32,
    dry_run: bool,
    source: String,
    target: String,
    format: &'a str,
    lossless: bool,
    losses: Vec<Row>,
    files: Vec<PlanFile<'a>>,
    tensors: Vec<PlanTensor<'a>>,
}

#[derive(Serialize)]
struct PlanFile<'a> {
    path: &'a str,
    bytes: u64,
}

#[derive(Serialize)]
struct PlanTensor<'a> {
    source_names: Vec<&'a str>,
    name: &'a str,
    steps: &'a [&'static str],
    dtype: &'a str,
    shape: &'a [u64],
    bytes: u64,
}

impl<'a> PlanDocument<'a> {
    fn new(checkpoint: &'a Checkpoint, plan: &'a Plan) -> Self {
        let tensors = plan.targets.iter().map(|target| PlanTensor {
            source_names: checkpoint
                .tensors
                .get(target.source)
                .map(|tensor| tensor.name.as_str())
                .into_iter()
                .collect(),
            name: &target.spec.name,
            steps: &target.steps,
            dtype: target.spec.dtype.name(),
            shape: &target.spec.shape,
            bytes: target.bytes,
        });
        let files = plan.files.iter().map(|file| PlanFile { path: &file.name, bytes: plan.file_len(file) });
        PlanDocument {
            schema: json::SCHEMA,
            dry_run: true,
            source: shown(&checkpoint.path),
            target: shown(&plan.target),
            format: plan.format,
            lossless: plan.is_lossless(),
            losses: losses(&plan.losses),
            files: files.collect(),
            tensors: tensors.collect(),
        }
    }
}
