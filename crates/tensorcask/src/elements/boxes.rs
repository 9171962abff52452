//! Strided, big-endian and put-together views, read box by box.
//!
//! A range of the stream is cut into boxes (one run of indices per axis). A box is read with as few reads as pay:
//! where its elements lie close together one read covers them all and they are picked in memory; otherwise the box
//! is halved along its longest way through the source.

use super::{read_at, unsupported};
use crate::{
    core::{ByteOrder, DType, Data, Piece, Result, Span, View},
    source::Sources,
};

/// The most that one read of a box fetches.
const COVER_BYTES: u64 = 1 << 20;
/// What one more read costs, in bytes that could have been copied meanwhile (a positioned read of a cached page takes
/// about as long as copying a page).
const READ_COST_BYTES: u64 = 4096;

/// Bytes of one element, and of the unit whose bytes a big-endian file reverses.
#[derive(Clone, Copy)]
pub(super) struct Element {
    bytes: u64,
    unit: usize,
}

impl Element {
    /// # Errors
    /// For block types: their strides and byte order have no meaning that files agree on.
    pub(super) fn of(dtype: &DType, view: &View) -> Result<Self> {
        match dtype.block() {
            Some((1, 8)) if *dtype == DType::C64 => Ok(Element { bytes: 8, unit: 4 }),
            Some((1, bytes @ (1 | 2 | 4 | 8))) => {
                Ok(Element { bytes, unit: usize::try_from(bytes).unwrap_or(1) })
            }
            _ => Err(unsupported(format!("{dtype} {} can be read only dense and little-endian", view.shape))),
        }
    }

    fn to_little(self, order: ByteOrder, bytes: &mut [u8]) {
        if order == ByteOrder::Big && self.unit > 1 {
            bytes.chunks_exact_mut(self.unit).for_each(<[u8]>::reverse);
        }
    }
}

/// Whether the elements follow each other in row-major order. Axes of one element step nowhere.
pub(super) fn is_dense(view: &View) -> bool {
    let Some(strides) = &view.strides else { return true };
    let mut step = 1u64;
    strides.len() == view.shape.len()
        && (view.shape.contains(&0)
            || view.shape.iter().zip(strides).rev().all(|(dim, stride)| {
                let fits = *dim == 1 || u64::try_from(*stride) == Ok(step);
                step = step.saturating_mul(*dim);
                fits
            }))
}

/// Fills `out` with the stream of `view` from byte `at` on; the caller has checked that it fits.
pub(super) fn read(
    sources: &Sources,
    view: &View,
    element: Element,
    at: u64,
    mut out: &mut [u8],
) -> Result<()> {
    let size = usize::try_from(element.bytes).unwrap_or(1);
    let mut first = at / element.bytes;
    let skipped = usize::try_from(at % element.bytes).unwrap_or_default();
    if skipped > 0 {
        let (part, rest) = out.split_at_mut(out.len().min(size - skipped));
        let mut one = [0; 8];
        read_elements(sources, view, element, first, &mut one[..size])?;
        part.copy_from_slice(&one[skipped..skipped + part.len()]);
        (first, out) = (first + 1, rest);
    }
    let (whole, part) = out.split_at_mut(out.len() / size * size);
    read_elements(sources, view, element, first, whole)?;
    if !part.is_empty() {
        let mut one = [0; 8];
        read_elements(sources, view, element, first + (whole.len() / size) as u64, &mut one[..size])?;
        part.copy_from_slice(&one[..part.len()]);
    }
    Ok(())
}

/// Whole elements in stream order from number `first` on.
fn read_elements(
    sources: &Sources,
    view: &View,
    element: Element,
    first: u64,
    mut out: &mut [u8],
) -> Result<()> {
    let size = usize::try_from(element.bytes).unwrap_or(1);
    let mut first = first;
    let mut scratch = Vec::new();
    while !out.is_empty() {
        let (low, dims) = next_box(&view.shape, first, (out.len() / size) as u64);
        let n = dims.iter().product::<u64>();
        let (part, rest) = out.split_at_mut(usize::try_from(n).unwrap_or(usize::MAX) * size);
        let mut job = Job { sources, element, out: part, scratch: &mut scratch };
        job.fill(view, &low, &dims, 0, &row_major(&dims))?;
        (first, out) = (first + n, rest);
    }
    Ok(())
}

/// The largest box that is the stream from element `first` on and has at most `n` elements: where it starts and its
/// size, per axis.
fn next_box(shape: &[u64], first: u64, n: u64) -> (Vec<u64>, Vec<u64>) {
    let (mut low, mut dims) = (vec![0; shape.len()], vec![1; shape.len()]);
    let (mut rest, mut inner, mut growing) = (first, 1u64, true);
    for axis in (0..shape.len()).rev() {
        let index = rest % shape[axis];
        rest /= shape[axis];
        low[axis] = index;
        if growing {
            dims[axis] = (shape[axis] - index).min(n / inner).max(1);
            inner *= dims[axis];
            growing = dims[axis] == shape[axis];
        }
    }
    (low, dims)
}

