//! The JSON text of a header, entry by entry, with every problem that an entry can have of its own.

mod entry;
mod metadata;

use super::{METADATA_KEY, rules};
use crate::{
    core::{DType, Data, Dims, Limit, LimitHit, NameIndex, Rule, SizeError, Span, TensorInfo, Text},
    format::ReadCx,
    wire::json::{JsonError, Scanner, Stop, Str},
};
use entry::{Entry, FIELDS};
use std::sync::Arc;

/// Shortest entry of a tensor in the format's own form, `"":{"dtype":"","shape":[],"data_offsets":[0,0]},`.
const SHORTEST_ENTRY: u64 = 48;
/// Shorter entries than that are listed up to this number. Each has a finding of its own, and a row takes more memory
/// than such an entry takes bytes.
const SHORT_ENTRIES: usize = 200;
/// More blanks than this after the object are worth a note.
const SPARE_ROOM: usize = 1_000_000;

/// What the header says.
pub(super) struct Header {
    /// In the order of the header. An entry without usable offsets is `Missing` already; the others are extents that
    /// have not been held against the file yet.
    pub(super) tensors: Vec<TensorInfo>,
    /// Positions of tensors whose bytes cannot be read as their shape and type say, with the bytes that they need.
    pub(super) damaged: Vec<(usize, u64)>,
    /// Whether the extents come in the order of their offsets.
    pub(super) sorted: bool,
    /// The text ended early or an entry has no usable offsets: what is uncovered proves nothing.
    pub(super) incomplete: bool,
}

pub(super) fn parse(cx: &mut ReadCx<'_>, text: &Arc<String>, at: Span) -> Result<Header, LimitHit> {
    let n_entries = memchr::memchr_iter(b'{', text.as_bytes()).count() as u64;
    let tensors = cx.budget.vec(n_entries, SHORTEST_ENTRY, text.len() as u64)?;
    let header = Header { tensors, damaged: Vec::new(), sorted: true, incomplete: false };
    let mut parser = Parser {
        cx,
        text,
        at,
        json: Scanner::new(text),
        names: None,
        header,
        seen_metadata: false,
        n_short: 0,
    };
    match parser.document() {
        Ok(()) => {}
        // The reference's parser stops at the same depth and calls it a syntax error.
        Err(Stop::Limit(hit)) if hit.limit == Limit::Depth => {
            let message = format!("values are nested deeper than {} levels", hit.allowed);
            parser.syntax(&parser.json.error(message));
        }
        Err(Stop::Limit(hit)) => return Err(hit),
        Err(Stop::Json(error)) => parser.syntax(&error),
    }
    Ok(parser.header)
}

struct Parser<'a, 'cx> {
    cx: &'a mut ReadCx<'cx>,
    text: &'a Arc<String>,
    /// The header's text in its file.
    at: Span,
    json: Scanner<'a>,
    /// Names of the entries so far; `None` while they ascend, as the reference writes them: then none can be twice.
    names: Option<NameIndex>,
    header: Header,
    seen_metadata: bool,
    /// Entries too short to be a tensor's.
    n_short: usize,
}

impl Parser<'_, '_> {
    fn document(&mut self) -> Result<(), Stop> {
        self.json.skip_blanks();
        let start = self.json.offset();
        if start > 0 {
            let message = format!("{start} blanks stand before the `{{` of the header");
            self.report(&rules::LEADING_BLANKS, 0, start, message);
        }
        if !self.json.take(b'{') {
            if let Some(b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') = self.json.peek() {
                self.header.incomplete = true;
                let found = self.json.unexpected("the header to begin with `{`").message;
                self.report(&rules::HEADER_NOT_OBJECT, start, 1, found);
                return Ok(());
            }
            return Err(self.json.unexpected("`{` at the start of the header").into());
        }
        self.json.skip_blanks();
        if !self.json.take(b'}') {
            loop {
                let key = self.json.string()?;
                self.json.expect(b':', "after a key")?;
                self.json.skip_blanks();
                self.entry(key)?;
                self.json.skip_blanks();
                if self.json.take(b'}') {
                    break;
                }
                if !self.json.take(b',') {
                    return Err(self.json.unexpected("`,` or `}` after an entry").into());
                }
            }
        }
        self.padding();
        Ok(())
    }

