//! What a format is: a function that builds a table from a header, and perhaps one that lays a table out in files.

use crate::{
    checkpoint::{Checkpoint, Metadata, Value},
    core::{Budget, DType, Dims, Error, Finding, Result, Rule, SourceId, Span, Text},
    source::{Entry, ReadAt, Root},
};
use std::{cell::Cell, sync::Arc};

pub use crate::sink::OldSet;

/// A byte layout.
pub trait Format: Sync {
    /// Facts about the format.
    fn info(&self) -> &'static FormatInfo;

    /// How well a file (or, with a listing, a folder) fits.
    fn probe(&self, head: &Head<'_>) -> Match;

    /// Reads the header: fills the checkpoint's table and reports what is wrong. Goes on as long as a table can be built.
    ///
    /// # Errors
    /// When the environment or a limit stops it; what is wrong with the file is a finding.
    fn read(&self, cx: &mut ReadCx<'_>) -> Result<()>;

    /// How the format is written, if it is.
    fn encoder(&self) -> Option<&dyn Encode> {
        None
    }
}

/// Facts about a format: commands, help and documentation take them from here.
#[derive(Debug)]
pub struct FormatInfo {
    /// Short lower-case name.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// File name endings, without the dot.
    pub extensions: &'static [&'static str],
    /// Whether a file of such a name promises just this format: other content under it is then a finding.
    pub promises: bool,
    /// What this version does with it.
    pub status: Status,
    /// Every rule that its reader can report.
    pub rules: &'static [&'static Rule],
    /// Where the format is specified.
    pub specification: &'static str,
}

/// What this version does with a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Reads and writes it.
    ReadWrite,
    /// Reads it.
    Read,
    /// Says what it is.
    Recognised,
}

/// How well a file fits a format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Match {
    /// Not at all.
    No,
    /// By its name alone.
    Name,
    /// By the bytes that mark the format.
    Magic,
    /// By more than one part of its structure.
    Structure,
}

/// Bytes of each end of a file that a probe sees.
pub const HEAD_BYTES: usize = 64 << 10;
/// A zip's end record is 22 bytes and follows a comment of at most 65,535 (APPNOTE 4.3.16).
pub const TAIL_BYTES: usize = (64 << 10) + 22;
const PEEK_CALLS: u32 = 64;
const PEEK_BYTES: usize = 1 << 20;

/// What a probe may look at.
pub struct Head<'a> {
    /// File or folder name, without its path.
    pub name: &'a str,
    /// Length of the file in bytes.
    pub len: u64,
    /// The first bytes, at most [`HEAD_BYTES`].
    pub bytes: &'a [u8],
    /// The last bytes, at most [`TAIL_BYTES`].
    pub tail: &'a [u8],
    /// The entries, when this is a folder.
    pub listing: Option<&'a [Entry]>,
    io: Option<&'a dyn ReadAt>,
    calls_left: Cell<u32>,
    bytes_left: Cell<usize>,
}

impl<'a> Head<'a> {
    /// The head of a file.
    pub fn of_file(name: &'a str, io: &'a dyn ReadAt, bytes: &'a [u8], tail: &'a [u8]) -> Self {
        Head {
            name,
            len: io.len(),
            bytes,
            tail,
            listing: None,
            io: Some(io),
            calls_left: Cell::new(PEEK_CALLS),
            bytes_left: Cell::new(PEEK_BYTES),
        }
    }

    /// The head of a folder.
    pub fn of_folder(name: &'a str, listing: &'a [Entry]) -> Self {
        Head {
            name,
            len: 0,
            bytes: &[],
            tail: &[],
            listing: Some(listing),
            io: None,
            calls_left: Cell::new(0),
            bytes_left: Cell::new(0),
        }
    }

    /// `len` bytes from `offset` on; `None` past the end or once 64 looks or 1 MiB are used up.
    pub fn peek(&self, offset: u64, len: usize) -> Option<Vec<u8>> {
        let io = self.io.filter(|io| offset.checked_add(len as u64).is_some_and(|end| end <= io.len()))?;
        self.calls_left.set(self.calls_left.get().checked_sub(1)?);
        self.bytes_left.set(self.bytes_left.get().checked_sub(len)?);
        let mut bytes = vec![0; len];
        io.read_at(offset, &mut bytes).ok()?;
        Some(bytes)
    }

    /// The same file with fresh metering for the next probe.
    #[must_use]
    pub fn fresh(&self) -> Self {
        Head { calls_left: Cell::new(PEEK_CALLS), bytes_left: Cell::new(PEEK_BYTES), ..*self }
    }

    /// The part of the name after its last dot, in lower case.
    pub fn extension(&self) -> String {
        extension(self.name)
    }
}

/// The part of a name after its last dot, in lower case; empty without one.
pub fn extension(name: &str) -> String {
    name.rsplit_once('.').map(|(_, ext)| ext.to_ascii_lowercase()).unwrap_or_default()
}

/// What a reader works with.
pub struct ReadCx<'a> {
    /// Name of the file or folder, for messages.
    pub name: &'a str,
    /// The file; `None` when the folder itself is read.
    pub input: Option<SourceId>,
    /// The folder beside the file, or the folder itself.
    pub root: &'a dyn Root,
    /// The account of this file.
    pub budget: &'a Budget,
    /// What is being filled.
    pub checkpoint: &'a mut Checkpoint,
    pub(crate) opener: &'a dyn Opener,
}

