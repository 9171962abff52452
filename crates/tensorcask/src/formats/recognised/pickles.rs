//! Files that are pickles as a whole. A walk over the opcodes tells; two magic bytes prove nothing.

use super::{Says, Seen, magics};
use crate::{
    format::{Head, Match},
    wire::pickle::{Walk, Walker},
};

const PROTO: u8 = 0x80;
/// Bytes of one look past the head: 64 of them make up the bytes that a probe may see.
const WINDOW_BYTES: u64 = 16 << 10;
/// The number that torch pickles first: 0x1950A86A20F9469CFC6C.
const TORCH_MAGIC: &[u8] = b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
/// The same number by protocols 0 and 1.
const TORCH_MAGIC_TEXT: &[u8] = b"L119547037146038801333356L\n.";

/// A bare pickle.
pub(super) fn pickle(head: &Head<'_>) -> Option<Seen> {
    look(head).filter(|(_, joblib)| !joblib && !is_packed(head)).map(|(seen, _)| seen)
}

/// joblib: a pickle whose arrays lie raw between the opcodes, or one that is compressed as a whole.
pub(super) fn joblib(head: &Head<'_>) -> Option<Seen> {
    if is_packed(head) {
        return Some(Seen::new(Match::Magic, 0, 4, Says::Unpickled).detail("(compressed)"));
    }
    look(head).filter(|(_, joblib)| *joblib).map(|(seen, _)| seen)
}

/// A compressed file under a name of joblib or pickle: joblib unpacks and unpickles it in one step.
pub(super) fn is_packed(head: &Head<'_>) -> bool {
    let named = head.name.split('.').skip(1).any(|part| {
        ["joblib", "pkl", "pickle", "sav"].iter().any(|ending| part.eq_ignore_ascii_case(ending))
    });
    let zlib = matches!(head.bytes, [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..]);
    let packed = zlib
        || head.bytes.starts_with(b"ZF0x")
        || head.bytes.starts_with(b"\x5d\0\0")
        || magics::is_gzip(head)
        || magics::is_bzip2(head)
        || magics::is_xz(head)
        || magics::is_lz4(head);
    named && packed && !magics::begins_like_safetensors(head)
}

/// The stream that torch wrote before version 1.6.
pub(super) fn torch_legacy(head: &Head<'_>) -> Option<Seen> {
    let number = match head.bytes {
        // Protocols 4 and 5 frame the number.
        [PROTO, 4 | 5, 0x95, rest @ ..] => rest.get(8..)?,
        [PROTO, _, rest @ ..] => rest,
        _ => head.bytes,
    };
    let fits = number.starts_with(TORCH_MAGIC) || number.starts_with(TORCH_MAGIC_TEXT);
    fits.then(|| Seen::new(Match::Structure, 0, head.bytes.len().min(15) as u64, Says::Unpickled))
}

/// What the walk says, and whether joblib's wrapper is named.
fn look(head: &Head<'_>) -> Option<(Seen, bool)> {
    // Read as opcodes, a zip begins with a persistent id, which a plain unpickler refuses at once.
    if head.bytes.starts_with(b"PK") || torch_legacy(head).is_some() {
        return None;
    }
    let protocol = match head.bytes {
        [PROTO, protocol @ 2..=5, ..] => Some(*protocol),
        _ => None,
    };
    let two_formats = magics::begins_like_safetensors(head) || head.bytes.starts_with(b"GGUF");
    let mut walker = Walker::new(head.len);
    let walk = walk(head, &mut walker, protocol.is_none() || two_formats);
    let (fits, end) = match walk {
        Walk::Not => (false, 0),
        // A length field can spell NEWTRUE STOP, and a string can happen to end before a dot of the JSON text. Such a
        // stream imports nothing and is short.
        Walk::Stop { end, opcodes, imports } if two_formats => (end > 8 && (imports || opcodes >= 8), end),
        Walk::Breaks { at, calls } if two_formats => (at > 8 && calls, at),
        Walk::Running { opcodes, imports } if two_formats => (imports && opcodes >= 64, 0),
        Walk::Stop { end, .. } | Walk::Breaks { at: end, .. } if protocol.is_some() => (true, end),
        Walk::Running { .. } if protocol.is_some() => (true, 0),
        // Without PROTO any bytes may do for a few opcodes. A stream that imports nothing has to fill the file.
        Walk::Stop { end, opcodes, imports } => (opcodes >= 3 && (imports || end == head.len), end),
        Walk::Breaks { at, calls } => (calls, at),
        Walk::Running { opcodes, imports } => (opcodes >= 1_000 || (imports && opcodes >= 64), 0),
    };
    let len = if end == 0 { head.len } else { end };
    let seen = Seen::new(Match::Magic, 0, len, Says::Unpickled);
    let seen = protocol.map_or(seen.clone(), |protocol| seen.detail(format!("(protocol {protocol})")));
    fits.then(|| (seen, walker.names_joblib()))
}

fn walk(head: &Head<'_>, walker: &mut Walker, to_the_end: bool) -> Walk {
    if let Some(walk) = walker.feed(head.bytes, 0) {
        return walk;
    }
    if to_the_end {
        // An argument may be long and is stepped over; the looks end by the head's own metering.
        while let Some(window) = window(head, walker.position()) {
            if let Some(walk) = walker.feed(&window, walker.position()) {
                return walk;
            }
        }
    }
    walker.running()
}

fn window(head: &Head<'_>, start: u64) -> Option<Vec<u8>> {
    let len = head.len.checked_sub(start)?.min(WINDOW_BYTES);
    head.peek(start, usize::try_from(len).ok()?)
}
