//! JSON with byte offsets (RFC 8259): one scanner for the headers of weight files and, on top of it, a small tree for
//! the files beside them.
//!
//! It is ours because a header reader needs what general readers hide: where each value lies, keys that occur twice,
//! and 100,000 entries without an allocation each. It accepts what the field's reference reader (`serde_json`)
//! accepts, and refuses lone surrogates everywhere.

use crate::core::{Budget, Limit, LimitHit};
use std::{borrow::Cow, ops::Range};

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonError {
    /// Offset in the text.
    pub(crate) offset: usize,
    /// What was found or missed there.
    pub(crate) message: String,
}

/// A string as it stands: the range between its quotes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Str {
    /// Offset of the first byte after the opening quote.
    pub(crate) start: usize,
    /// Offset of the closing quote.
    pub(crate) end: usize,
    /// Whether it holds escapes.
    pub(crate) escaped: bool,
}

/// A number as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    /// A non-negative integer below 2^64, written as such.
    Unsigned(u64),
    /// Any other JSON number.
    Other,
}

/// Reads a text from front to back.
#[derive(Clone)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Scanner { text, bytes: text.as_bytes(), at: 0 }
    }

    /// Offset of the next byte.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(crate) fn bump(&mut self) {
        self.at = self.at.saturating_add(1).min(self.bytes.len());
    }

    /// Takes `byte` if it is next.
    #[inline]
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.bump();
        }
        found
    }

    #[inline]
    pub(crate) fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.bump();
        }
    }

    /// Skips blanks and takes `byte`.
    #[inline]
    pub(crate) fn expect(&mut self, byte: u8, where_: &str) -> Result<(), JsonError> {
        self.skip_blanks();
        if self.take(byte) { Ok(()) } else { Err(self.unexpected(&format!("`{}` {where_}", byte as char))) }
    }

    /// What stands here instead of what was wanted.
    pub(crate) fn unexpected(&self, wanted: &str) -> JsonError {
        let found = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => "the end".to_owned(),
            Some(c) => format!("`{}`", c.escape_debug()),
        };
        self.error(format!("expected {wanted}, found {found}"))
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> JsonError {
        JsonError { offset: self.at, message: message.into() }
    }

    /// Reads a string; blanks before it are skipped.
    pub(crate) fn string(&mut self) -> Result<Str, JsonError> {
        self.skip_blanks();
        if !self.take(b'"') {
            return Err(self.unexpected("a string"));
        }
        let start = self.at;
        let mut escaped = false;
        loop {
            self.at = plain_run(self.bytes, self.at);
            match self.peek() {
                Some(b'"') => {
                    let end = self.at;
                    self.bump();
                    return Ok(Str { start, end, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return Err(self.error("a control character stands in a string without an escape")),
                None => return Err(self.error("a string has no end")),
            }
        }
    }

    /// Steps over one escape, and over both halves of a surrogate pair.
    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        self.bump();
        let c = match self.peek() {
            Some(b'u') => {
                self.bump();
                let first = self.hex4()?;
                let code = match first {
                    0xD800..=0xDBFF => {
                        let second = if self.take(b'\\') && self.take(b'u') { self.hex4()? } else { 0 };
                        second
                            .checked_sub(0xDC00)
                            .filter(|low| *low < 0x400)
                            .map(|low| 0x1_0000 + ((first & 0x3FF) << 10 | low))
                    }
                    other => Some(other),
                };
                return code
                    .and_then(char::from_u32)
                    .ok_or(JsonError { offset: start, message: "an escape is half of a surrogate pair".into() });
            }
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return Err(JsonError { offset: start, message: "an unknown escape stands in a string".into() }),
        };
        self.bump();
        Ok(c)
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let digits = self.text.get(self.at..self.at.saturating_add(4)).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let value = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let value = value.ok_or_else(|| self.error("`\\u` is not followed by four hexadecimal digits"))?;
        self.at = self.at.saturating_add(4);
        Ok(value)
    }

    /// The text that a string stands for.
    pub(crate) fn unescape(&self, string: Str) -> Cow<'a, str> {
        let raw = self.text.get(string.start..string.end).unwrap_or_default();
        if !string.escaped {
            return Cow::Borrowed(raw);
        }
        let mut inner = Scanner::new(raw);
        let mut out = String::new();
        while let Some(byte) = inner.peek() {
            if byte == b'\\' {
                // The scanner has been here: a bad escape did not get through.
                out.push(inner.escape().unwrap_or(char::REPLACEMENT_CHARACTER));
            } else {
                let run = raw.get(inner.at..).and_then(|rest| rest.split('\\').next()).unwrap_or_default();
                out.push_str(run);
                inner.at = inner.at.saturating_add(run.len().max(1));
            }
        }
        Cow::Owned(out)
    }

    /// Reads a number; the grammar of JSON is held (no leading zero, no plus sign).
    pub(crate) fn number(&mut self) -> Result<Number, JsonError> {
        let start = self.at;
        let negative = self.take(b'-');
        let mut value = Some(0u64);
        match self.peek() {
            Some(b'0') => self.bump(),
            Some(b'1'..=b'9') => {
                while let Some(digit @ b'0'..=b'9') = self.peek() {
                    value = value
                        .and_then(|value| value.checked_mul(10))
                        .and_then(|value| value.checked_add(u64::from(digit & 0xF)));
                    self.bump();
                }
            }
            _ => return Err(self.unexpected("a digit")),
        }
        if let Some(b'0'..=b'9') = self.peek() {
            return Err(JsonError { offset: start, message: "a number has a leading zero".into() });
        }
        let mut integer = true;
        if self.take(b'.') {
            integer = false;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            integer = false;
            self.bump();
            if let Some(b'+' | b'-') = self.peek() {
                self.bump();
            }
            self.digits()?;
        }
        Ok(match value {
            Some(value) if integer && !negative => Number::Unsigned(value),
            _ => Number::Other,
        })
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.bump();
        }
        if self.at == start { Err(self.unexpected("a digit")) } else { Ok(()) }
    }

    fn word(&mut self, word: &str) -> Result<(), JsonError> {
        if self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes())) {
            self.at = self.at.saturating_add(word.len());
            Ok(())
        } else {
            Err(self.unexpected("a value"))
        }
    }

    /// Takes `null` if it is next.
    pub(crate) fn take_null(&mut self) -> bool {
        self.word("null").is_ok()
    }

    /// Steps over one value of any kind, nested at most as deep as the budget allows. Needs no stack of its own.
    pub(crate) fn skip_value(&mut self, budget: &Budget) -> Result<Range<usize>, Stop> {
        self.skip_blanks();
        let start = self.at;
        // One entry a container that is open: whether it is an object.
        let mut open: Vec<bool> = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'{' | b'[') => {
                    let is_object = self.peek() == Some(b'{');
                    self.bump();
                    self.skip_blanks();
                    if !self.take(if is_object { b'}' } else { b']' }) {
                        open.push(is_object);
                        budget.fits(Limit::Depth, open.len() as u64)?;
                        if is_object {
                            self.key()?;
                        }
                        continue;
                    }
                }
                Some(b'"') => drop(self.string()?),
                Some(b't') => self.word("true")?,
                Some(b'f') => self.word("false")?,
                Some(b'n') => self.word("null")?,
                Some(b'-' | b'0'..=b'9') => drop(self.number()?),
                _ => return Err(self.unexpected("a value").into()),
            }
            // A value ended: go on in the container around it, or close that too.
            loop {
                let Some(is_object) = open.last().copied() else { return Ok(start..self.at) };
                self.skip_blanks();
                if self.take(b',') {
                    if is_object {
                        self.key()?;
                    }
                    break;
                }
                if !self.take(if is_object { b'}' } else { b']' }) {
                    return Err(self.unexpected("`,` or the end of the list").into());
                }
                open.pop();
            }
        }
    }

    fn key(&mut self) -> Result<Str, JsonError> {
        let key = self.string()?;
        self.expect(b':', "after a key")?;
        Ok(key)
    }
}

