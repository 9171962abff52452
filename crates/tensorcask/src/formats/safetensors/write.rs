//! Lays tensors out as safetensors: one file, or shards with an index.
//!
//! The bytes are those that safetensors 0.8.0 writes, wherever it writes the same bytes twice: compact JSON,
//! `__metadata__` first, tensors by element type and name, padded with blanks to a multiple of 8. It orders metadata
//! at random; here its keys are sorted. Shards are cut as `huggingface_hub` cuts them.

use super::{MAX_HEADER_BYTES, METADATA_KEY};
use crate::{
    checkpoint::Value,
    core::{DType, Error, Result, Text},
    format::{Encode, Job, OldSet, OutFile, Segment, TensorSpec},
};
use serde_json::Value as Json;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

/// The header is padded so that the data starts at a multiple of this.
const ALIGNMENT: u64 = 8;
/// Names of files: `huggingface_hub`, `FILENAME_PATTERN` with and without a suffix.
const SINGLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

/// Types in the order in which the reference places them: widths never grow, so every tensor is aligned.
/// (The reverse of its `Dtype`.)
const ORDER: &[DType] = &[
    DType::U64,
    DType::I64,
    DType::F64,
    DType::C64,
    DType::F32,
    DType::U32,
    DType::I32,
    DType::BF16,
    DType::F16,
    DType::U16,
    DType::I16,
    DType::F8_E5M2FNUZ,
    DType::F8_E4M3FNUZ,
    DType::F8_E8M0,
    DType::F8_E4M3,
    DType::F8_E5M2,
    DType::I8,
    DType::U8,
    DType::F6_E3M2,
    DType::F6_E2M3,
    DType::F4,
    DType::Bool,
];

/// The encoder.
pub(super) struct Writer;

impl Encode for Writer {
    fn encode(&self, job: &Job<'_>) -> Result<Vec<OutFile>> {
        let rows = rows(job.targets)?;
        let metadata = metadata_json(job.metadata)?;
        let Some(max_shard_bytes) = job.max_shard_bytes else {
            return Ok(vec![file(
                job.file_name.to_owned(),
                job,
                &metadata,
                (0..rows.len()).collect(),
                &rows,
            )?]);
        };
        let shards = split(&rows, max_shard_bytes);
        if shards.len() <= 1 {
            return Ok(vec![file(SINGLE.to_owned(), job, &metadata, (0..rows.len()).collect(), &rows)?]);
        }
        let n_shards = shards.len();
        let (mut files, mut weight_map) = (Vec::new(), BTreeMap::new());
        for (number, members) in (1..).zip(shards) {
            let name = format!("model-{number:05}-of-{n_shards:05}.safetensors");
            for member in &members {
                if let Some(spec) = job.targets.get(*member) {
                    weight_map.insert(spec.name.to_string(), name.clone());
                }
            }
            files.push(file(name, job, &metadata, members, &rows)?);
        }
        let total = rows.iter().fold(0u64, |total, row| total.saturating_add(row.bytes));
        let index = index_text(&[("total_size".to_owned(), total.into())].into_iter().collect(), &weight_map);
        files.push(OutFile { name: INDEX.to_owned(), segments: vec![Segment::Bytes(index)] });
        Ok(files)
    }

    fn holds(&self, dtype: &DType) -> bool {
        ORDER.contains(dtype)
    }

    fn old_set(&self, names: &[String], read: &dyn Fn(&str) -> Result<Vec<u8>>) -> Result<OldSet> {
        let has = |name: &str| names.iter().any(|have| have == name);
        let numbered = names.iter().filter(|name| is_numbered(name)).cloned();
        let single = has(SINGLE).then(|| SINGLE.to_owned());
        if !has(INDEX) {
            // A reader takes the single file before it looks at numbered ones.
            let numbered: Vec<String> = numbered.collect();
            return Ok(match single {
                Some(single) => OldSet { index: None, shards: vec![single], strays: numbered },
                None => OldSet { index: None, shards: numbered, strays: Vec::new() },
            });
        }
        let content: Option<Json> = serde_json::from_slice(&read(INDEX)?).ok();
        let named: BTreeSet<String> = content
            .iter()
            .filter_map(|index| index.get("weight_map")?.as_object())
            .flat_map(|map| map.values().filter_map(Json::as_str))
            .map(str::to_owned)
            .collect();
        // Only files of this folder, whatever else the index of a stranger may name.
        let shards: Vec<String> =
            named.iter().filter(|name| name.ends_with(".safetensors") && has(name)).cloned().collect();
        let strays = numbered.chain(single).filter(|name| !shards.contains(name)).collect();
        Ok(OldSet { index: Some(INDEX.to_owned()), shards, strays })
    }

