//! How far a long job is, on standard error: only on a terminal, and only once it has lasted over a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    io::IsTerminal,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use tensorcask::ops::Progress;

/// Work that is over sooner shows nothing.
const QUIET: Duration = Duration::from_secs(1);

/// A line with bytes and time left; it goes away when dropped.
pub(crate) struct Bar {
    line: ProgressBar,
    started: Instant,
    /// Whether the line may still appear: nobody looks where standard error is no terminal.
    waits: AtomicBool,
}

impl Bar {
    pub(crate) fn new() -> Self {
        let line = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let template =
            "{msg} {bar:30} {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            line.set_style(style);
        }
        Bar { line, started: Instant::now(), waits: AtomicBool::new(std::io::stderr().is_terminal()) }
    }
}

impl Progress for Bar {
    fn start(&self, stage: &str, bytes: u64) {
        self.line.reset();
        self.line.set_length(bytes);
        self.line.set_message(stage.to_owned());
    }

    fn add(&self, bytes: u64) {
        self.line.inc(bytes);
        if self.waits.load(Ordering::Relaxed)
            && self.started.elapsed() > QUIET
            && self.waits.swap(false, Ordering::Relaxed)
        {
            self.line.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}