/// Why a text could not be read to its end.
#[derive(Debug)]
pub(crate) enum Stop {
    Json(JsonError),
    Limit(LimitHit),
}

impl From<JsonError> for Stop {
    fn from(error: JsonError) -> Self {
        Stop::Json(error)
    }
}

impl From<LimitHit> for Stop {
    fn from(hit: LimitHit) -> Self {
        Stop::Limit(hit)
    }
}

/// Offset of the first quote, backslash or control character at or after `at`; eight bytes a step.
#[inline]
#[allow(clippy::arithmetic_side_effects, reason = "the arithmetic of a bit trick, and offsets below the slice's length")]
fn plain_run(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    let has_zero = |word: u64| word.wrapping_sub(ONES) & !word;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let hit = (has_zero(word ^ (ONES * u64::from(b'"'))) | has_zero(word ^ (ONES * u64::from(b'\\'))) | control) & HIGHS;
        if hit != 0 {
            // The lowest hit is exact; borrows can only spoil bytes above it.
            return at + (hit.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)) {
        at += 1;
    }
    at
}

/// A value with its place in the text.
#[derive(Clone, Debug)]
pub(crate) struct Json {
    /// Byte range in the text, quotes and brackets included.
    pub(crate) range: Range<usize>,
    pub(crate) node: Node,
}

