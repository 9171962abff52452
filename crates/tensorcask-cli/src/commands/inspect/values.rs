//! Values of one tensor, nested as its shape: all of a small one, the ends of a large one.

use super::slice::Axis;
use serde_json::Value;
use std::io::{self, Write};
use tensorcask::{
    Checkpoint, Result, TensorInfo,
    elements::canonical,
    numeric::{Scalar, decode},
};

/// Elements that are shown whole; of more, each axis shows its ends (`threshold` and `edgeitems` of `numpy`).
const WHOLE: u64 = 1_000;
const EDGE: u64 = 3;
/// Axes that are shown nested; deeper ones have no picture.
const DEEPEST: usize = 32;
/// Elements that text shows at most: the ends of many axes multiply.
const MOST_IN_TEXT: u64 = 10_000;
/// Elements that a JSON document holds.
const MOST_IN_JSON: u64 = 100_000;
/// Bytes read at once: a multiple of every block's size.
const WINDOW_BYTES: u64 = 48 << 10;

/// Elements of one tensor by position, read in windows.
pub(super) struct Elements<'a> {
    checkpoint: &'a Checkpoint,
    tensor: &'a TensorInfo,
    byte_len: u64,
    bits: u64,
    window_start: u64,
    window: Vec<u8>,
}

impl<'a> Elements<'a> {
    /// `None` when the type has no size.
    pub(super) fn new(checkpoint: &'a Checkpoint, tensor: &'a TensorInfo) -> Option<Self> {
        let (elements, bytes) = tensor.dtype.block()?;
        let byte_len = tensor.dtype.byte_len(&tensor.view.shape).ok()?;
        let bits = bytes * 8 / elements;
        Some(Elements { checkpoint, tensor, byte_len, bits, window_start: 0, window: Vec::new() })
    }

    fn get(&mut self, index: u64) -> Result<Option<Scalar>> {
        let per_window = WINDOW_BYTES * 8 / self.bits;
        let start = index / per_window * WINDOW_BYTES;
        if self.window.is_empty() || start != self.window_start {
            self.window.clear();
            self.window_start = start;
            let range = start..start.saturating_add(WINDOW_BYTES).min(self.byte_len);
            let (tensor, window) = (self.tensor, &mut self.window);
            canonical(&self.checkpoint.sources, &tensor.dtype, &tensor.view, range, &mut |bytes| {
                window.extend_from_slice(bytes);
                Ok(())
            })?;
        }
        Ok(decode(&self.tensor.dtype, &self.window, index % per_window))
    }
}

/// A part of a tensor, laid out for writing.
pub(super) struct Part<'a> {
    axes: &'a [Axis],
    /// Elements of the whole tensor that one step along each axis passes.
    strides: Vec<u64>,
    shown_axes: Vec<usize>,
}

impl<'a> Part<'a> {
    pub(super) fn new(axes: &'a [Axis], shape: &[u64]) -> Self {
        let mut strides = vec![1u64; shape.len()];
        for (axis, dim) in shape.iter().enumerate().skip(1).rev() {
            strides[axis - 1] = strides[axis].saturating_mul(*dim);
        }
        let shown_axes = (0..axes.len()).filter(|axis| !axes[*axis].is_dropped).collect();
        Part { axes, strides, shown_axes }
    }

    /// Its shape: the axes that were not given as a number.
    pub(super) fn shape(&self) -> Vec<u64> {
        self.shown_axes.iter().map(|axis| self.axes[*axis].len).collect()
    }

    fn n_elements(&self) -> u64 {
        self.shape().iter().fold(1, |n, dim| n.saturating_mul(*dim))
    }

    /// Position in the tensor of the first element.
    fn origin(&self) -> u64 {
        let dropped = self.axes.iter().zip(&self.strides).filter(|(axis, _)| axis.is_dropped);
        dropped.fold(0, |index, (axis, stride)| index.saturating_add(axis.at(0).saturating_mul(*stride)))
    }

    /// Position in the tensor after `n` steps along a shown axis.
    fn step(&self, index: u64, depth: usize, n: u64) -> u64 {
        let axis = self.shown_axes[depth];
        index.saturating_add(self.axes[axis].at(n).saturating_mul(self.strides[axis]))
    }