/// Steps in elements per axis of a dense tensor.
fn row_major(dims: &[u64]) -> Vec<u64> {
    let mut steps = vec![1u64; dims.len()];
    for axis in (1..dims.len()).rev() {
        steps[axis - 1] = steps[axis].saturating_mul(dims[axis]);
    }
    steps
}

/// One axis of a box: how many indices, and the step in elements through the source and through the output.
#[derive(Clone, Copy, Debug)]
struct Axis {
    n: u64,
    from: i64,
    to: u64,
}

struct Job<'a> {
    sources: &'a Sources,
    element: Element,
    out: &'a mut [u8],
    scratch: &'a mut Vec<u8>,
}

impl Job<'_> {
    /// Puts the box of `view` that starts at `low` into the output from element `to` on, with these `steps`.
    fn fill(&mut self, view: &View, low: &[u64], dims: &[u64], to: u64, steps: &[u64]) -> Result<()> {
        match &view.data {
            Data::Extent(span) => {
                let strides = strides_of(view)?;
                let zero = element_zero(view, &strides, span.len / self.element.bytes)?;
                let start =
                    low.iter().zip(&strides).fold(zero, |at, (index, stride)| at + signed(*index) * stride);
                let axes = dims.iter().zip(&strides).zip(steps);
                let axes = join(axes.map(|((n, from), to)| Axis { n: *n, from: *from, to: *to }));
                self.gather(*span, view.byte_order, start, axes, to)
            }
            Data::Fill(block) => {
                if block.len() as u64 != self.element.bytes {
                    let (n, len) = (self.element.bytes, block.len());
                    return Err(unsupported(format!(
                        "a fill value of {len} bytes stands for elements of {n} bytes"
                    )));
                }
                let mut block = block.to_vec();
                self.element.to_little(view.byte_order, &mut block);
                let axes = join(dims.iter().zip(steps).map(|(n, to)| Axis { n: *n, from: 0, to: *to }));
                pick(self.element, &block, 0, &axes, self.out, to);
                Ok(())
            }
            Data::Pieces(pieces) => {
                let mut covered = 0u64;
                for piece in pieces.iter() {
                    covered =
                        covered.saturating_add(self.fill_piece(&view.shape, piece, low, dims, to, steps)?);
                }
                let n = dims.iter().product::<u64>();
                if covered != n {
                    return Err(unsupported(format!(
                        "pieces give {covered} of the {n} elements from {low:?} on"
                    )));
                }
                Ok(())
            }
            Data::Missing { want, have, .. } => {
                Err(unsupported(format!("only {have} of {want} bytes are here")))
            }
        }
    }

    /// Fills what `piece` has of the box and returns how many elements that are.
    fn fill_piece(
        &mut self,
        shape: &[u64],
        piece: &Piece,
        low: &[u64],
        dims: &[u64],
        to: u64,
        steps: &[u64],
    ) -> Result<u64> {
        let size = &piece.view.shape;
        let inside = size.len() == shape.len()
            && piece.at.len() == shape.len()
            && (0..shape.len())
                .all(|axis| piece.at[axis].checked_add(size[axis]).is_some_and(|end| end <= shape[axis]));
        if !inside {
            return Err(unsupported(format!("a piece {size} at {} leaves the shape {shape:?}", piece.at)));
        }
        let (mut from, mut common, mut to) = (Vec::new(), Vec::new(), to);
        for axis in 0..shape.len() {
            let start = low[axis].max(piece.at[axis]);
            let end = (low[axis] + dims[axis]).min(piece.at[axis] + size[axis]);
            if start >= end {
                return Ok(0);
            }
            from.push(start - piece.at[axis]);
            common.push(end - start);
            to += (start - low[axis]) * steps[axis];
        }
        self.fill(&piece.view, &from, &common, to, steps)?;
        Ok(common.iter().product())
    }

    /// Copies the elements of `axes`, the first of which is number `start` of the extent.
    fn gather(
        &mut self,
        span: Span,
        order: ByteOrder,
        start: i64,
        mut axes: Vec<Axis>,
        to: u64,
    ) -> Result<()> {
        let size = self.element.bytes;
        // The lowest and the highest element that the axes reach; `element_zero` has checked them against the extent.
        let (mut low, mut high) = (start, start);
        for axis in &axes {
            let reach = axis.from * signed(axis.n - 1);
            (low, high) = (low + reach.min(0), high + reach.max(0));
        }
        let cover = (high.abs_diff(low) + 1) * size;
        let one_run = match axes[..] {
            [] => true,
            [axis] => axis.from == 1 && axis.to == 1,
            _ => false,
        };
        if one_run {
            let (to, len) = (place(to * size), place(cover));
            let out = &mut self.out[to..to + len];
            read_at(self.sources, span, low.unsigned_abs() * size, out)?;
            self.element.to_little(order, out);
            return Ok(());
        }
        let n = axes.iter().map(|axis| axis.n).product::<u64>();
        let run = axes.iter().filter(|axis| axis.from.abs() == 1).map(|axis| axis.n).max().unwrap_or(1);
        let apart = n * size + (n / run) * READ_COST_BYTES;
        let broadcast = axes.iter().all(|axis| axis.from == 0);
        if cover <= COVER_BYTES.min(apart) || broadcast {
            let len = place(cover);
            if self.scratch.len() < len {
                self.scratch.resize(len, 0);
            }
            let cover = &mut self.scratch[..len];
            read_at(self.sources, span, low.unsigned_abs() * size, cover)?;
            self.element.to_little(order, cover);
            pick(self.element, cover, start.abs_diff(low), &axes, self.out, to);
            return Ok(());
        }
        let reach = |at: &usize| axes[*at].from.unsigned_abs() * (axes[*at].n - 1);
        let Some(longest) = (0..axes.len()).max_by_key(reach) else { return Ok(()) };
        let (Axis { n, from, to: step }, mut rest) = (axes[longest], axes.clone());
        let half = n / 2;
        (axes[longest].n, rest[longest].n) = (half, n - half);
        self.gather(span, order, start, join(axes.into_iter()), to)?;
        self.gather(span, order, start + from * signed(half), join(rest.into_iter()), to + step * half)
    }
}

