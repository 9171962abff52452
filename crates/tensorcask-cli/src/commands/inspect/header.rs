//! `inspect --header`: the text of a header as the file holds it, with line ends between its entries.

use crate::render::numbers::steers;
use std::{fmt::Write as _, io};
use tensorcask::{Checkpoint, Error, Result, Span};

/// The text of one header.
pub(super) fn text(checkpoint: &Checkpoint, span: Span) -> Result<String> {
    let source = checkpoint.sources.get(span.source);
    let io_error = |error: io::Error| Error::io(source.name.as_str(), error);
    // The reader has charged the budget for this header already.
    let len = usize::try_from(span.len).map_err(|_| io_error(io::ErrorKind::OutOfMemory.into()))?;
    let mut bytes = vec![0; len];
    checkpoint.sources.io(span.source).read_at(span.start, &mut bytes).map_err(io_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// JSON text token by token as it stands, one entry of the outermost value a line. Nothing is dropped or put in order, so
/// a doubled key shows; characters that a terminal obeys are written as JSON escapes.
pub(super) fn lines(text: &str) -> String {
    let mut shown = String::new();
    let (mut depth, mut in_string, mut is_escaped) = (0u64, false, false);
    // A line end is due before the next entry; blanks of the writer give way to it.
    let mut due = false;
    for c in text.trim_end_matches([' ', '\n']).chars() {
        if in_string {
            in_string = is_escaped || c != '"';
            is_escaped = c == '\\' && !is_escaped;
            visible(&mut shown, c);
            continue;
        }
        let closes = matches!(c, '}' | ']');
        if due && c.is_whitespace() {
            continue;
        }
        if due && !closes {
            shown.push_str("\n  ");
        }
        if closes && depth == 1 && !due {
            shown.push('\n');
        }
        due = false;
        match c {
            '"' => in_string = true,
            '{' | '[' => {
                depth += 1;
                due = depth == 1;
            }
            ',' => due = depth == 1,
            _ if closes => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c.is_ascii_whitespace() { shown.push(c) } else { visible(&mut shown, c) }
    }
    shown
}

/// In a string, the escape means the same character; elsewhere it was no JSON before and is none after.
fn visible(shown: &mut String, c: char) {
    if !steers(c) {
        return shown.push(c);
    }
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _ = write!(shown, "\\u{unit:04x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_entry_a_line_and_every_token_kept() {
        let text = r#"{"a":{"dtype":"U8","shape":[1,2]}, "a" :1,"b,{":"x\"}","c\\":[]}   "#;
        let shown = lines(text);
        let expected = "{\n  \"a\":{\"dtype\":\"U8\",\"shape\":[1,2]},\n  \"a\" :1,\n  \"b,{\":\"x\\\"}\",\n  \"c\\\\\":[]\n}";
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_steers_a_terminal_is_escaped_and_means_the_same() {
        let text = "{\"a\u{202e}\u{e0001}\":1}";
        let shown = lines(text);
        assert!(!shown.contains(|c: char| steers(c) && c != '\n'), "{shown:?}");
        let (before, after): (serde_json::Value, serde_json::Value) =
            (serde_json::from_str(text).unwrap(), serde_json::from_str(&shown).unwrap());
        assert_eq!(before, after);
    }

    #[test]
    fn broken_text_is_shown_too() {
        assert_eq!(lines("{}"), "{}");
        assert_eq!(lines("}}]"), "}}]");
        assert_eq!(lines("{\"a"), "{\n  \"a");
        assert_eq!(lines(""), "");
    }
}