    /// Writes the values as text.
    pub(super) fn text(&self, out: &mut dyn Write, elements: &mut Elements<'_>) -> anyhow::Result<()> {
        let shape = self.shape();
        // Without elements there may still be very many empty rows.
        if self.n_elements() == 0 {
            writeln!(out, "[]")?;
            return Ok(());
        }
        let ends = self.n_elements() > WHOLE;
        let n_shown = shape
            .iter()
            .fold(1u64, |n, dim| n.saturating_mul(if ends { (*dim).min(2 * EDGE) } else { *dim }));
        if shape.len() > DEEPEST || n_shown > MOST_IN_TEXT {
            writeln!(out, "{} axes are too many to show: give numbers for some with `--slice`", shape.len())?;
            return Ok(());
        }
        let mut cells = Vec::new();
        self.collect(elements, &shape, ends, 0, self.origin(), &mut cells)?;
        let width = cells.iter().map(String::len).max().unwrap_or_default();
        let mut cells = cells.into_iter();
        write_nested(out, &shape, ends, 0, width, &mut cells)?;
        writeln!(out)?;
        Ok(())
    }

    /// The shown elements in order.
    fn collect(
        &self,
        elements: &mut Elements<'_>,
        shape: &[u64],
        ends: bool,
        depth: usize,
        index: u64,
        cells: &mut Vec<String>,
    ) -> Result<()> {
        let Some(dim) = shape.get(depth) else {
            cells.push(elements.get(index)?.map_or_else(|| "?".into(), |value| value.to_string()));
            return Ok(());
        };
        for n in shown(*dim, ends).into_iter().flatten() {
            self.collect(elements, shape, ends, depth + 1, self.step(index, depth, n), cells)?;
        }
        Ok(())
    }

    /// The values as nested JSON arrays; `null` where they are too many.
    pub(super) fn json(&self, elements: &mut Elements<'_>) -> Result<Value> {
        let shape = self.shape();
        if self.n_elements() > MOST_IN_JSON || shape.len() > DEEPEST {
            return Ok(Value::Null);
        }
        if self.n_elements() == 0 {
            return Ok(Value::Array(Vec::new()));
        }
        self.json_nested(elements, &shape, 0, self.origin())
    }

    fn json_nested(
        &self,
        elements: &mut Elements<'_>,
        shape: &[u64],
        depth: usize,
        index: u64,
    ) -> Result<Value> {
        let Some(dim) = shape.get(depth) else {
            return Ok(elements.get(index)?.map_or(Value::Null, scalar));
        };
        let nested =
            (0..*dim).map(|n| self.json_nested(elements, shape, depth + 1, self.step(index, depth, n)));
        nested.collect::<Result<Vec<_>>>().map(Value::from)
    }
}

/// The positions of an axis that are shown: all, or both ends.
fn shown(dim: u64, ends: bool) -> [std::ops::Range<u64>; 2] {
    if ends && dim > 2 * EDGE { [0..EDGE, dim - EDGE..dim] } else { [0..dim, dim..dim] }
}

fn write_nested(
    out: &mut dyn Write,
    shape: &[u64],
    ends: bool,
    depth: usize,
    width: usize,
    cells: &mut impl Iterator<Item = String>,
) -> io::Result<()> {
    let Some(dim) = shape.get(depth) else {
        return write!(out, "{:>width$}", cells.next().unwrap_or_default());
    };
    let is_last = depth + 1 == shape.len();
    let separator = if is_last { ", ".to_owned() } else { format!(",\n{:1$}", "", depth + 1) };
    write!(out, "[")?;
    let [head, tail] = shown(*dim, ends);
    let is_cut = head.end < tail.start;
    for (position, _) in head.chain(tail).enumerate() {
        if position > 0 {
            write!(out, "{separator}")?;
        }
        if is_cut && position as u64 == EDGE {
            write!(out, "...{separator}")?;
        }
        write_nested(out, shape, ends, depth + 1, width, cells)?;
    }
    write!(out, "]")
}

/// A number or a truth value; what JSON has no number for is text, a complex number a pair.
fn scalar(value: Scalar) -> Value {
    let text = |value: Scalar| match value.to_string() {
        // The text is as short as the type allows, and so is the number that it reads as.
        text if value.as_f64().is_some_and(f64::is_finite) => {
            text.parse::<f64>().map_or(Value::Null, Value::from)
        }
        text => text.into(),
    };
    match value {
        Scalar::Bool(truth) => truth.into(),
        Scalar::Int(number) => match (i64::try_from(number), u64::try_from(number)) {
            (Ok(number), _) => number.into(),
            (_, Ok(number)) => number.into(),
            _ => number.to_string().into(),
        },
        Scalar::Complex(re, im) => {
            [re, im].map(|part| text(Scalar::Float { value: part.into(), mantissa_bits: 23 })).to_vec().into()
        }
        other => text(other),
    }
}
