//! Counts what a thread allocates, so that a test can say how much a call needed.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn add(bytes: i64) {
    // A thread that is ending has no counters any more, and nobody asks it.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
    if bytes > 0 {
        let _ = TAKEN.try_with(|taken| taken.set(taken.get() + bytes.unsigned_abs()));
    }
}

#[expect(clippy::cast_possible_wrap, reason = "no allocation of this machine reaches 2^63")]
fn len(layout: Layout) -> i64 {
    layout.size() as i64
}

#[expect(unsafe_code, reason = "an allocator is unsafe by its trait")]
// SAFETY: every call is handed on to the system's allocator with the arguments that came in; counting touches no memory
// that is given out.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(len(layout));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(len(layout));
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        add(-len(layout));
        // SAFETY: the caller gives back what `System` gave out, with its layout.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_len: usize) -> *mut u8 {
        // Large blocks grow by moving pages, not by a copy.
        add(i64::try_from(new_len).unwrap_or(i64::MAX) - len(layout));
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(at, layout, new_len) }
    }
}

/// What a call needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    /// The most bytes that were held at once.
    pub(crate) peak: u64,
    /// Bytes that were taken in all, given back or not.
    pub(crate) taken: u64,
}

/// Runs `call` and says what its thread needed.
pub(crate) fn used<T>(call: impl FnOnce() -> T) -> (T, Used) {
    let (held, taken) = (HELD.get(), TAKEN.get());
    PEAK.set(held);
    let value = call();
    let peak = PEAK.get().saturating_sub(held).max(0).unsigned_abs();
    (value, Used { peak, taken: TAKEN.get() - taken })
}

/// The promise for one open: a fixed amount, and eight bytes for each byte of header.
pub(crate) fn allowed(header_bytes: u64) -> u64 {
    (256 << 10) + 8 * header_bytes
}

#[test]
fn the_counter_counts() {
    let (_, used) = used(|| {
        drop(vec![1u8; 1 << 20]);
        vec![2u8; 1 << 10]
    });
    assert!((1 << 20..2 << 20).contains(&used.peak), "{used:?}");
    assert!(used.taken >= (1 << 20) + (1 << 10), "{used:?}");
}
