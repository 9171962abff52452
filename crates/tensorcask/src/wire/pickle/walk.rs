//! Steps over a stream opcode by opcode: arguments, depth of the stack, marks and which memo indices are taken.
//!
//! It answers one question, whether a loader would take these bytes for a pickle, and it errs towards what the loader
//! of `CPython` does. It needs only the places that it stops at, so an argument of a gigabyte costs nothing.

use super::opcodes::{Arg, Before, Does, Line, Opcode, opcode};
use std::collections::BTreeSet;

/// What a walk came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Walk {
    /// A whole stream.
    Stop {
        /// Offset of the first byte after STOP.
        end: u64,
        /// Opcodes walked.
        opcodes: u64,
        /// It imports something.
        imports: bool,
    },
    /// A good stream so far; there was no looking further.
    Running {
        /// Opcodes walked.
        opcodes: u64,
        /// It has imported something.
        imports: bool,
    },
    /// No stream from here on, but a loader would have imported names before it noticed.
    Breaks {
        /// Offset of the opcode that cannot be.
        at: u64,
        /// It has called what it imported.
        calls: bool,
    },
    /// No pickle.
    Not,
}

/// Marks and memo indices out of order that are remembered; real streams nest below 1,000 marks and number their memo
/// from 0 up. A stream with more is left [`Walk::Running`].
const KEPT: usize = 16_384;
/// Bytes of a text line that are looked at.
const LINE_BYTES: usize = 128;
/// The module whose arrays lie raw between the opcodes.
const JOBLIB: &[u8] = b"joblib.numpy_pickle";

/// A walk in progress.
pub(crate) struct Walker {
    total_len: u64,
    position: u64,
    opcodes: u64,
    imports: bool,
    calls: bool,
    joblib: bool,
    /// Items on the stack, marks not counted.
    depth: u64,
    /// The depth at each mark.
    marks: Vec<u64>,
    /// Memo indices below this are taken; `memo_more` has the others.
    memo_dense: u64,
    memo_more: BTreeSet<u64>,
    /// A text argument that is being read.
    text: Option<TextArg>,
}

struct TextArg {
    opcode: &'static Opcode,
    start: u64,
    lines_left: u8,
    /// The first bytes of the line at hand.
    line: Vec<u8>,
    last_byte: u8,
    line_len: u64,
}

/// Why a window was left.
enum Left {
    Wants,
    Ends,
    Bad(u64),
    Full,
}

impl Walker {
    /// A walk from offset 0 over `total_len` bytes.
    pub(crate) fn new(total_len: u64) -> Self {
        Walker {
            total_len,
            position: 0,
            opcodes: 0,
            imports: false,
            calls: false,
            joblib: false,
            depth: 0,
            marks: Vec::new(),
            memo_dense: 0,
            memo_more: BTreeSet::new(),
            text: None,
        }
    }

    /// Walks on over `window`, the bytes from `start` on; `None` when it wants those from [`position`](Self::position).
    /// That is inside `window` only if an opcode's argument does.
    pub(crate) fn feed(&mut self, window: &[u8], start: u64) -> Option<Walk> {
        let left = loop {
            if let Err(left) = self.step(window, start) {
                break left;
            }
        };
        match left {
            Left::Wants => None,
            Left::Ends => {
                Some(Walk::Stop { end: self.position, opcodes: self.opcodes, imports: self.imports })
            }
            Left::Full => Some(self.running()),
            Left::Bad(at) if self.imports => Some(Walk::Breaks { at, calls: self.calls }),
            Left::Bad(_) => Some(Walk::Not),
        }
    }

    /// Where it stands, for a caller that has no more bytes to give.
    pub(crate) fn running(&self) -> Walk {
        Walk::Running { opcodes: self.opcodes, imports: self.imports }
    }

    /// Offset of the next byte that it wants.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Whether the stream names joblib's array wrapper, whose arrays lie raw between the opcodes.
    pub(crate) fn names_joblib(&self) -> bool {
        self.joblib
    }