/// Copies elements inside memory: those of `axes`, from element `from` of `memory` on to element `to` of `out` on.
fn pick(element: Element, memory: &[u8], from: u64, axes: &[Axis], out: &mut [u8], to: u64) {
    match element.bytes {
        1 => pick_sized::<1>(memory, from, axes, out, to),
        2 => pick_sized::<2>(memory, from, axes, out, to),
        4 => pick_sized::<4>(memory, from, axes, out, to),
        _ => pick_sized::<8>(memory, from, axes, out, to),
    }
}

fn pick_sized<const SIZE: usize>(memory: &[u8], from: u64, axes: &[Axis], out: &mut [u8], to: u64) {
    let Some((axis, inner)) = axes.split_first() else {
        let (from, to) = (place(from) * SIZE, place(to) * SIZE);
        out[to..to + SIZE].copy_from_slice(&memory[from..from + SIZE]);
        return;
    };
    if inner.is_empty() && axis.from == 1 && axis.to == 1 {
        let (from, to, len) = (place(from) * SIZE, place(to) * SIZE, place(axis.n) * SIZE);
        out[to..to + len].copy_from_slice(&memory[from..from + len]);
        return;
    }
    for index in 0..axis.n {
        let from = from.wrapping_add_signed(axis.from * signed(index));
        pick_sized::<SIZE>(memory, from, inner, out, to + axis.to * index);
    }
}

/// Drops axes of one element and joins neighbours that step alike on both sides.
fn join(axes: impl Iterator<Item = Axis>) -> Vec<Axis> {
    let mut joined: Vec<Axis> = Vec::new();
    for axis in axes.filter(|axis| axis.n != 1) {
        match joined.last_mut() {
            Some(outer)
                if axis.from.checked_mul(signed(axis.n)) == Some(outer.from)
                    && axis.to.checked_mul(axis.n) == Some(outer.to) =>
            {
                *outer = Axis { n: outer.n * axis.n, ..axis };
            }
            _ => joined.push(axis),
        }
    }
    joined
}

/// Strides in elements, whether the view writes them down or not. A step along an axis of one element is never taken.
fn strides_of(view: &View) -> Result<Vec<i64>> {
    let shape = &view.shape;
    let Some(strides) = &view.strides else {
        return Ok(row_major(shape).into_iter().map(signed).collect());
    };
    if strides.len() != shape.len() {
        return Err(unsupported(format!("{} strides stand beside the shape {shape}", strides.len())));
    }
    Ok(strides.iter().zip(shape.iter()).map(|(stride, dim)| if *dim <= 1 { 0 } else { *stride }).collect())
}

/// Number of element zero in an extent of `n` elements, once all elements are known to lie inside.
fn element_zero(view: &View, strides: &[i64], n: u64) -> Result<i64> {
    let (mut below, mut above) = (0i128, 0i128);
    for (stride, dim) in strides.iter().zip(view.shape.iter()) {
        let reach = i128::from(*stride) * i128::from(dim.saturating_sub(1));
        (below, above) = (below.saturating_add(reach.min(0)), above.saturating_add(reach.max(0)));
    }
    let last = above.saturating_sub(below);
    match i64::try_from(-below) {
        Ok(zero) if last < i128::from(n) && i64::try_from(last).is_ok() => Ok(zero),
        _ => {
            let shape = &view.shape;
            Err(unsupported(format!(
                "shape {shape} with strides {strides:?} reaches element {last}, its extent has {n}"
            )))
        }
    }
}

/// A number that was checked against an extent, hence below 2^63.
fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A place in memory; what does not fit there fails the bounds of the slice.
fn place(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
