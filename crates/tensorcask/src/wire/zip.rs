//! Whether a zip reader would open a file, and what members it would list (APPNOTE 6.3.10). No member is read.
//!
//! Readers find the directory in two ways: by the offset that the end record stores, or by going back from the end
//! record by the directory's size, which also works for an archive behind other bytes. Both are tried.

use crate::format::Head;
use std::collections::VecDeque;

/// What a zip reader would see.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ZipProbe {
    /// Names from the first 64 KiB of the directory.
    pub(crate) names: Vec<String>,
    /// The directory has more members than `names`.
    pub(crate) more: bool,
    /// The file does not begin with a member: the archive lies behind, or inside, other bytes.
    pub(crate) appended: bool,
    /// Offset of the directory.
    pub(crate) directory: u64,
}

const LOCAL: &[u8] = b"PK\x03\x04"; // 4.3.7
const CENTRAL: &[u8] = b"PK\x01\x02"; // 4.3.12
const END: &[u8] = b"PK\x05\x06"; // 4.3.16
const LOCATOR: &[u8] = b"PK\x06\x07"; // 4.3.15
const END_64: &[u8] = b"PK\x06\x06"; // 4.3.14
const END_LEN: usize = 22;
const LOCATOR_LEN: u64 = 20;
const END_64_LEN: u64 = 56;
const CENTRAL_LEN: usize = 46;
const LOCAL_LEN: usize = 30;
/// End records that are tried, last first. A reader takes the last one; a comment may hold a false one.
const END_RECORDS: usize = 4;
/// Members whose local header is looked up before an archive is given up.
const MEMBERS_TRIED: usize = 8;
const DIRECTORY_BYTES: u64 = 64 << 10;

/// Where a directory is said to lie.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    directory: u64,
    /// What has to be added to the offsets of members.
    base: u64,
    /// Where the record that describes the directory begins.
    end: u64,
}

/// The archive in a file, if a directory, its first members and their local headers agree.
pub(crate) fn probe(head: &Head<'_>) -> Option<ZipProbe> {
    // The length of the comment is not held against the file: Python's reader ignores it.
    let tail_start = head.len.checked_sub(head.tail.len() as u64)?;
    let last = head.tail.len().checked_sub(END_LEN)?;
    // The search runs forward, where it is fast, and keeps the last few.
    let mut starts = VecDeque::new();
    for at in memchr::memmem::find_iter(head.tail, END).filter(|at| *at <= last) {
        if starts.len() == END_RECORDS {
            starts.pop_front();
        }
        starts.push_back(at);
    }
    for at in starts.into_iter().rev() {
        let record = head.tail.get(at..)?;
        for place in places(head, record, tail_start.checked_add(at as u64)?) {
            if let Some(found) = read_directory(head, place) {
                return Some(found);
            }
        }
    }
    None
}

/// Every place where a reader would look for the directory of this end record.
fn places(head: &Head<'_>, record: &[u8], at: u64) -> Vec<Place> {
    let mut places = Vec::new();
    let mut add = |size: Option<u64>, offset: Option<u64>, end: u64| {
        let (Some(size), Some(offset)) = (size, offset) else { return };
        let by_offset = Some(Place { directory: offset, base: 0, end });
        let by_size = end
            .checked_sub(size)
            .and_then(|directory| Some(Place { directory, base: directory.checked_sub(offset)?, end }));
        for place in [by_offset, by_size].into_iter().flatten() {
            if place.directory < place.end && !places.contains(&place) {
                places.push(place);
            }
        }
    };
    add(le(record, 12, 4), le(record, 16, 4), at);
    let locator_at = at.checked_sub(LOCATOR_LEN);
    let locator = locator_at.and_then(|at| head.peek(at, 20)).filter(|bytes| bytes.starts_with(LOCATOR));
    if let (Some(locator_at), Some(locator)) = (locator_at, locator) {
        // Where the locator points, and right before it, where Python looks.
        let before = locator_at.checked_sub(END_64_LEN);
        for end in [le(&locator, 8, 8), before].into_iter().flatten() {
            if let Some(record) = head.peek(end, 56).filter(|bytes| bytes.starts_with(END_64)) {
                add(le(&record, 40, 8), le(&record, 48, 8), end);
            }
        }
    }
    places
}

fn read_directory(head: &Head<'_>, place: Place) -> Option<ZipProbe> {
    let first = head.peek(place.directory, CENTRAL_LEN)?;
    if !first.starts_with(CENTRAL) {
        return None;
    }
    let len = place.end.saturating_sub(place.directory);
    let directory = head.peek(place.directory, usize::try_from(len.min(DIRECTORY_BYTES)).ok()?)?;
    let begins_with_member = head.bytes.starts_with(LOCAL);
    let mut found =
        ZipProbe { directory: place.directory, appended: !begins_with_member, ..ZipProbe::default() };
    let (mut agrees, mut rest) = (false, directory.as_slice());
    while rest.starts_with(CENTRAL) {
        let (Some(name_len), Some(extra_len), Some(comment_len)) =
            (le(rest, 28, 2), le(rest, 30, 2), le(rest, 32, 2))
        else {
            break;
        };
        let name_end = (CENTRAL_LEN as u64).saturating_add(name_len);
        let Some(name) = part(rest, CENTRAL_LEN as u64, name_end) else { break };
        if !agrees && found.names.len() < MEMBERS_TRIED {
            let extra = part(rest, name_end, name_end.saturating_add(extra_len)).unwrap_or_default();
            agrees = member_offset(rest, extra)
                .and_then(|offset| place.base.checked_add(offset))
                .is_some_and(|offset| local_agrees(head, offset, name));
        }
        found.names.push(String::from_utf8_lossy(name).into_owned());
        let next = name_end.saturating_add(extra_len).saturating_add(comment_len);
        rest = part(rest, next, rest.len() as u64).unwrap_or_default();
    }
    found.more = len > DIRECTORY_BYTES;
    agrees.then_some(found)
}

/// Offset of a member's local header: the field of 32 bits, or the zip64 extra field when that is full (4.5.3).
fn member_offset(record: &[u8], mut extra: &[u8]) -> Option<u64> {
    let full = u64::from(u32::MAX);
    let offset = le(record, 42, 4)?;
    if offset != full {
        return Some(offset);
    }
    // The 64-bit fields stand in the order size, packed size, offset, and only where the 32-bit field is full.
    let before = [20, 24].into_iter().filter(|at| le(record, *at, 4) == Some(full)).count();
    loop {
        let (id, len) = (le(extra, 0, 2)?, le(extra, 2, 2)?);
        if id == 1 {
            return le(extra, before.checked_mul(8)?.checked_add(4)?, 8);
        }
        extra = part(extra, len.checked_add(4)?, extra.len() as u64)?;
    }
}

fn local_agrees(head: &Head<'_>, offset: u64, name: &[u8]) -> bool {
    let Some(len) = LOCAL_LEN.checked_add(name.len()) else { return false };
    head.peek(offset, len).is_some_and(|local| {
        local.starts_with(LOCAL) && le(&local, 26, 2) == Some(name.len() as u64) && local.ends_with(name)
    })
}

/// A little-endian number of `len` bytes.
fn le(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(len)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number.wrapping_shl(8) | u64::from(*byte)))
}

fn part(bytes: &[u8], start: u64, end: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}
