//! Which tensors and which metadata differ between two checkpoints, whatever their containers and shardings.

use super::Progress;
use crate::{
    checkpoint::{Checkpoint, Value},
    core::{Result, TensorInfo, Text},
    elements::{BLOCK_BYTES, Stream},
};
use rayon::prelude::*;
use std::{cell::Cell, collections::BTreeMap};

/// What [`diff`] finds; every list is sorted by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diff {
    /// Whether nothing differs, and everything could be compared.
    pub equal: bool,
    /// Tensors of the first checkpoint only.
    pub only_a: Vec<Text>,
    /// Tensors of the second checkpoint only.
    pub only_b: Vec<Text>,
    /// Tensors of both that are not the same.
    pub changed: Vec<Change>,
    /// Metadata that are not the same.
    pub metadata: Vec<MetadataChange>,
}

/// A tensor that both checkpoints name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Its name.
    pub name: Text,
    /// What differs, one fact a line: `shape [2] -> [3]`.
    pub what: Vec<String>,
}

/// A metadata key whose values differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetadataChange {
    /// The key.
    pub key: Text,
    /// The value in the first checkpoint.
    pub a: Option<String>,
    /// The value in the second one.
    pub b: Option<String>,
}

/// Compares names, element types, shapes and elements, and the metadata by value and exact type.
///
/// A tensor whose bytes are missing on one side or on both is a change: what was not looked at is never equal.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when bytes cannot be read.
pub fn diff(a: &Checkpoint, b: &Checkpoint, progress: &dyn Progress) -> Result<Diff> {
    let (in_a, in_b) = (by_name(a), by_name(b));
    let only = |here: &BTreeMap<&Text, &TensorInfo>, there: &BTreeMap<&Text, &TensorInfo>| {
        here.keys().filter(|name| !there.contains_key(*name)).map(|name| (*name).clone()).collect::<Vec<_>>()
    };
    let both: Vec<_> = in_a.iter().filter_map(|(name, in_a)| Some((*in_a, *in_b.get(name)?))).collect();
    progress.start("compare", both.iter().map(|(a, _)| a.byte_len()).sum());
    let compared = both.par_iter().map(|(in_a, in_b)| {
        let what = Pair { a, in_a, b, in_b, progress }.what()?;
        Ok((!what.is_empty()).then(|| Change { name: in_a.name.clone(), what }))
    });
    let changed: Vec<_> = compared.filter_map(Result::transpose).collect::<Result<_>>()?;
    let (only_a, only_b, metadata) = (only(&in_a, &in_b), only(&in_b, &in_a), metadata(a, b));
    let equal = only_a.is_empty() && only_b.is_empty() && changed.is_empty() && metadata.is_empty();
    Ok(Diff { equal, only_a, only_b, changed, metadata })
}

fn by_name(ck: &Checkpoint) -> BTreeMap<&Text, &TensorInfo> {
    ck.tensors.iter().map(|tensor| (&tensor.name, tensor)).collect()
}

/// The two tensors of one name.
struct Pair<'a> {
    a: &'a Checkpoint,
    in_a: &'a TensorInfo,
    b: &'a Checkpoint,
    in_b: &'a TensorInfo,
    progress: &'a dyn Progress,
}