/// The kinds of values.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    /// A number, as it stands in the text.
    Number(String),
    String(String),
    Array(Vec<Json>),
    /// In the order of the text, keys that occur twice included.
    Object(Vec<(Key, Json)>),
}

/// A key with its place.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) offset: usize,
}

/// Deeper than the default limit by far, shallow enough for any thread's stack.
const DEEPEST: u64 = 1_000;

impl Json {
    /// Reads a whole document.
    pub(crate) fn parse(text: &str, budget: &Budget) -> Result<Json, Stop> {
        let mut scanner = Scanner::new(text);
        let value = Json::value(&mut scanner, budget, 1)?;
        scanner.skip_blanks();
        if scanner.peek().is_some() { Err(scanner.unexpected("the end of the document").into()) } else { Ok(value) }
    }

    fn value(scanner: &mut Scanner<'_>, budget: &Budget, depth: u64) -> Result<Json, Stop> {
        scanner.skip_blanks();
        let start = scanner.offset();
        // An entry of a list costs its text at least two bytes, and us one node.
        budget.charge(Limit::MemoryBytes, size_of::<(Key, Json)>() as u64)?;
        let node = match scanner.peek() {
            Some(open @ (b'{' | b'[')) => {
                budget.fits(Limit::Depth, depth)?;
                if depth > DEEPEST {
                    return Err(scanner.error(format!("values are nested deeper than {DEEPEST}")).into());
                }
                scanner.bump();
                if open == b'{' {
                    Node::Object(Json::list(scanner, b'}', |scanner| {
                        let key = scanner.key()?;
                        let name = scanner.unescape(key).into_owned();
                        let value = Json::value(scanner, budget, depth.saturating_add(1))?;
                        Ok((Key { name, offset: key.start.saturating_sub(1) }, value))
                    })?)
                } else {
                    Node::Array(Json::list(scanner, b']', |scanner| Json::value(scanner, budget, depth.saturating_add(1)))?)
                }
            }
            Some(b'"') => {
                let string = scanner.string()?;
                budget.charge(Limit::MemoryBytes, string.end.saturating_sub(string.start) as u64)?;
                Node::String(scanner.unescape(string).into_owned())
            }
            Some(b'-' | b'0'..=b'9') => {
                scanner.number()?;
                Node::Number(scanner.text.get(start..scanner.offset()).unwrap_or_default().to_owned())
            }
            Some(b't') => scanner.word("true").map(|()| Node::Bool(true))?,
            Some(b'f') => scanner.word("false").map(|()| Node::Bool(false))?,
            _ => scanner.word("null").map(|()| Node::Null)?,
        };
        Ok(Json { range: start..scanner.offset(), node })
    }

    fn list<T>(
        scanner: &mut Scanner<'_>,
        close: u8,
        mut item: impl FnMut(&mut Scanner<'_>) -> Result<T, Stop>,
    ) -> Result<Vec<T>, Stop> {
        let mut items = Vec::new();
        scanner.skip_blanks();
        if scanner.take(close) {
            return Ok(items);
        }
        loop {
            items.push(item(scanner)?);
            scanner.skip_blanks();
            if scanner.take(close) {
                return Ok(items);
            }
            if !scanner.take(b',') {
                return Err(scanner.unexpected("`,` or the end of the list").into());
            }
        }
    }

    /// The value of the last entry called `key`, as the field's loaders take it.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.entries().iter().rev().find(|(k, _)| k.name == key).map(|(_, value)| value)
    }

