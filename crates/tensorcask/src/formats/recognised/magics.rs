//! Magics that need more than their bytes: a version, a plausible field, or a guard against accidents.

use super::{Seen, pickles};
use crate::format::Head;

/// The reference reader's cap on a header (safetensors, `MAX_HEADER_SIZE`).
const MAX_HEADER_BYTES: u64 = 100_000_000;

/// Whether the file begins with a plausible length and the brace of a safetensors header. Such a length may spell a
/// short magic by accident: 640 is the pickle opcode PROTO 2, 559,903 the magic of gzip.
pub(super) fn begins_like_safetensors(head: &Head<'_>) -> bool {
    head.bytes.split_first_chunk::<8>().is_some_and(|(length, rest)| {
        u64::from_le_bytes(*length) <= MAX_HEADER_BYTES
            && rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
    })
}

pub(super) fn u32_at(head: &Head<'_>, at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*head.bytes.get(at..)?.first_chunk()?))
}

pub(super) fn gguf(head: &Head<'_>) -> Option<Seen> {
    let version = head.bytes.strip_prefix(b"GGUF")?.first_chunk::<4>()?;
    // A big-endian file has the same magic; no version needs the upper half.
    let (little, big) = (u32::from_le_bytes(*version), u32::from_be_bytes(*version));
    let seen = Seen::magic(8);
    Some(if little <= big {
        seen.version(little)
    } else {
        seen.version(big).detail(format!("version {big}, big-endian"))
    })
}

pub(super) fn ggml(head: &Head<'_>) -> Option<Seen> {
    let kind = match head.bytes.first_chunk::<4>()? {
        b"lmgg" => "(ggml)",
        b"fmgg" => "(ggmf)",
        b"tjgg" => "(ggjt)",
        b"algg" => "(ggla)",
        b"nsgg" => "(ggsn)",
        _ => return None,
    };
    Some(Seen::magic(4).detail(kind))
}

pub(super) fn hdf5(head: &Head<'_>) -> Option<Seen> {
    const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";
    // A user block of 512 bytes or a power of two of that may stand in front.
    let starts = std::iter::once(0).chain((9..16).map(|bits| 1_usize << bits));
    for start in starts {
        let superblock = head.bytes.get(start..).and_then(|rest| rest.strip_prefix(SIGNATURE));
        if superblock.and_then(|rest| rest.first()).is_some_and(|version| *version <= 3) {
            return Some(Seen { start: start as u64, ..Seen::magic(8) });
        }
    }
    None
}

pub(super) fn tensorrt(head: &Head<'_>) -> Option<Seen> {
    let is_engine = |bytes: &[u8]| bytes.starts_with(b"ftrt") || bytes.starts_with(b"ptrt");
    if is_engine(head.bytes) {
        // 24..28 hold the version in files of TensorRT 8.6 and later, when the kind at 4 is 0.
        let version = head.bytes.get(24..27).filter(|_| u32_at(head, 4) == Some(0));
        return Some(match version {
            Some([major @ 8..=20, minor, patch]) => {
                Seen::magic(4).version(format!("{major}.{minor}.{patch}"))
            }
            _ => Seen::magic(4),
        });
    }
    // Ultralytics writes a length and JSON in front.
    let prefix = u64::from(u32_at(head, 0)?);
    if head.bytes.get(4) != Some(&b'{') {
        return None;
    }
    let start = prefix.checked_add(4)?;
    is_engine(&head.peek(start, 4)?).then(|| Seen { start, ..Seen::magic(4) }.detail("behind JSON metadata"))
}

pub(super) fn gzip(head: &Head<'_>) -> Option<Seen> {
    is_gzip(head).then(|| Seen::magic(3)).filter(|_| !pickles::is_packed(head))
}

/// Method 8 is the only one, the upper flags are reserved, and writers put 0, 2 or 4 into the ninth byte.
pub(super) fn is_gzip(head: &Head<'_>) -> bool {
    matches!(head.bytes, [0x1f, 0x8b, 8, flags, _, _, _, _, 0 | 2 | 4, ..] if *flags < 0x20)
}

pub(super) fn bzip2(head: &Head<'_>) -> Option<Seen> {
    is_bzip2(head).then(|| Seen::magic(10)).filter(|_| !pickles::is_packed(head))
}

pub(super) fn is_bzip2(head: &Head<'_>) -> bool {
    let block = [b"1AY&SY", b"\x17rE8P\x90"];
    matches!(head.bytes, [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..] if block.iter().any(|magic| rest.starts_with(*magic)))
}

pub(super) fn xz(head: &Head<'_>) -> Option<Seen> {
    is_xz(head).then(|| Seen::magic(6)).filter(|_| !pickles::is_packed(head))
}

pub(super) fn is_xz(head: &Head<'_>) -> bool {
    head.bytes.starts_with(b"\xfd7zXZ\0")
}

pub(super) fn zstd(head: &Head<'_>) -> Option<Seen> {
    head.bytes.starts_with(b"\x28\xb5\x2f\xfd").then(|| Seen::magic(4))
}

pub(super) fn lz4(head: &Head<'_>) -> Option<Seen> {
    is_lz4(head).then(|| Seen::magic(4)).filter(|_| !pickles::is_packed(head))
}

pub(super) fn is_lz4(head: &Head<'_>) -> bool {
    head.bytes.starts_with(b"\x04\x22\x4d\x18")
}

/// Programs: ELF, PE and Mach-O.
pub(super) fn executable(head: &Head<'_>) -> Option<Seen> {
    let kind = match head.bytes {
        [0x7f, b'E', b'L', b'F', 1 | 2, 1 | 2, 1, ..] => "(ELF)",
        [b'M', b'Z', ..] if is_pe(head) => "(PE)",
        // 32 and 64 bits in both byte orders.
        [0xfe, 0xed, 0xfa, 0xce | 0xcf, ..] | [0xce | 0xcf, 0xfa, 0xed, 0xfe, ..] => "(Mach-O)",
        // A fat file counts its parts; a Java class has its version, 45 and up, in the same place.
        [0xca, 0xfe, 0xba, 0xbe | 0xbf, 0, 0, 0, 1..=20, ..] => "(fat Mach-O)",
        _ => return None,
    };
    Some(Seen::magic(4).detail(kind))
}

fn is_pe(head: &Head<'_>) -> bool {
    u32_at(head, 0x3c).and_then(|at| head.peek(u64::from(at), 4)).is_some_and(|bytes| bytes == b"PE\0\0")
}
