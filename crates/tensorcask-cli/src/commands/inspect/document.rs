//! One result of `inspect --json`, written straight from the table.

use super::Extra;
use crate::{
    render::json::{MetadataObject, MetadataValue},
    report::{Row, rows, shown},
};
use serde::{Serialize, Serializer, ser::SerializeMap};
use std::collections::{BTreeMap, HashMap};
use tensorcask::{Checkpoint, Data, TensorInfo, Text, source::Origin};

/// A checkpoint, in the form of the document.
pub(super) struct Document<'a> {
    pub(super) checkpoint: &'a Checkpoint,
    /// What else was asked for.
    pub(super) extra: &'a Extra<'a>,
}

/// Files of a checkpoint by name and size.
#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    bytes: u64,
}

/// One row of the table.
#[derive(Serialize)]
struct Tensor<'a> {
    name: &'a str,
    dtype: &'a str,
    shape: &'a [u64],
    file: Option<Name>,
    offset: Option<u64>,
    bytes: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    missing: bool,
}

/// What the table adds up to.
#[derive(Serialize, Default)]
pub(super) struct Totals<'a> {
    pub(super) tensors: u64,
    pub(super) parameters: u64,
    pub(super) bytes: u64,
    pub(super) by_dtype: BTreeMap<&'a str, Share>,
}

/// What one element type adds up to.
#[derive(Serialize, Default)]
pub(super) struct Share {
    pub(super) tensors: u64,
    pub(super) parameters: u64,
    pub(super) bytes: u64,
}

impl<'a> Totals<'a> {
    pub(super) fn of(tensors: &'a [TensorInfo]) -> Self {
        let mut totals = Totals::default();
        for tensor in tensors {
            let (parameters, bytes) = (tensor.n_elements(), tensor.byte_len());
            let share = totals.by_dtype.entry(tensor.dtype.name()).or_default();
            share.tensors += 1;
            share.parameters = share.parameters.saturating_add(parameters);
            share.bytes = share.bytes.saturating_add(bytes);
            totals.tensors += 1;
            totals.parameters = totals.parameters.saturating_add(parameters);
            totals.bytes = totals.bytes.saturating_add(bytes);
        }
        totals
    }
}

/// Where each tensor's bytes are, or should be.
pub(super) struct Places<'a> {
    checkpoint: &'a Checkpoint,
    by_index: HashMap<&'a str, &'a Text>,
    only_file: Option<&'a Text>,
}

impl<'a> Places<'a> {
    pub(super) fn of(checkpoint: &'a Checkpoint) -> Self {
        let entries = checkpoint.shard_map.iter().flat_map(|map| &map.entries);
        let mut files = checkpoint.sources.iter().filter(|(_, source)| matches!(source.origin, Origin::File));
        let only_file =
            files.next().filter(|_| checkpoint.shard_map.is_none()).map(|(_, source)| &source.name);
        let only_file = only_file.filter(|_| files.next().is_none());
        Places {
            checkpoint,
            by_index: entries.map(|entry| (&*entry.tensor, &entry.shard)).collect(),
            only_file,
        }
    }

    /// The file, and the offset in it where there is one.
    pub(super) fn place(&self, tensor: &TensorInfo) -> (Option<Text>, Option<u64>) {
        match &tensor.view.data {
            Data::Extent(span) => {
                let located = self.checkpoint.sources.locate(*span);
                (Some(located.file), located.offset)
            }
            Data::Missing { file: Some(file), .. } => (Some(file.clone()), None),
            _ => (self.by_index.get(&*tensor.name).copied().or(self.only_file).cloned(), None),
        }
    }
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let checkpoint = self.checkpoint;
        let files = checkpoint.sources.iter().filter(|(_, source)| matches!(source.origin, Origin::File));
        let files =
            files.map(|(id, source)| File { path: &source.name, bytes: checkpoint.sources.io(id).len() });
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("path", &shown(&checkpoint.path))?;
        map.serialize_entry("format", checkpoint.format)?;
        map.serialize_entry("format_version", &checkpoint.format_version.as_deref())?;
        map.serialize_entry("files", &files.collect::<Vec<_>>())?;
        map.serialize_entry("tensors", &Tensors(checkpoint))?;
        map.serialize_entry("totals", &Totals::of(&checkpoint.tensors))?;
        match self.extra {
            Extra::Metadata(key, value) => {
                map.serialize_entry("metadata", &BTreeMap::from([(key, MetadataValue(value))]))?;
            }
            _ => map.serialize_entry("metadata", &MetadataObject(&checkpoint.metadata))?,
        }
        map.serialize_entry::<_, Vec<Row>>("findings", &rows(checkpoint, |_| true))?;
        match self.extra {
            Extra::Headers(headers) => map.serialize_entry("headers", headers)?,
            Extra::Tensor(tensor) => map.serialize_entry("tensor", tensor)?,
            _ => {}
        }
        map.end()
    }
}

struct Tensors<'a>(&'a Checkpoint);

impl Serialize for Tensors<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let places = Places::of(self.0);
        serializer.collect_seq(self.0.tensors.iter().map(|tensor| {
            let (file, offset) = places.place(tensor);
            Tensor {
                name: &tensor.name,
                dtype: tensor.dtype.name(),
                shape: &tensor.view.shape,
                file: file.map(Name),
                offset,
                bytes: tensor.byte_len(),
                missing: tensor.is_missing(),
            }
        }))
    }
}

/// A name as JSON text.
struct Name(Text);

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}
