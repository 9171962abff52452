//! A short list of sizes that needs no allocation up to rank four.

use std::{fmt, ops::Deref};

/// Sizes per axis, outermost first. Ranks up to four are stored in place.
#[derive(Clone)]
pub struct Dims(Repr);

#[derive(Clone)]
enum Repr {
    Short(u8, [u64; 4]),
    Long(Box<[u64]>),
}

impl Dims {
    /// The shape of a scalar: rank 0.
    pub const SCALAR: Dims = Dims(Repr::Short(0, [0; 4]));

    /// Adds one axis inside the others.
    pub fn push(&mut self, dim: u64) {
        if let Repr::Short(rank, dims) = &mut self.0
            && let Some(slot) = dims.get_mut(usize::from(*rank))
        {
            *slot = dim;
            *rank += 1;
            return;
        }
        let mut longer = self.to_vec();
        longer.push(dim);
        self.0 = Repr::Long(longer.into());
    }
}

impl Deref for Dims {
    type Target = [u64];
    fn deref(&self) -> &[u64] {
        match &self.0 {
            Repr::Short(rank, dims) => dims.get(..usize::from(*rank)).unwrap_or_default(),
            Repr::Long(dims) => dims,
        }
    }
}

impl From<&[u64]> for Dims {
    fn from(dims: &[u64]) -> Self {
        let mut short = [0; 4];
        match (short.get_mut(..dims.len()), u8::try_from(dims.len())) {
            (Some(slots), Ok(rank)) => {
                slots.copy_from_slice(dims);
                Dims(Repr::Short(rank, short))
            }
            _ => Dims(Repr::Long(dims.into())),
        }
    }
}

impl<const N: usize> From<[u64; N]> for Dims {
    fn from(dims: [u64; N]) -> Self {
        Dims::from(&dims[..])
    }
}

impl PartialEq for Dims {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl Eq for Dims {}

impl fmt::Debug for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// `[32000, 4096]`, as messages print a shape.
impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
