//! What will be written and what is lost, before the first byte is.

use super::{ConvertOptions, destination::Destination, names, rules};
use crate::{
    checkpoint::{Checkpoint, Metadata, Value},
    core::{Category, Error, Finding, Place, Report, Result, Rule, Text},
    format::{Job, OutFile, Segment, TensorSpec},
};
use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

/// A conversion as data.
#[non_exhaustive]
pub struct Plan {
    /// What will appear: a file, or a folder of files.
    pub target: PathBuf,
    /// Whether the target is a folder.
    pub is_folder: bool,
    /// Id of the format that is written.
    pub format: &'static str,
    /// Every tensor that is written, in the order of the source.
    pub targets: Vec<Target>,
    /// The metadata that is written.
    pub metadata: Metadata,
    /// What is lost: accepted by name, or asked for.
    pub losses: Vec<Finding>,
    /// The files, in the order in which they are written.
    pub files: Vec<OutFile>,
    /// Bytes of all files together.
    pub bytes: u64,
    pub(super) destination: Destination,
    pub(super) overwrite: bool,
    pub(super) sync: bool,
}

/// One tensor that is written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Target {
    /// Its name, element type and shape in the target.
    pub spec: TensorSpec,
    /// The tensor that it comes from: its position in the checkpoint.
    pub source: usize,
    /// Bytes that it takes.
    pub bytes: u64,
    /// What is done to it, in order: `rename`.
    pub steps: Vec<&'static str>,
}

/// Plans a conversion of `ck` to `target`; nothing is written.
///
/// A target whose name ends in the extension of a format is one file; any other name is a folder of shards.
///
/// # Errors
/// [`Error::Rejected`] when structure errors stand against the source; [`Error::Usage`] when a loss is not accepted, when
/// a pattern or a name does not fit, or when the target exists and may not be overwritten.
pub fn plan(ck: &Checkpoint, target: &Path, options: &ConvertOptions) -> Result<Plan> {
    let accepted = accepted(&options.accept)?;
    if ck.is_broken() {
        let findings = ck.findings.iter().cloned().collect();
        return Err(Error::Rejected(Box::new(Report { path: ck.path.clone(), findings })));
    }
    if ck.tensors.is_empty() && !ck.unread.is_empty() {
        return Err(Error::Unsupported {
            path: ck.path.clone(),
            message: format!("`{}` is recognised but not read by this version", ck.format),
        });
    }
    let destination = Destination::new(target, options.format.as_deref(), options.max_shard_bytes)?;
    destination.check(options.overwrite)?;
    let selection = names::select(ck, options)?;
    let mut losses = Vec::new();
    if !selection.left_out.is_empty() {
        losses.push(left_out(ck, &selection.left_out));
    }
    let targets = targets(ck, &destination, selection.kept, &mut losses)?;
    let metadata = metadata(ck, &destination, &mut losses);
    refuse(&losses, &accepted)?;
    let specs: Vec<TensorSpec> = targets.iter().map(|target| target.spec.clone()).collect();
    let files = destination.encoder.encode(&Job {
        targets: &specs,
        metadata: &metadata,
        file_name: &destination.file_name(),
        max_shard_bytes: destination.max_shard_bytes(options.max_shard_bytes),
        reserve_bytes: options.reserve_bytes,
    })?;
    let bytes = files.iter().map(|file| file_len(file, &targets)).fold(0, u64::saturating_add);
    Ok(Plan {
        target: target.to_owned(),
        is_folder: destination.is_folder,
        format: destination.info.id,
        targets,
        metadata,
        losses,
        files,
        bytes,
        destination,
        overwrite: options.overwrite,
        sync: options.sync,
    })
}

impl Plan {
    /// Whether the names, types, shapes and bytes of every source tensor and all metadata can be got back.
    pub fn is_lossless(&self) -> bool {
        self.losses.is_empty()
    }

    /// Bytes of one of the [`files`](Self::files).
    pub fn file_len(&self, file: &OutFile) -> u64 {
        file_len(file, &self.targets)
    }
}

fn file_len(file: &OutFile, targets: &[Target]) -> u64 {
    let len = |segment: &Segment| match segment {
        Segment::Bytes(bytes) => bytes.len() as u64,
        Segment::Tensor(target) => targets.get(*target).map_or(0, |target| target.bytes),
    };
    file.segments.iter().map(len).fold(0, u64::saturating_add)
}

fn targets(
    ck: &Checkpoint,
    destination: &Destination,
    kept: Vec<(usize, Text)>,
    losses: &mut Vec<Finding>,
) -> Result<Vec<Target>> {
    let mut targets = Vec::new();
    for (source, name) in kept {
        let Some(tensor) = ck.tensors.get(source) else { continue };
        if let crate::core::Data::Missing { want, have, .. } = &tensor.view.data {
            let message = format!("tensor `{}` has {have} of its {want} bytes", tensor.name);
            losses.push(rules::TENSOR_MISSING.found(Place::Whole, message).tensor(&tensor.name));
            continue;
        }
        if !destination.encoder.holds(&tensor.dtype) {
            let message = format!(
                "tensor `{}` is `{}`, which {} does not hold",
                tensor.name, tensor.dtype, destination.info.title
            );
            losses.push(rules::DTYPE_NOT_IN_TARGET.found(Place::Whole, message).tensor(&tensor.name));
            continue;
        }
        let shape = tensor.view.shape.clone();
        let bytes = tensor.dtype.byte_len(&shape).map_err(|_| Error::Unsupported {
            path: ck.path.clone(),
            message: format!(
                "tensor `{}`: `{}` {shape} fills no whole number of bytes",
                tensor.name, tensor.dtype
            ),
        })?;
        let steps = if name == tensor.name { Vec::new() } else { vec!["rename"] };
        targets.push(Target {
            spec: TensorSpec { name, dtype: tensor.dtype.clone(), shape },
            source,
            bytes,
            steps,
        });
    }
    Ok(targets)
}