    fn renamed_index(&self, index: &[u8], to: &dyn Fn(&str) -> String) -> Option<Vec<u8>> {
        let index: Json = serde_json::from_slice(index).ok()?;
        let metadata = index.get("metadata").and_then(Json::as_object);
        let metadata =
            metadata.into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect();
        let weight_map = index.get("weight_map")?.as_object()?;
        let weight_map = weight_map.iter().map(|(tensor, shard)| Some((tensor.clone(), to(shard.as_str()?))));
        Some(index_text(&metadata, &weight_map.collect::<Option<_>>()?))
    }
}

/// What the layout needs to know of a tensor.
struct Row {
    rank: usize,
    bytes: u64,
}

fn rows(specs: &[TensorSpec]) -> Result<Vec<Row>> {
    let mut names = BTreeSet::new();
    let mut rows = Vec::new();
    for TensorSpec { name, dtype, shape } in specs {
        if *name == METADATA_KEY {
            return Err(Error::usage(
                format!(
                    "a tensor called `{METADATA_KEY}` cannot be written: safetensors keeps that name for metadata"
                ),
                "give the tensor another name",
            ));
        }
        if !names.insert(name.as_str()) {
            return Err(Error::usage(
                format!("two tensors are called `{name}`"),
                "give one of them another name",
            ));
        }
        let rank = ORDER.iter().position(|known| known == dtype);
        let (Some(rank), Ok(bytes)) = (rank, dtype.byte_len(shape)) else {
            return Err(Error::usage(
                format!("tensor `{name}`: `{dtype}` {shape} has no place in safetensors"),
                "leave the tensor out, or give it an element type and a shape that fill whole bytes",
            ));
        };
        rows.push(Row { rank, bytes });
    }
    Ok(rows)
}

/// Greedy, in the order given, never reordered: `split_state_dict_into_shards_factory` of `huggingface_hub`. A tensor
/// over the limit gets a shard of its own at once, so it may be numbered before the shard that is being filled.
fn split(rows: &[Row], max_shard_bytes: u64) -> Vec<Vec<usize>> {
    let (mut shards, mut current, mut current_bytes) = (Vec::new(), Vec::new(), 0u64);
    for (position, row) in rows.iter().enumerate() {
        if row.bytes > max_shard_bytes {
            shards.push(vec![position]);
            continue;
        }
        let with_this = current_bytes.saturating_add(row.bytes);
        if with_this > max_shard_bytes {
            shards.push(std::mem::take(&mut current));
            current_bytes = row.bytes;
        } else {
            current_bytes = with_this;
        }
        current.push(position);
    }
    if !current.is_empty() {
        shards.push(current);
    }
    shards
}

/// One file of these members (positions in the job).
fn file(
    name: String,
    job: &Job<'_>,
    metadata: &str,
    mut members: Vec<usize>,
    rows: &[Row],
) -> Result<OutFile> {
    let key = |position: &usize| {
        (rows.get(*position).map(|row| row.rank), job.targets.get(*position).map(|spec| spec.name.as_str()))
    };
    members.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut header = String::from("{");
    header.push_str(metadata);
    let mut end = 0u64;
    for position in &members {
        let (Some(spec), Some(row)) = (job.targets.get(*position), rows.get(*position)) else { continue };
        let begin = end;
        end = begin.checked_add(row.bytes).ok_or_else(|| too_large(&name, u64::MAX))?;
        if header.len() > 1 {
            header.push(',');
        }
        push_json(&mut header, &spec.name);
        header.push_str(":{\"dtype\":");
        push_json(&mut header, spec.dtype.name());
        header.push_str(",\"shape\":[");
        for (axis, dim) in spec.shape.iter().enumerate() {
            let comma = if axis == 0 { "" } else { "," };
            let _ = write!(header, "{comma}{dim}"); // writing to a string cannot fail
        }
        let _ = write!(header, "],\"data_offsets\":[{begin},{end}]}}");
    }
    header.push('}');
    let header_len = (header.len() as u64)
        .checked_add(job.reserve_bytes)
        .and_then(|len| len.checked_next_multiple_of(ALIGNMENT))
        .filter(|len| *len <= MAX_HEADER_BYTES)
        .ok_or_else(|| too_large(&name, (header.len() as u64).saturating_add(job.reserve_bytes)))?;
    let mut head = header_len.to_le_bytes().to_vec();
    head.extend_from_slice(header.as_bytes());
    let padded = usize::try_from(header_len).ok().and_then(|len| len.checked_add(size_of::<u64>()));
    head.resize(padded.ok_or_else(|| too_large(&name, header_len))?, b' ');
    let mut segments = vec![Segment::Bytes(head)];
    segments.extend(members.into_iter().map(Segment::Tensor));
    Ok(OutFile { name, segments })
}

