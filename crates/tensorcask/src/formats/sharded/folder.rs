//! A folder, or the index that was given for it, as one checkpoint: which files belong to it, and their tables joined.

use super::{index, names, names::Numbered, rules};
use crate::{
    checkpoint::{Metadata, Value},
    core::{DType, Data, Dims, Error, Place, Result, SourceId, TensorInfo, Text},
    format::ReadCx,
    source::{Entry, EntryKind},
};
use std::collections::{BTreeMap, BTreeSet};

/// Folders nested deeper than this below a model are not looked into; real ones have two levels.
const DEEPEST: usize = 16;

/// The names that a loader takes before any index, most wanted first (transformers, diffusers).
const SINGLE_FILES: &[&str] =
    &["model.safetensors", "diffusion_pytorch_model.safetensors", "pytorch_model.bin"];

pub(super) fn read(cx: &mut ReadCx<'_>) -> Result<()> {
    let listing = cx.root.list("").map_err(|error| Error::io(cx.name, error))?;
    let files: BTreeSet<Text> = listing
        .iter()
        .filter(|entry| matches!(entry.kind, EntryKind::File | EntryKind::DeadLink))
        .map(|entry| entry.name.clone())
        .collect();
    let weights: BTreeSet<Text> = files
        .iter()
        .filter(|name| cx.promises_weights(name) && !name.starts_with("adapter_model"))
        .cloned()
        .collect();
    let set = match cx.input {
        Some(source) => indexed(cx, source, &weights)?,
        None => choose(cx, &files, &weights)?,
    };
    let joined: BTreeSet<Text> = set.shards.iter().cloned().collect();
    join(cx, &set.shards, set.from_index)?;
    cx.checkpoint.metadata.extend(set.metadata);
    if set.from_index {
        missing_tensors(cx, set.refused);
        parameters(cx);
    }
    if cx.input.is_some() {
        return Ok(());
    }
    // What lies beside the set and below the folder is looked into as well: nothing in it goes unseen.
    for name in weights.difference(&joined).filter(|name| !set.others.contains(*name)) {
        stray(cx, name, &joined, set.from_index);
    }
    let mut below = BTreeSet::new();
    nested(cx, "", &listing, 0, &mut below);
    for name in weights.union(&below).filter(|name| !joined.contains(*name)) {
        let Some(source) = cx.open_file(name)? else { continue };
        let format = cx.checkpoint.format;
        let n_tensors = cx.read_child(source)?.first_tensor;
        cx.checkpoint.tensors.truncate(n_tensors);
        cx.checkpoint.format = format;
    }
    Ok(())
}

/// Names of weight files in the folders below. Links to folders are not followed: what they lead to inside is met there.
fn nested(cx: &ReadCx<'_>, prefix: &str, listing: &[Entry], depth: usize, found: &mut BTreeSet<Text>) {
    let folders = listing.iter().filter(|entry| entry.kind == EntryKind::Folder && !entry.is_link);
    for folder in folders.filter(|entry| !entry.name.starts_with('.') && depth < DEEPEST) {
        let path = format!("{prefix}{}", folder.name);
        // A folder that cannot be listed cannot be read by a loader either.
        let Ok(listing) = cx.root.list(&path) else { continue };
        let files =
            listing.iter().filter(|entry| entry.kind == EntryKind::File && cx.promises_weights(&entry.name));
        found.extend(files.map(|entry| Text::from(format!("{path}/{}", entry.name))));
        nested(cx, &format!("{path}/"), &listing, depth.saturating_add(1), found);
    }
}

/// The files that make up the checkpoint.
#[derive(Default)]
struct Set {
    shards: Vec<Text>,
    /// Weight files that are accounted for, but in another set.
    others: BTreeSet<Text>,
    metadata: Metadata,
    /// Tensors, and the names of their shards that may not be followed.
    refused: Vec<(Text, Text)>,
    from_index: bool,
}

fn indexed(cx: &mut ReadCx<'_>, source: SourceId, weights: &BTreeSet<Text>) -> Result<Set> {
    let Some(index) = index::read(cx, source)? else { return Ok(Set { from_index: true, ..Set::default() }) };
    let mut shards = index.shards;
    // A file of the same numbering belongs to the set, also when the map puts no tensor into it (mlx-lm writes an empty
    // first shard when the first tensor alone is over the limit).
    let numbering = |name: &Text| {
        Numbered::parse(name).map(|shard| (shard.stem.to_owned(), shard.ext.to_owned(), shard.total))
    };
    let numberings: BTreeSet<_> = shards.iter().filter_map(numbering).collect();
    shards.extend(
        weights.iter().filter(|name| numbering(name).is_some_and(|it| numberings.contains(&it))).cloned(),
    );
    let shards: Vec<Text> = shards.into_iter().collect();
    numbering_of_indexed(cx, source, &shards);
    cx.checkpoint.shard_map = Some(index.map);
    Ok(Set {
        shards,
        others: BTreeSet::new(),
        metadata: index.metadata,
        refused: index.refused,
        from_index: true,
    })
}

