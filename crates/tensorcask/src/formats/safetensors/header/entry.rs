//! The value of one tensor: `{"dtype": …, "shape": …, "data_offsets": …}`, and the other forms that loaders take by accident.

use super::{Parser, excerpt};
use crate::{
    core::{DType, Dims, Limit, Text},
    formats::safetensors::rules,
    wire::json::{Number, Stop, Str},
};
use std::borrow::Cow;

/// The fields of one entry as far as they could be read.
#[derive(Default)]
pub(super) struct Entry {
    pub(super) dtype: Option<DType>,
    pub(super) shape: Option<Dims>,
    pub(super) offsets: Option<(u64, u64)>,
    /// A field was there with a wrong value, so its absence is no finding of its own.
    pub(super) spoilt: [bool; 3],
}

/// The fields of the format, in the order of the reference writer.
pub(super) const FIELDS: [&str; 3] = ["dtype", "shape", "data_offsets"];

impl<'a> Parser<'a, '_> {
    /// The entry in the reference writer's own spelling, as nearly every file has it; `None`, and nothing is consumed,
    /// for any other. It finds nothing wrong and is there for speed alone: it halves the time of a header of 100,000
    /// tensors (docs/benchmarks.md).
    pub(super) fn usual_entry(&mut self) -> Option<Entry> {
        let mut ahead = self.json.clone();
        ahead.literal(br#"{"dtype":"#)?;
        let code = ahead.string().ok()?;
        let code = ahead.unescape(code);
        let last =
            self.header.tensors.last().map(|tensor| &tensor.dtype).filter(|dtype| dtype.name() == code);
        let dtype = last.cloned().or_else(|| DType::from_name(&code))?;
        ahead.literal(br#","shape":["#)?;
        let mut shape = Dims::SCALAR;
        if !ahead.take(b']') {
            loop {
                shape.push(ahead.short_integer()?);
                self.cx.budget.fits(Limit::Dims, shape.len() as u64).ok()?;
                if ahead.take(b']') {
                    break;
                }
                ahead.literal(b",")?;
            }
        }
        ahead.literal(br#","data_offsets":["#)?;
        let begin = ahead.short_integer()?;
        ahead.literal(b",")?;
        let end = ahead.short_integer()?;
        ahead.literal(b"]}")?;
        self.json = ahead;
        Some(Entry {
            dtype: Some(dtype),
            shape: Some(shape),
            offsets: Some((begin, end)),
            spoilt: [false; 3],
        })
    }

    pub(super) fn fields(&mut self, name: &Text) -> Result<Entry, Stop> {
        let mut entry = Entry::default();
        let mut seen = [false; 3];
        let mut others: Vec<(usize, usize)> = Vec::new();
        self.json.bump();
        self.json.skip_blanks();
        if self.json.take(b'}') {
            return Ok(entry);
        }
        loop {
            let key = self.json.string()?;
            self.json.expect(b':', "after a key")?;
            self.json.skip_blanks();
            let field = self.json.unescape(key);
            let start = key.start.saturating_sub(1);
            let known = FIELDS.iter().position(|known| *known == field);
            if let Some(seen) = known.and_then(|known| seen.get_mut(known)) {
                if std::mem::replace(seen, true) {
                    self.field_twice(&field, start, name);
                }
            } else {
                let message = format!("the entry has an unknown field `{field}`");
                self.report_tensor(&rules::UNKNOWN_FIELD, start, message, name);
                others.push((key.start, key.end));
            }
            self.field(known, &mut entry, name)?;
            self.json.skip_blanks();
            if self.json.take(b'}') {
                self.unknown_fields_twice(others, name);
                return Ok(entry);
            }
            if !self.json.take(b',') {
                return Err(self.json.unexpected("`,` or `}` after a field").into());
            }
        }
    }

    /// Sorted and not hashed: a million short fields then cost sixteen bytes each.
    fn unknown_fields_twice(&mut self, mut others: Vec<(usize, usize)>, name: &Text) {
        let (json, text) = (self.json.clone(), self.text.as_str());
        let field = |(start, end): (usize, usize)| -> Cow<'a, str> {
            let escaped = text.get(start..end).is_some_and(|raw| raw.contains('\\'));
            json.unescape(Str { start, end, escaped })
        };
        others.sort_by(|a, b| field(*a).cmp(&field(*b)).then(a.cmp(b)));
        for pair in others.windows(2) {
            if let [first, second] = pair
                && field(*first) == field(*second)
            {
                self.field_twice(&field(*second), second.0.saturating_sub(1), name);
            }
        }
    }

    fn field_twice(&mut self, field: &str, start: usize, name: &Text) {
        let message = format!("the entry has the field `{field}` twice");
        self.report_tensor(&rules::DUPLICATE_KEY, start, message, name);
    }

    /// `["F32",[1],[0,4]]`: not in the specification, but the reference reader takes it.
    pub(super) fn array_form(&mut self, name: &Text) -> Result<Entry, Stop> {
        let message =
            "the entry is an array; the format wants an object with `dtype`, `shape` and `data_offsets`";
        let start = self.json.offset();
        self.report_tensor(&rules::ENTRY_FORM, start, message, name);
        let mut entry = Entry::default();
        self.json.bump();
        self.json.skip_blanks();
        if self.json.take(b']') {
            return Ok(entry);
        }
        for position in 0.. {
            self.json.skip_blanks();
            self.field(Some(position).filter(|position| *position < FIELDS.len()), &mut entry, name)?;
            self.json.skip_blanks();
            if self.json.take(b']') {
                break;
            }
            if !self.json.take(b',') {
                return Err(self.json.unexpected("`,` or `]` in an entry").into());
            }
        }
        Ok(entry)
    }

    fn field(&mut self, known: Option<usize>, entry: &mut Entry, name: &Text) -> Result<(), Stop> {
        let start = self.json.offset();
        let good = match known {
            Some(0) => {
                entry.dtype = self.dtype(name)?;
                entry.dtype.is_some()
            }
            Some(1) => {
                entry.shape = self.integers()?;
                entry.shape.is_some()
            }
            Some(2) => {
                entry.offsets =
                    self.integers()?.and_then(|pair| <[u64; 2]>::try_from(&*pair).ok()).map(Into::into);
                entry.offsets.is_some()
            }
            _ => {
                self.json.skip_value(self.cx.budget)?;
                true
            }
        };
        if let Some((known, false)) = known.map(|known| (known, good)) {
            let wanted =
                ["a string", "an array of integers from 0 to 2^64 - 1", "two integers from 0 to 2^64 - 1"];
            let found = self.text.get(start..self.json.offset()).unwrap_or_default();
            let field = FIELDS.get(known).copied().unwrap_or_default();
            let wanted = wanted.get(known).copied().unwrap_or_default();
            let message = format!("`{field}` is `{}`, not {wanted}", excerpt(found));
            let len = found.len();
            let finding = rules::FIELD_TYPE.at(self.span(start, len), message).tensor(name);
            self.cx.report(finding);
            if let Some(spoilt) = entry.spoilt.get_mut(known) {
                *spoilt = true;
            }
        }
        Ok(())
    }

    fn dtype(&mut self, name: &Text) -> Result<Option<DType>, Stop> {
        let start = self.json.offset();
        match self.json.peek() {
            Some(b'"') => {
                let string = self.json.string()?;
                Ok(Some(self.dtype_named(string)))
            }
            Some(b'{') => {
                // `{"F32":null}` is how the reference's JSON library can spell an enum; no writer does.
                let mut inner = self.json.clone();
                self.json.skip_value(self.cx.budget)?;
                inner.bump();
                let key = inner.string().ok();
                let one = inner.expect(b':', "").is_ok() && {
                    inner.skip_blanks();
                    inner.take_null() && inner.expect(b'}', "").is_ok()
                };
                let Some(key) = key.filter(|_| one) else { return Ok(None) };
                let message = "the dtype is an object; the format wants its name as a string";
                self.report_tensor(&rules::ENTRY_FORM, start, message, name);
                Ok(Some(self.dtype_named(key)))
            }
            _ => {
                self.json.skip_value(self.cx.budget)?;
                Ok(None)
            }
        }
    }

    fn dtype_named(&self, string: Str) -> DType {
        let code = self.json.unescape(string);
        DType::from_name(&code).unwrap_or_else(|| DType::Unknown(self.owned(string)))
    }

    /// An array of plain integers; `None`, with the value stepped over, for anything else.
    fn integers(&mut self) -> Result<Option<Dims>, Stop> {
        let start = self.json.clone();
        if self.json.take(b'[') {
            let mut dims = Dims::SCALAR;
            self.json.skip_blanks();
            if self.json.take(b']') {
                return Ok(Some(dims));
            }
            loop {
                self.json.skip_blanks();
                let digit = matches!(self.json.peek(), Some(b'0'..=b'9'));
                let Some(Number::Unsigned(dim)) = digit.then(|| self.json.number()).transpose()? else {
                    break;
                };
                dims.push(dim);
                self.cx.budget.fits(Limit::Dims, dims.len() as u64)?;
                self.json.skip_blanks();
                if self.json.take(b']') {
                    return Ok(Some(dims));
                }
                if !self.json.take(b',') {
                    break;
                }
            }
        }
        self.json = start;
        self.json.skip_value(self.cx.budget)?;
        Ok(None)
    }
}
