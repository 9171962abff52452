//! From results to text, JSON and SARIF.

pub(crate) mod json;
pub(crate) mod numbers;
pub(crate) mod sarif;
pub(crate) mod text;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use std::io::{self, BufWriter, IsTerminal, Write};

/// Standard output, locked and buffered once for the whole run.
pub(crate) struct Out {
    stream: Box<dyn Write>,
    /// Whether colour is wanted: on a terminal, and `NO_COLOR` is not set.
    colour: bool,
    /// Whether a person looks at it.
    pub(crate) is_terminal: bool,
}

impl Out {
    /// Standard output.
    pub(crate) fn stdout() -> Self {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        let colour = AutoStream::choice(&stdout) != ColorChoice::Never;
        let lock = stdout.lock();
        // Without colour the bytes go through as they are.
        let stream: Box<dyn Write> = if colour {
            Box::new(BufWriter::new(AutoStream::always(lock)))
        } else {
            Box::new(BufWriter::with_capacity(64 << 10, lock))
        };
        Out { stream, colour, is_terminal }
    }

    /// Help or the version, with styles where colour is wanted.
    pub(crate) fn help(&self, help: &clap::Error) -> String {
        let text = help.render();
        if self.colour { text.ansi().to_string() } else { text.to_string() }
    }

    /// `text` in a style, where colour is wanted.
    pub(crate) fn paint(&self, style: Style, text: impl std::fmt::Display) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_string() }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const CYAN: Style = AnsiColor::Cyan.on_default().bold();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();

/// One line for the eye on standard error. That nobody reads it is no failure.
pub(crate) fn say(line: impl std::fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
