//! Texts that lie where a file of weights should: a Git-LFS pointer, an error that a server sent, nothing at all.

use super::{Says, Seen};
use crate::format::{Head, Match};

/// Endings under which one expects weights. Texts under other names are what they seem.
const WEIGHT_ENDINGS: &[&str] = &[
    "safetensors",
    "gguf",
    "ggml",
    "onnx",
    "ort",
    "npy",
    "npz",
    "h5",
    "hdf5",
    "keras",
    "tflite",
    "litertlm",
    "bin",
    "pt",
    "pth",
    "pt2",
    "ptl",
    "ckpt",
    "distcp",
    "pkl",
    "pickle",
    "joblib",
    "skops",
    "model",
    "msgpack",
    "pte",
    "ptd",
    "mlmodel",
    "engine",
    "plan",
    "trt",
    "om",
    "rknn",
    "pdparams",
    "pdopt",
    "pdiparams",
    "pdmodel",
    "nemo",
    "mar",
    "t7",
    "weights",
    "params",
    "caffemodel",
];
/// Characters of a title or message that are quoted.
const QUOTED_CHARS: usize = 200;

fn promises_weights(head: &Head<'_>) -> bool {
    head.listing.is_none() && WEIGHT_ENDINGS.contains(&head.extension().as_str())
}

/// A file of no bytes under a name of weights.
pub(super) fn empty(head: &Head<'_>) -> Option<Seen> {
    (head.len == 0 && promises_weights(head)).then(|| Seen::new(Match::Structure, 0, 0, Says::Empty))
}

/// What Git-LFS keeps in a repository in place of a large file (git-lfs, `docs/spec.md`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Pointer {
    /// Digest of the file, 64 hex digits.
    sha256: Option<String>,
    /// Its length in bytes.
    size: Option<u64>,
}

/// A pointer, whatever the file is called.
pub(super) fn lfs_pointer(head: &Head<'_>) -> Option<Seen> {
    // The specification keeps a pointer below 1,024 bytes.
    let text = std::str::from_utf8(head.bytes).ok().filter(|_| head.len < 1_024)?;
    let mut lines = text.lines();
    let version = lines.next()?.strip_prefix("version ")?;
    // The two other addresses are those of versions before 1.0.
    let known = [
        "https://git-lfs.github.com/spec/v1",
        "https://hawser.github.com/spec/v1",
        "http://git-media.io/v/2",
    ];
    if !known.contains(&version.trim_end()) {
        return None;
    }
    let mut pointer = Pointer { sha256: None, size: None };
    for line in lines {
        match line.trim_end().split_once(' ') {
            Some(("oid", oid)) => {
                let digits = oid.strip_prefix("sha256:").unwrap_or(oid);
                let is_digest = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                pointer.sha256 = is_digest.then(|| digits.to_ascii_lowercase());
            }
            Some(("size", size)) => pointer.size = size.parse().ok(),
            _ => {}
        }
    }
    Some(Seen::new(Match::Structure, 0, head.len, Says::Pointer(pointer)))
}

impl Pointer {
    /// The fact, for people: size first, since it tells what is missing.
    pub(super) fn message(&self) -> String {
        let size = self.size.map_or_else(
            || "an unknown size".to_owned(),
            |size| match decimal_bytes(size) {
                Some(rounded) => format!("{rounded} ({size} bytes)"),
                None => format!("{size} bytes"),
            },
        );
        let digest = self
            .sha256
            .as_ref()
            .map_or_else(|| "no digest".to_owned(), |digest| format!("sha256 `{digest}`"));
        format!("this is a Git-LFS pointer to {size} with {digest}, not the weights")
    }
}

/// Three digits and a decimal unit; `None` below 1,000.
fn decimal_bytes(bytes: u64) -> Option<String> {
    let units = [("kB", 3), ("MB", 6), ("GB", 9), ("TB", 12), ("PB", 15), ("EB", 18)];
    let (unit, power) = units
        .into_iter()
        .rev()
        .find(|(_, power)| 10_u64.checked_pow(*power).is_some_and(|one| bytes >= one))?;
    let hundredths = bytes.checked_div(10_u64.checked_pow(power.checked_sub(2)?)?)?;
    let (whole, part) = (hundredths / 100, hundredths % 100);
    Some(match whole {
        0..10 => format!("{whole}.{part:02} {unit}"),
        10..100 => format!("{whole}.{} {unit}", part / 10),
        _ => format!("{whole} {unit}"),
    })
}

/// What a server sent in place of a file, under a name of weights.
pub(super) fn error_page(head: &Head<'_>) -> Option<Seen> {
    if !promises_weights(head) {
        return None;
    }
    let bytes = head.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head.bytes).trim_ascii_start();
    let (kind, message) = markup(bytes).or_else(|| {
        (head.len == head.bytes.len() as u64)
            .then(|| json_error(bytes).or_else(|| plain_error(bytes)))
            .flatten()
    })?;
    Some(Seen::new(Match::Magic, 0, head.len, Says::Page(kind, quotable(&message))))
}