/// How a reader opens files beside its own; `open` implements it over the registry.
pub(crate) trait Opener {
    /// Adds the file `name` to the sources. `None` when it is absent or may not be opened; a link that is not followed
    /// has then been reported.
    fn file(&self, checkpoint: &mut Checkpoint, root: &dyn Root, name: &str) -> Result<Option<SourceId>>;

    /// Reads the source with the format that claims it and joins its table.
    fn child(
        &self,
        checkpoint: &mut Checkpoint,
        root: &dyn Root,
        source: SourceId,
        budget: &Budget,
    ) -> Result<Child>;

    /// Whether some format in the registry is usually stored under such a name.
    fn promises_weights(&self, name: &str) -> bool;
}

/// A child file that was joined to the table.
#[derive(Debug)]
pub struct Child {
    /// Id of its format.
    pub format: &'static str,
    /// The first of its tensors in the table; they run to the table's end.
    pub first_tensor: usize,
    /// Its metadata, taken out of the table.
    pub metadata: Metadata,
}

impl ReadCx<'_> {
    /// The file that is read.
    ///
    /// # Errors
    /// When this is a folder.
    pub fn source(&self) -> Result<SourceId> {
        self.input.ok_or_else(|| Error::usage(format!("`{}` is a folder", self.name), "give a file"))
    }

    /// Length of the file in bytes.
    pub fn len(&self) -> u64 {
        self.input.map_or(0, |id| self.checkpoint.sources.io(id).len())
    }

    /// Whether the file has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads bytes of the file.
    ///
    /// # Errors
    /// What the system says, with the file's name.
    pub fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        let id = self.source()?;
        let io: &Arc<dyn ReadAt> = self.checkpoint.sources.io(id);
        io.read_at(offset, buf).map_err(|source| Error::io(self.name, source))
    }

    /// A span of the file; an empty one at the start when a folder is read.
    pub fn span(&self, start: u64, len: u64) -> Option<Span> {
        Some(Span { source: self.input?, start, len })
    }

    /// Reports a finding.
    pub fn report(&mut self, finding: Finding) {
        self.checkpoint.findings.push(finding);
    }

    /// Adds the file `name` beside this one to the sources; `None` when it is absent or may not be opened (a link that
    /// is not followed is then reported).
    ///
    /// # Errors
    /// When the environment or a limit stops it.
    pub fn open_file(&mut self, name: &str) -> Result<Option<SourceId>> {
        self.opener.file(self.checkpoint, self.root, name)
    }

    /// Reads a source with the ordinary readers and joins its tensors to the table.
    ///
    /// # Errors
    /// When the environment or a limit stops it.
    pub fn read_child(&mut self, source: SourceId) -> Result<Child> {
        self.opener.child(self.checkpoint, self.root, source, self.budget)
    }

    /// Whether a file of this name usually holds weights.
    pub fn promises_weights(&self, name: &str) -> bool {
        self.opener.promises_weights(name)
    }
}

/// Lays a table out in files. Does no input and no output.
pub trait Encode: Sync {
    /// The files and, in each, what lies where.
    ///
    /// # Errors
    /// When the target cannot hold the job.
    fn encode(&self, job: &Job<'_>) -> Result<Vec<OutFile>>;

    /// Whether a tensor of this type can be written.
    fn holds(&self, dtype: &DType) -> bool;

    /// Whether a metadata value can be written with its type; others become text.
    fn holds_value(&self, value: &Value) -> bool {
        matches!(value, Value::Str(_))
    }

    /// The set of this format that lies among the files called `names` in a folder and that a new set replaces;
    /// `read` gives the content of one of them.
    ///
    /// # Errors
    /// Those of `read`.
    fn old_set(&self, names: &[String], read: &dyn Fn(&str) -> Result<Vec<u8>>) -> Result<OldSet> {
        let _ = (names, read);
        Ok(OldSet::default())
    }

    /// `index`, as this format writes it, with each file's name passed through `to`; `None` if it is none of its.
    fn renamed_index(&self, index: &[u8], to: &dyn Fn(&str) -> String) -> Option<Vec<u8>> {
        let _ = (index, to);
        None
    }
}

/// What is to be written.
pub struct Job<'a> {
    /// The tensors, in the order of the source.
    pub targets: &'a [TensorSpec],
    /// The metadata.
    pub metadata: &'a [(Text, Value)],
    /// Name of the single file; sets of files take their names from the format's convention.
    pub file_name: &'a str,
    /// Write a set: tensor bytes of one file at most, and an index when there is more than one.
    pub max_shard_bytes: Option<u64>,
    /// Bytes of spare room in a header for later edits in place.
    pub reserve_bytes: u64,
}

/// Name, type and shape of a tensor that is to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorSpec {
    /// Its name.
    pub name: Text,
    /// Its element type.
    pub dtype: DType,
    /// Its shape.
    pub shape: Dims,
}

/// One file of an encoding.
#[derive(Clone, Debug)]
pub struct OutFile {
    /// Its name, without a path.
    pub name: String,
    /// What it holds, from its first byte to its last.
    pub segments: Vec<Segment>,
}

/// A run of bytes in a file that is to be written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Segment {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The tensor at this position of [`Job::targets`]: dense, row-major, little-endian.
    Tensor(usize),
}
