//! The opened whole: one table of tensors over its sources, with metadata and findings.

use crate::core::{Category, Finding, Limits, Rule, Severity, SourceId, Span, TensorInfo, Text};
use crate::source::{Links, Sources};
use std::{collections::BTreeMap, path::PathBuf};

/// Findings of one rule that are kept one by one; the rest is counted. A header of 100 MB can break one rule two
/// million times, and nobody reads past the first thousand.
const KEPT_PER_RULE: u64 = 1_000;

/// A checkpoint: every tensor of a file or of a set of shards.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The path that was opened; empty for bytes in memory.
    pub path: PathBuf,
    /// Id of the format, as `tensorcask formats` lists it.
    pub format: &'static str,
    /// Version of the format, where the file names one.
    pub format_version: Option<Text>,
    /// Where the bytes are.
    pub sources: Sources,
    /// Where the headers that are text stand, one a file, for those who want to see them as they are.
    pub headers: Vec<Span>,
    /// Every tensor: by file, and in a file by offset.
    pub tensors: Vec<TensorInfo>,
    /// What the checkpoint says about itself, in the order of the file.
    pub metadata: Metadata,
    /// What was found wrong or worth knowing.
    pub findings: Findings,
    /// Names of files and members that were recognised and not looked into.
    pub unread: Vec<Text>,
    /// Something is still being written or was left half written.
    pub unfinished: bool,
    /// What the shard index says; `None` without one.
    pub shard_map: Option<ShardMap>,
    /// The outcome of a comparison with an expected identity, once `verify` has made one.
    pub compared: Option<Comparison>,
    /// The rules under which it was opened; what is opened for it later keeps to them.
    pub(crate) limits: Limits,
    pub(crate) links: Links,
}

/// The outcome of a comparison with an expected identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Whether the weights are the expected ones.
    pub equal: bool,
    /// Where the expectation comes from: `given` when the caller named it.
    pub evidence: &'static str,
}

/// What a shard index says.
#[derive(Clone, Debug)]
pub struct ShardMap {
    /// The index file.
    pub index: SourceId,
    /// In the order of the index.
    pub entries: Vec<ShardEntry>,
    /// A line could not be used, so a tensor that no line names proves nothing.
    pub is_damaged: bool,
    /// `metadata.total_size` as it stands, with its place.
    pub total_size: Option<(Text, Span)>,
    /// `metadata.total_parameters`, likewise.
    pub total_parameters: Option<(Text, Span)>,
}

/// One line of a shard index.
#[derive(Clone, Debug)]
pub struct ShardEntry {
    /// The tensor.
    pub tensor: Text,
    /// The file that is said to hold it.
    pub shard: Text,
    /// The line's value in the index.
    pub span: Span,
}

impl Checkpoint {
    /// The tensor called `name`; the last one, if the file names two so.
    pub fn tensor(&self, name: &str) -> Option<&TensorInfo> {
        self.tensors.iter().rev().find(|tensor| tensor.name == *name)
    }

    /// Every metadata value of `key`.
    pub fn metadata_value(&self, key: &str) -> Option<&Value> {
        self.metadata.iter().rev().find(|(k, _)| *k == *key).map(|(_, value)| value)
    }

    /// Whether a structure finding of severity `error` or above stands.
    pub fn is_broken(&self) -> bool {
        self.findings.iter().any(|finding| {
            finding.rule.category == Category::Structure && finding.severity >= Severity::Error
        })
    }
}

/// Ordered pairs; a key that the file repeats is kept twice.
pub type Metadata = Vec<(Text, Value)>;

/// A metadata value with its exact type.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Value {
    /// Text.
    Str(Text),
    /// An integer.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// Nothing, said explicitly.
    Null,
    /// Several values.
    List(Vec<Value>),
    /// Named values in order.
    Map(Vec<(Text, Value)>),
}

/// A list of findings that stays bounded however often a file breaks one rule.
#[derive(Clone, Default, Debug)]
pub struct Findings {
    kept: Vec<Finding>,
    /// By code: how many there are, and where among the kept ones the last stands.
    counts: BTreeMap<&'static str, (u64, usize)>,
}

impl Findings {
    /// Adds one finding.
    pub fn push(&mut self, finding: Finding) {
        let (count, last) = self.counts.entry(finding.rule.code).or_default();
        *count += 1;
        if *count <= KEPT_PER_RULE {
            *last = self.kept.len();
            self.kept.push(finding);
        } else if let Some(last) = self.kept.get_mut(*last) {
            last.severity = last.severity.max(finding.severity);
            last.help = Some(format!("{} more findings of this rule are not shown", *count - KEPT_PER_RULE));
        }
    }

    /// The findings that were kept, in the order of their discovery.
    pub fn iter(&self) -> std::slice::Iter<'_, Finding> {
        self.kept.iter()
    }

    /// How many findings of `rule` there are, those not kept included.
    pub fn count(&self, rule: &Rule) -> u64 {
        self.counts.get(rule.code).map(|(count, _)| *count).unwrap_or_default()
    }

    /// How many findings are kept.
    pub fn count_all(&self) -> usize {
        self.kept.len()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

impl Extend<Finding> for Findings {
    fn extend<I: IntoIterator<Item = Finding>>(&mut self, findings: I) {
        for finding in findings {
            self.push(finding);
        }
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