    fn step(&mut self, window: &[u8], start: u64) -> Result<(), Left> {
        let at = self.position;
        if at >= self.total_len {
            let from = self.text.as_ref().map_or(at, |text| text.start);
            return Err(Left::Bad(from));
        }
        let offset =
            at.checked_sub(start).and_then(|offset| usize::try_from(offset).ok()).ok_or(Left::Wants)?;
        let rest = window.get(offset..).filter(|rest| !rest.is_empty()).ok_or(Left::Wants)?;
        if let Some(text) = self.text.take() {
            return self.read_text(text, rest);
        }
        let (code, after) = rest.split_first().ok_or(Left::Wants)?;
        let opcode = opcode(*code).ok_or(Left::Bad(at))?;
        let body = at.saturating_add(1);
        let fixed = match opcode.arg {
            Arg::Lines(lines_left, _) => {
                self.position = body;
                let text =
                    TextArg { opcode, start: at, lines_left, line: Vec::new(), last_byte: 0, line_len: 0 };
                self.text = Some(text);
                return Ok(());
            }
            Arg::None => 0,
            Arg::Bytes(n) | Arg::Counted(n) => usize::from(n),
            Arg::SignedCounted => 4,
        };
        let fits = body.checked_add(fixed as u64).is_some_and(|end| end <= self.total_len);
        let number = match after.get(..fixed) {
            Some(bytes) => little_endian(bytes),
            None if fits => return Err(Left::Wants),
            None => return Err(Left::Bad(at)),
        };
        let counted = match opcode.arg {
            Arg::SignedCounted if number > i32::MAX as u64 => return Err(Left::Bad(at)),
            Arg::Counted(_) | Arg::SignedCounted => number,
            _ => 0,
        };
        let end = body.checked_add(fixed as u64).and_then(|start| start.checked_add(counted));
        let end = end.filter(|end| *end <= self.total_len).ok_or(Left::Bad(at))?;
        if counted == JOBLIB.len() as u64 {
            self.joblib |= after.get(fixed..).is_some_and(|text| text.starts_with(JOBLIB));
        }
        self.apply(opcode, number, at)?;
        self.position = end;
        if opcode.does == Does::Stop { Err(Left::Ends) } else { Ok(()) }
    }

    fn read_text(&mut self, mut text: TextArg, rest: &[u8]) -> Result<(), Left> {
        let line_end = rest.iter().position(|byte| *byte == b'\n');
        let part = rest.get(..line_end.unwrap_or(rest.len())).unwrap_or_default();
        let room = LINE_BYTES.saturating_sub(text.line.len());
        text.line.extend(part.iter().take(room));
        text.last_byte = part.last().copied().unwrap_or(text.last_byte);
        text.line_len = text.line_len.saturating_add(part.len() as u64);
        self.position = self.position.saturating_add(part.len() as u64);
        // What a line can never become, no further byte mends; said here for a line that ends in this window too, so
        // that the answer does not hang on where a window is cut.
        if text.line_len > LINE_BYTES as u64 && !text.may_be_long() {
            return Err(Left::Bad(text.start));
        }
        if line_end.is_none() {
            self.text = Some(text);
            return Err(if self.position < self.total_len { Left::Wants } else { Left::Bad(self.position) });
        }
        self.position = self.position.saturating_add(1);
        if !text.is_valid() {
            return Err(Left::Bad(text.start));
        }
        if matches!(text.opcode.arg, Arg::Lines(_, Line::Name)) {
            self.joblib |= text.line == JOBLIB;
        }
        text.lines_left = text.lines_left.saturating_sub(1);
        if text.lines_left == 0 {
            let number = text.number();
            return match (text.opcode.does, number) {
                (Does::Get | Does::Put, None) => Err(Left::Bad(text.start)),
                _ => self.apply(text.opcode, number.unwrap_or_default(), text.start),
            };
        }
        text.line.clear();
        (text.last_byte, text.line_len) = (0, 0);
        self.text = Some(text);
        Ok(())
    }

