//! One module a command, and the step that those over paths share: find the checkpoints, read each.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod explain;
pub(crate) mod formats;
pub(crate) mod hash;
pub(crate) mod inspect;

use crate::{
    args::Reading,
    report::{self, ErrorRow, Failure, shown},
};
use std::{
    fmt,
    path::{Path, PathBuf},
};
use tensorcask::{
    Checkpoint, Error, Limits, Links, OpenOptions,
    core::Report,
    ops::{VerifyOptions, verify},
};

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// Nothing to complain about.
    Done = 0,
    /// Findings, or a difference.
    Findings = 1,
    /// The job or a part of it could not be finished.
    Unfinished = 2,
}

impl Exit {
    /// Findings win over what could not be finished.
    pub(crate) fn of(findings: bool, unfinished: bool) -> Self {
        match (findings, unfinished) {
            (true, _) => Exit::Findings,
            (_, true) => Exit::Unfinished,
            _ => Exit::Done,
        }
    }
}

/// How to open, from the flags.
pub(crate) fn options(reading: &Reading) -> OpenOptions {
    let mut limits = Limits::default();
    for (name, value) in &reading.limit {
        // The argument parser knows the names; one that is not there cannot arrive here.
        limits.set(name, *value);
    }
    let links = if reading.no_symlinks { Links::Refused } else { Links::Inside };
    OpenOptions::new().limits(limits).links(links).mmap(!reading.no_mmap)
}

/// Everything that lies under the paths of the command line.
pub(crate) struct Targets {
    /// One a checkpoint, sorted by path.
    pub(crate) items: Vec<Item>,
    /// Files that promise no weights.
    pub(crate) skipped: u64,
}

/// A path that gives one result.
pub(crate) struct Item {
    pub(crate) path: PathBuf,
    within: Option<PathBuf>,
    error: Option<Error>,
}

impl Targets {
    /// Walks folders that are no checkpoint themselves.
    pub(crate) fn find(paths: &[PathBuf], options: &OpenOptions) -> Self {
        let mut targets = Targets { items: Vec::new(), skipped: 0 };
        for path in paths {
            match options.discover(path) {
                Ok(found) => {
                    targets.skipped += found.skipped;
                    let item = |path| Item { path, within: found.within.clone(), error: None };
                    targets.items.extend(found.paths.into_iter().map(item));
                }
                Err(error) => {
                    targets.items.push(Item { path: path.clone(), within: None, error: Some(error) });
                }
            }
        }
        targets.items.sort_by_cached_key(|item| shown(&item.path));
        targets
    }

    /// Whether there is one result only: its failure then ends the job.
    pub(crate) fn is_one(&self) -> bool {
        self.items.len() == 1
    }
}

impl Item {
    /// Reads the checkpoint; what is wrong with it is among its findings.
    pub(crate) fn read(self, options: &OpenOptions) -> Result<Checkpoint, Error> {
        match self.error {
            Some(error) => Err(error),
            None => options.clone().within(self.within).read(&self.path),
        }
    }
}

/// Refuses a checkpoint whose structure is broken: `hash`, `diff` and `convert` would answer about something else.
pub(crate) fn whole(mut checkpoint: Checkpoint) -> anyhow::Result<Checkpoint> {
    verify(&mut checkpoint, &VerifyOptions::default(), &())?;
    if !checkpoint.is_broken() {
        return Ok(checkpoint);
    }
    let findings = checkpoint.findings.iter().cloned().collect();
    let error = Error::Rejected(Box::new(Report { path: checkpoint.path.clone(), findings }));
    // The checkpoint still knows where each finding lies; the error does not.
    let findings = report::rows(&checkpoint, |_| true);
    Err(Refused(ErrorRow { findings, ..ErrorRow::new(&error) }).into())
}

/// A broken checkpoint that a command needs whole, with its findings.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) ErrorRow);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Refused {}

/// The result for a path that has no answer. An error of our own output is no result and ends the job.
pub(crate) fn failure(path: &Path, error: anyhow::Error) -> anyhow::Result<Failure> {
    match error_row(&error) {
        Some(error) => Ok(Failure { path: shown(path), error }),
        None => Err(error),
    }
}

/// What the library said, if it was the library.
pub(crate) fn error_row(error: &anyhow::Error) -> Option<ErrorRow> {
    error.chain().find_map(|cause| match cause.downcast_ref::<Refused>() {
        Some(Refused(row)) => Some(row.clone()),
        None => cause.downcast_ref::<Error>().map(ErrorRow::new),
    })
}
