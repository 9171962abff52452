//! Formats that are named and not read: one table of what marks them, and what is said about each.
//!
//! Whatever a file is called, its content decides. A file that its loader would unpickle is no note but a security
//! finding: nothing here looks inside.

mod archives;
mod flatfiles;
mod magics;
mod pickles;
mod protobufs;
mod rules;
mod table;
mod text;

pub(super) use table::ALL;

use crate::{
    core::{Finding, Place, Result, Text},
    format::{Format, FormatInfo, HEAD_BYTES, Head, Match, ReadCx, TAIL_BYTES},
    source::EntryKind,
};

/// One row of the table.
pub(super) struct Recognised {
    info: &'static FormatInfo,
    look: Look,
}

/// How a format is told.
enum Look {
    /// All of these bytes stand at these offsets.
    Magic(&'static [(usize, &'static [u8])]),
    /// A function over the file.
    File(fn(&Head<'_>) -> Option<Seen>),
    /// In a folder: one name of each group.
    Folder(Match, &'static [Names], Says),
}

/// Names of which one has to be there; `*.x` is any file of that ending.
type Names = &'static [&'static str];

/// What a look at a file told.
#[derive(Clone, PartialEq, Debug)]
struct Seen {
    fit: Match,
    /// The bytes that tell.
    start: u64,
    len: u64,
    says: Says,
    /// Which version or kind, for the message.
    detail: Option<String>,
    /// The format's version, where the file names one.
    version: Option<String>,
}

/// What is reported.
#[derive(Clone, PartialEq, Debug)]
enum Says {
    /// It is not read.
    NotRead,
    /// Its loader would unpickle it.
    Unpickled,
    /// It stands for another file.
    Pointer(text::Pointer),
    /// A server's error in place of the file: its kind, and its title or message.
    Page(&'static str, String),
    /// No bytes.
    Empty,
}

impl Seen {
    fn new(fit: Match, start: u64, len: u64, says: Says) -> Self {
        Seen { fit, start, len, says, detail: None, version: None }
    }

    fn magic(len: u64) -> Self {
        Seen::new(Match::Magic, 0, len, Says::NotRead)
    }

    fn detail(self, detail: impl Into<String>) -> Self {
        Seen { detail: Some(detail.into()), ..self }
    }

    fn version(self, number: impl std::fmt::Display) -> Self {
        let number = number.to_string();
        Seen { detail: Some(format!("version {number}")), version: Some(number), ..self }
    }

    fn unpickled_if(self, unpickled: bool) -> Self {
        if unpickled { Seen { says: Says::Unpickled, ..self } } else { self }
    }
}

impl Recognised {
    fn see(&self, head: &Head<'_>) -> Option<Seen> {
        match (&self.look, head.listing) {
            (Look::Folder(fit, groups, says), Some(listing)) => {
                let there = |pattern: &str| {
                    listing.iter().any(|entry| match pattern.strip_prefix('*') {
                        Some(ending) => entry.kind == EntryKind::File && entry.name.ends_with(ending),
                        None => entry.name == *pattern,
                    })
                };
                let fits = groups.iter().all(|group| group.iter().any(|pattern| there(pattern)));
                fits.then(|| Seen::new(*fit, 0, 0, says.clone()))
            }
            (Look::Magic(parts), None) => {
                let at = |start: usize, bytes: &[u8]| {
                    head.bytes.get(start..).is_some_and(|rest| rest.starts_with(bytes))
                };
                let fits = !magics::begins_like_safetensors(head)
                    && parts.iter().all(|(start, bytes)| at(*start, bytes));
                let (start, bytes) = parts.first()?;
                fits.then(|| Seen::new(Match::Magic, *start as u64, bytes.len() as u64, Says::NotRead))
            }
            (Look::File(look), None) => look(head),
            _ => None,
        }
    }

    fn finding(&self, cx: &ReadCx<'_>, seen: &Seen) -> Finding {
        let title = self.info.title;
        let what =
            seen.detail.as_ref().map_or_else(|| title.to_owned(), |detail| format!("{title} {detail}"));
        let place = cx.span(seen.start, seen.len).map_or(Place::Whole, Place::Span);
        match &seen.says {
            Says::NotRead => rules::NOT_READ
                .found(place, format!("recognised as {what}; this version does not read it yet"))
                .help("do not take it for checked; use the format's own tools"),
            Says::Unpickled => rules::PICKLE_NOT_INSPECTED
                .found(place, format!("recognised as {what}: loading this file can run code; this version has not looked inside"))
                .help("ask for the same weights as safetensors"),
            Says::Pointer(pointer) => rules::LFS_POINTER
                .found(place, pointer.message())
                .help("fetch the file itself: run `git lfs pull` in the clone, or download it again"),
            Says::Page(kind, message) => {
                let said = if message.is_empty() { String::new() } else { format!(": `{message}`") };
                rules::ERROR_PAGE
                    .found(place, format!("this is {kind} saved as weights{said}"))
                    .help("download the file again, signed in if it needs that")
            }
            Says::Empty => rules::EMPTY_FILE.found(place, "the file has 0 bytes").help("download or copy the file again"),
        }
    }
}

impl Format for Recognised {
    fn info(&self) -> &'static FormatInfo {
        self.info
    }

    fn probe(&self, head: &Head<'_>) -> Match {
        self.see(head).map_or(Match::No, |seen| seen.fit)
    }

    fn read(&self, cx: &mut ReadCx<'_>) -> Result<()> {
        let Some(seen) = self.look_again(cx)? else { return Ok(()) };
        let finding = self.finding(cx, &seen);
        cx.report(finding);
        if let Some(version) = seen.version {
            cx.checkpoint.format_version = Some(version.into());
        }
        if matches!(seen.says, Says::NotRead | Says::Unpickled) {
            cx.checkpoint.unread.push(Text::from(cx.name));
        }
        Ok(())
    }
}

impl Recognised {
    /// What `probe` saw: the head is gone by now.
    fn look_again(&self, cx: &ReadCx<'_>) -> Result<Option<Seen>> {
        let Some(id) = cx.input else {
            let listing = cx.root.list("").map_err(|error| crate::core::Error::io(cx.name, error))?;
            return Ok(self.see(&Head::of_folder(cx.name, &listing)));
        };
        let some = |len: usize| vec![0; usize::try_from(cx.len()).unwrap_or(usize::MAX).min(len)];
        let (mut bytes, mut tail) = (some(HEAD_BYTES), some(TAIL_BYTES));
        cx.read_at(0, &mut bytes)?;
        cx.read_at(cx.len().saturating_sub(tail.len() as u64), &mut tail)?;
        let io = cx.checkpoint.sources.io(id).as_ref();
        Ok(self.see(&Head::of_file(cx.name, io, &bytes, &tail)))
    }
}
