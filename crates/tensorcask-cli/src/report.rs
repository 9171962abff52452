//! One checkpoint's findings as the outside sees them: located, sorted, filtered by the command that asked.

use serde::{Serialize, Serializer, ser::SerializeMap};
use std::path::Path;
use tensorcask::{
    Category, Checkpoint, Error, Finding, Place, Rule, Severity, Text,
    ops::{Identity, Security, Structure, verdict},
    source::Origin,
};

/// Which questions a command answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Question {
    /// `check`: all of them.
    All,
    /// `verify`: is it whole and what it should be?
    Whole,
    /// `scan`: can opening it harm?
    Harm,
}

impl Question {
    /// Whether the command shows findings of this category.
    pub(crate) fn shows(self, category: Category) -> bool {
        match self {
            Question::All => true,
            Question::Whole => category != Category::Security,
            Question::Harm => category == Category::Security,
        }
    }

    pub(crate) fn asks_harm(self) -> bool {
        self != Question::Whole
    }

    pub(crate) fn asks_whole(self) -> bool {
        self != Question::Harm
    }
}

/// What a command says about one path.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    /// Findings and verdict.
    Report(Report),
    /// Why there is none.
    Failed(Failure),
}

/// The verdict on one checkpoint; what was not asked is `None`.
pub(crate) struct Report {
    pub(crate) path: String,
    pub(crate) format: &'static str,
    pub(crate) security: Option<Security>,
    pub(crate) structure: Option<Structure>,
    pub(crate) identity: Option<Identity>,
    pub(crate) identity_evidence: Option<&'static str>,
    pub(crate) findings: Vec<Row>,
    pub(crate) facts: Facts,
}

/// What the text says besides.
pub(crate) struct Facts {
    pub(crate) n_tensors: u64,
    pub(crate) bytes: u64,
    pub(crate) n_files: u64,
    pub(crate) unread: Vec<Text>,
    pub(crate) is_unread: bool,
}

/// One finding, with its place as the outside names it.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) rule: &'static Rule,
    pub(crate) severity: Severity,
    pub(crate) file: String,
    pub(crate) chain: Vec<String>,
    pub(crate) offset: Option<u64>,
    pub(crate) length: Option<u64>,
    pub(crate) tensor: Option<String>,
    pub(crate) subject: Option<String>,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) bytes: Option<Hex>,
}

/// The row of bytes around the start of a finding.
#[derive(Clone, Debug)]
pub(crate) struct Hex {
    /// Offset of the first byte.
    pub(crate) start: u64,
    /// At most 16 bytes.
    pub(crate) bytes: Vec<u8>,
    /// The bytes of it that the finding is about.
    pub(crate) marked: std::ops::Range<usize>,
}

/// A path that gave no answer.
#[derive(Serialize)]
pub(crate) struct Failure {
    pub(crate) path: String,
    pub(crate) error: ErrorRow,
}

/// An error, in the form of the document.
#[derive(Serialize, Clone, Debug)]
pub(crate) struct ErrorRow {
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    pub(crate) path: Option<String>,
    pub(crate) help: Option<String>,
    /// Why a file was rejected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<Row>,
}

impl Report {
    /// The answer to `question` about a checkpoint.
    pub(crate) fn new(checkpoint: &Checkpoint, question: Question) -> Self {
        let verdict = verdict(checkpoint);
        let files = checkpoint.sources.iter().filter(|(_, source)| matches!(source.origin, Origin::File));
        Report {
            path: shown(&checkpoint.path),
            format: checkpoint.format,
            security: question.asks_harm().then_some(verdict.security),
            structure: question.asks_whole().then_some(verdict.structure),
            identity: question.asks_whole().then_some(verdict.identity),
            identity_evidence: verdict.evidence.filter(|_| question.asks_whole()),
            findings: rows(checkpoint, |finding| question.shows(finding.rule.category)),
            facts: Facts {
                n_tensors: checkpoint.tensors.len() as u64,
                bytes: checkpoint
                    .tensors
                    .iter()
                    .fold(0, |sum: u64, tensor| sum.saturating_add(tensor.byte_len())),
                n_files: files.count() as u64,
                unread: checkpoint.unread.clone(),
                is_unread: verdict.unread,
            },
        }
    }

    /// Whether a finding stands at or above a severity.
    pub(crate) fn reaches(&self, severity: Severity) -> bool {
        self.findings.iter().any(|row| row.severity >= severity)
    }

    /// Whether a verdict that is shown says so: not looked at, or still being written.
    pub(crate) fn says_incomplete(&self) -> bool {
        self.security == Some(Security::Incomplete) || self.structure == Some(Structure::Incomplete)
    }

    /// Whether a part was not looked at, so that no answer is whole.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.facts.is_unread
    }

    /// Whether every question that was asked has the good answer.
    pub(crate) fn is_clean(&self) -> bool {
        self.security.is_none_or(|security| security == Security::Clean)
            && self.structure.is_none_or(|structure| structure == Structure::Ok)
            && self.identity != Some(Identity::Mismatched)
    }
}

