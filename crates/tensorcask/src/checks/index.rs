//! A shard index against the shards: every tensor in the file that the index names for it, and nowhere else.

use super::{Check, CheckCx};
use crate::core::{Place, Result, Rule, Text, rule};
use std::collections::{BTreeSet, HashMap, HashSet};

pub(super) struct Index;

static NOT_IN_SHARD: Rule = rule!("SH007" "tensor-not-in-shard" Structure Error ["IX05"] "The index says that a tensor lies in a shard, and the shard does not hold it. Loaders raise, skip the tensor or leave it uninitialised. If the message names another shard, two lines of the index are swapped; else the shard and the index come from different saves.");
static NOT_IN_INDEX: Rule = rule!("SH008" "tensor-not-in-index" Structure Error ["IX06"] "A shard holds a tensor that the index does not name. Loaders that read every shard take it, loaders that follow the index do not: two programs see different weights.");
static IN_TWO_SHARDS: Rule = rule!("SH009" "tensor-in-two-shards" Structure Error ["IX07"] "Two shards hold a tensor of the same name. Loaders that read every shard take the last one, loaders that follow the index the named one.");
static TOTAL_SIZE: Rule = rule!("SH012" "total-size" Structure Warning ["IX09"] "`metadata.total_size` of the index is not the number of bytes of the tensors (the sum of their extents, not of the file sizes), or is written as a float. Loaders use it to plan memory; nothing is lost.");
static FORMAT_DIFFERS: Rule = rule!("SH015" "shard-format-differs" Structure Warning ["IX11"] "The shards name different frameworks in `__metadata__.format`: they come from different saves, and some loaders refuse one of the two.");

static RULES: &[&Rule] = &[&NOT_IN_SHARD, &NOT_IN_INDEX, &IN_TWO_SHARDS, &TOTAL_SIZE, &FORMAT_DIFFERS];

impl Check for Index {
    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn headers(&self, cx: &mut CheckCx<'_>) -> Result<()> {
        format_differs(cx);
        let Some(map) = cx.checkpoint.shard_map.clone() else { return Ok(()) };
        let mut findings = Vec::new();
        // Where each tensor lies; the few that lie in several files are kept apart.
        let mut holders: HashMap<&str, Text> = HashMap::new();
        let mut several: HashMap<&str, BTreeSet<Text>> = HashMap::new();
        for tensor in &cx.checkpoint.tensors {
            let Some(file) = cx.file_of(tensor).filter(|_| holds(tensor)) else { continue };
            match holders.get(tensor.name.as_str()) {
                None => {
                    holders.insert(&tensor.name, file);
                }
                Some(first) if *first == file => {}
                Some(first) => {
                    several.entry(&tensor.name).or_insert_with(|| [first.clone()].into()).extend([file]);
                }
            }
        }
        let missing_shards: BTreeSet<&Text> = cx
            .checkpoint
            .findings
            .iter()
            .filter(|finding| finding.rule.slug == "shard-missing")
            .filter_map(|finding| finding.subject.as_ref())
            .chain(&cx.checkpoint.unread)
            .collect();
        for entry in &map.entries {
            let holder = holders.get(entry.tensor.as_str());
            let there = match several.get(entry.tensor.as_str()) {
                Some(files) => files.contains(&entry.shard),
                None => holder == Some(&entry.shard),
            };
            // A shard that is absent or unread is one finding already.
            if there || missing_shards.contains(&entry.shard) && holder.is_none() {
                continue;
            }
            let message = match holder {
                Some(other) => {
                    format!("the index puts `{}` into `{}`; it lies in `{other}`", entry.tensor, entry.shard)
                }
                None => format!(
                    "the index puts `{}` into `{}`, which does not hold it",
                    entry.tensor, entry.shard
                ),
            };
            let finding =
                NOT_IN_SHARD.at(entry.span, message).tensor(&entry.tensor).subject(entry.shard.clone());
            findings.push(finding.help("fetch index and shards from one revision"));
        }
        // As many lines as tensors, each line right: then no tensor is without one.
        let all_named = findings.is_empty() && several.is_empty() && holders.len() == map.entries.len();
        let proves_nothing = all_named || map.is_damaged || map.entries.is_empty();
        let mapped: HashSet<&str> = if proves_nothing {
            HashSet::new()
        } else {
            map.entries.iter().map(|entry| entry.tensor.as_str()).collect()
        };
        for tensor in &cx.checkpoint.tensors {
            if proves_nothing || mapped.contains(tensor.name.as_str()) || !holds(tensor) {
                continue;
            }
            let Some(file) = cx.file_of(tensor) else { continue };
            let message =
                format!("the shard `{file}` holds `{}`, which the index does not name", tensor.name);
            findings.push(NOT_IN_INDEX.found(Place::File(file), message).tensor(&tensor.name));
        }
        let mut names: Vec<_> = several.iter().collect();
        names.sort_unstable();
        for (name, files) in names {
            let list = files.iter().map(|file| format!("`{file}`")).collect::<Vec<_>>().join(" and ");
            let place = Place::File(files.iter().next_back().cloned().unwrap_or_default());
            findings
                .push(IN_TWO_SHARDS.found(place, format!("`{name}` lies in {list}")).tensor(&(*name).into()));
        }
        if let Some((text, span)) = &map.total_size
            && !cx
                .checkpoint
                .tensors
                .iter()
                .any(|tensor| matches!(&tensor.view.data, crate::core::Data::Missing { want: 0, .. }))
            && cx.checkpoint.unread.is_empty()
        {
            let counted =
                cx.checkpoint.tensors.iter().fold(0u64, |sum, tensor| sum.saturating_add(tensor.byte_len()));
            if text.parse() != Ok(counted) {
                let message = match text.parse::<u64>() {
                    Ok(_) => format!("`total_size` is {text}, the tensors have {counted} bytes"),
                    Err(_) => {
                        format!("`total_size` is `{text}`, no integer; the tensors have {counted} bytes")
                    }
                };
                findings.push(TOTAL_SIZE.at(*span, message).help(format!("set it to {counted}")));
            }
        }
        cx.checkpoint.findings.extend(findings);
        Ok(())
    }
}

/// Whether an open file describes the tensor, be its bytes whole or not.
fn holds(tensor: &crate::core::TensorInfo) -> bool {
    !matches!(&tensor.view.data, crate::core::Data::Missing { want: 0, file: Some(_), .. } if tensor.dtype.name().is_empty())
}

fn format_differs(cx: &mut CheckCx<'_>) {
    let values = cx
        .checkpoint
        .metadata
        .iter()
        .filter(|(key, _)| key == "format")
        .map(|(_, value)| format!("{value:?}"));
    let mut values: Vec<String> = values.collect();
    values.sort_unstable();
    values.dedup();
    if values.len() > 1 && cx.checkpoint.sources.iter().count() > 1 {
        let message = format!("the shards name different formats in their metadata: {}", values.join(", "));
        let finding = FORMAT_DIFFERS.found(super::WHOLE, message);
        cx.checkpoint.findings.push(finding.help("fetch every shard from one revision"));
    }
}
