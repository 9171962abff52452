//! One pass over a text, front to back, without an allocation for what needs none.

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

    /// The text from `start` to the next byte.
    pub(super) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Offset of the next byte.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Steps over one byte that was looked at.
    #[inline]
    pub(crate) fn bump(&mut self) {
        self.at = self.at.saturating_add(1);
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
                            .and_then(|low| 0x1_0000_u32.checked_add((first & 0x3FF) << 10 | low))
                    }
                    other => Some(other),
                };
                return code.and_then(char::from_u32).ok_or(JsonError {
                    offset: start,
                    message: "an escape is half of a surrogate pair".into(),
                });
            }
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => {
                return Err(JsonError {
                    offset: start,
                    message: "an unknown escape stands in a string".into(),
                });
            }
        };
        self.bump();
        Ok(c)
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let digits = self
            .text
            .get(self.at..self.at.saturating_add(4))
            .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
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
        let first = self.at;
        self.digits()?;
        let digits = self.text.get(first..self.at).unwrap_or_default();
        if digits.len() > 1 && digits.starts_with('0') {
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
        Ok(match digits.parse() {
            Ok(value) if integer && !negative => Number::Unsigned(value),
            _ => Number::Other,
        })
    }

    /// Takes these bytes if they are next.
    #[inline]
    pub(crate) fn literal(&mut self, bytes: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(bytes).then(|| self.at = self.at.saturating_add(bytes.len()))
    }

    /// A plain integer of so few digits that it cannot overflow; `None` for anything else.
    #[inline]
    pub(crate) fn short_integer(&mut self) -> Option<u64> {
        // 10^19 - 1 is below 2^64.
        const MOST_DIGITS: usize = 19;
        let rest = self.bytes.get(self.at..)?;
        let mut value = 0u64;
        let n_digits = rest.iter().take(MOST_DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
        for digit in rest.get(..n_digits)? {
            value = value.checked_mul(10)?.checked_add(u64::from(digit & 0xF))?;
        }
        let leading_zero = n_digits > 1 && rest.first() == Some(&b'0');
        let goes_on = rest.get(n_digits).is_some_and(u8::is_ascii_digit);
        self.at = self.at.checked_add(n_digits)?;
        (n_digits > 0 && !leading_zero && !goes_on).then_some(value)
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.bump();
        }
        if self.at == start { Err(self.unexpected("a digit")) } else { Ok(()) }
    }

    pub(super) fn word(&mut self, word: &str) -> Result<(), JsonError> {
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

    pub(super) fn key(&mut self) -> Result<Str, JsonError> {
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
#[allow(
    clippy::arithmetic_side_effects,
    reason = "the arithmetic of a bit trick, and offsets below the slice's length"
)]
fn plain_run(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    let has_zero = |word: u64| word.wrapping_sub(ONES) & !word;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let hit = (has_zero(word ^ (ONES * u64::from(b'"')))
            | has_zero(word ^ (ONES * u64::from(b'\\')))
            | control)
            & HIGHS;
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
