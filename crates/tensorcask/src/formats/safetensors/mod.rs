//! safetensors, after the reference library 0.8.0: a length, a JSON header, dense little-endian data.

mod header;
mod read;
mod rules;
mod write;

use crate::{
    core::Result,
    format::{Encode, Format, FormatInfo, Head, Match, ReadCx, Status},
};

/// Largest header of the format (reference library, `MAX_HEADER_SIZE`); exactly this many bytes are legal.
pub(crate) const MAX_HEADER_BYTES: u64 = 100_000_000;

/// The key that no tensor may have.
pub(crate) const METADATA_KEY: &str = "__metadata__";

/// The format's registry entry.
pub(super) struct Safetensors;

static INFO: FormatInfo = FormatInfo {
    id: "safetensors",
    title: "safetensors",
    extensions: &["safetensors"],
    promises: true,
    status: Status::ReadWrite,
    rules: rules::ALL,
    specification: "the reference library, version 0.8.0, and its README",
};

impl Format for Safetensors {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn probe(&self, head: &Head<'_>) -> Match {
        if head.listing.is_some() {
            return Match::No;
        }
        let by_name =
            if INFO.extensions.contains(&head.extension().as_str()) { Match::Name } else { Match::No };
        let Some((length, rest)) = head.bytes.split_first_chunk::<8>() else { return by_name };
        if u64::from_le_bytes(*length) > MAX_HEADER_BYTES {
            return by_name;
        }
        // Leading blanks are an error of their own, but they do not make it another format.
        let mut text = rest.iter().copied().skip_while(u8::is_ascii_whitespace);
        match (text.next(), text.find(|byte| !byte.is_ascii_whitespace())) {
            (Some(b'{'), Some(b'"' | b'}')) => Match::Structure,
            // `[` and quotes begin a header only by accident: without the name it is nothing of ours.
            _ => by_name,
        }
    }

    fn read(&self, cx: &mut ReadCx<'_>) -> Result<()> {
        read::read(cx)
    }

    fn encoder(&self) -> Option<&dyn Encode> {
        Some(&write::Writer)
    }
}
