//! From a path to a checkpoint: look at both ends of the file, let every format say how well it fits, read with the
//! best, then run the checks over what was opened.

mod files;
mod rules;
mod walk;

pub use walk::Discovery;

use crate::{
    checkpoint::Checkpoint,
    checks,
    core::{Budget, Error, Limits, Report, Result, Severity},
    format::{Format, Match},
    formats,
    source::{Bytes, FolderRoot, Links, NoRoot, Root},
};
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

pub(crate) use rules::ALL as RULES;

/// Opens a checkpoint and rejects it if anything of severity `error` is wrong with it.
///
/// # Errors
/// [`Error::Rejected`] with every finding when the file is broken; the other kinds when there is no answer.
pub fn open(path: impl AsRef<Path>) -> Result<Checkpoint> {
    OpenOptions::new().open(path)
}

/// How a checkpoint is opened.
#[derive(Clone)]
pub struct OpenOptions {
    limits: Limits,
    links: Links,
    mmap: bool,
    formats: &'static [&'static dyn Format],
    within: Option<PathBuf>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions {
            limits: Limits::default(),
            links: Links::Inside,
            mmap: true,
            formats: formats::ALL,
            within: None,
        }
    }
}

impl OpenOptions {
    /// The defaults: ordinary limits, links followed inside the folder, maps allowed, every format.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how much a file may ask for.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets which symbolic links are followed.
    #[must_use]
    pub fn links(mut self, links: Links) -> Self {
        self.links = links;
        self
    }

    /// Allows views of mapped files; without it every byte is read into memory of our own.
    #[must_use]
    pub fn mmap(mut self, mmap: bool) -> Self {
        self.mmap = mmap;
        self
    }