    /// What follows the object.
    fn padding(&mut self) {
        let start = self.json.offset();
        self.json.skip_blanks();
        let end = self.json.offset();
        let blanks = self.text.get(start..end).unwrap_or_default();
        if let Some(other) = blanks.find(|c| c != ' ') {
            let place = start.saturating_add(other);
            let len = blanks.len().saturating_sub(other);
            self.report(
                &rules::PADDING_NOT_SPACE,
                place,
                len,
                "the header is padded with other blanks than spaces",
            );
        }
        if blanks.len() > SPARE_ROOM {
            let message = format!("{} blanks follow the header's object", blanks.len());
            self.report(&rules::SPARE_ROOM, start, blanks.len(), message);
        }
        if self.json.peek().is_some() {
            let rest = self.text.len().saturating_sub(end);
            let found = self.json.unexpected("only spaces after the header's object").message;
            self.report(&rules::HEADER_TRAILING, end, rest, format!("{found} ({rest} bytes up to the data)"));
        }
    }

    fn entry(&mut self, key: Str) -> Result<(), Stop> {
        let name = self.owned(key);
        self.cx.budget.fits(Limit::StringBytes, name.len() as u64)?;
        if name == METADATA_KEY && !self.metadata_is_a_tensor() {
            return self.metadata(key);
        }
        self.cx.budget.charge(Limit::Tensors, 1)?;
        let start = key.start.saturating_sub(1);
        if name == METADATA_KEY {
            let message = "a tensor is called `__metadata__`, which the format reserves";
            self.report_tensor(&rules::RESERVED_NAME, start, message, &name);
        }
        let entry = match self.json.peek() {
            Some(b'{') => match self.usual_entry() {
                Some(entry) => entry,
                None => self.fields(&name)?,
            },
            Some(b'[') => self.array_form(&name)?,
            _ => {
                self.json.skip_value(self.cx.budget)?;
                let message = "the entry is no object with `dtype`, `shape` and `data_offsets`";
                self.report_tensor(&rules::ENTRY_FORM, start, message, &name);
                Entry { spoilt: [true; 3], ..Entry::default() }
            }
        };
        self.finish(name, start, entry);
        Ok(())
    }

    /// Whether an earlier entry has this name; enters it if not.
    fn is_known(&mut self, name: &Text) -> bool {
        let tensors = &self.header.tensors;
        let position = tensors.len();
        if self.names.is_none() && tensors.last().is_none_or(|last| last.name < *name) {
            return false;
        }
        let name_at = |at: usize| {
            if at == position {
                Some(name.as_str())
            } else {
                tensors.get(at).map(|tensor| tensor.name.as_str())
            }
        };
        let names = self.names.get_or_insert_with(|| {
            let mut names = NameIndex::with_room(tensors.capacity());
            for (at, tensor) in tensors.iter().enumerate() {
                names.insert(&tensor.name, at, name_at);
            }
            names
        });
        names.insert(name, position, name_at).is_some()
    }

    /// Whether the entry that began at `start` and ends here is listed.
    fn is_listed(&mut self, start: usize) -> bool {
        let len = self.json.offset().saturating_sub(start).saturating_add(1);
        if len as u64 >= SHORTEST_ENTRY {
            return true;
        }
        self.n_short = self.n_short.saturating_add(1);
        if self.n_short == 1 {
            self.header.tensors.reserve_exact(SHORT_ENTRIES);
        }
        self.n_short <= SHORT_ENTRIES
    }

