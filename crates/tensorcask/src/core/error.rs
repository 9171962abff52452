//! Errors say why the caller got nothing, sorted by who has to act.

use super::{Finding, LimitHit};
use std::{fmt, io, path::PathBuf};

/// `Result` with our [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The environment: a path could not be read or written.
    Io {
        /// The path at hand; empty where bytes came from memory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The caller: no format claims this path.
    Unrecognized {
        /// The path that was given.
        path: PathBuf,
    },
    /// The file: findings of severity `error` or above under the strict policy of [`open`](crate::open).
    Rejected(Box<Report>),
    /// Us: a valid file, or a request, that this version cannot serve.
    Unsupported {
        /// The path at hand.
        path: PathBuf,
        /// What is not supported, and what to do instead.
        message: String,
    },
    /// The policy: a limit was reached.
    Limit {
        /// The path at hand.
        path: PathBuf,
        /// Which limit, its value and what was asked.
        hit: LimitHit,
    },
    /// The caller: the request contradicts itself or the files.
    Usage {
        /// What does not fit.
        message: String,
        /// One action.
        help: Option<String>,
    },
}

/// Why a file was rejected.
#[derive(Debug)]
pub struct Report {
    /// The path that was opened.
    pub path: PathBuf,
    /// Every finding, also those below `error`.
    pub findings: Vec<Finding>,
}

impl Error {
    /// The lower-case kind of the outside interface.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Io { .. } => "io",
            Error::Unrecognized { .. } => "unrecognized",
            Error::Rejected(_) => "rejected",
            Error::Unsupported { .. } => "unsupported",
            Error::Limit { .. } => "limit",
            Error::Usage { .. } => "usage",
        }
    }

    /// The path at hand, where there is one.
    pub fn path(&self) -> Option<&std::path::Path> {
        match self {
            Error::Io { path, .. }
            | Error::Unrecognized { path }
            | Error::Unsupported { path, .. }
            | Error::Limit { path, .. } => {
                Some(path).filter(|p| !p.as_os_str().is_empty()).map(PathBuf::as_path)
            }
            Error::Rejected(report) => Some(&report.path),
            Error::Usage { .. } => None,
        }
    }

    /// One action for the caller.
    pub fn help(&self) -> Option<String> {
        match self {
            Error::Unrecognized { .. } => {
                Some("`tensorcask formats` lists what can be read and what is only recognised".into())
            }
            Error::Limit { hit, .. } => Some(format!(
                "raise it with `--limit {}={}` if you trust the file",
                hit.limit.name(),
                hit.asked
            )),
            Error::Rejected(_) => Some("`tensorcask check` shows every finding with its place".into()),
            Error::Usage { help, .. } => help.clone(),
            Error::Io { source, .. } if source.kind() == io::ErrorKind::UnexpectedEof => {
                Some("the file became shorter while it was read; run again when nothing writes to it".into())
            }
            Error::Io { .. } | Error::Unsupported { .. } => None,
        }
    }

    /// An [`Error::Io`] with its path.
    pub fn io(path: impl Into<PathBuf>, source: io::Error) -> Self {
        Error::Io { path: path.into(), source }
    }

    /// An [`Error::Usage`].
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Error::Usage { message: message.into(), help: Some(help.into()) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io { path, source } if path.as_os_str().is_empty() => write!(f, "{source}"),
            Error::Io { path, source } => write!(f, "`{}`: {source}", path.display()),
            Error::Unrecognized { path } => {
                write!(f, "`{}`: no format claims this content", path.display())
            }
            Error::Rejected(report) => {
                let worst = report.findings.iter().max_by_key(|finding| finding.severity);
                let message = worst.map_or("", |finding| finding.message.as_str());
                write!(f, "`{}`: {message}", report.path.display())
            }
            Error::Unsupported { path, message } if path.as_os_str().is_empty() => write!(f, "{message}"),
            Error::Unsupported { path, message } => write!(f, "`{}`: {message}", path.display()),
            Error::Limit { path, hit } => write!(f, "`{}`: {hit}", path.display()),
            Error::Usage { message, .. } => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// A limit hit before any path is known; the opener adds it.
impl From<LimitHit> for Error {
    fn from(hit: LimitHit) -> Self {
        Error::Limit { path: PathBuf::new(), hit }
    }
}