impl Failure {
    pub(crate) fn new(path: &Path, error: &Error) -> Self {
        Failure { path: shown(path), error: ErrorRow::new(error) }
    }
}

impl ErrorRow {
    pub(crate) fn new(error: &Error) -> Self {
        let findings = match error {
            // The checkpoint is gone: what is left to say has no file and no offset.
            Error::Rejected(report) => {
                report.findings.iter().map(|finding| Row::new(finding, None)).collect()
            }
            _ => Vec::new(),
        };
        ErrorRow {
            kind: error.kind(),
            message: error.to_string(),
            path: error.path().map(shown),
            help: error.help(),
            findings,
        }
    }
}

/// The findings of a checkpoint that `filter` lets through, sorted by file, offset, code and tensor.
pub(crate) fn rows(checkpoint: &Checkpoint, filter: impl Fn(&Finding) -> bool) -> Vec<Row> {
    let mut rows: Vec<Row> = checkpoint
        .findings
        .iter()
        .filter(|finding| filter(finding))
        .map(|finding| Row::new(finding, Some(checkpoint)))
        .collect();
    let key = |row: &Row| (row.offset, row.rule.code, row.tensor.clone());
    rows.sort_by(|a, b| a.file.cmp(&b.file).then_with(|| key(a).cmp(&key(b))));
    rows
}

impl Row {
    /// A finding of `checkpoint`.
    pub(crate) fn new(finding: &Finding, checkpoint: Option<&Checkpoint>) -> Self {
        let mut row = Row {
            rule: finding.rule,
            severity: finding.severity,
            file: String::new(),
            chain: Vec::new(),
            offset: None,
            length: None,
            tensor: finding.tensor.as_ref().map(Text::to_string),
            subject: finding.subject.as_ref().map(Text::to_string),
            message: finding.message.clone(),
            help: finding.help.clone(),
            bytes: None,
        };
        match (&finding.place, checkpoint) {
            (Place::Span(span), Some(checkpoint)) => {
                let located = checkpoint.sources.locate(*span);
                row.file = located.file.to_string();
                row.chain = located.chain.iter().map(Text::to_string).collect();
                row.offset = located.offset;
                row.length = Some(span.len);
                row.bytes = hex(checkpoint, *span);
            }
            (Place::File(name), _) => row.file = name.to_string(),
            (_, Some(checkpoint)) => row.file = own_name(checkpoint),
            _ => {}
        }
        row
    }
}

/// The name that stands for the checkpoint as a whole.
fn own_name(checkpoint: &Checkpoint) -> String {
    let first = checkpoint.sources.iter().next().map(|(_, source)| source.name.to_string());
    first.or_else(|| Some(checkpoint.path.file_name()?.to_string_lossy().into_owned())).unwrap_or_default()
}

/// Bytes before the finding that the row shows.
const BEFORE: u64 = 4;
const ROW: u64 = 16;

fn hex(checkpoint: &Checkpoint, span: tensorcask::Span) -> Option<Hex> {
    let io = checkpoint.sources.io(span.source);
    let start = span.start.saturating_sub(BEFORE);
    let len = io.len().checked_sub(start)?.min(ROW);
    let mut bytes = vec![0; usize::try_from(len).ok()?];
    if bytes.is_empty() || io.read_at(start, &mut bytes).is_err() {
        return None;
    }
    let first = usize::try_from(span.start - start).ok()?.min(bytes.len());
    let marked_len = usize::try_from(span.len.min(ROW)).ok()?.min(bytes.len() - first);
    Some(Hex { start, bytes, marked: first..first + marked_len })
}

/// A path as text.
pub(crate) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("path", &self.path)?;
        map.serialize_entry("format", self.format)?;
        if let Some(security) = self.security {
            map.serialize_entry("security", security.name())?;
        }
        if let Some(structure) = self.structure {
            map.serialize_entry("structure", structure.name())?;
        }
        if let Some(identity) = self.identity {
            map.serialize_entry("identity", identity.name())?;
        }
        if let Some(evidence) = self.identity_evidence {
            map.serialize_entry("identity_evidence", evidence)?;
        }
        map.serialize_entry("findings", &self.findings)?;
        map.end()
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(12))?;
        map.serialize_entry("rule", self.rule.code)?;
        map.serialize_entry("slug", self.rule.slug)?;
        map.serialize_entry("category", self.rule.category.name())?;
        map.serialize_entry("severity", self.severity.name())?;
        map.serialize_entry("file", &self.file)?;
        map.serialize_entry("chain", &self.chain)?;
        map.serialize_entry("offset", &self.offset)?;
        map.serialize_entry("length", &self.length)?;
        map.serialize_entry("tensor", &self.tensor)?;
        map.serialize_entry("subject", &self.subject)?;
        map.serialize_entry("message", &self.message)?;
        map.serialize_entry("help", &self.help)?;
        map.end()
    }
}
