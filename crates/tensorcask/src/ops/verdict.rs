//! What the findings add up to.

use crate::{
    checkpoint::Checkpoint,
    core::{Category, Severity},
};

/// Whether opening it can harm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Security {
    /// Looked at whole, and nothing found.
    Clean,
    /// A `warning`.
    Suspicious,
    /// An `error` or worse.
    Dangerous,
    /// Something was not looked at.
    Incomplete,
}

/// Whether it is whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Structure {
    /// No `error`.
    Ok,
    /// An `error`.
    Broken,
    /// Something was not looked at, or is still being written.
    Incomplete,
}

/// Whether it is what it should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Identity {
    /// Equal to what it was compared with.
    Matched,
    /// Different.
    Mismatched,
    /// Nothing to compare with.
    Unknown,
}

/// The three answers about one checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Verdict {
    /// Whether opening it can harm.
    pub security: Security,
    /// Whether it is whole.
    pub structure: Structure,
    /// Whether it is what it should be.
    pub identity: Identity,
    /// Where the expected identity comes from.
    pub evidence: Option<&'static str>,
    /// Whether a part was not looked at. Something that is still being written is `incomplete` too, but was seen whole.
    pub unread: bool,
}

impl Security {
    /// The word of the outside interface.
    pub fn name(self) -> &'static str {
        match self {
            Security::Clean => "clean",
            Security::Suspicious => "suspicious",
            Security::Dangerous => "dangerous",
            Security::Incomplete => "incomplete",
        }
    }
}

impl Structure {
    /// The word of the outside interface.
    pub fn name(self) -> &'static str {
        match self {
            Structure::Ok => "ok",
            Structure::Broken => "broken",
            Structure::Incomplete => "incomplete",
        }
    }
}

impl Identity {
    /// The word of the outside interface.
    pub fn name(self) -> &'static str {
        match self {
            Identity::Matched => "matched",
            Identity::Mismatched => "mismatched",
            Identity::Unknown => "unknown",
        }
    }
}

/// Adds the findings up. Never `clean` by failure: what was not looked at makes the answer `incomplete`.
pub fn verdict(checkpoint: &Checkpoint) -> Verdict {
    let worst = |category| {
        checkpoint.findings.iter().filter(|f| f.rule.category == category).map(|f| f.severity).max()
    };
    let unread = !checkpoint.unread.is_empty();
    let security = match worst(Category::Security) {
        Some(Severity::Critical | Severity::Error) => Security::Dangerous,
        _ if unread => Security::Incomplete,
        Some(Severity::Warning) => Security::Suspicious,
        _ => Security::Clean,
    };
    let structure = match worst(Category::Structure) {
        Some(Severity::Critical | Severity::Error) => Structure::Broken,
        _ if unread || checkpoint.unfinished => Structure::Incomplete,
        _ => Structure::Ok,
    };
    let (identity, evidence) = match &checkpoint.compared {
        Some(comparison) if comparison.equal => (Identity::Matched, Some(comparison.evidence)),
        Some(comparison) => (Identity::Mismatched, Some(comparison.evidence)),
        None => (Identity::Unknown, None),
    };
    Verdict { security, structure, identity, evidence, unread }
}
