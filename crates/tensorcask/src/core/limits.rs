//! Limits are public numbers; the budget is the running account against them, and the only door to an
//! allocation whose size a file chose.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

macro_rules! limits {
    ($($(#[$doc:meta])* $field:ident $variant:ident = $default:expr,)*) => {
        /// How much a file may ask for. `Limits::default()` fits every real file known.
        #[derive(Clone, PartialEq, Eq, Debug)]
        #[non_exhaustive]
        pub struct Limits { $($(#[$doc])* pub $field: u64,)* }

        /// Names one of the [`Limits`].
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[non_exhaustive]
        pub enum Limit { $($(#[$doc])* $variant,)* }

        impl Default for Limits {
            fn default() -> Self {
                Limits { $($field: $default,)* }
            }
        }

        impl Limits {
            /// No limit at all: for files of one's own.
            pub fn none() -> Self {
                Limits { $($field: u64::MAX,)* }
            }

            /// The value of one limit.
            pub fn get(&self, limit: Limit) -> u64 {
                match limit { $(Limit::$variant => self.$field,)* }
            }

            /// Sets the limit called `name`; false if there is none of that name.
            pub fn set(&mut self, name: &str, value: u64) -> bool {
                match name { $(stringify!($field) => self.$field = value,)* _ => return false }
                true
            }
        }

        impl Limit {
            /// Every limit.
            pub const ALL: &[Limit] = &[$(Limit::$variant,)*];

            /// The name that `--limit name=value` takes.
            pub fn name(self) -> &'static str {
                match self { $(Limit::$variant => stringify!($field),)* }
            }
        }
    };
}

limits! {
    /// Bytes of one header. The reference reader's cap is the same 100,000,000 (safetensors, `MAX_HEADER_SIZE`); the largest
    /// header of a published model known to us is below 10 MB.
    header_bytes HeaderBytes = 100_000_000,
    /// Tensors of one file. A mixture of experts with one tensor an expert reaches 100,000; a header at its cap names 2 million.
    tensors Tensors = 4_000_000,
    /// Metadata entries of one file. Real files have below 100.
    metadata_items MetadataItems = 1_000_000,
    /// Bytes of one name or metadata value.
    string_bytes StringBytes = 100_000_000,
    /// Rank of one tensor. NumPy stops at 64, torch at 64, real tensors at 8.
    dims Dims = 1_024,
    /// Depth of nested values. The reference JSON reader stops at 128 (`serde_json`).
    depth Depth = 128,
    /// Bytes held for headers and tables of one checkpoint, all its files together.
    memory_bytes MemoryBytes = 4 << 30,
    /// Files of one checkpoint. The largest published shard set known has below 1,000.
    files Files = 100_000,
}

/// A limit that was reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LimitHit {
    /// Which limit.
    pub limit: Limit,
    /// Its value.
    pub allowed: u64,
    /// What the file asked for in all.
    pub asked: u64,
}

impl fmt::Display for LimitHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is over the limit `{}` ({})", self.asked, self.limit.name(), self.allowed)
    }
}

/// Files inside or named by files, whatever the limits say: real ones nest below 5.
const DEEPEST: u64 = 32;

/// The running account against [`Limits`], in two tiers: one for the file at hand, one for the checkpoint.
#[derive(Clone, Debug)]
pub struct Budget {
    limits: Arc<Limits>,
    checkpoint: Arc<Account>,
    file: Arc<Account>,
    /// Files on the way from the one that was given to the one at hand.
    depth: u64,
}

#[derive(Default, Debug)]
struct Account {
    spent: [AtomicU64; Limit::ALL.len()],
}

impl Budget {
    /// A fresh account.
    pub fn new(limits: Limits) -> Self {
        Budget { limits: Arc::new(limits), checkpoint: Arc::default(), file: Arc::default(), depth: 0 }
    }

    /// An account for one more file of the same checkpoint.
    #[must_use]
    pub fn for_file(&self) -> Self {
        Budget { file: Arc::default(), ..self.clone() }
    }

    /// The account one level further in, for what a file names or holds.
    ///
    /// # Errors
    /// When that is deeper than [`Limits::depth`] or than the stack of any thread bears.
    pub fn enter(&self) -> Result<Self, LimitHit> {
        let depth = self.depth.saturating_add(1);
        let allowed = self.limits.depth.min(DEEPEST);
        if depth > allowed {
            return Err(LimitHit { limit: Limit::Depth, allowed, asked: depth });
        }
        Ok(Budget { depth, ..self.clone() })
    }

    /// The numbers that this account is held against.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Takes `amount` from what `limit` leaves.
    ///
    /// # Errors
    /// When it leaves less.
    pub fn charge(&self, limit: Limit, amount: u64) -> Result<(), LimitHit> {
        let account = match limit {
            Limit::MemoryBytes | Limit::Files => &self.checkpoint,
            _ => &self.file,
        };
        let allowed = self.limits.get(limit);
        let Some(spent) = account.spent.get(limit as usize) else { return Ok(()) };
        let before = spent.fetch_add(amount.min(u64::MAX / 2), Ordering::Relaxed);
        let asked = before.saturating_add(amount);
        if asked > allowed { Err(LimitHit { limit, allowed, asked }) } else { Ok(()) }
    }

    /// Holds one value against a limit that does not add up (a depth, a rank, one header).
    ///
    /// # Errors
    /// When it is larger.
    pub fn fits(&self, limit: Limit, asked: u64) -> Result<(), LimitHit> {
        let allowed = self.limits.get(limit);
        if asked > allowed { Err(LimitHit { limit, allowed, asked }) } else { Ok(()) }
    }

    /// An empty vector with room for `count` values, of which the file spends at least `bytes_each` bytes on each;
    /// room for more than `bytes_left` can hold is not given.
    ///
    /// # Errors
    /// When the memory budget does not cover it.
    pub fn vec<T>(&self, count: u64, bytes_each: u64, bytes_left: u64) -> Result<Vec<T>, LimitHit> {
        let honest = count.min(bytes_left / bytes_each.max(1));
        self.charge(Limit::MemoryBytes, honest.saturating_mul(size_of::<T>() as u64))?;
        let mut values = Vec::new();
        values.reserve_exact(usize::try_from(honest).unwrap_or(usize::MAX));
        Ok(values)
    }
}
