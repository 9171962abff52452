//! Slices in the notation of Python, one an axis: `0:4,:`, `-1`, `::-2`, `...,0`.

use tensorcask::Error;

/// The positions taken along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    start: i128,
    step: i128,
    /// How many positions.
    pub(super) len: u64,
    /// Whether the axis goes away: it was given as a number.
    pub(super) is_dropped: bool,
}

impl Axis {
    /// All positions of an axis.
    fn all(dim: u64) -> Self {
        Axis { start: 0, step: 1, len: dim, is_dropped: false }
    }

    /// The position of the tensor that the `n`-th of the slice is.
    pub(super) fn at(&self, n: u64) -> u64 {
        u64::try_from(self.start + self.step * i128::from(n)).unwrap_or_default()
    }
}

/// The slice `text` of a tensor of this `shape`; without a text, all of it.
pub(super) fn parse(text: Option<&str>, shape: &[u64]) -> Result<Vec<Axis>, Error> {
    let whole = |dims: &[u64]| dims.iter().map(|dim| Axis::all(*dim)).collect::<Vec<_>>();
    let Some(text) = text.map(|text| text.trim().trim_start_matches('[').trim_end_matches(']')) else {
        return Ok(whole(shape));
    };
    if text.trim().is_empty() {
        return Ok(whole(shape));
    }
    let parts: Vec<&str> = text.trim_end_matches(',').split(',').map(str::trim).collect();
    let n_given = parts.iter().filter(|part| **part != "...").count();
    if n_given > shape.len() || parts.len() - n_given > 1 {
        let message = format!("the slice `{text}` has {n_given} axes, the tensor {}", shape.len());
        return Err(Error::usage(message, "give at most one part an axis, as in `0:4,:`"));
    }
    let mut axes = Vec::new();
    let mut rest = shape;
    for part in parts {
        if part == "..." {
            let (skipped, after) = rest.split_at(shape.len() - n_given);
            axes.extend(whole(skipped));
            rest = after;
        } else if let Some((dim, after)) = rest.split_first() {
            axes.push(axis(part, *dim, axes.len())?);
            rest = after;
        }
    }
    axes.extend(whole(rest));
    Ok(axes)
}

fn axis(part: &str, dim: u64, axis_idx: usize) -> Result<Axis, Error> {
    let wrong = || {
        let help = "write slices as NumPy does: `0:4,:`, `-1`, `::2`";
        Error::usage(format!("`{part}` is no slice"), help)
    };
    let number = |text: &str| text.trim().parse::<i64>().map(i128::from).map_err(|_| wrong());
    let dim = i128::from(dim);
    if !part.contains(':') {
        let given = number(part)?;
        let start = if given < 0 { given + dim } else { given };
        if !(0..dim).contains(&start) {
            let message = format!("position {given} is outside axis {axis_idx}, which has {dim}");
            return Err(Error::usage(message, "give a position inside the tensor"));
        }
        return Ok(Axis { start, step: 1, len: 1, is_dropped: true });
    }
    let mut fields = part.split(':');
    let mut field = || match fields.next().map(str::trim) {
        None | Some("") => Ok(None),
        Some(text) => number(text).map(Some),
    };
    let (start, stop, step) = (field()?, field()?, field()?.unwrap_or(1));
    if step == 0 || fields.next().is_some() {
        return Err(wrong());
    }
    // Out of range is cut, not refused, as everywhere in the language that this notation comes from.
    let (low, high) = if step > 0 { (0, dim) } else { (-1, dim - 1) };
    let bound = |given: Option<i128>, default| {
        given.map_or(default, |at| (if at < 0 { at + dim } else { at }).clamp(low, high))
    };
    let (start, stop) = if step > 0 {
        (bound(start, low), bound(stop, high))
    } else {
        (bound(start, high), bound(stop, low))
    };
    let distance = if step > 0 { stop - start } else { start - stop };
    let len = if distance <= 0 { 0 } else { (distance - 1) / step.abs() + 1 };
    Ok(Axis { start, step, len: u64::try_from(len).unwrap_or_default(), is_dropped: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(text: &str, dim: u64) -> Vec<u64> {
        let axes = parse(Some(text), &[dim]).unwrap();
        (0..axes[0].len).map(|n| axes[0].at(n)).collect()
    }

    #[test]
    fn slices_mean_what_they_mean_in_numpy() {
        // Each expectation is `list(range(n))[slice]` of Python.
        for (text, dim, expected) in [
            (":", 4, vec![0, 1, 2, 3]),
            ("1:3", 4, vec![1, 2]),
            ("-2:", 4, vec![2, 3]),
            (":-1", 4, vec![0, 1, 2]),
            ("::2", 5, vec![0, 2, 4]),
            ("1::3", 8, vec![1, 4, 7]),
            ("::-1", 4, vec![3, 2, 1, 0]),
            ("::-2", 5, vec![4, 2, 0]),
            ("3:0:-1", 5, vec![3, 2, 1]),
            ("10:", 4, vec![]),
            (":100", 3, vec![0, 1, 2]),
            ("-100:2", 4, vec![0, 1]),
            ("2:1", 4, vec![]),
            ("-1", 4, vec![3]),
            ("0", 4, vec![0]),
            (":", 0, vec![]),
            ("::-1", 0, vec![]),
        ] {
            assert_eq!(positions(text, dim), expected, "{text} of {dim}");
        }
    }

    #[test]
    fn axes_that_are_not_given_are_whole() {
        let lens = |text: &str| {
            parse(Some(text), &[2, 3, 4]).unwrap().iter().map(|axis| axis.len).collect::<Vec<_>>()
        };
        assert_eq!(lens("1"), [1, 3, 4]);
        assert_eq!(lens("0:1,:"), [1, 3, 4]);
        assert_eq!(lens("...,0:2"), [2, 3, 2]);
        assert_eq!(lens("0,...,0"), [1, 3, 1]);
        assert_eq!(lens("0,...,1,0"), [1, 1, 1]);
        assert_eq!(lens("..."), [2, 3, 4]);
        assert_eq!(lens("[:, 1]"), [2, 1, 4]);
        assert_eq!(parse(None, &[]).unwrap(), []);
    }

    #[test]
    fn what_is_no_slice_is_refused() {
        for text in ["4", "-5", "a", "1:2:0", "1:2:3:4", ":,:", "...,...", "0.5", "1:x"] {
            assert!(parse(Some(text), &[4]).is_err(), "{text}");
        }
        assert!(parse(Some("0"), &[]).is_err());
    }
}
