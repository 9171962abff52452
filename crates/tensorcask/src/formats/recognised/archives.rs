//! Archives, told apart by the names of their members.

use super::{Says, Seen};
use crate::{
    format::{Head, Match, extension},
    wire::zip::{self, ZipProbe},
};

/// What kind of zip it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Torch,
    TorchScript,
    TorchPackage,
    TorchExport,
    Keras,
    Npz,
    Skops,
    Other,
}

/// Members of these endings are pickles, or files that are loaded by unpickling.
const PICKLED_MEMBERS: &[&str] = &[".pkl", ".pickle", ".joblib", ".pt", ".pth", ".ckpt", ".dill"];

pub(super) fn torch(head: &Head<'_>) -> Option<Seen> {
    of_kind(head, Kind::Torch)
}

pub(super) fn torchscript(head: &Head<'_>) -> Option<Seen> {
    of_kind(head, Kind::TorchScript)
}

pub(super) fn torch_package(head: &Head<'_>) -> Option<Seen> {
    of_kind(head, Kind::TorchPackage)
}

pub(super) fn torch_export(head: &Head<'_>) -> Option<Seen> {
    of_kind(head, Kind::TorchExport)
}

pub(super) fn keras(head: &Head<'_>) -> Option<Seen> {
    of_kind(head, Kind::Keras)
}

pub(super) fn npz(head: &Head<'_>) -> Option<Seen> {
    of_kind(head, Kind::Npz)
}

pub(super) fn skops(head: &Head<'_>) -> Option<Seen> {
    of_kind(head, Kind::Skops)
}

/// Any other zip; or the beginning of one whose end is not there.
pub(super) fn zip(head: &Head<'_>) -> Option<Seen> {
    of_kind(head, Kind::Other).or_else(|| cut_zip(head))
}

fn of_kind(head: &Head<'_>, wanted: Kind) -> Option<Seen> {
    let found = zip::probe(head)?;
    let pickles = found.names.iter().any(|name| is_pickled(name));
    // Archives are often the last member of a tar, and TFLite carries its labels in an archive behind the model. A zip
    // reader sees those too, but nobody hides anything; a pickle would be another matter.
    let carried = head.bytes.get(4..8) == Some(b"TFL3") || is_tar(head);
    if kind(&found) != wanted || (found.appended && carried && !pickles) {
        return None;
    }
    let fit = if found.appended { Match::Magic } else { Match::Structure };
    let (start, says) = if found.appended { (found.directory, Says::NotRead) } else { (0, Says::NotRead) };
    let torch = matches!(wanted, Kind::Torch | Kind::TorchScript | Kind::TorchPackage | Kind::TorchExport);
    Some(Seen::new(fit, start, 4, says).unpickled_if(torch || pickles))
}

fn is_pickled(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PICKLED_MEMBERS.iter().any(|ending| name.ends_with(ending))
}

fn kind(found: &ZipProbe) -> Kind {
    // The members of a torch archive share one root folder, whose name does not matter. torch ignores letter case.
    let below_root = |wanted: &str| {
        found
            .names
            .iter()
            .any(|name| name.split_once('/').is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(wanted)))
    };
    let at_top = |wanted: &str| found.names.iter().any(|name| name == wanted);
    let files = || found.names.iter().map(String::as_str).filter(|name| !name.ends_with('/'));
    let is_array = |name: &str| ["npy", "npz"].contains(&extension(name).as_str());
    let weights = ["model.weights.h5", "model.weights.npz", "model.weights.json"];
    if below_root(".data/extern_modules") || below_root(".data/python_version") {
        Kind::TorchPackage
    } else if below_root("archive_format") || at_top("serialized_exported_program.json") {
        Kind::TorchExport
    } else if below_root("constants.pkl") || below_root("bytecode.pkl") {
        Kind::TorchScript
    } else if below_root("data.pkl") || below_root(".data/serialization_id") || below_root("data/0") {
        Kind::Torch
    } else if at_top("config.json") && weights.iter().any(|name| at_top(name)) {
        Kind::Keras
    } else if at_top("schema.json") && files().all(|name| name == "schema.json" || is_array(name)) {
        Kind::Skops
    } else if files().next().is_some() && files().all(is_array) {
        Kind::Npz
    } else {
        Kind::Other
    }
}

/// A first member and no directory: four bytes alone would prove nothing.
fn cut_zip(head: &Head<'_>) -> Option<Seen> {
    let header = head.bytes.strip_prefix(b"PK\x03\x04")?;
    let field = |at: usize| Some(u16::from_le_bytes(*header.get(at..)?.first_chunk()?));
    let (version, method, name_len) = (field(0)?, field(4)?, usize::from(field(22)?));
    let name = header.get(26..)?.get(..name_len)?;
    // Versions up to 6.3, and the methods in use: stored, deflate, deflate64, bzip2, LZMA, zstd, xz.
    let plausible = version <= 63 && [0, 8, 9, 12, 14, 93, 95].contains(&method) && !name.is_empty();
    let printable = std::str::from_utf8(name).is_ok_and(|name| !name.contains(char::is_control));
    (plausible && printable && zip::probe(head).is_none())
        .then(|| Seen::magic(4).detail("without its directory: the end of the file is missing or damaged"))
}

const BLOCK: u64 = 512;
/// Members of a tar that are looked at.
const TAR_MEMBERS: usize = 16;

pub(super) fn tar(head: &Head<'_>) -> Option<Seen> {
    (is_tar(head) && !is_torch_tar(head)).then(|| Seen::magic(BLOCK))
}

/// torch before 0.1.10: a tar of pickles and raw storages.
pub(super) fn torch_tar(head: &Head<'_>) -> Option<Seen> {
    (is_tar(head) && is_torch_tar(head)).then(|| Seen::new(Match::Structure, 0, BLOCK, Says::Unpickled))
}

fn is_tar(head: &Head<'_>) -> bool {
    head.bytes.get(..512).is_some_and(|header| tar_member(header).is_some())
}

fn is_torch_tar(head: &Head<'_>) -> bool {
    let (mut at, mut found) = (0_u64, 0_usize);
    for _ in 0..TAR_MEMBERS {
        let Some((name, len)) = head.peek(at, 512).and_then(|header| tar_member(&header)) else { break };
        if ["sys_info", "pickle", "tensors", "storages"].contains(&name.trim_start_matches("./")) {
            found = found.saturating_add(1);
        }
        let Some(next) =
            len.checked_next_multiple_of(BLOCK).and_then(|len| at.checked_add(BLOCK)?.checked_add(len))
        else {
            break;
        };
        at = next;
    }
    found >= 3
}

/// Name and length of a member, if the checksum of its header holds.
fn tar_member(header: &[u8]) -> Option<(String, u64)> {
    let octal = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).ok()?.trim_matches(['\0', ' ']);
        u64::from_str_radix(text, 8).ok()
    };
    let (before, rest) = header.split_at_checked(148)?;
    let (checksum, after) = rest.split_at_checked(8)?;
    // The checksum counts itself as blanks.
    let sum: u64 = before.iter().chain(b"        ").chain(after).map(|byte| u64::from(*byte)).sum();
    let name = before.get(..100)?.split(|byte| *byte == 0).next()?;
    if name.is_empty() || octal(checksum)? != sum {
        return None;
    }
    Some((String::from_utf8_lossy(name).into_owned(), octal(header.get(124..136)?).unwrap_or_default()))
}