impl Pair<'_> {
    fn what(&self) -> Result<Vec<String>> {
        let (a, b) = (self.in_a, self.in_b);
        let mut what = Vec::new();
        if a.dtype != b.dtype {
            what.push(format!("dtype {} -> {}", a.dtype, b.dtype));
        }
        if a.view.shape != b.view.shape {
            what.push(format!("shape {} -> {}", a.view.shape, b.view.shape));
        }
        match (a.is_missing(), b.is_missing()) {
            (true, true) => what.push("bytes: missing in A and in B, not compared".into()),
            (true, false) => what.push("bytes: missing in A".into()),
            (false, true) => what.push("bytes: missing in B".into()),
            (false, false) if what.is_empty() => {
                what.extend(self.bytes()?);
                return Ok(what);
            }
            (false, false) => {}
        }
        self.progress.add(a.byte_len());
        Ok(what)
    }

    /// How the elements differ, if they do.
    fn bytes(&self) -> Result<Option<String>> {
        let a = Stream::new(&self.a.sources, &self.in_a.dtype, &self.in_a.view);
        let b = Stream::new(&self.b.sources, &self.in_b.dtype, &self.in_b.view);
        let (a, b) = (a.map_err(|e| self.a.place_error(e))?, b.map_err(|e| self.b.place_error(e))?);
        if a.len() != b.len() {
            // Types without a size: their extents are all that is known.
            self.progress.add(self.in_a.byte_len());
            return Ok(Some(format!("bytes: {} -> {}", a.len(), b.len())));
        }
        let (per_block, unit) = self.in_a.dtype.block().unwrap_or((1, 1));
        let n = a.len() / unit;
        let per_step = (BLOCK_BYTES as u64 / unit).max(1);
        let steps = (0..n.div_ceil(per_step)).into_par_iter().map(|step| {
            let first = step * per_step;
            self.compare(&a, &b, first, per_step.min(n - first), unit)
        });
        let found = steps.try_reduce(Differing::default, |left, right| Ok(left.and(right)))?;
        let Some(first) = found.first else { return Ok(None) };
        let words = if per_block == 1 { ("elements", "element") } else { ("blocks", "block") };
        let verb = if found.n == 1 { "differs" } else { "differ" };
        Ok(Some(format!("bytes: {} of {n} {} {verb}, first at {} {first}", found.n, words.0, words.1)))
    }

    /// Compares `n` units of `unit` bytes from number `first` on.
    fn compare(&self, a: &Stream<'_>, b: &Stream<'_>, first: u64, n: u64, unit: u64) -> Result<Differing> {
        let mut buffer = BUFFER.take();
        let outcome = (|| {
            let len = usize::try_from(n * unit).unwrap_or(usize::MAX);
            if buffer.len() < 2 * len {
                buffer.resize(2 * len, 0);
            }
            let (in_a, rest) = buffer.split_at_mut(len);
            let in_b = &mut rest[..len];
            a.read(first * unit, in_a).map_err(|error| self.a.place_error(error))?;
            b.read(first * unit, in_b).map_err(|error| self.b.place_error(error))?;
            Ok(Differing::between(in_a, in_b, first, usize::try_from(unit).unwrap_or(1)))
        })();
        BUFFER.set(buffer);
        self.progress.add(n * unit);
        outcome
    }
}

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// How many units differ, and which is the first.
#[derive(Clone, Copy, Default)]
struct Differing {
    n: u64,
    first: Option<u64>,
}

impl Differing {
    fn between(a: &[u8], b: &[u8], first: u64, unit: usize) -> Self {
        if a == b {
            return Differing::default();
        }
        let units = a.chunks_exact(unit).zip(b.chunks_exact(unit)).zip(first..);
        units.filter(|((a, b), _)| a != b).fold(Differing::default(), |found, (_, number)| Differing {
            n: found.n + 1,
            first: found.first.or(Some(number)),
        })
    }

    fn and(self, later: Self) -> Self {
        let first = [self.first, later.first].into_iter().flatten().min();
        Differing { n: self.n + later.n, first }
    }
}

/// The keys whose values are not the same. Of a repeated key the last value counts, as everywhere.
fn metadata(a: &Checkpoint, b: &Checkpoint) -> Vec<MetadataChange> {
    let mut values: BTreeMap<&Text, [Option<&Value>; 2]> = BTreeMap::new();
    for (side, ck) in [a, b].into_iter().enumerate() {
        for (key, value) in &ck.metadata {
            values.entry(key).or_default()[side] = Some(value);
        }
    }
    let differs = |(_, [a, b]): &(&Text, [Option<&Value>; 2])| match (a, b) {
        (Some(a), Some(b)) => !same(a, b),
        _ => true,
    };
    let change = |(key, [a, b]): (&Text, [Option<&Value>; 2])| {
        let (mut a_text, mut b_text) = (a.map(text), b.map(text));
        if a_text == b_text {
            (a_text, b_text) = (a.map(typed), b.map(typed));
        }
        MetadataChange { key: key.clone(), a: a_text, b: b_text }
    };
    values.into_iter().filter(differs).map(change).collect()
}

/// Equal in type and value; floats by their bits, so that a NaN equals itself and 0.0 is not -0.0.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && same(a, b))
        }
        (a, b) => a == b,
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Str(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Bool(truth) => truth.to_string(),
        Value::Null => "null".into(),
        Value::List(items) => format!("[{}]", items.iter().map(typed).collect::<Vec<_>>().join(", ")),
        Value::Map(items) => {
            let items: Vec<_> =
                items.iter().map(|(key, value)| format!("{key:?}: {}", typed(value))).collect();
            format!("{{{}}}", items.join(", "))
        }
    }
}

/// Like [`text`], with quotes around text, so that "1" and 1 look different; floats that print alike show their bits.
fn typed(value: &Value) -> String {
    match value {
        Value::Str(text) => format!("{:?}", text.as_str()),
        Value::Float(number) if number.is_nan() => format!("NaN 0x{:016x}", number.to_bits()),
        other => text(other),
    }
}

#[cfg(test)]
mod tests;
