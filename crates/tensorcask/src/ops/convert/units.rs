//! Output cut into units of work: neighbours in a file, small tensors together, large ones in pieces.

use super::{plan::Target, tree::PIECE_BYTES};
use crate::format::{OutFile, Segment};

/// Items of one unit at most, however small they are.
const ITEMS: usize = 4096;

/// A run of bytes in one file.
pub(super) struct Unit {
    /// Position of the file in the plan.
    pub(super) file: usize,
    pub(super) work: Work,
}

pub(super) enum Work {
    /// Bytes that the plan holds, by the position of their segment.
    Bytes(usize),
    /// Whole small tensors, or one piece of a large one.
    Tensors(Vec<Part>),
}

/// Bytes `start..start + len` of a target's stream.
pub(super) struct Part {
    pub(super) target: usize,
    pub(super) start: u64,
    pub(super) len: usize,
    /// Whether it is all of the tensor.
    pub(super) is_whole: bool,
    /// Whether it is the end of the tensor.
    pub(super) is_last: bool,
}

/// The units of `files`, in the order of their bytes.
pub(super) struct Units<'a> {
    files: &'a [OutFile],
    targets: &'a [Target],
    file: usize,
    segment: usize,
    /// Bytes of the current large tensor that were handed out.
    done: u64,
}

impl<'a> Units<'a> {
    pub(super) fn new(files: &'a [OutFile], targets: &'a [Target]) -> Self {
        Units { files, targets, file: 0, segment: 0, done: 0 }
    }
}

impl Iterator for Units<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        let (mut parts, mut room) = (Vec::new(), PIECE_BYTES);
        loop {
            let file = self.files.get(self.file)?;
            let Some(segment) = file.segments.get(self.segment) else {
                let unit = Unit { file: self.file, work: Work::Tensors(parts) };
                (self.file, self.segment) = (self.file + 1, 0);
                match unit.work {
                    Work::Tensors(parts) if parts.is_empty() => return self.next(),
                    _ => return Some(unit),
                }
            };
            let target = match segment {
                Segment::Bytes(_) if parts.is_empty() => {
                    self.segment += 1;
                    return Some(Unit { file: self.file, work: Work::Bytes(self.segment - 1) });
                }
                Segment::Bytes(_) => return Some(Unit { file: self.file, work: Work::Tensors(parts) }),
                Segment::Tensor(target) => *target,
            };
            let bytes = self.targets.get(target)?.bytes;
            if bytes > PIECE_BYTES {
                if !parts.is_empty() {
                    return Some(Unit { file: self.file, work: Work::Tensors(parts) });
                }
                let (start, len) = (self.done, (bytes - self.done).min(PIECE_BYTES));
                self.done += len;
                let is_last = self.done == bytes;
                if is_last {
                    (self.segment, self.done) = (self.segment + 1, 0);
                }
                let len = usize::try_from(len).ok()?;
                parts.push(Part { target, start, len, is_whole: false, is_last });
                return Some(Unit { file: self.file, work: Work::Tensors(parts) });
            }
            if bytes > room || parts.len() == ITEMS {
                return Some(Unit { file: self.file, work: Work::Tensors(parts) });
            }
            room -= bytes;
            self.segment += 1;
            parts.push(Part {
                target,
                start: 0,
                len: usize::try_from(bytes).ok()?,
                is_whole: true,
                is_last: true,
            });
        }
    }
}