fn choose(cx: &mut ReadCx<'_>, files: &BTreeSet<Text>, weights: &BTreeSet<Text>) -> Result<Set> {
    // safetensors before all others, as the loaders do; among equals the shortest name, so a variant comes last.
    let mut indexes: Vec<&Text> = files.iter().filter(|name| names::is_index(name)).collect();
    indexes.sort_by_key(|name| {
        (names::shard_extension(name) != Some("safetensors"), name.len(), (*name).clone())
    });
    if let Some((first, rest)) = indexes.split_first() {
        let mut others = BTreeSet::new();
        for other in rest {
            if let Some(source) = cx.open_file(other)?
                && let Some(index) = index::read(cx, source)?
            {
                others.extend(index.shards);
            }
        }
        return match cx.open_file(first)? {
            Some(source) => Ok(Set { others, ..indexed(cx, source, weights)? }),
            None => Ok(Set { from_index: true, ..Set::default() }),
        };
    }
    let mut groups: BTreeMap<(&str, &str, u32), BTreeSet<u32>> = BTreeMap::new();
    for shard in weights.iter().filter_map(|name| Numbered::parse(name)) {
        groups.entry((shard.stem, shard.ext, shard.total)).or_default().insert(shard.number);
    }
    let single = SINGLE_FILES.iter().find(|name| weights.contains(**name));
    // Of several numberings the one with most shards is the set; the others are left-overs.
    let largest = groups
        .iter()
        .max_by_key(|(key, numbers)| (key.1 == "safetensors", numbers.len(), std::cmp::Reverse(key.2)));
    if let (None, Some((&(stem, ext, total), numbers))) = (single, largest) {
        return Ok(Set {
            shards: numbered(cx, &Numbered { stem, ext, total, number: 0 }, numbers),
            ..Set::default()
        });
    }
    let loose: Vec<&Text> = weights.iter().filter(|name| name.ends_with(".safetensors")).collect();
    let shards = match (single, &loose[..]) {
        (Some(single), _) => vec![Text::from(*single)],
        (None, [one]) => vec![(*one).clone()],
        (None, [first, rest @ ..]) => {
            let rest = rest.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let message =
                format!("no index says how `{first}` and {rest} belong together; only `{first}` is listed");
            cx.report(
                rules::NOT_A_SET.found(Place::Whole, message).help("give the other files by their own path"),
            );
            let others = loose.iter().copied().cloned().collect();
            return Ok(Set { shards: vec![(*first).clone()], others, ..Set::default() });
        }
        (None, []) => Vec::new(),
    };
    // Without safetensors every other weight file is looked into one by one; none of them is stray.
    let others = if shards.is_empty() { weights.clone() } else { BTreeSet::new() };
    Ok(Set { shards, others, ..Set::default() })
}

/// Shards by their numbering alone.
fn numbered(cx: &mut ReadCx<'_>, set: &Numbered<'_>, numbers: &BTreeSet<u32>) -> Vec<Text> {
    let first = set.sibling(numbers.first().copied().unwrap_or(1));
    if set.total > 1 {
        let message = format!("`{first}` and its {} siblings have no index", numbers.len().saturating_sub(1));
        let help = "`tensorcask convert` of the folder into a new one writes the index";
        cx.report(rules::SHARDS_WITHOUT_INDEX.found(Place::Whole, message).help(help));
    }
    // A hostile total asks for millions of names; a set of which a hundred are missing is told well enough by those.
    for number in (1..=set.total).filter(|number| !numbers.contains(number)).take(100) {
        let shard = set.sibling(number);
        index::missing(
            cx,
            &shard,
            format!("the shard `{shard}` of the numbering 1 to {} is missing", set.total),
        );
    }
    numbers.iter().map(|number| Text::from(set.sibling(*number))).collect()
}

/// IX10 for the shards that an index names.
fn numbering_of_indexed(cx: &mut ReadCx<'_>, source: SourceId, shards: &[Text]) {
    let numbered: Vec<Numbered<'_>> = shards.iter().filter_map(|name| Numbered::parse(name)).collect();
    let Some(first) = numbered.first() else { return };
    let whole = cx.checkpoint.sources.whole(source);
    if let Some(other) = numbered.iter().find(|shard| shard.total != first.total) {
        let message = format!(
            "the index names shards of two numberings: `{}` and `{}`",
            first.sibling(first.number),
            other.sibling(other.number)
        );
        cx.report(rules::SHARD_NUMBERING.at(whole, message));
    } else if numbered.len() == shards.len() && numbered.len() as u64 != u64::from(first.total) {
        let have: BTreeSet<u32> = numbered.iter().map(|shard| shard.number).collect();
        let hole = (1..=first.total).find(|number| !have.contains(number)).unwrap_or_default();
        let message = format!(
            "the index names {} of {} numbered shards; the first left out is number {hole}",
            have.len(),
            first.total
        );
        cx.report(rules::SHARD_NUMBERING.at(whole, message));
    }
}