    /// Puts the tensor into the table; what is wrong with it alone is reported here.
    fn finish(&mut self, name: Text, start: usize, entry: Entry) {
        let found = [entry.dtype.is_some(), entry.shape.is_some(), entry.offsets.is_some()];
        for ((field, found), spoilt) in FIELDS.iter().zip(found).zip(entry.spoilt) {
            if !found && !spoilt {
                self.report_tensor(
                    &rules::MISSING_FIELD,
                    start,
                    format!("the entry has no `{field}`"),
                    &name,
                );
            }
        }
        if !self.is_listed(start) {
            self.header.incomplete = true;
            return;
        }
        if self.is_known(&name) {
            let message =
                format!("the name `{name}` occurs twice: loaders take the last entry, other tools the first");
            self.report_tensor(&rules::DUPLICATE_NAME, start, message, &name);
        }
        let position = self.header.tensors.len();
        if let Some(DType::Unknown(code)) = &entry.dtype {
            let message = format!("the dtype `{code}` is unknown; the file may be newer than this version");
            self.report_tensor(&rules::UNKNOWN_DTYPE, start, message, &name);
        }
        let dtype = entry.dtype.unwrap_or_else(|| DType::Unknown(Text::default()));
        let size = entry.shape.as_ref().map(|shape| dtype.byte_len(shape));
        let shape = entry.shape.unwrap_or(Dims::SCALAR);
        match size {
            Some(Err(SizeError::Overflow)) => {
                let message = format!("{dtype} {shape} has more bits than 64 bits can count");
                self.report_tensor(&rules::SIZE_OVERFLOW, start, message, &name);
            }
            Some(Err(SizeError::PartialBlock)) => {
                let message = format!("{dtype} {shape} does not fill whole bytes");
                self.report_tensor(&rules::PARTIAL_BYTE, start, message, &name);
            }
            _ => {}
        }
        let want = size.and_then(Result::ok).unwrap_or_default();
        let data_start = self.at.end();
        let data = match entry.offsets {
            Some((begin, end)) if begin > end => {
                let message = format!("the data ends at {end}, before its begin at {begin}");
                self.report_tensor(&rules::OFFSETS_REVERSED, start, message, &name);
                None
            }
            Some((begin, end)) => {
                let len = end.saturating_sub(begin);
                match size {
                    Some(Ok(want)) if want != len => {
                        let message = format!("{dtype} {shape} needs {want} bytes, its offsets span {len}");
                        self.report_tensor(&rules::SIZE_MISMATCH, start, message, &name);
                        self.header.damaged.push((position, want));
                    }
                    Some(Ok(_) | Err(SizeError::UnknownType)) => {}
                    _ => self.header.damaged.push((position, len)),
                }
                // Offsets near 2^64 cannot be placed in a file; the end of the number range stands for them.
                Some(Data::Extent(Span {
                    source: self.at.source,
                    start: data_start.saturating_add(begin),
                    len,
                }))
            }
            None => None,
        };
        self.header.incomplete |= data.is_none();
        let data = data.unwrap_or(Data::Missing { want, have: 0, file: None });
        let tensor = TensorInfo::dense(name, dtype, shape, data);
        self.header.sorted &= self.header.tensors.last().is_none_or(|last| order(last) <= order(&tensor));
        self.header.tensors.push(tensor);
    }

    fn syntax(&mut self, error: &JsonError) {
        self.header.incomplete = true;
        let message = format!("the header is not valid JSON: {}", error.message);
        self.report(&rules::HEADER_JSON, error.offset, 1, message);
    }

    /// A string of the header as shared text.
    fn owned(&self, string: Str) -> Text {
        let part = (!string.escaped)
            .then(|| Text::part(self.text, string.start, string.end.saturating_sub(string.start)))
            .flatten();
        part.unwrap_or_else(|| self.json.unescape(string).into_owned().into())
    }

    fn span(&self, start: usize, len: usize) -> Span {
        let left = self.at.len.saturating_sub(start as u64);
        Span {
            source: self.at.source,
            start: self.at.start.saturating_add(start as u64),
            len: left.min(len as u64),
        }
    }

    fn report(&mut self, rule: &'static Rule, start: usize, len: usize, message: impl Into<String>) {
        let finding = rule.at(self.span(start, len), message);
        self.cx.report(finding);
    }

    /// Reports a problem of one tensor; the span runs from its name to where the scanner stands.
    fn report_tensor(&mut self, rule: &'static Rule, start: usize, message: impl Into<String>, name: &Text) {
        let len = self.json.offset().saturating_sub(start);
        let finding = rule.at(self.span(start, len), message).tensor(name);
        self.cx.report(finding);
    }
}

/// Order of the data; an empty tensor comes before the one that starts at the same place, one without a place last.
pub(super) fn order(tensor: &TensorInfo) -> (u64, u64) {
    match tensor.view.data {
        Data::Extent(span) => (span.start, span.len),
        _ => (u64::MAX, u64::MAX),
    }
}

/// The beginning of a text from the file, short enough for a message.
pub(super) fn excerpt(text: &str) -> String {
    let mut cut: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if cut.len() < text.len() && text.chars().count() > 60 {
        cut.push('…');
    }
    cut
}
