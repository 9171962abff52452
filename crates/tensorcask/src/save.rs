//! Saves tensors from memory: all at once with [`save`], or shapes first and data later with [`Saver`].
//!
//! ```
//! use tensorcask::{save::{Saver, SaveOptions}, DType, Dims};
//!
//! # fn main() -> tensorcask::Result<()> {
//! # let path = std::env::temp_dir().join(format!("tensorcask-doc-saver-{}.safetensors", std::process::id()));
//! let specs = [("weight", DType::F32, Dims::from([2, 2])), ("bias", DType::F32, Dims::from([2]))];
//! let saver = Saver::new(&path, &specs, &[("format", "pt")], &SaveOptions::default())?;
//! saver.write("bias", &[0; 8])?;
//! saver.write_at("weight", 8, &[2; 8])?;
//! saver.write_at("weight", 0, &[1; 8])?;
//! saver.finish()?;
//! assert_eq!(tensorcask::open(&path)?.tensors.len(), 2);
//! # std::fs::remove_file(&path).unwrap();
//! # Ok(()) }
//! ```

use crate::{
    checkpoint::Value,
    core::{DType, Dims, Error, Result, Text},
    format::{Job, Segment, TensorSpec},
    ops::convert::destination::Destination,
    sink::{Part, Sink, SinkOptions},
};
use std::{
    borrow::Borrow,
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// How tensors are saved.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SaveOptions {
    /// Id of the format; `None` takes it from the path's name.
    pub format: Option<String>,
    /// Tensor bytes of one shard at most, for a folder.
    pub max_shard_bytes: Option<u64>,
    /// Replace what is there. On by default: saving again is what training does.
    pub overwrite: bool,
    /// Bytes of spare room in each header for later edits in place.
    pub reserve_bytes: u64,
    /// Wait until the output is on the disk.
    pub sync: bool,
}

impl Default for SaveOptions {
    fn default() -> Self {
        SaveOptions { format: None, max_shard_bytes: None, overwrite: true, reserve_bytes: 0, sync: true }
    }
}

/// Saves `tensors` (name, element type, shape, dense little-endian bytes) and `metadata` to a file or folder.
///
/// The target is whole or as it was before, whatever happens. A path that ends in the extension of a format is one
/// file; any other is a folder of shards.
///
/// ```
/// use tensorcask::{save::save, DType};
///
/// # fn main() -> tensorcask::Result<()> {
/// # let path = std::env::temp_dir().join(format!("tensorcask-doc-save-{}.safetensors", std::process::id()));
/// save(&path, &[("w", DType::I16, &[3], &[1, 0, 2, 0, 3, 0])], &[("format", "pt")], &Default::default())?;
/// let checkpoint = tensorcask::open(&path)?;
/// assert_eq!(checkpoint.tensor("w").unwrap().n_elements(), 3);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok(()) }
/// ```
///
/// # Errors
/// [`Error::Usage`] when the bytes of a tensor do not fit its shape, or the format has no place for it; what the
/// system says.
pub fn save(
    path: impl AsRef<Path>,
    tensors: &[(&str, DType, &[u64], &[u8])],
    metadata: &[(&str, &str)],
    options: &SaveOptions,
) -> Result<()> {
    let specs: Vec<(&str, DType, Dims)> =
        tensors.iter().map(|(name, dtype, shape, _)| (*name, dtype.clone(), Dims::from(*shape))).collect();
    let saver = Saver::new(path, &specs, metadata, options)?;
    let data: HashMap<&str, &[u8]> = tensors.iter().map(|(name, .., bytes)| (*name, *bytes)).collect();
    // In the order of the files, so that the disk sees one stream.
    for name in saver.names_in_file_order() {
        saver.write(&name, data.get(name.as_str()).copied().unwrap_or_default())?;
    }
    saver.finish()
}

/// Tensors that are declared first and filled later, in any order and from any thread.
///
/// Nothing appears at the target before [`finish`](Self::finish); dropped before that, nothing is left behind.
pub struct Saver {
    path: PathBuf,
    sink: Sink,
    sync: bool,
    names: Vec<String>,
    parts: Vec<Part>,
    places: HashMap<Text, Place>,
    gather: Mutex<Gather>,
}