    /// The opcode's effect on stack, marks and memo.
    fn apply(&mut self, opcode: &Opcode, number: u64, at: u64) -> Result<(), Left> {
        let bad = Left::Bad(at);
        let floor = self.marks.last().copied().unwrap_or_default();
        match opcode.before {
            Before::ItemOrMark if self.depth == floor => self.marks.pop().map(drop).ok_or(bad)?,
            Before::ItemOrMark => self.depth = self.depth.saturating_sub(1),
            Before::Items(n) => {
                let left = self.depth.checked_sub(u64::from(n)).filter(|left| *left >= floor);
                self.depth = left.ok_or(bad)?;
            }
            Before::Slice { below, even, least } => {
                let mark = self.marks.pop().ok_or(Left::Bad(at))?;
                let slice = self.depth.saturating_sub(mark);
                let floor = self.marks.last().copied().unwrap_or_default();
                let left = mark.checked_sub(u64::from(below)).filter(|left| *left >= floor);
                if (even && slice % 2 != 0) || slice < u64::from(least) {
                    return Err(bad);
                }
                self.depth = left.ok_or(bad)?;
            }
        }
        match opcode.does {
            Does::Mark if self.marks.len() >= KEPT => return Err(Left::Full),
            Does::Mark => self.marks.push(self.depth),
            // Loaders refuse a protocol that they do not know.
            Does::Proto if number > 5 => return Err(Left::Bad(at)),
            Does::Get if number >= self.memo_dense && !self.memo_more.contains(&number) => {
                return Err(Left::Bad(at));
            }
            Does::Data | Does::Stop | Does::Proto | Does::Get => {}
            Does::Put => self.put(number)?,
            Does::Memoize => self.put(self.memo_dense.saturating_add(self.memo_more.len() as u64))?,
            Does::Import => self.imports = true,
            Does::Call => self.calls |= self.imports,
            Does::ImportCall => (self.imports, self.calls) = (true, true),
        }
        self.depth = self.depth.saturating_add(u64::from(opcode.after));
        self.opcodes = self.opcodes.saturating_add(1);
        Ok(())
    }

    fn put(&mut self, index: u64) -> Result<(), Left> {
        if index > self.memo_dense {
            if self.memo_more.len() >= KEPT && !self.memo_more.contains(&index) {
                return Err(Left::Full);
            }
            self.memo_more.insert(index);
        } else if index == self.memo_dense {
            self.memo_dense = self.memo_dense.saturating_add(1);
            while self.memo_more.remove(&self.memo_dense) {
                self.memo_dense = self.memo_dense.saturating_add(1);
            }
        }
        Ok(())
    }
}

impl TextArg {
    fn kind(&self) -> Line {
        match self.opcode.arg {
            Arg::Lines(_, kind) => kind,
            _ => Line::Any,
        }
    }

    /// Whether a line of this kind may be longer than what is kept of it.
    fn may_be_long(&self) -> bool {
        match self.kind() {
            Line::Any | Line::Name => true,
            Line::Quoted => matches!(self.line.first(), Some(b'\'' | b'"')),
            Line::Int | Line::Long => self.line.iter().all(|byte| is_digit(*byte)),
            Line::Float => self.line.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.'),
        }
    }

    fn is_valid(&self) -> bool {
        let line = self.line.trim_ascii();
        let digits = |text: &[u8]| {
            let text = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
            text.first().is_some_and(u8::is_ascii_digit) && text.iter().all(|byte| is_digit(*byte))
        };
        match self.kind() {
            Line::Any => true,
            Line::Int => digits(line),
            Line::Long => digits(line.strip_suffix(b"L").unwrap_or(line)),
            Line::Float => {
                let number = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
                !line.is_empty() && line.iter().all(number)
            }
            Line::Quoted => {
                let quote = line.first().copied();
                let last = if self.line_len > LINE_BYTES as u64 {
                    Some(self.last_byte)
                } else {
                    line.last().copied()
                };
                self.line_len >= 2
                    && matches!(quote, Some(b'\'' | b'"'))
                    && (last == quote || last == Some(b'\r'))
            }
            // No module is called so that this fails, and prose is full of blanks.
            Line::Name => {
                let part =
                    |byte: &u8| byte.is_ascii_alphanumeric() || b"_.<>-".contains(byte) || !byte.is_ascii();
                !self.line.is_empty() && self.line.iter().all(part)
            }
        }
    }

    /// The number of a GET or PUT line.
    fn number(&self) -> Option<u64> {
        if self.line_len > LINE_BYTES as u64 {
            return None;
        }
        let line = std::str::from_utf8(self.line.trim_ascii()).ok()?;
        line.replace('_', "").trim_start_matches('+').parse().ok()
    }
}

/// Loaders take `0x1f` and `1_000` too.
fn is_digit(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || b"xXoO_".contains(&byte)
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number.wrapping_shl(8) | u64::from(*byte))
}