    /// Reads with these formats only; a program that never names the others does not link them.
    #[must_use]
    pub fn formats(mut self, formats: &'static [&'static dyn Format]) -> Self {
        self.formats = formats;
        self
    }

    /// Names the folder that links may not leave, for paths found by [`discover`](Self::discover).
    #[must_use]
    pub fn within(mut self, folder: Option<PathBuf>) -> Self {
        self.within = folder;
        self
    }

    /// Opens strictly: a finding of severity `error` or above rejects the checkpoint.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Checkpoint> {
        let checkpoint = self.read(path)?;
        if checkpoint.findings.iter().any(|finding| finding.severity >= Severity::Error) {
            let findings = checkpoint.findings.iter().cloned().collect();
            return Err(Error::Rejected(Box::new(Report { path: checkpoint.path, findings })));
        }
        Ok(checkpoint)
    }

    /// Opens leniently: what is wrong stands in [`Checkpoint::findings`], and every tensor that can be read is listed.
    ///
    /// # Errors
    /// When there is no table at all: the path cannot be read, no format claims it, a limit was reached, or a folder
    /// that is no checkpoint itself holds several.
    pub fn read(&self, path: impl AsRef<Path>) -> Result<Checkpoint> {
        let path = path.as_ref();
        self.read_path(path).map_err(|error| match error {
            // Inside, only names relative to the folder are known.
            Error::Limit { hit, .. } => Error::Limit { path: path.to_owned(), hit },
            other => other,
        })
    }

    fn read_path(&self, path: &Path) -> Result<Checkpoint> {
        let io_error = |source| Error::io(path, source);
        let mut checkpoint = Checkpoint {
            path: path.to_owned(),
            limits: self.limits.clone(),
            links: self.links,
            ..Checkpoint::default()
        };
        if let Some(finding) = self.refused_link(path).map_err(io_error)? {
            checkpoint.format = "link";
            checkpoint.findings.push(finding);
            checkpoint.unread.push(file_name(path).into());
            return Ok(checkpoint);
        }
        let metadata = std::fs::metadata(path).map_err(io_error)?;
        let folder = if metadata.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
        let root =
            FolderRoot::new(folder, self.links, self.mmap, self.within.as_deref()).map_err(io_error)?;
        let opener = files::Registry { formats: self.formats };
        let budget = Budget::new(self.limits.clone());
        let name = file_name(path);
        if metadata.is_dir() && self.folder_match(&root, &name).map_err(io_error)? == Match::No {
            return self.read_only_one(path);
        }
        if metadata.is_dir() {
            opener.folder(&mut checkpoint, &root, &name, &budget)?;
        } else {
            let io = crate::source::open_file(path, self.mmap).map_err(io_error)?;
            let source = checkpoint.sources.add_file(name.as_str().into(), io);
            opener
                .read(&mut checkpoint, &root, source, &budget)?
                .ok_or_else(|| Error::Unrecognized { path: path.into() })?;
        }
        for finding in walk::leftovers(path, metadata.is_dir()) {
            checkpoint.unfinished |= finding.rule.code == rules::INCOMPLETE_DOWNLOAD.code;
            checkpoint.findings.push(finding);
        }
        if metadata.is_dir() || checkpoint.shard_map.is_some() {
            checks::headers(&mut checkpoint, &root, &budget)?;
        } else {
            checks::headers(&mut checkpoint, &NoRoot, &budget)?;
        }
        Ok(checkpoint)
    }

    /// Reads the one checkpoint below a folder that is none itself: a converter's output of a single file, for example.
    fn read_only_one(&self, folder: &Path) -> Result<Checkpoint> {
        let found = self.discover(folder)?;
        match &found.paths[..] {
            [one] => self.clone().within(found.within).read_path(one),
            several => Err(Error::usage(
                format!("`{}` holds {} checkpoints and is none itself", folder.display(), several.len()),
                "give the path of one of them; `tensorcask inspect` of the folder lists them",
            )),
        }
    }

    /// Opens bytes in memory, leniently. `name` takes the place of a file name.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_bytes(&self, name: &str, bytes: Bytes) -> Result<Checkpoint> {
        self.read_in(name, bytes, &NoRoot)
    }

    /// Opens bytes that lie in the folder `root`.
    pub(crate) fn read_in(&self, name: &str, bytes: Bytes, root: &dyn Root) -> Result<Checkpoint> {
        let mut checkpoint = Checkpoint { limits: self.limits.clone(), ..Checkpoint::default() };
        let opener = files::Registry { formats: self.formats };
        let budget = Budget::new(self.limits.clone());
        let source = checkpoint.sources.add_file(name.into(), Arc::new(bytes));
        opener
            .read(&mut checkpoint, root, source, &budget)?
            .ok_or_else(|| Error::Unrecognized { path: PathBuf::from(name) })?;
        checks::headers(&mut checkpoint, root, &budget)?;
        Ok(checkpoint)
    }

    /// The finding for a path that is a link which may not be followed.
    fn refused_link(&self, path: &Path) -> io::Result<Option<crate::core::Finding>> {
        if !std::fs::symlink_metadata(path)?.is_symlink() {
            return Ok(None);
        }
        if self.links == Links::Refused {
            return Ok(Some(crate::source::link_refused(&file_name(path))));
        }
        let Some(within) = &self.within else { return Ok(None) };
        let target = std::fs::canonicalize(path)?;
        let bounds = crate::source::bounds(within)?;
        Ok((!target.starts_with(&bounds)).then(|| crate::source::link_leaves(&file_name(path), &target)))
    }

    /// How well each format fits a folder's listing, best first.
    fn folder_match(&self, root: &dyn Root, name: &str) -> io::Result<Match> {
        let listing = root.list("")?;
        let head = crate::format::Head::of_folder(name, &listing);
        Ok(self.formats.iter().map(|format| format.probe(&head)).max().unwrap_or(Match::No))
    }
}

/// The last part of a path, for people and for probes.
fn file_name(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    name.or_else(|| Some(std::fs::canonicalize(path).ok()?.file_name()?.to_string_lossy().into_owned()))
        .unwrap_or_default()
}
