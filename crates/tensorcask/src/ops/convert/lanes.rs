//! Work on several threads whose results are taken in order: reads and hashes side by side, writes one after another.

use super::tree::PIECE_BYTES;
use crate::core::{Error, Result};
use std::sync::{Condvar, Mutex, PoisonError};

/// More threads than this only wait for the disk; each holds one buffer.
const LANES: usize = 8;

/// Calls `work` on the units of `next` from several threads, each with a buffer of its own, and `take` on each result
/// and its buffer in the order of the units. The first error, in that order, ends it.
pub(super) fn in_order<U: Send, R: Send>(
    next: impl Iterator<Item = U> + Send,
    work: impl Fn(&U, &mut Vec<u8>) -> Result<R> + Sync,
    take: impl FnMut(&U, R, &[u8]) -> Result<()> + Send,
) -> Result<()> {
    let lanes = std::thread::available_parallelism().map_or(1, usize::from).min(LANES);
    let source = Mutex::new((next, 0u64));
    let state = Mutex::new(State { turn: 0, take, stopped: None });
    let changed = Condvar::new();
    let lane = || {
        let guard = StopOnPanic { state: &state, changed: &changed };
        let mut buffer = Vec::new();
        buffer.reserve_exact(usize::try_from(PIECE_BYTES).unwrap_or_default());
        loop {
            let (unit, number) = {
                let mut source = source.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(unit) = source.0.next() else { break };
                source.1 += 1;
                (unit, source.1 - 1)
            };
            buffer.clear();
            let result = work(&unit, &mut buffer);
            let state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let waits = |state: &mut State<_>| state.turn != number && state.stopped.is_none();
            let mut state = changed.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner);
            if state.stopped.is_some() {
                break;
            }
            match result.and_then(|result| (state.take)(&unit, result, &buffer)) {
                Ok(()) => state.turn += 1,
                Err(error) => state.stopped = Some(Stop::Error(error)),
            }
            changed.notify_all();
        }
        std::mem::forget(guard);
    };
    std::thread::scope(|scope| {
        for _ in 1..lanes {
            scope.spawn(lane);
        }
        lane();
    });
    match state.into_inner().unwrap_or_else(PoisonError::into_inner).stopped {
        Some(Stop::Error(error)) => Err(error),
        _ => Ok(()),
    }
}

struct State<T> {
    /// Number of the unit whose result is taken next.
    turn: u64,
    take: T,
    /// Why nothing more is taken.
    stopped: Option<Stop>,
}

enum Stop {
    Error(Error),
    /// A lane panicked; the panic goes on once all lanes have ended.
    Panic,
}

/// The other lanes must not wait for the turn of one that is gone.
struct StopOnPanic<'a, T> {
    state: &'a Mutex<State<T>>,
    changed: &'a Condvar,
}

impl<T> Drop for StopOnPanic<'_, T> {
    fn drop(&mut self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).stopped = Some(Stop::Panic);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_taken_in_order() {
        let mut seen = Vec::new();
        let work = |unit: &u64, buffer: &mut Vec<u8>| {
            std::thread::sleep(std::time::Duration::from_micros(unit % 7 * 50));
            buffer.extend(unit.to_le_bytes());
            Ok(unit * 2)
        };
        let take = |unit: &u64, double: u64, buffer: &[u8]| {
            assert_eq!((double, buffer), (unit * 2, &unit.to_le_bytes()[..]));
            seen.push(*unit);
            Ok(())
        };
        in_order(0..200u64, work, take).unwrap();
        assert_eq!(seen, (0..200).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_error_in_order_ends_it() {
        let mut taken = 0;
        let work = |unit: &u64, _: &mut Vec<u8>| {
            if *unit >= 50 { Err(Error::usage(format!("unit {unit}"), "")) } else { Ok(()) }
        };
        let error = in_order(0..1000u64, work, |_, (), _| {
            taken += 1;
            Ok(())
        });
        assert_eq!(error.unwrap_err().to_string(), "unit 50");
        assert_eq!(taken, 50);
    }
}
