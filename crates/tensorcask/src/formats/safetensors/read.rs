//! From a file to its table: length, header, and how the tensors cover the data.

use super::{MAX_HEADER_BYTES, header, rules};
use crate::{
    core::{DType, Data, Limit, Result, Span, TensorInfo},
    format::ReadCx,
};
use std::sync::Arc;

/// Remote readers of the hub's client libraries refuse headers from here on (`huggingface_hub`, `huggingface.js`).
const LARGE_HEADER_BYTES: u64 = 25_000_000;

pub(super) fn read(cx: &mut ReadCx<'_>) -> Result<()> {
    let source = cx.source()?;
    let file_len = cx.len();
    let whole = Span { source, start: 0, len: file_len };
    let mut length = [0; 8];
    if file_len < length.len() as u64 {
        let message = format!("the file has {file_len} bytes; 8 bytes hold the length of the header");
        cx.report(rules::HEADER_TOO_SMALL.at(whole, message).help("fetch the file again"));
        return Ok(());
    }
    cx.read_at(0, &mut length)?;
    let header_len = u64::from_le_bytes(length);
    let length_span = Span { source, start: 0, len: 8 };
    if header_len > MAX_HEADER_BYTES {
        let message = format!(
            "the first 8 bytes name a header of {header_len} bytes; the format allows {MAX_HEADER_BYTES}"
        );
        let help = "the file is damaged or is no safetensors file; see what wrote it";
        cx.report(rules::HEADER_TOO_LARGE.at(length_span, message).help(help));
        if cx.budget.fits(Limit::HeaderBytes, header_len).is_err() {
            return Ok(());
        }
    }
    cx.budget.fits(Limit::HeaderBytes, header_len)?;
    let data_start = header_len.saturating_add(8);
    if data_start > file_len {
        let message = format!(
            "the header ends at byte {data_start}, the file at {file_len}: it was cut inside the header"
        );
        cx.report(rules::FILE_TRUNCATED.at(whole, message).help("fetch the file again"));
        return Ok(());
    }
    if (LARGE_HEADER_BYTES..=MAX_HEADER_BYTES).contains(&header_len) {
        let message = format!(
            "the header has {header_len} bytes; tools that read headers remotely stop at {LARGE_HEADER_BYTES}"
        );
        cx.report(rules::HEADER_LARGE.at(length_span, message));
    }
    if header_len % 8 != 0 {
        let message =
            format!("the header has {header_len} bytes, no multiple of 8, so the data starts unaligned");
        cx.report(rules::HEADER_UNPADDED.at(length_span, message));
    }

    let header_span = Span { source, start: 8, len: header_len };
    cx.checkpoint.headers.push(header_span);
    let Some(text) = read_text(cx, header_span)? else { return Ok(()) };
    let header = header::parse(cx, &text, header_span)?;
    place(cx, header, whole, data_start);
    Ok(())
}

/// The header's text; `None`, with a finding, if it is no UTF-8.
fn read_text(cx: &mut ReadCx<'_>, span: Span) -> Result<Option<Arc<String>>> {
    let mut bytes = cx.budget.vec(span.len, 1, span.len)?;
    bytes.resize(usize::try_from(span.len).unwrap_or(usize::MAX), 0);
    cx.read_at(span.start, &mut bytes)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(Arc::new(text))),
        Err(error) => {
            let at = error.utf8_error().valid_up_to() as u64;
            let place = Span { start: span.start.saturating_add(at), len: 1, ..span };
            cx.report(rules::HEADER_NOT_UTF8.at(place, "the header is not UTF-8"));
            Ok(None)
        }
    }
}