    /// The entries of an object; none for another value.
    pub(crate) fn entries(&self) -> &[(Key, Json)] {
        match &self.node {
            Node::Object(entries) => entries,
            _ => &[],
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.node {
            Node::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self.node {
            Node::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Keys that an object holds twice, at any depth.
    pub(crate) fn duplicates(&self) -> Vec<&Key> {
        let mut found = Vec::new();
        let mut todo = vec![self];
        while let Some(value) = todo.pop() {
            match &value.node {
                Node::Object(entries) => {
                    let mut seen = std::collections::HashSet::new();
                    found.extend(entries.iter().filter(|(key, _)| !seen.insert(&key.name)).map(|(key, _)| key));
                    todo.extend(entries.iter().map(|(_, value)| value));
                }
                Node::Array(items) => todo.extend(items),
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::{Json, Scanner, Stop};
    use crate::core::{Budget, Limits};

    fn agrees(text: &str) {
        let budget = Budget::new(Limits::default());
        let ours = Json::parse(text, &budget);
        let theirs = serde_json::from_str::<serde_json::Value>(text);
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{text:?}: {ours:?} against {theirs:?}");
        let mut scanner = Scanner::new(text);
        let skipped = scanner.skip_value(&budget);
        scanner.skip_blanks();
        assert_eq!(skipped.is_ok() && scanner.peek().is_none(), theirs.is_ok(), "skip {text:?}");
        if let (Ok(ours), Ok(serde_json::Value::String(theirs))) = (ours, theirs) {
            assert_eq!(ours.as_str(), Some(theirs.as_str()));
        }
    }

    #[test]
    fn accepts_and_refuses_what_serde_json_does() {
        for text in [
            "", " ", "{}", "[]", "{ }", "[ ]", "[1,]", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1}", "[1 2]", "nul",
            "null", "true", "truex", "false", "0", "00", "01", "-0", "-", "1.", "1.0", ".5", "1e", "1e5", "1e+", "1E-7", "+1",
            "\"\"", "\"a", "\"\\u0041\"", "\"\\u004\"", "\"\\ud83d\\ude00\"", "\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83d\\u0041\"",
            "\"\\x\"", "\"\\/\"", "\"\\b\\f\\n\\r\\t\\\"\\\\\"", "\"\n\"", "\"\u{1f}\"", "\"\u{7f}\"", "\"é\u{2028}\"", "{}{}",
            "{\"a\":{\"b\":[{},[],null,true,-1.5e3,\"x\"]}} ", "\u{feff}{}", "NaN", "[[[[]]]]", "[}", "{]", "{1:2}", "/**/{}",
            "\"12345678\\n12345678\"", "\"1234567\"", "\"12345678\"", "\"\u{80}\u{ff}\u{100}aaaaaaa\"",
        ] {
            agrees(text);
        }
    }

    #[test]
    fn depth_is_held_without_a_stack() {
        let mut limits = Limits::none();
        let deep = "[".repeat(1_000_000);
        let open = Scanner::new(&deep).skip_value(&Budget::new(limits.clone()));
        assert!(matches!(open, Err(Stop::Json(_))));
        assert!(matches!(Json::parse(&deep, &Budget::new(limits.clone())), Err(Stop::Json(_))));
        limits.depth = 128;
        assert!(matches!(Scanner::new(&deep).skip_value(&Budget::new(limits)), Err(Stop::Limit(_))));
    }

    #[test]
    fn duplicates_are_found_after_unescaping_and_at_any_depth() {
        let json = Json::parse(r#"{"a":{"b":1,"\u0062":2},"c":[{"d":1,"d":2}]}"#, &Budget::new(Limits::default())).expect("valid");
        let mut names: Vec<_> = json.duplicates().iter().map(|key| key.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["b", "d"]);
    }
}