fn too_large(name: &str, bytes: u64) -> Error {
    Error::usage(
        format!(
            "the header of `{name}` would take {bytes} bytes, over the {MAX_HEADER_BYTES} that readers accept"
        ),
        "write shards (`--max-shard-size`), or ask for less spare room",
    )
}

/// `"__metadata__":{…}` with sorted keys, or nothing.
fn metadata_json(metadata: &[(Text, Value)]) -> Result<String> {
    let mut sorted: Vec<&(Text, Value)> = metadata.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    if let Some((a, _)) = sorted.iter().zip(sorted.iter().skip(1)).find(|(a, b)| a.0 == b.0) {
        return Err(Error::usage(
            format!("the metadata key `{}` is given twice", a.0),
            "keep one of the values",
        ));
    }
    if sorted.is_empty() {
        return Ok(String::new());
    }
    let mut json = String::new();
    push_json(&mut json, METADATA_KEY);
    json.push_str(":{");
    for (position, (key, value)) in sorted.into_iter().enumerate() {
        if position > 0 {
            json.push(',');
        }
        push_json(&mut json, key);
        json.push(':');
        match value {
            Value::Str(text) => push_json(&mut json, text),
            other => push_json(&mut json, &value_json(other).to_string()),
        }
    }
    json.push('}');
    Ok(json)
}

/// A value that is no text, as JSON. Numbers that JSON does not have become their names.
fn value_json(value: &Value) -> Json {
    match value {
        Value::Str(text) => text.as_str().into(),
        Value::Int(number) => {
            serde_json::Number::from_i128(*number).map_or_else(|| number.to_string().into(), Json::from)
        }
        Value::Float(number) => {
            serde_json::Number::from_f64(*number).map_or_else(|| number.to_string().into(), Json::from)
        }
        Value::Bool(truth) => (*truth).into(),
        Value::Null => Json::Null,
        Value::List(values) => values.iter().map(value_json).collect(),
        Value::Map(pairs) => pairs.iter().map(|(key, value)| (key.to_string(), value_json(value))).collect(),
    }
}

/// A JSON string with the escapes of the reference: it uses the same library.
fn push_json(json: &mut String, text: &str) {
    json.push_str(&Json::from(text).to_string());
}

/// The index as transformers writes it: two blanks a level, sorted, ASCII, a newline at the end.
fn index_text(metadata: &BTreeMap<String, Json>, weight_map: &BTreeMap<String, String>) -> Vec<u8> {
    let document = BTreeMap::from([
        ("metadata", metadata.iter().map(|(key, value)| (key.clone(), value.clone())).collect::<Json>()),
        (
            "weight_map",
            weight_map.iter().map(|(tensor, shard)| (tensor.clone(), Json::from(shard.as_str()))).collect(),
        ),
    ]);
    // Keys are strings and values are plain: this cannot fail.
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    let mut ascii = String::new();
    for unit in text.chars() {
        if unit.is_ascii() && unit != '\u{7f}' {
            ascii.push(unit);
            continue;
        }
        for half in unit.encode_utf16(&mut [0; 2]) {
            let _ = write!(ascii, "\\u{half:04x}");
        }
    }
    ascii.push('\n');
    ascii.into_bytes()
}

/// `model-00001-of-00003.safetensors`, of any number of digits.
fn is_numbered(name: &str) -> bool {
    let numbers = name.strip_prefix("model-").and_then(|rest| rest.strip_suffix(".safetensors"));
    let is_digits = |text: &str| text.len() >= 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers
        .and_then(|numbers| numbers.split_once("-of-"))
        .is_some_and(|(n, of)| is_digits(n) && is_digits(of))
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
