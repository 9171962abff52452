//! Flat files without a real magic, told by their first fields or their last bytes.

use super::{Seen, magics::u32_at};
use crate::format::{Head, Match};

/// A `NumPy` array: magic, version, a header that is a Python literal. An array of objects is a pickle behind a header.
pub(super) fn npy(head: &Head<'_>) -> Option<Seen> {
    let (version, rest) = head.bytes.strip_prefix(b"\x93NUMPY")?.split_first_chunk::<2>()?;
    let header = match version {
        [1, 0] => {
            let (len, rest) = rest.split_first_chunk::<2>()?;
            rest.get(..usize::from(u16::from_le_bytes(*len)))
        }
        [2 | 3, 0] => {
            let (len, rest) = rest.split_first_chunk::<4>()?;
            usize::try_from(u32::from_le_bytes(*len)).ok().and_then(|len| rest.get(..len))
        }
        _ => return None,
    };
    // A header longer than what is at hand is no honest one: NumPy itself stops at 10,000 bytes.
    let objects = header.is_none_or(|header| !holds_plain_elements(header));
    let seen = Seen::new(Match::Structure, 0, 8, super::Says::NotRead).unpickled_if(objects);
    let [major, minor] = version;
    let seen = seen.version(format!("{major}.{minor}"));
    Some(if objects { seen.detail("of objects") } else { seen })
}

/// Whether a header certainly describes elements that are no Python objects. What it cannot tell counts as objects.
fn holds_plain_elements(header: &[u8]) -> bool {
    // Escapes and neighbouring literals, which Python joins, could spell a type that is not seen here.
    let Some(tokens) = literal_tokens(header) else { return false };
    let is_text = |token: &[u8]| matches!(token.first(), Some(b'\'' | b'"'));
    let joined = tokens.windows(2).any(|pair| pair.iter().all(|token| is_text(token)));
    let keys = || {
        tokens
            .windows(2)
            .enumerate()
            .filter(|(_, pair)| matches!(pair, [key, b":"] if unquoted(key) == b"descr"))
    };
    let (Some((key, _)), 1, false) = (keys().next(), keys().count(), joined) else { return false };
    let value = tokens.get(key.saturating_add(2)..).unwrap_or_default();
    if let Some(text) = value.first().filter(|token| is_text(token)) {
        return is_plain_type(unquoted(text));
    }
    let mut depth = 0_u32;
    for token in value {
        match *token {
            b"[" | b"(" => depth = depth.saturating_add(1),
            b"]" | b")" => depth = depth.saturating_sub(1),
            // Names and types of fields look alike: a field that is called like the object type counts as one.
            text if is_text(text) && names_objects(unquoted(text)) => return false,
            _ => {}
        }
        if depth == 0 {
            return *token == b"]" || *token == b")";
        }
    }
    false
}

/// Whether `NumPy` would take this for the object type, or for a list of types that may hold it.
fn names_objects(text: &[u8]) -> bool {
    let kind = without_order(text.trim_ascii());
    kind.starts_with(b"O") || kind.starts_with(b"object") || kind.contains(&b',')
}

/// `<f4`, `|b1`, `<M8[ns]`: byte order, one letter, a size.
fn is_plain_type(text: &[u8]) -> bool {
    let kind = without_order(text);
    let [letter, size @ ..] = kind else { return false };
    b"biufcSaUVmM?".contains(letter)
        && size.iter().all(|byte| byte.is_ascii_alphanumeric() || b"[]".contains(byte))
}

fn without_order(text: &[u8]) -> &[u8] {
    match text.split_first() {
        Some((b'<' | b'>' | b'|' | b'=', kind)) => kind,
        _ => text,
    }
}

/// Strings (with their quotes) and single characters of a Python literal; `None` if a string has an escape or no end.
fn literal_tokens(text: &[u8]) -> Option<Vec<&[u8]>> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_ascii());
    while let Some((first, after)) = rest.split_first() {
        let len = match first {
            b'\'' | b'"' => after.iter().position(|byte| byte == first)?.checked_add(2)?,
            b'\\' | b'#' => return None,
            _ => 1,
        };
        let (token, after) = rest.split_at_checked(len)?;
        if token.contains(&b'\\') {
            return None;
        }
        tokens.push(token);
        rest = after.trim_ascii_start();
    }
    Some(tokens)
}

fn unquoted(token: &[u8]) -> &[u8] {
    match token {
        [b'\'' | b'"', text @ .., _] => text,
        other => other,
    }
}

/// Flax: one msgpack map whose keys are text. A map has no magic, so the name has to say so too.
pub(super) fn flax(head: &Head<'_>) -> Option<Seen> {
    let ([0x81..=0x8f, keys @ ..] | [0xde, _, _, keys @ ..] | [0xdf, _, _, _, _, keys @ ..]) = head.bytes
    else {
        return None;
    };
    let text = matches!(keys.first(), Some(0xa0..=0xbf | 0xd9..=0xdb));
    (text && head.extension() == "msgpack").then(|| Seen::magic(1))
}

/// Paddle: version 0, no levels, version 0, then a descriptor that begins with its dtype.
pub(super) fn paddle(head: &Head<'_>) -> Option<Seen> {
    let descriptor_len = u32_at(head, 16)?;
    let zeros = head.bytes.get(..16).is_some_and(|bytes| bytes.iter().all(|byte| *byte == 0));
    let dtype = matches!(head.bytes.get(20..23), Some([8, 0..=25, 16]));
    (zeros && dtype && (4..=200).contains(&descriptor_len)).then(|| Seen::magic(20))
}

/// A sorted table of the kind that `LevelDB` writes; TensorFlow's checkpoint index is one.
pub(super) fn tf_index(head: &Head<'_>) -> Option<Seen> {
    let start = head.len.checked_sub(8).filter(|_| head.len >= 48)?;
    head.tail.ends_with(b"\x57\xfb\x80\x8b\x24\x75\x47\xdb").then(|| Seen { start, ..Seen::magic(8) })
}