/// An HTML page by its title, an XML error by its message.
fn markup(bytes: &[u8]) -> Option<(&'static str, String)> {
    if bytes.first() != Some(&b'<') {
        return None;
    }
    let begins = |prefix: &str| {
        bytes.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
    };
    let text = String::from_utf8_lossy(bytes);
    // Letter case is folded without a change of length.
    let lower = text.to_ascii_lowercase();
    let element = |name: &str| {
        let open = lower.find(&format!("<{name}")).and_then(|at| Some((at, lower.get(at..)?.find('>')?)))?;
        let start = open.0.checked_add(open.1)?.checked_add(1)?;
        let len = lower.get(start..)?.find(&format!("</{name}"))?;
        text.get(start..start.checked_add(len)?)
    };
    if begins("<?xml") && !lower.contains("<html") {
        let message = element("message").or_else(|| element("code"));
        return lower.contains("<error").then(|| ("an XML error", message.unwrap_or_default().to_owned()));
    }
    if begins("<error") {
        return Some((
            "an XML error",
            element("message").or_else(|| element("code")).unwrap_or_default().to_owned(),
        ));
    }
    let page = ["<!doctype html", "<html", "<head", "<body", "<title", "<?xml", "<!--"]
        .iter()
        .any(|prefix| begins(prefix));
    page.then(|| ("an HTML page", element("title").or_else(|| element("h1")).unwrap_or_default().to_owned()))
}

/// Keys of which an error document has one.
const ERROR_KEYS: &[&str] = &["error", "errors", "message", "detail", "error_description", "Message"];

/// A JSON object with an error in it, whole and small.
fn json_error(bytes: &[u8]) -> Option<(&'static str, String)> {
    let mut rest = bytes.trim_ascii();
    let (mut depth, mut is_error, mut found, mut message) = (0_u32, false, false, None);
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'{' | b'[' if depth == 0 && *first != b'{' => return None,
            b'{' | b'[' => depth = depth.checked_add(1)?,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    break;
                }
            }
            b'"' => {
                let (text, after) = json_string(rest)?;
                rest = after.trim_ascii_start();
                if rest.first() == Some(&b':') {
                    if depth == 1 {
                        // What a header or an index of tensors has is no error, whatever else stands there.
                        if ["weight_map", "__metadata__"].contains(&text.as_str()) {
                            return None;
                        }
                        is_error = ERROR_KEYS.contains(&text.as_str());
                        found |= is_error;
                    } else if ["data_offsets", "dtype", "shape"].contains(&text.as_str()) {
                        return None;
                    }
                } else if is_error && message.is_none() {
                    message = Some(text);
                }
            }
            b':' | b',' | b' ' | b'\t' | b'\n' | b'\r' => {}
            // Numbers, true, false, null.
            b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E' if depth > 0 => {}
            _ => return None,
        }
    }
    (found && depth == 0 && rest.trim_ascii().is_empty())
        .then(|| ("a JSON error", message.unwrap_or_default()))
}

/// The string that begins behind its quote, and what follows it.
fn json_string(bytes: &[u8]) -> Option<(String, &[u8])> {
    let mut text = Vec::new();
    let mut rest = bytes;
    loop {
        let (byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => return Some((String::from_utf8_lossy(&text).into_owned(), rest)),
            b'\\' => {
                let (escape, after) = rest.split_first()?;
                rest = after;
                match escape {
                    b'u' => {
                        let (digits, after) = rest.split_first_chunk::<4>()?;
                        rest = after;
                        let number = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
                        let character = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
                        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    b'"' | b'\\' | b'/' => text.push(*escape),
                    _ => text.push(b' '),
                }
            }
            0..0x20 => return None,
            other => text.push(*other),
        }
    }
}

/// Words of which a one-line error has one.
const ERROR_WORDS: &[&str] = &[
    "not found",
    "forbidden",
    "unauthorized",
    "unauthorised",
    "access",
    "denied",
    "error",
    "expired",
    "invalid",
    "too many",
    "rate limit",
    "bad request",
    "gateway",
    "unavailable",
    "restricted",
    "no such",
    "does not exist",
    "log in",
    "sign in",
];

/// One line of plain text that reads like a refusal.
fn plain_error(bytes: &[u8]) -> Option<(&'static str, String)> {
    let line = std::str::from_utf8(bytes.trim_ascii()).ok().filter(|line| line.len() <= 500)?;
    let lower = line.to_ascii_lowercase();
    let fits = line.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !line.contains(char::is_control)
        && ERROR_WORDS.iter().any(|word| lower.contains(word));
    fits.then(|| ("a line of text", line.to_owned()))
}

/// Text from a file as a message may quote it: one line, no control or direction characters, cut.
fn quotable(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let hides = |c: char| {
        c.is_control()
            || c == '`'
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let mut quoted = String::new();
    for (n, character) in text.chars().enumerate() {
        if n == QUOTED_CHARS {
            quoted.push('…');
            break;
        }
        if hides(character) {
            quoted.extend(character.escape_unicode());
        } else {
            quoted.push(character);
        }
    }
    quoted
}
