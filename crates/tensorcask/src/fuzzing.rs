//! Doors for the fuzz targets, there only in a fuzzing build: each states what must hold for any bytes.

use crate::{
    core::{Budget, Limits},
    format::{HEAD_BYTES, Head, TAIL_BYTES},
    open::OpenOptions,
    ops,
    source::{Bytes, Entry, EntryKind, ReadAt, Root, RootError},
    wire::{
        json::{Json, Node, Scanner, Stop},
        pickle::{Walk, Walker},
        zip,
    },
};
use std::{io, sync::Arc};

/// Reads `data` as a file called `name`; a table that comes out holds together.
pub fn read(name: &str, data: &[u8]) {
    let Ok(checkpoint) = OpenOptions::new().read_bytes(name, Bytes::new(data.to_vec())) else { return };
    whole(&checkpoint);
}

fn whole(checkpoint: &crate::Checkpoint) {
    for finding in &checkpoint.findings {
        assert!(!finding.message.is_empty(), "{finding:?}");
        // A header may place a tensor past the end of its file; the span says so, but it is a range.
        if let crate::Place::Span(span) = finding.place {
            assert!(span.start.checked_add(span.len).is_some(), "{finding:?}");
            checkpoint.sources.locate(span);
        }
    }
    if !checkpoint.is_broken() && checkpoint.unread.is_empty() {
        for tensor in &checkpoint.tensors {
            let Ok(n_bytes) = tensor.dtype.byte_len(&tensor.view.shape) else { continue };
            let bytes = checkpoint.load(&tensor.name).expect("a tensor of a good file has its bytes");
            assert_eq!(bytes.len() as u64, n_bytes);
        }
    }
    ops::verdict(checkpoint);
}

/// Our JSON against `serde_json`: the same texts are taken, the same values read.
pub fn json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let budget = Budget::new(Limits::default());
    let ours = Json::parse(text, &budget);
    let theirs = serde_json::from_str::<serde_json::Value>(text);
    let mut scanner = Scanner::new(text);
    let skipped = scanner.skip_value(&budget).is_ok() && {
        scanner.skip_blanks();
        scanner.peek().is_none()
    };
    match (&ours, &theirs) {
        (Err(Stop::Limit(_)), _) => assert!(theirs.is_err(), "ours stops at a limit, theirs reads {text:?}"),
        // A number that no f64 holds: a matter of its value, not of the text's form.
        (Ok(_), Err(error)) if error.to_string().contains("out of range") => {}
        (Ok(ours), Ok(theirs)) => assert!(same(ours, theirs), "{ours:?} is not {theirs:?}"),
        _ => assert_eq!(ours.is_ok(), theirs.is_ok(), "{text:?}: {ours:?} against {theirs:?}"),
    }
    assert_eq!(skipped, ours.is_ok(), "skipping and reading differ on {text:?}");
}

fn same(ours: &Json, theirs: &serde_json::Value) -> bool {
    use serde_json::Value;
    match (&ours.node, theirs) {
        (Node::Null, Value::Null) => true,
        (Node::Bool(a), Value::Bool(b)) => a == b,
        (Node::Number(a), Value::Number(b)) => b.as_u64().is_none_or(|b| a.parse() == Ok(b)),
        (Node::String(a), Value::String(b)) => a == b,
        (Node::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Node::Object(_), Value::Object(b)) => {
            ours.entries().iter().all(|(key, _)| b.contains_key(&key.name))
                && b.iter().all(|(key, b)| ours.get(key).is_some_and(|a| same(a, b)))
        }
        _ => false,
    }
}

/// The opcode walk over `data` at once and in windows of a few bytes.
pub fn pickle(data: &[u8]) {
    let at_once = walk(data, data.len());
    if let Walk::Stop { end, .. } = at_once {
        assert!(end <= data.len() as u64);
    }
    if data.len() <= 4096 {
        assert_eq!(at_once, walk(data, 7), "the answer hangs on how the bytes are cut");
    }
}

fn walk(data: &[u8], window: usize) -> Walk {
    let mut walker = Walker::new(data.len() as u64);
    let (mut len, mut last) = (window.max(1), u64::MAX);
    loop {
        let position = walker.position();
        let start = usize::try_from(position).expect("a position lies in the data").min(data.len());
        // An opcode wants its argument in one piece.
        len = if position == last { len * 2 } else { window.max(1) };
        last = position;
        let end = start.saturating_add(len).min(data.len());
        if let Some(walk) = walker.feed(&data[start..end], position) {
            return walk;
        }
        assert!(end < data.len() || walker.position() > position, "the walk stands still at {position}");
    }
}

/// The directory probe of a zip.
pub fn zip(data: &[u8]) {
    let bytes = Bytes::new(data.to_vec());
    let tail = data.len().saturating_sub(TAIL_BYTES);
    let head = Head::of_file("x.zip", &bytes, &data[..data.len().min(HEAD_BYTES)], &data[tail..]);
    if let Some(found) = zip::probe(&head) {
        assert!(found.directory < data.len() as u64 && !found.names.is_empty(), "{found:?}");
    }
}

/// A folder in memory.
struct Folder(Vec<(&'static str, Vec<u8>)>);

impl Root for Folder {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadAt>, RootError> {
        let found = self.0.iter().find(|(known, _)| *known == name).ok_or(RootError::NotFound)?;
        Ok(Arc::new(Bytes::new(found.1.clone())))
    }

    fn list(&self, below: &str) -> io::Result<Vec<Entry>> {
        if !below.is_empty() {
            return Ok(Vec::new());
        }
        let entry = |(name, _): &(&str, Vec<u8>)| Entry {
            name: (*name).into(),
            kind: EntryKind::File,
            is_link: false,
        };
        Ok(self.0.iter().map(entry).collect())
    }
}

/// `data` as the index of a folder with two shards; what comes before its first zero byte is the config.
pub fn shard_index(data: &[u8]) {
    let shard = |header: &str, n_bytes: usize| {
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend_from_slice(header.as_bytes());
        file.resize(file.len() + n_bytes, 1);
        file
    };
    let (config, index) = match data.iter().position(|byte| *byte == 0) {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (&b"{}"[..], data),
    };
    let folder = Folder(vec![
        ("config.json", config.to_vec()),
        (
            "model-00001-of-00002.safetensors",
            shard(r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  "#, 8),
        ),
        (
            "model-00002-of-00002.safetensors",
            shard(r#"{"b":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]}}"#, 8),
        ),
        ("model.safetensors.index.json", index.to_vec()),
    ]);
    if let Ok(checkpoint) =
        OpenOptions::new().read_in("model.safetensors.index.json", Bytes::new(index.to_vec()), &folder)
    {
        whole(&checkpoint);
    }
}
