//! What a target path asks for: one file or a folder, and in which format.

use crate::{
    core::{Error, Result},
    format::{Encode, Format, FormatInfo, extension},
    formats,
    sink::{self, OldSet, Real, Replaced, Sink, SinkOptions},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Where output goes and who lays it out.
#[derive(Clone)]
pub(crate) struct Destination {
    pub(crate) path: PathBuf,
    pub(crate) is_folder: bool,
    pub(crate) info: &'static FormatInfo,
    pub(crate) encoder: &'static dyn Encode,
}

/// Bytes of one shard where nobody said: the default of `huggingface_hub`.
const SHARD_BYTES: u64 = 5_000_000_000;

impl Destination {
    /// A path that ends in the extension of a format is a file; an existing folder, a closing slash or any other
    /// name is a folder.
    ///
    /// # Errors
    /// When the format cannot be written, or the path contradicts the request.
    pub(crate) fn new(path: &Path, format: Option<&str>, max_shard_bytes: Option<u64>) -> Result<Self> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let by_name =
            formats::ALL.iter().find(|format| format.info().extensions.contains(&extension(&name).as_str()));
        let has_slash = path.as_os_str().to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR]);
        let is_folder = path.is_dir() || has_slash || by_name.is_none();
        let by_name = by_name.filter(|_| !is_folder);
        let asked =
            match format {
                None => None,
                Some(id) => {
                    let found = formats::ALL.iter().find(|format| format.info().id == id);
                    Some(found.ok_or_else(|| {
                        Error::usage(format!("there is no format called `{id}`"), writable())
                    })?)
                }
            };
        if let (Some(asked), Some(by_name)) = (asked, by_name)
            && asked.info().id != by_name.info().id
        {
            return Err(Error::usage(
                format!(
                    "`{name}` is the name of a {} file, and `{}` is to be written",
                    by_name.info().title,
                    asked.info().id
                ),
                "give the file a name that fits its content",
            ));
        }
        let default = || formats::ALL.iter().find(|format| format.encoder().is_some());
        let chosen: &&dyn Format = asked.or(by_name).or_else(default).ok_or_else(|| {
            Error::usage("no format can be written", "use a build with a format that can be written")
        })?;
        let info = chosen.info();
        let encoder = chosen.encoder().ok_or_else(|| {
            Error::usage(format!("{} is not written by this version", info.title), writable())
        })?;
        if !is_folder && max_shard_bytes.is_some() {
            return Err(Error::usage(
                format!("`{}` is one file, which cannot be written as shards", path.display()),
                "give a folder for the shards",
            ));
        }
        Ok(Destination { path: path.to_owned(), is_folder, info, encoder })
    }

    /// The limit for one shard; `None` for a single file.
    pub(crate) fn max_shard_bytes(&self, asked: Option<u64>) -> Option<u64> {
        self.is_folder.then(|| asked.unwrap_or(SHARD_BYTES))
    }

    pub(crate) fn file_name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Refuses what [`open`](Self::open) would refuse, and writes nothing.
    pub(crate) fn check(&self, overwrite: bool) -> Result<()> {
        sink::check(&self.path, self.is_folder, overwrite).map(drop)
    }

    /// The sink.
    pub(crate) fn open(&self, options: SinkOptions) -> Result<Sink> {
        let system = Arc::new(Real);
        if !self.is_folder {
            return Sink::file(system, &self.path, options);
        }
        let encoder = self.encoder;
        Sink::folder(system, &self.path, options, |folder| {
            let renamed_index =
                Box::new(move |index: &[u8], to: &dyn Fn(&str) -> String| encoder.renamed_index(index, to));
            Ok(Replaced { set: self.old_set(folder)?, renamed_index })
        })
    }

    fn old_set(&self, folder: &Path) -> Result<OldSet> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(|error| Error::io(folder, error))? {
            let entry = entry.map_err(|error| Error::io(folder, error))?;
            // A name that is no text is none of a set's names.
            names.extend(entry.file_name().into_string());
        }
        names.sort();
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path).map_err(|error| Error::io(path, error))
        };
        self.encoder.old_set(&names, &read)
    }
}

fn writable() -> String {
    let ids = formats::ALL.iter().filter(|format| format.encoder().is_some());
    format!(
        "what can be written: {}",
        ids.map(|format| format!("`{}`", format.info().id)).collect::<Vec<_>>().join(", ")
    )
}
