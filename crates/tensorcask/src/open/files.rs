//! Files through the registry: which format claims one, and reading it into a checkpoint.

use super::rules;
use crate::{
    checkpoint::Checkpoint,
    core::{Budget, Category, Error, Limit, Place, Result, Severity, SourceId},
    format::{Child, Format, HEAD_BYTES, Head, Match, Opener, ReadCx, TAIL_BYTES, extension},
    source::{ReadAt, Root, RootError},
};
use std::{io, path::Path};

/// The format that fits best, and the others that fit by more than the name.
type Identified = (&'static dyn Format, Vec<&'static dyn Format>);

/// The formats at hand.
pub(super) struct Registry {
    pub(super) formats: &'static [&'static dyn Format],
}

impl Registry {
    /// Reads one file that is among the sources already; `None` if no format claims it.
    pub(super) fn read(
        &self,
        checkpoint: &mut Checkpoint,
        root: &dyn Root,
        source: SourceId,
        budget: &Budget,
    ) -> Result<Option<()>> {
        let name = checkpoint.sources.get(source).name.clone();
        let Some((format, others)) = self
            .identify(&name, checkpoint.sources.io(source).as_ref())
            .map_err(|error| Error::io(&*name, error))?
        else {
            return Ok(None);
        };
        let info = format.info();
        let before = checkpoint.findings.count_all();
        checkpoint.format = info.id;
        let mut cx = ReadCx {
            name: &name,
            input: Some(source),
            root,
            budget: &budget.for_file(),
            checkpoint,
            opener: self,
        };
        format.read(&mut cx)?;
        let whole = checkpoint.sources.whole(source);
        let titles = |others: &[&dyn Format]| {
            others.iter().map(|other| other.info().title).collect::<Vec<_>>().join(" and ")
        };
        if !others.is_empty() {
            let message = format!("the file is both {} and {}", info.title, titles(&others));
            checkpoint
                .findings
                .push(rules::POLYGLOT.at(whole, message).help("do not load it; ask for it in one format"));
        }
        let ext = extension(&name);
        let promised =
            self.formats.iter().find(|f| f.info().promises && f.info().extensions.contains(&ext.as_str()));
        let explained = checkpoint.findings.iter().skip(before).any(|finding| {
            finding.rule.category == Category::Structure && finding.severity >= Severity::Error
        });
        if let Some(promised) = promised
            && promised.info().id != info.id
            && !info.extensions.contains(&ext.as_str())
            && !explained
        {
            let message = format!("the name ends in `.{ext}`, the content is {}", info.title);
            let help = "find out where the file comes from; give it its right name if you trust it";
            checkpoint.findings.push(rules::CONTRADICTS_NAME.at(whole, message).help(help));
        }
        Ok(Some(()))
    }

    /// Whether some format claims the content of a file.
    pub(super) fn claims(&self, name: &str, io: &dyn ReadAt) -> io::Result<bool> {
        Ok(self.identify(name, io)?.is_some())
    }

    /// The format that fits best, and the others that fit by more than the name.
    fn identify(&self, name: &str, io: &dyn ReadAt) -> io::Result<Option<Identified>> {
        let head_len = usize::try_from(io.len()).unwrap_or(usize::MAX).min(HEAD_BYTES);
        let mut bytes = vec![0; head_len];
        io.read_at(0, &mut bytes)?;
        let tail_len = usize::try_from(io.len()).unwrap_or(usize::MAX).min(TAIL_BYTES);
        let mut tail = Vec::new();
        if tail_len > head_len || io.len() > head_len as u64 {
            tail.resize(tail_len, 0);
            io.read_at(io.len().saturating_sub(tail_len as u64), &mut tail)?;
        }
        let head = Head::of_file(name, io, &bytes, if tail.is_empty() { &bytes } else { &tail });
        let mut best: Option<(Match, &'static dyn Format)> = None;
        let mut by_content = Vec::new();
        for format in self.formats {
            let found = format.probe(&head.fresh());
            if found >= Match::Magic {
                by_content.push(*format);
            }
            if found > best.map_or(Match::No, |(best, _)| best) {
                best = Some((found, *format));
            }
        }
        Ok(best.map(|(_, format)| {
            by_content.retain(|other| other.info().id != format.info().id);
            (format, by_content)
        }))
    }

    /// Reads a folder whose listing some format claims.
    pub(super) fn folder(
        &self,
        checkpoint: &mut Checkpoint,
        root: &dyn Root,
        name: &str,
        budget: &Budget,
    ) -> Result<()> {
        let path = checkpoint.path.clone();
        let listing = root.list("").map_err(|error| Error::io(&path, error))?;
        let head = Head::of_folder(name, &listing);
        let best =
            self.formats.iter().map(|format| (format.probe(&head), format)).max_by_key(|(found, _)| *found);
        let Some((_, format)) = best.filter(|(found, _)| *found > Match::No) else {
            return Err(Error::Unrecognized { path });
        };
        checkpoint.format = format.info().id;
        format.read(&mut ReadCx { name, input: None, root, budget, checkpoint, opener: self })
    }
}

impl Opener for Registry {
    fn file(&self, checkpoint: &mut Checkpoint, root: &dyn Root, name: &str) -> Result<Option<SourceId>> {
        match root.open(name) {
            Ok(io) => Ok(Some(checkpoint.sources.add_file(name.into(), io))),
            Err(RootError::LinkLeaves { to }) => {
                checkpoint.findings.push(crate::source::link_leaves(name, &to));
                checkpoint.unread.push(name.into());
                Ok(None)
            }
            Err(RootError::LinkRefused) => {
                checkpoint.findings.push(crate::source::link_refused(name));
                checkpoint.unread.push(name.into());
                Ok(None)
            }
            Err(RootError::NotFound | RootError::Escapes) => Ok(None),
            Err(RootError::Io(error)) => Err(Error::io(Path::new(&checkpoint.path).join(name), error)),
        }
    }

    fn child(
        &self,
        checkpoint: &mut Checkpoint,
        root: &dyn Root,
        source: SourceId,
        budget: &Budget,
    ) -> Result<Child> {
        budget.charge(Limit::Files, 1)?;
        let budget = &budget.enter()?;
        let first_tensor = checkpoint.tensors.len();
        let outer =
            (checkpoint.format, std::mem::take(&mut checkpoint.metadata), checkpoint.format_version.take());
        let found = self.read(checkpoint, root, source, budget);
        let format = std::mem::replace(&mut checkpoint.format, outer.0);
        let metadata = std::mem::replace(&mut checkpoint.metadata, outer.1);
        checkpoint.format_version = outer.2;
        if found?.is_none() {
            let name = checkpoint.sources.get(source).name.clone();
            let message = format!("`{name}` is named like weights and no format claims its content");
            let finding = rules::UNRECOGNIZED_CONTENT.found(Place::File(name.clone()), message);
            checkpoint.findings.push(finding.help("see what wrote it; it was not looked into"));
            checkpoint.unread.push(name);
            return Ok(Child { format: outer.0, first_tensor, metadata });
        }
        Ok(Child { format, first_tensor, metadata })
    }

    fn promises_weights(&self, name: &str) -> bool {
        promises_weights(self.formats, name)
    }
}

/// Whether some format is usually stored under such a name.
pub(super) fn promises_weights(formats: &[&dyn Format], name: &str) -> bool {
    let ext = extension(name);
    !ext.is_empty() && formats.iter().any(|format| format.info().extensions.contains(&ext.as_str()))
}