/// Pieces from here on are written straight from the caller's memory.
const LARGE_BYTES: usize = 64 << 10;
/// Bytes that are gathered before they are written.
const GATHER_BYTES: usize = 1 << 20;

/// Small neighbours that are written together.
#[derive(Default)]
struct Gather {
    part: usize,
    offset: u64,
    bytes: Vec<u8>,
}

impl Gather {
    fn add(&mut self, parts: &[Part], part: usize, offset: u64, bytes: &[u8]) -> Result<()> {
        let follows = self.part == part && self.offset.checked_add(self.bytes.len() as u64) == Some(offset);
        if !follows || self.bytes.len().saturating_add(bytes.len()) > GATHER_BYTES {
            self.flush(parts)?;
            (self.part, self.offset) = (part, offset);
            self.bytes.reserve_exact(GATHER_BYTES);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self, parts: &[Part]) -> Result<()> {
        if let Some(part) = parts.get(self.part).filter(|_| !self.bytes.is_empty()) {
            part.write_at(self.offset, &self.bytes)?;
        }
        self.bytes.clear();
        Ok(())
    }
}

/// Where a tensor lies.
struct Place {
    part: usize,
    offset: u64,
    bytes: u64,
    filled: Mutex<Filled>,
}

/// Ranges that were written, apart from each other: start to end.
#[derive(Default)]
struct Filled(BTreeMap<u64, u64>);

impl Filled {
    fn add(&mut self, mut start: u64, mut end: u64) {
        while let Some((before, until)) =
            self.0.range(..=end).next_back().map(|(before, until)| (*before, *until))
        {
            if until < start {
                break;
            }
            self.0.remove(&before);
            (start, end) = (start.min(before), end.max(until));
        }
        self.0.insert(start, end);
    }

    /// Bytes from the start that are there without a gap.
    fn whole_until(&self) -> u64 {
        self.0.get(&0).copied().unwrap_or_default()
    }
}

impl Saver {
    /// Writes the headers for tensors of these names, element types and shapes, and makes room for their data.
    ///
    /// # Errors
    /// As [`save`].
    pub fn new(
        path: impl AsRef<Path>,
        tensors: &[(&str, DType, Dims)],
        metadata: &[(&str, &str)],
        options: &SaveOptions,
    ) -> Result<Self> {
        let path = path.as_ref();
        let destination = Destination::new(path, options.format.as_deref(), options.max_shard_bytes)?;
        let specs: Vec<TensorSpec> = tensors
            .iter()
            .map(|(name, dtype, shape)| TensorSpec {
                name: (*name).into(),
                dtype: dtype.clone(),
                shape: shape.clone(),
            })
            .collect();
        let metadata: Vec<(Text, Value)> =
            metadata.iter().map(|(key, value)| ((*key).into(), Value::Str((*value).into()))).collect();
        let files = destination.encoder.encode(&Job {
            targets: &specs,
            metadata: &metadata,
            file_name: &destination.file_name(),
            max_shard_bytes: destination.max_shard_bytes(options.max_shard_bytes),
            reserve_bytes: options.reserve_bytes,
        })?;
        let sink = destination.open(SinkOptions { overwrite: options.overwrite, sync: options.sync })?;
        let bytes_of =
            |target: &usize| specs.get(*target).and_then(|spec| spec.dtype.byte_len(&spec.shape).ok());
        let (mut parts, mut places) = (Vec::new(), HashMap::new());
        for file in &files {
            let (mut at, mut known) = (0u64, Vec::new());
            for segment in &file.segments {
                match segment {
                    Segment::Bytes(bytes) => {
                        known.push((at, bytes));
                        at = at.saturating_add(bytes.len() as u64);
                    }
                    Segment::Tensor(target) => {
                        let bytes = bytes_of(target).unwrap_or_default();
                        if let Some(spec) = specs.get(*target) {
                            let place =
                                Place { part: parts.len(), offset: at, bytes, filled: Mutex::default() };
                            places.insert(spec.name.clone(), place);
                        }
                        at = at.saturating_add(bytes);
                    }
                }
            }
            let part = sink.create(&file.name, at)?;
            for (offset, bytes) in known {
                part.write_at(offset, bytes)?;
            }
            parts.push(part);
        }
        let names = files.into_iter().map(|file| file.name).collect();
        let gather = Mutex::default();
        Ok(Saver { path: path.to_owned(), sink, sync: options.sync, names, parts, places, gather })
    }

