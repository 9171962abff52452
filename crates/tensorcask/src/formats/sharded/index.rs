//! The shard index: which tensor lies in which shard.

use super::{names, rules};
use crate::{
    checkpoint::{Metadata, ShardEntry, ShardMap, Value},
    core::{Error, Limit, Place, Result, SourceId, Span, Text},
    format::ReadCx,
    source::is_plain,
    wire::json::{Json, Node, Stop},
};
use std::collections::{BTreeMap, BTreeSet};

/// A parsed index.
pub(super) struct Index {
    pub(super) map: ShardMap,
    /// The shards that it names, sorted; names that lead out of the folder are reported and left out.
    pub(super) shards: BTreeSet<Text>,
    /// Tensors, and the names of their shards that may not be followed.
    pub(super) refused: Vec<(Text, Text)>,
    /// What it says besides.
    pub(super) metadata: Metadata,
}

/// Reads the index at `source`; `None`, with a finding, when it names no shards at all.
pub(super) fn read(cx: &mut ReadCx<'_>, source: SourceId) -> Result<Option<Index>> {
    let whole = cx.checkpoint.sources.whole(source);
    let name = cx.checkpoint.sources.get(source).name.clone();
    cx.budget.fits(Limit::HeaderBytes, whole.len)?;
    let mut bytes = cx.budget.vec(whole.len, 1, whole.len)?;
    bytes.resize(usize::try_from(whole.len).unwrap_or(usize::MAX), 0);
    let io = cx.checkpoint.sources.io(source).clone();
    io.read_at(0, &mut bytes).map_err(|error| Error::io(&*name, error))?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.utf8_error().valid_up_to() as u64;
            cx.report(rules::INDEX_JSON.at(Span { start: at, len: 1, ..whole }, "the index is not UTF-8"));
            return Ok(None);
        }
    };
    let json = match Json::parse(&text, cx.budget) {
        Ok(json) => json,
        Err(Stop::Json(error)) => {
            let place = Span { start: error.offset as u64, len: 1, ..whole };
            cx.report(rules::INDEX_JSON.at(place, format!("the index is not valid JSON: {}", error.message)));
            return Ok(None);
        }
        Err(Stop::Limit(hit)) => return Err(hit.into()),
    };
    let span = |json: &Json| Span { start: json.range.start as u64, len: json.range.len() as u64, ..whole };
    for key in json.duplicates() {
        let message = format!("the index has the key `{}` twice", key.name);
        let place = Span { start: key.offset as u64, len: key.name.len() as u64, ..whole };
        cx.report(rules::INDEX_DUPLICATE_KEY.at(place, message).subject(key.name.as_str()));
    }
    if !matches!(json.node, Node::Object(_)) {
        cx.report(rules::INDEX_JSON.at(span(&json), "the index is no JSON object"));
        return Ok(None);
    }
    // A bare map without the key is a form that accelerate reads.
    let bare = json.get("weight_map").is_none()
        && !json.entries().is_empty()
        && json.entries().iter().all(|(_, value)| value.as_str().is_some());
    let Some(map) = json.get("weight_map").or(bare.then_some(&json)) else {
        cx.report(rules::INDEX_WEIGHT_MAP.at(span(&json), "the index has no `weight_map`"));
        return Ok(None);
    };
    if !matches!(map.node, Node::Object(_)) {
        cx.report(rules::INDEX_WEIGHT_MAP.at(span(map), "`weight_map` is no object"));
        return Ok(None);
    }
    let mut index = Index {
        map: ShardMap {
            index: source,
            entries: Vec::new(),
            is_damaged: false,
            total_size: None,
            total_parameters: None,
        },
        shards: BTreeSet::new(),
        refused: Vec::new(),
        metadata: Metadata::new(),
    };
    let mut shard_names: BTreeMap<&str, Option<Text>> = BTreeMap::new();
    for (tensor, shard) in map.entries() {
        let Some(file) = shard.as_str() else {
            let message = format!("`weight_map` gives tensor `{}` no file name", tensor.name);
            cx.report(rules::INDEX_WEIGHT_MAP.at(span(shard), message).tensor(&tensor.name.as_str().into()));
            index.map.is_damaged = true;
            continue;
        };
        // Each file name is judged and stored once, however many tensors it holds.
        let known = shard_names.entry(file).or_insert_with(|| judge(cx, &name, file, span(shard)));
        index.map.is_damaged |= known.is_none();
        match known {
            Some(file) => {
                index.shards.insert(file.clone());
                let tensor = tensor.name.as_str().into();
                index.map.entries.push(ShardEntry { tensor, shard: file.clone(), span: span(shard) });
            }
            // It is not followed, and the tensor is not forgotten.
            None => index.refused.push((tensor.name.as_str().into(), file.into())),
        }
    }
    for (key, value) in json.get("metadata").map(Json::entries).unwrap_or_default() {
        let number = match &value.node {
            Node::Number(text) => Some((Text::from(text.as_str()), span(value))),
            _ => None,
        };
        match (key.name.as_str(), number) {
            ("total_size", Some(number)) => index.map.total_size = Some(number),
            ("total_parameters", Some(number)) => index.map.total_parameters = Some(number),
            (name, _) => index.metadata.push((name.into(), value_of(value))),
        }
    }
    Ok(Some(index))
}

/// Judges a shard's name; `None` for one that may not be followed.
fn judge(cx: &mut ReadCx<'_>, index: &str, file: &str, span: Span) -> Option<Text> {
    if !is_plain(file) {
        let message = format!("the index names the shard `{file}`, which is no plain relative path");
        let help = "do not load this model: a loader that follows the name reads outside the folder";
        cx.report(rules::SHARD_PATH_ESCAPES.at(span, message).subject(file).help(help));
        return None;
    }
    if names::is_index(file) {
        // A loader would take the index for weights; read here, an index that names itself would never end.
        let message = format!("the index names the shard `{file}`, which is an index itself");
        cx.report(rules::INDEX_WEIGHT_MAP.at(span, message).subject(file));
        return None;
    }
    if let Some(wanted) = names::shard_extension(index)
        && file.rsplit_once('.').map(|(_, ext)| ext) != Some(wanted)
    {
        let message = format!("the shard `{file}` does not end in `.{wanted}` as the index's name says");
        cx.report(rules::SHARD_EXTENSION.at(span, message).subject(file));
    }
    Some(file.into())
}

/// A JSON value as metadata.
fn value_of(json: &Json) -> Value {
    match &json.node {
        Node::Null => Value::Null,
        Node::Bool(value) => Value::Bool(*value),
        Node::String(text) => Value::Str(text.as_str().into()),
        Node::Number(text) => match (text.parse(), text.parse()) {
            (Ok(integer), _) => Value::Int(integer),
            (_, Ok(float)) => Value::Float(float),
            _ => Value::Str(text.as_str().into()),
        },
        Node::Array(items) => Value::List(items.iter().map(value_of).collect()),
        Node::Object(entries) => Value::Map(
            entries.iter().map(|(key, value)| (key.name.as_str().into(), value_of(value))).collect(),
        ),
    }
}

/// A finding about a file that is not there.
pub(super) fn missing(cx: &mut ReadCx<'_>, shard: &str, message: String) {
    let finding = rules::SHARD_MISSING.found(Place::File(shard.into()), message);
    cx.report(finding.subject(shard).help(format!("fetch `{shard}`")));
}