/// Opens every shard and joins its table; metadata that several shards repeat is kept once.
fn join(cx: &mut ReadCx<'_>, shards: &[Text], from_index: bool) -> Result<()> {
    let mut formats = BTreeSet::new();
    for shard in shards {
        let n_findings = cx.checkpoint.findings.count_all();
        let Some(source) = cx.open_file(shard)? else {
            if cx.checkpoint.findings.count_all() == n_findings {
                let message = if from_index {
                    format!("the index names the shard `{shard}`, which is not there")
                } else {
                    format!("the shard `{shard}` is not there")
                };
                index::missing(cx, shard, message);
            }
            continue;
        };
        let child = cx.read_child(source)?;
        formats.insert(child.format);
        for tensor in cx.checkpoint.tensors.iter_mut().skip(child.first_tensor) {
            if let Data::Missing { file: file @ None, .. } = &mut tensor.view.data {
                *file = Some(shard.clone());
            }
        }
        let format_is_read = cx.checkpoint.unread.last() != Some(shard);
        if from_index && cx.checkpoint.tensors.len() == child.first_tensor && format_is_read {
            let whole = cx.checkpoint.sources.whole(source);
            let finding = rules::EMPTY_SHARD.at(whole, format!("the shard `{shard}` holds no tensor"));
            if !cx.checkpoint.is_broken() {
                cx.report(finding.subject(shard.clone()));
            }
        }
        for pair in child.metadata {
            if !cx.checkpoint.metadata.contains(&pair) {
                cx.checkpoint.metadata.push(pair);
            }
        }
    }
    // The set is of the format of its shards.
    if let [one] = formats.into_iter().collect::<Vec<_>>()[..] {
        cx.checkpoint.format = one;
    }
    Ok(())
}

/// Tensors that the index names and no open shard holds stay in the table as missing.
fn missing_tensors(cx: &mut ReadCx<'_>, refused: Vec<(Text, Text)>) {
    let Some(map) = &cx.checkpoint.shard_map else { return };
    let here: std::collections::HashSet<&str> =
        cx.checkpoint.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    let mut missing = Vec::new();
    let mapped = map.entries.iter().map(|entry| (entry.tensor.clone(), entry.shard.clone()));
    for (tensor, shard) in mapped.chain(refused).filter(|(tensor, _)| !here.contains(tensor.as_str())) {
        let data = Data::Missing { want: 0, have: 0, file: Some(shard) };
        missing.push(TensorInfo::dense(tensor, DType::Unknown(Text::default()), Dims::SCALAR, data));
    }
    cx.checkpoint.tensors.extend(missing);
}

/// `total_parameters` says nothing of its own when it counts the table; else it is kept as metadata.
fn parameters(cx: &mut ReadCx<'_>) {
    let Some((text, _)) = cx.checkpoint.shard_map.as_ref().and_then(|map| map.total_parameters.clone())
    else {
        return;
    };
    let counted =
        cx.checkpoint.tensors.iter().fold(0u64, |sum, tensor| sum.saturating_add(tensor.n_elements()));
    if text.parse() != Ok(counted) {
        let value = text.parse().map_or_else(|_| Value::Str(text.clone()), Value::Int);
        cx.checkpoint.metadata.push(("total_parameters".into(), value));
    }
}

/// A weight file of the set's own kind that is no part of it.
fn stray(cx: &mut ReadCx<'_>, name: &Text, joined: &BTreeSet<Text>, from_index: bool) {
    let ext = crate::format::extension(name);
    // `training_args.bin` is no left-over of `pytorch_model.bin`; a loader's pattern starts with the set's own stem.
    let stem = |name: &Text| name.split(['-', '.']).next().unwrap_or_default().to_owned();
    let same_kind = joined.iter().any(|shard| {
        crate::format::extension(shard) == ext && (ext == "safetensors" || name.starts_with(&stem(shard)))
    });
    let place = || Place::File(name.clone());
    if from_index && (*name == "model.safetensors" || *name == "diffusion_pytorch_model.safetensors") {
        let message =
            format!("`{name}` lies beside a shard index: some loaders take it in place of the shards");
        let finding = rules::SINGLE_BESIDE_INDEX.found(place(), message).subject(name.clone());
        cx.report(finding.help("remove the single file or the set"));
    } else if same_kind {
        let what = if from_index { "is not named by the index" } else { "is no part of the set" };
        let finding = rules::STRAY_WEIGHTS.found(place(), format!("`{name}` {what}")).subject(name.clone());
        cx.report(finding.help("move it away: loaders that take every file of a pattern merge it"));
    }
}
