//! The reserved key `__metadata__`.

use super::{Parser, excerpt};
use crate::{
    checkpoint::Value,
    core::{Limit, NameIndex, Text},
    formats::safetensors::{METADATA_KEY, rules},
    wire::json::{Stop, Str},
};

/// Values of keys that stood before are kept up to this number; each has a finding of its own.
const REPEATS_KEPT: usize = 1_000;

impl Parser<'_, '_> {
    /// Whether the value of `__metadata__` is a tensor's entry: nothing else has an array under these keys.
    pub(super) fn metadata_is_a_tensor(&self) -> bool {
        let mut ahead = self.json.clone();
        if !ahead.take(b'{') {
            return false;
        }
        let mut arrays = Vec::new();
        loop {
            let Ok(key) = ahead.string() else { return false };
            if ahead.expect(b':', "").is_err() {
                return false;
            }
            ahead.skip_blanks();
            let field = ahead.unescape(key);
            if ahead.peek() == Some(b'[') && (field == "shape" || field == "data_offsets") {
                arrays.push(field);
            }
            if ahead.skip_value(self.cx.budget).is_err() {
                return false;
            }
            ahead.skip_blanks();
            if !ahead.take(b',') {
                return arrays.len() == 2;
            }
        }
    }

    pub(super) fn metadata(&mut self, key: Str) -> Result<(), Stop> {
        let start = key.start.saturating_sub(1);
        if std::mem::replace(&mut self.seen_metadata, true) {
            self.report(&rules::DUPLICATE_KEY, start, METADATA_KEY.len(), "`__metadata__` occurs twice");
        }
        if self.json.peek() == Some(b'n') && self.json.take_null() {
            self.report(&rules::METADATA_NULL, start, METADATA_KEY.len(), "`__metadata__` is `null`");
            return Ok(());
        }
        if !self.json.take(b'{') {
            let value = self.json.skip_value(self.cx.budget)?;
            let found = excerpt(self.text.get(value.clone()).unwrap_or_default());
            let message = format!("`__metadata__` is `{found}`, not an object of strings");
            self.report(&rules::METADATA_NOT_STRING, value.start, value.len(), message);
            return Ok(());
        }
        let first = self.cx.checkpoint.metadata.len();
        let mut names = NameIndex::default();
        let mut n_repeats = 0usize;
        self.json.skip_blanks();
        if self.json.take(b'}') {
            return Ok(());
        }
        loop {
            let key = self.json.string()?;
            self.json.expect(b':', "after a key")?;
            self.json.skip_blanks();
            self.cx.budget.charge(Limit::MetadataItems, 1)?;
            let name = self.owned(key);
            let position = self.cx.checkpoint.metadata.len();
            let pairs = &self.cx.checkpoint.metadata;
            let seen = names.insert(&name, position, |at| {
                if at == position {
                    Some(&*name)
                } else {
                    pairs.get(at).filter(|_| at >= first).map(|(key, _)| key.as_str())
                }
            });
            n_repeats = n_repeats.saturating_add(usize::from(seen.is_some()));
            let is_kept = seen.is_none() || n_repeats <= REPEATS_KEPT;
            if seen.is_some() {
                let message = format!("`__metadata__` has the key `{name}` twice");
                let finding =
                    rules::DUPLICATE_KEY.at(self.span(key.start.saturating_sub(1), name.len()), message);
                self.cx.report(finding.subject(name.clone()));
            }
            if self.json.peek() == Some(b'"') {
                let value = self.json.string()?;
                let value = self.owned(value);
                self.cx.budget.fits(Limit::StringBytes, value.len() as u64)?;
                if is_kept {
                    self.keep(name, value);
                }
            } else {
                let value = self.json.skip_value(self.cx.budget)?;
                let text = self.text.get(value.clone()).unwrap_or_default();
                let message =
                    format!("`__metadata__` value of `{name}` is `{}`, not a string", excerpt(text));
                let finding = rules::METADATA_NOT_STRING.at(self.span(value.start, value.len()), message);
                self.cx.report(finding.subject(name.clone()));
                // Kept as its text, so that it can be seen.
                if is_kept {
                    self.keep(name, text.into());
                }
            }
            self.json.skip_blanks();
            if self.json.take(b'}') {
                return Ok(());
            }
            if !self.json.take(b',') {
                return Err(self.json.unexpected("`,` or `}` in `__metadata__`").into());
            }
        }
    }

    fn keep(&mut self, name: Text, value: Text) {
        let metadata = &mut self.cx.checkpoint.metadata;
        // By a quarter and not by the double: a pair takes more memory than a short one takes bytes of the header.
        if metadata.len() == metadata.capacity() {
            metadata.reserve_exact((metadata.len() / 4).max(16));
        }
        metadata.push((name, Value::Str(value)));
    }
}
