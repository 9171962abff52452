//! Numbers and names for people: sizes in decimal units, counts in groups of three, text that cannot steer a terminal.

use std::{borrow::Cow, fmt::Write as _};

/// Characters of a name that are shown; the rest is cut.
const NAME_CHARS: usize = 200;
/// Characters of a whole message. Its names are cut before; this holds where a message has many of them.
const MESSAGE_CHARS: usize = 2_000;

const UNITS: &[(&str, u64)] = &[
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("PB", 1_000_000_000_000_000),
    ("EB", 1_000_000_000_000_000_000),
];

/// `4.97 GB`: three digits and a decimal unit; below 1,000 the exact number.
pub(crate) fn size(bytes: u64) -> String {
    // A value that would round up to 1000 of a unit is better said in the next one.
    let at_least = |unit: u64| bytes.saturating_add(unit / 2_000) >= unit;
    let Some((name, unit)) = UNITS.iter().rev().find(|(_, unit)| at_least(*unit)) else {
        return if bytes == 1 { "1 byte".into() } else { format!("{bytes} bytes") };
    };
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let value = bytes as f64 / *unit as f64;
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {name}")
}

/// `1,024`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 tensor`, `1,024 tensors`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// Reads a number of bytes (or of anything): `250MB`, `1.5 GiB`, `4096`, `1_000_000`.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size: write a number and perhaps a unit, as in `250MB` or `1GiB`");
    let compact: String = text.chars().filter(|c| !matches!(c, '_' | ' ')).collect();
    let split = compact.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(compact.len());
    let (number, unit) = compact.split_at(split);
    let unit = match unit.to_ascii_lowercase().as_str() {
        "" | "b" | "byte" | "bytes" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "t" | "tb" => 1_000_000_000_000,
        "ki" | "kib" => 1 << 10,
        "mi" | "mib" => 1 << 20,
        "gi" | "gib" => 1 << 30,
        "ti" | "tib" => 1 << 40,
        _ => return Err(wrong()),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.len() > 12 || number.ends_with('.') {
        return Err(wrong());
    }
    let scale = 10u128.pow(u32::try_from(fraction.len()).map_err(|_| wrong())?);
    let digits: u128 = format!("{whole}{fraction}").parse().map_err(|_| wrong())?;
    let bytes = digits.checked_mul(unit).ok_or_else(wrong)? / scale;
    u64::try_from(bytes).map_err(|_| format!("`{text}` is over 2^64 - 1"))
}

/// A name from a file, fit for a terminal: nothing in it moves the cursor or turns the writing direction, and it is cut
/// at 200 characters.
pub(crate) fn name(text: &str) -> Cow<'_, str> {
    let cut = text.char_indices().nth(NAME_CHARS).map(|(end, _)| end);
    match cut {
        Some(end) => Cow::Owned(format!("{}…", escape(&text[..end]))),
        None => escape(text),
    }
}

/// A message, fit for a terminal: the parts in backticks are names.
pub(crate) fn message(text: &str) -> Cow<'_, str> {
    if text.chars().nth(NAME_CHARS).is_none() {
        return escape(text);
    }
    let mut shown = String::new();
    for (position, part) in text.split('`').enumerate() {
        if position > 0 {
            shown.push('`');
        }
        shown.push_str(&if position % 2 == 1 { name(part) } else { escape(part) });
    }
    if let Some((end, _)) = shown.char_indices().nth(MESSAGE_CHARS) {
        shown.truncate(end);
        shown.push('…');
    }
    Cow::Owned(shown)
}

/// Every character that a terminal obeys, or that hides or reorders text, as `\u{…}`.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::new();
    for c in text.chars() {
        if steers(c) {
            let _ = write!(escaped, "{}", c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Control characters; marks, embeddings, overrides and isolates of the bidirectional algorithm (UAX #9); characters of no
/// width; line and paragraph separators; tag characters.
pub(crate) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_000, "1.00 kB"),
            (12_345, "12.3 kB"),
            (999_400, "999 kB"),
            (999_500, "1.00 MB"),
            (4_970_000_000, "4.97 GB"),
            (9_996_000, "10.0 MB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(12_345_678), "12,345,678");
        assert_eq!(counted(1, "tensor"), "1 tensor");
    }

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("1_000", 1000),
            ("250MB", 250_000_000),
            ("250 mb", 250_000_000),
            ("1GiB", 1 << 30),
            ("1.5kB", 1500),
            ("512B", 512),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "MB", "-1", "1XB", "1.", ".5", "1e6", "18446744073709551616", "99999999TB", "1.0.0"]
        {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_cannot_steer_a_terminal() {
        assert_eq!(name("plain.weight"), "plain.weight");
        assert_eq!(name("a\u{1b}[2J\u{202e}b\n"), "a\\u{1b}[2J\\u{202e}b\\n");
        assert_eq!(name(&"x".repeat(300)).chars().count(), 201);
        assert_eq!(message(&format!("tensor `{}` is here", "x".repeat(5000))).chars().count(), 201 + 17);
        assert!(message(&"`a` ".repeat(5000)).chars().count() <= 2001);
    }
}