    /// Writes all of a tensor: dense, row-major, little-endian.
    ///
    /// # Errors
    /// [`Error::Usage`] when it was not declared or has another length; what the system says.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let place = self.place(name)?;
        if bytes.len() as u64 != place.bytes {
            return Err(self.misfit(&format!(
                "tensor `{name}` takes {} bytes, {} are given",
                place.bytes,
                bytes.len()
            )));
        }
        self.write_at(name, 0, bytes)
    }

    /// Writes part of a tensor, from byte `offset` of its dense, row-major, little-endian elements on.
    ///
    /// # Errors
    /// [`Error::Usage`] when it was not declared or the part reaches past its end; what the system says.
    pub fn write_at(&self, name: &str, offset: u64, bytes: &[u8]) -> Result<()> {
        let place = self.place(name)?;
        let end = offset.checked_add(bytes.len() as u64).filter(|end| *end <= place.bytes);
        let (Some(end), Some(part)) = (end, self.parts.get(place.part)) else {
            let message = format!(
                "{} bytes at {offset} reach past the {} of tensor `{name}`",
                bytes.len(),
                place.bytes
            );
            return Err(self.misfit(&message));
        };
        let at = place.offset.saturating_add(offset);
        let mut gather = self.gather.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes.len() >= LARGE_BYTES {
            // What was gathered may lie in the same place, and was given earlier.
            gather.flush(&self.parts)?;
            drop(gather);
            part.write_at(at, bytes)?;
        } else {
            gather.add(&self.parts, place.part, at, bytes)?;
            drop(gather);
        }
        place.filled.lock().unwrap_or_else(PoisonError::into_inner).add(offset, end);
        Ok(())
    }

    /// Puts the output in its place.
    ///
    /// # Errors
    /// [`Error::Usage`] when a tensor was not filled; what the system says. The target is then as it was before.
    pub fn finish(self) -> Result<()> {
        let mut open: Vec<(&Text, u64, u64)> = Vec::new();
        for (name, place) in &self.places {
            let until = place.filled.lock().unwrap_or_else(PoisonError::into_inner).whole_until();
            if until < place.bytes {
                open.push((name, until, place.bytes));
            }
        }
        open.sort();
        if let Some((name, until, bytes)) = open.first() {
            let count = open.len();
            return Err(self.misfit(&format!(
                "{count} of {} tensors are not filled; the first is `{name}`: nothing from byte {until} of {bytes} on",
                self.places.len()
            )));
        }
        self.gather.into_inner().unwrap_or_else(PoisonError::into_inner).flush(&self.parts)?;
        if self.sync {
            self.parts.iter().try_for_each(Part::sync)?;
        }
        drop(self.parts);
        self.sink.commit(&self.names)
    }

    fn names_in_file_order(&self) -> Vec<Text> {
        let mut places: Vec<(&Text, &Place)> = self.places.iter().collect();
        places.sort_by_key(|(_, place)| (place.part, place.offset));
        places.into_iter().map(|(name, _)| name.clone()).collect()
    }

    fn place(&self, name: &str) -> Result<&Place> {
        self.places
            .get(Borrow::<str>::borrow(name))
            .ok_or_else(|| self.misfit(&format!("no tensor `{name}` was declared")))
    }

    fn misfit(&self, message: &str) -> Error {
        Error::usage(
            format!("`{}`: {message}", self.path.display()),
            "give each tensor the bytes of its declared shape",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Filled;

    #[test]
    fn ranges_grow_together() {
        let mut filled = Filled::default();
        for (start, end) in [(8, 12), (0, 4), (20, 24)] {
            filled.add(start, end);
        }
        assert_eq!(filled.whole_until(), 4);
        filled.add(2, 9);
        assert_eq!(filled.whole_until(), 12);
        filled.add(0, 3);
        assert_eq!(filled.whole_until(), 12);
        filled.add(12, 20);
        assert_eq!((filled.whole_until(), filled.0.len()), (24, 1));
    }
}
