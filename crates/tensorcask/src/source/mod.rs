//! Sources: the only way to bytes. A parser sees offsets and never a path; every decoding is a source.

mod bytes;
mod file;
mod root;
mod rules;

pub use bytes::Bytes;
pub(crate) use file::open_file;
pub use root::{Entry, EntryKind, Links, NoRoot, Root, RootError};
pub(crate) use root::{FolderRoot, bounds, is_plain};
pub(crate) use rules::{ALL as RULES, link_leaves, link_refused};

use crate::core::{SourceId, Span, Text};
use std::{io, ops::Range, sync::Arc};

/// A run of bytes that can be read at any offset.
pub trait ReadAt: Send + Sync {
    /// Length in bytes, as it was when the source was opened.
    fn len(&self) -> u64;

    /// Fills `buf` from `offset` on.
    ///
    /// # Errors
    /// `UnexpectedEof` when the bytes are not there (any more); otherwise what the system says.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()>;

    /// The bytes of `range` without a copy, where the source can give them.
    fn view(&self, range: Range<u64>) -> Option<Bytes> {
        let _ = range;
        None
    }

    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Where a source's bytes come from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A file.
    File,
    /// Bytes of another source as they lie there.
    Stored(Span),
    /// Bytes decoded from a range of another source.
    Decoded(Span),
}

/// One named run of bytes. Cheap to clone.
#[derive(Clone)]
pub struct Source {
    /// The file's name relative to the checkpoint's folder, or the member's name.
    pub name: Text,
    /// Where the bytes come from.
    pub origin: Origin,
    io: Arc<dyn ReadAt>,
}

/// Every source of a checkpoint.
#[derive(Clone, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Adds a file (or bytes that stand for one).
    pub fn add_file(&mut self, name: Text, io: Arc<dyn ReadAt>) -> SourceId {
        self.push(Source { name, origin: Origin::File, io })
    }

    fn push(&mut self, source: Source) -> SourceId {
        self.0.push(source);
        SourceId::at(self.0.len() - 1)
    }

    /// The source called `id`.
    ///
    /// # Panics
    /// When the id comes from another checkpoint: a mistake of the program, never of a file.
    pub fn get(&self, id: SourceId) -> &Source {
        self.0.get(id.position()).expect("a source id is used with its own checkpoint")
    }

    /// Every source with its id.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.0.iter().enumerate().map(|(position, source)| (SourceId::at(position), source))
    }

    /// The bytes of a source.
    pub fn io(&self, id: SourceId) -> &Arc<dyn ReadAt> {
        &self.get(id).io
    }

    /// All of a source.
    pub fn whole(&self, id: SourceId) -> Span {
        Span { source: id, start: 0, len: self.io(id).len() }
    }

    /// Walks up to the file: its name, the chain of members below it, and the absolute offset while every step is stored.
    pub fn locate(&self, span: Span) -> Located {
        let (mut span, mut chain, mut offset) = (span, Vec::new(), Some(span.start));
        loop {
            let source = self.get(span.source);
            let outer = match &source.origin {
                Origin::File => {
                    chain.reverse();
                    return Located { file: source.name.clone(), chain, offset };
                }
                Origin::Stored(outer) => {
                    offset = offset.and_then(|offset| offset.checked_add(outer.start));
                    *outer
                }
                Origin::Decoded(outer) => {
                    offset = None;
                    *outer
                }
            };
            chain.push(source.name.clone());
            span = outer;
        }
    }
}

/// A span as the outside sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct Located {
    /// The file's name.
    pub file: Text,
    /// Members from the outermost to the innermost.
    pub chain: Vec<Text>,
    /// Offset from the start of the file; `None` past a decoder.
    pub offset: Option<u64>,
}
