//! Rules over an opened checkpoint and the files beside it. They know tables and sidecars, never a format.

mod config;
mod index;
mod prefixes;
mod quant;
mod remote_code;
mod revisions;
mod tied;
mod zero_tail;

use crate::{
    checkpoint::Checkpoint,
    core::{Budget, Finding, Limit, Place, Result, Rule, SourceId, Span, TensorInfo, Text, rule},
    source::{Root, RootError},
    wire::json::{Json, JsonError, Stop},
};
use std::collections::BTreeMap;

/// One family of rules.
pub(crate) trait Check: Sync {
    /// Every rule that it can report.
    fn rules(&self) -> &'static [&'static Rule];

    /// Reports what headers and sidecars show: run whenever a checkpoint is opened.
    ///
    /// # Errors
    /// When the environment or a limit stops it.
    fn headers(&self, cx: &mut CheckCx<'_>) -> Result<()> {
        let _ = cx;
        Ok(())
    }

    /// Reports what only the data shows: run by `verify`.
    ///
    /// # Errors
    /// When the environment or a limit stops it.
    fn data(&self, cx: &mut CheckCx<'_>) -> Result<()> {
        let _ = cx;
        Ok(())
    }
}

/// Every check.
pub(crate) static ALL: &[&dyn Check] = &[
    &index::Index,
    &prefixes::Prefixes,
    &config::ConfigDtype,
    &tied::TiedHead,
    &quant::QuantGroups,
    &revisions::Revisions,
    &remote_code::RemoteCode,
    &zero_tail::ZeroTail,
];

/// Rules of the checks' own plumbing.
pub(crate) static RULES: &[&Rule] = &[&SIDECAR_JSON];

static SIDECAR_JSON: Rule = rule!("CK006" "sidecar-json" Structure Error [] "A JSON file beside the weights (`config.json` and the like) does not parse, so no loader can use it. Fetch it again.");

/// What a check works with.
pub(crate) struct CheckCx<'a> {
    pub(crate) checkpoint: &'a mut Checkpoint,
    pub(crate) root: &'a dyn Root,
    pub(crate) budget: &'a Budget,
    sidecars: BTreeMap<String, Option<Sidecar>>,
}

/// A JSON file beside the weights.
#[derive(Clone)]
pub(crate) struct Sidecar {
    pub(crate) source: SourceId,
    pub(crate) json: std::sync::Arc<Json>,
}

impl Sidecar {
    /// Where a value stands.
    pub(crate) fn span(&self, json: &Json) -> Span {
        Span { source: self.source, start: json.range.start as u64, len: json.range.len() as u64 }
    }
}

impl<'a> CheckCx<'a> {
    pub(crate) fn new(checkpoint: &'a mut Checkpoint, root: &'a dyn Root, budget: &'a Budget) -> Self {
        CheckCx { checkpoint, root, budget, sidecars: BTreeMap::new() }
    }

    /// The JSON file called `name`, parsed once; `None` if there is none, or none that parses.
    pub(crate) fn sidecar(&mut self, name: &str) -> Result<Option<Sidecar>> {
        if let Some(known) = self.sidecars.get(name) {
            return Ok(known.clone());
        }
        let read = self.read_sidecar(name)?;
        self.sidecars.insert(name.to_owned(), read.clone());
        Ok(read)
    }

    fn read_sidecar(&mut self, name: &str) -> Result<Option<Sidecar>> {
        let io = match self.root.open(name) {
            Ok(io) => io,
            Err(RootError::LinkLeaves { to }) => {
                self.report_once(crate::source::link_leaves(name, &to));
                return Ok(None);
            }
            Err(RootError::LinkRefused) => {
                self.report_once(crate::source::link_refused(name));
                return Ok(None);
            }
            // A sidecar that cannot be opened is none.
            Err(_) => return Ok(None),
        };
        let len = io.len();
        self.budget.fits(Limit::HeaderBytes, len)?;
        let mut bytes = self.budget.vec(len, 1, len)?;
        bytes.resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
        if io.read_at(0, &mut bytes).is_err() {
            return Ok(None);
        }
        let parsed = match std::str::from_utf8(&bytes) {
            Ok(text) => Json::parse(text, self.budget),
            Err(error) => {
                let message = "the text is not UTF-8".to_owned();
                Err(Stop::Json(JsonError { offset: error.valid_up_to(), message }))
            }
        };
        let source = self.checkpoint.sources.add_file(name.into(), io);
        match parsed {
            Ok(json) => Ok(Some(Sidecar { source, json: json.into() })),
            Err(Stop::Json(error)) => {
                let place = Span { source, start: error.offset as u64, len: 1 };
                let message = format!("`{name}` is not valid JSON: {}", error.message);
                self.report_once(
                    SIDECAR_JSON.at(place, message).subject(name).help(format!("fetch `{name}` again")),
                );
                Ok(None)
            }
            Err(Stop::Limit(hit)) => Err(hit.into()),
        }
    }

    /// Reports what both passes meet: each opens the sidecars anew.
    fn report_once(&mut self, finding: Finding) {
        let known = self
            .checkpoint
            .findings
            .iter()
            .any(|it| it.rule.code == finding.rule.code && it.subject == finding.subject);
        if !known {
            self.checkpoint.findings.push(finding);
        }
    }

    /// The file that holds, or should hold, a tensor.
    pub(crate) fn file_of(&self, tensor: &TensorInfo) -> Option<Text> {
        match &tensor.view.data {
            crate::core::Data::Extent(span) => Some(self.checkpoint.sources.locate(*span).file),
            crate::core::Data::Missing { file, .. } => file.clone(),
            _ => None,
        }
    }
}

/// Runs what headers show.
pub(crate) fn headers(checkpoint: &mut Checkpoint, root: &dyn Root, budget: &Budget) -> Result<()> {
    let mut cx = CheckCx::new(checkpoint, root, budget);
    ALL.iter().try_for_each(|check| check.headers(&mut cx))
}

/// Runs what only the data shows.
pub(crate) fn data(checkpoint: &mut Checkpoint, root: &dyn Root, budget: &Budget) -> Result<()> {
    let mut cx = CheckCx::new(checkpoint, root, budget);
    ALL.iter().try_for_each(|check| check.data(&mut cx))
}

/// The whole checkpoint as a place.
const WHOLE: Place = Place::Whole;
