//! Sets of files that are one checkpoint: a shard index (`*.index.json`), numbered shards, a model folder.
//!
//! The convention is that of `huggingface_hub` and transformers; mlx-lm and diffusers follow it with names of their own.

mod folder;
mod index;
mod names;
mod rules;

use crate::{
    core::Result,
    format::{Format, FormatInfo, Head, Match, ReadCx, Status},
    source::EntryKind,
};

/// The layout's registry entry.
pub(super) struct Sharded;

static INFO: FormatInfo = FormatInfo {
    id: "sharded",
    title: "shard set or model folder",
    extensions: &[],
    promises: false,
    status: Status::Read,
    rules: rules::ALL,
    specification: "the conventions of huggingface_hub, transformers, diffusers and mlx-lm",
};

impl Format for Sharded {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn probe(&self, head: &Head<'_>) -> Match {
        let Some(listing) = head.listing else {
            // A pointer or an error page under an index's name is what it is.
            let first = head.bytes.iter().find(|byte| !byte.is_ascii_whitespace());
            return match (names::is_index(head.name), first) {
                (false, _) => Match::No,
                (true, Some(b'{')) => Match::Structure,
                (true, _) => Match::Name,
            };
        };
        let is_file = |kind| kind != EntryKind::Folder;
        let mut files = listing.iter().filter(|entry| is_file(entry.kind)).map(|entry| entry.name.as_str());
        let layout = files.any(|name| {
            name == "config.json" || names::is_index(name) || names::Numbered::parse(name).is_some()
        });
        // A hub snapshot is a folder called by its commit.
        let snapshot =
            head.name.len() == 40 && head.name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if layout || snapshot { Match::Structure } else { Match::No }
    }

    fn read(&self, cx: &mut ReadCx<'_>) -> Result<()> {
        folder::read(cx)
    }
}