/// Holds the extents against each other and against the file, and moves the tensors into the checkpoint.
fn place(cx: &mut ReadCx<'_>, header: header::Header, whole: Span, data_start: u64) {
    let file_len = whole.len;
    let header::Header { mut tensors, damaged, sorted, incomplete } = header;
    // What cannot be read as it says is known by position, so mark it before the order changes; its bytes still count.
    let mut marks = vec![None; if damaged.is_empty() { 0 } else { tensors.len() }];
    for (position, want) in damaged {
        if let Some(mark) = marks.get_mut(position) {
            *mark = Some(want);
        }
    }
    if !sorted {
        if marks.is_empty() {
            tensors.sort_by_key(header::order);
        } else {
            let mut both: Vec<_> = tensors.into_iter().zip(marks).collect();
            both.sort_by_key(|(tensor, _)| header::order(tensor));
            (tensors, marks) = both.into_iter().unzip();
        }
    }

    let mut covered = data_start;
    let mut covered_by: Option<usize> = None;
    let mut first_hit: Option<usize> = None;
    let mut n_unaligned = 0u64;
    let mut first_unaligned = None;
    for (position, tensor) in tensors.iter().enumerate() {
        let Data::Extent(span) = tensor.view.data else { continue };
        // Entries that could not be read may own the bytes that nothing else covers.
        if span.start > covered && !incomplete {
            let gap = Span { start: covered, len: span.start.saturating_sub(covered), ..span };
            let message = format!(
                "data has a gap of {} bytes before tensor `{}`, which begins at {}",
                gap.len, tensor.name, span.start
            );
            let help = "the file was edited after it was written; fetch it again";
            cx.report(rules::DATA_GAP.at(gap, message).tensor(&tensor.name).help(help));
        } else if span.start < covered {
            let before = covered_by.and_then(|at| tensors.get(at));
            let same_name = before.is_some_and(|before| before.name == tensor.name);
            if !same_name {
                // A long name that many tensors lie under would be in the message of each.
                let other = header::excerpt(before.map_or("", |before| before.name.as_str()));
                let overlap = Span { len: covered.min(span.end()).saturating_sub(span.start), ..span };
                let message = format!(
                    "tensor `{}` begins at {}, before the end of `{other}` at {covered}",
                    tensor.name, span.start
                );
                cx.report(rules::DATA_OVERLAP.at(overlap, message).tensor(&tensor.name));
            }
        }
        if span.end() > file_len && first_hit.is_none() {
            first_hit = Some(position);
        }
        if let Some(align) = alignment(tensor)
            && span.len > 0
            && span.start & align.wrapping_sub(1) != 0
        {
            n_unaligned = n_unaligned.saturating_add(1);
            first_unaligned = first_unaligned.or(Some((position, align)));
        }
        if span.end() >= covered && span.len > 0 {
            covered_by = Some(position);
        }
        covered = covered.max(span.end());
    }
    if let Some((tensor, align)) = first_unaligned.and_then(|(at, align)| Some((tensors.get(at)?, align)))
        && let Data::Extent(span) = tensor.view.data
    {
        let message = format!(
            "{n_unaligned} of {} tensors do not start at a multiple of their element size; the first, `{}`, starts at {} ({align} bytes an element)",
            tensors.len(),
            tensor.name,
            span.start
        );
        cx.report(rules::UNALIGNED_START.at(Span { len: 0, ..span }, message).tensor(&tensor.name));
    }
    if covered > file_len {
        let hit = first_hit.and_then(|at| tensors.get(at));
        let message = format!(
            "the file has {} of {}; first tensor hit: `{}`",
            bytes(file_len),
            bytes(covered),
            hit.map_or("", |tensor| tensor.name.as_str())
        );
        let finding = rules::FILE_TRUNCATED.at(Span { start: file_len, len: 0, ..whole }, message);
        let finding = finding.help("the copy or download was cut short; fetch the file again");
        cx.report(match hit {
            Some(tensor) => finding.tensor(&tensor.name),
            None => finding,
        });
    } else if covered < file_len && !incomplete {
        let rest = Span { start: covered, len: file_len.saturating_sub(covered), ..whole };
        let message =
            format!("{} bytes follow the last tensor, which ends at byte {covered} of {file_len}", rest.len);
        cx.report(rules::TRAILING_BYTES.at(rest, message).help("save the file again without them"));
    }

    let all_here = covered <= file_len && marks.is_empty();
    for (position, tensor) in tensors.iter_mut().enumerate().filter(|_| !all_here) {
        let Data::Extent(span) = tensor.view.data else { continue };
        let mark = marks.get(position).copied().flatten();
        if span.end() > file_len || mark.is_some() {
            let here = file_len.saturating_sub(span.start).min(span.len);
            let want = mark.unwrap_or(span.len);
            tensor.view.data = Data::Missing { want, have: here.min(want), file: None };
        }
    }
    if cx.checkpoint.tensors.is_empty() {
        cx.checkpoint.tensors = tensors;
    } else {
        cx.checkpoint.tensors.append(&mut tensors);
    }
}

/// Bytes, a power of two, that the address of an element should divide by; complex numbers are pairs of their parts.
fn alignment(tensor: &TensorInfo) -> Option<u64> {
    match (&tensor.dtype, tensor.dtype.block()?) {
        (DType::C64, _) => Some(4),
        (_, (1, bytes)) if bytes > 1 => Some(bytes),
        _ => None,
    }
}

/// A count of bytes for people, in decimal units.
fn bytes(count: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match UNITS.iter().find(|(unit, _)| count >= *unit) {
        // Two decimals; what the rounding of a large count loses is not shown anyway.
        #[allow(clippy::cast_precision_loss)]
        Some((unit, name)) => format!("{:.2} {name}", count as f64 / *unit as f64),
        None => format!("{count} bytes"),
    }
}