fn left_out(ck: &Checkpoint, left_out: &[usize]) -> Finding {
    let named = left_out.iter().filter_map(|position| ck.tensors.get(*position)).take(3);
    let named = named.map(|tensor| format!("`{}`", tensor.name)).collect::<Vec<_>>().join(", ");
    let more = if left_out.len() > 3 { ", …" } else { "" };
    let message = format!("{} of {} tensors are left out: {named}{more}", left_out.len(), ck.tensors.len());
    rules::TENSORS_LEFT_OUT.found(Place::Whole, message)
}

/// One value a key: the first. Keys keep the order of the source.
fn metadata(ck: &Checkpoint, destination: &Destination, losses: &mut Vec<Finding>) -> Metadata {
    let (mut kept, mut at): (Metadata, HashMap<&str, usize>) = (Vec::new(), HashMap::new());
    for (key, value) in &ck.metadata {
        match at.get(key.as_str()).and_then(|at| kept.get(*at)) {
            Some((_, first)) if first == value => {}
            Some((_, first)) => {
                let message =
                    format!("metadata `{key}` is {} and {}; the first is kept", shown(first), shown(value));
                losses.push(rules::METADATA_CONFLICT.found(Place::Whole, message).subject(key.clone()));
            }
            None => {
                if !destination.encoder.holds_value(value) {
                    let message = format!("metadata `{key}` is {}, no text", shown(value));
                    losses.push(rules::METADATA_TYPE.found(Place::Whole, message).subject(key.clone()));
                }
                at.insert(key, kept.len());
                kept.push((key.clone(), value.clone()));
            }
        }
    }
    kept
}

fn shown(value: &Value) -> String {
    let short = |text: String| match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    match value {
        Value::Str(text) => format!("`{}`", short(text.to_string())),
        Value::Int(number) => format!("the integer {number}"),
        Value::Float(number) => format!("the number {number}"),
        Value::Bool(truth) => format!("{truth}"),
        Value::Null => "null".to_owned(),
        Value::List(values) => format!("a list of {}", values.len()),
        Value::Map(pairs) => format!("a map of {}", pairs.len()),
    }
}

fn accepted(words: &[String]) -> Result<Vec<&'static Rule>> {
    let find = |word: &String| {
        let rule = rules::RULES
            .iter()
            .copied()
            .find(|rule| rule.slug == word || rule.code.eq_ignore_ascii_case(word));
        rule.ok_or_else(|| {
            let slugs =
                rules::RULES.iter().map(|rule| format!("`{}`", rule.slug)).collect::<Vec<_>>().join(", ");
            Error::usage(format!("there is no loss called `{word}`"), format!("the losses are {slugs}"))
        })
    };
    words.iter().map(find).collect()
}

fn refuse(losses: &[Finding], accepted: &[&'static Rule]) -> Result<()> {
    if let Some(missing) = losses.iter().find(|loss| loss.rule.code == rules::TENSOR_MISSING.code) {
        let others = losses.iter().filter(|loss| loss.rule.code == rules::TENSOR_MISSING.code).count() - 1;
        let more = if others == 0 { String::new() } else { format!(", and {others} more are missing") };
        return Err(Error::usage(
            format!("{}[{}]: {}{more}", missing.rule.slug, missing.rule.code, missing.message),
            "fetch the file again, or leave the tensor out with `--exclude`",
        ));
    }
    let mut refused: BTreeMap<&str, (&Finding, u64)> = BTreeMap::new();
    for loss in losses {
        debug_assert_eq!(loss.rule.category, Category::Loss);
        let asked_for = loss.rule.code == rules::TENSORS_LEFT_OUT.code;
        if !asked_for && !accepted.iter().any(|rule| rule.code == loss.rule.code) {
            refused.entry(loss.rule.code).or_insert((loss, 0)).1 += 1;
        }
    }
    let Some((first, _)) = refused.values().next() else { return Ok(()) };
    let counted =
        refused.values().map(|(loss, count)| format!("{} × {}[{}]", count, loss.rule.slug, loss.rule.code));
    let flags = refused.values().map(|(loss, _)| format!("--accept {}", loss.rule.slug)).collect::<Vec<_>>();
    Err(Error::usage(
        format!(
            "the conversion would lose something: {}; first: {}",
            counted.collect::<Vec<_>>().join(", "),
            first.message
        ),
        format!("allow it by name: `{}`", flags.join(" ")),
    ))
}
