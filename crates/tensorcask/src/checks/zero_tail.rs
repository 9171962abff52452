//! Files whose end was never written: a download that preallocates and dies leaves zeros.

use super::{Check, CheckCx};
use crate::core::{Data, Error, Result, Rule, SourceId, Span, TensorInfo, rule};

pub(super) struct ZeroTail;

static ZERO_TAIL: Rule = rule!("FI009" "zero-tail" Structure Error [] "The file ends in zeros that begin in the middle of a tensor, or cover several tensors: it has its full length, but the end was never written. Fetch it again. Zeros that are exactly the last tensor, or the last rows of it, are not reported: fresh biases and padded vocabularies look so.");

/// Shorter runs of zeros happen in real data.
const SHORTEST: u64 = 512;
/// How far back the search goes; a longer run is judged as if it began here.
const FARTHEST: u64 = 256 << 20;
/// The zero rows at the end of a padded vocabulary are a small share of it.
const PADDING_SHARE: u64 = 4;

static RULES: &[&Rule] = &[&ZERO_TAIL];

impl Check for ZeroTail {
    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn data(&self, cx: &mut CheckCx<'_>) -> Result<()> {
        let mut findings = Vec::new();
        for (id, source) in cx.checkpoint.sources.iter() {
            let mut tensors: Vec<(&TensorInfo, Span)> = (cx.checkpoint.tensors.iter())
                .filter_map(|tensor| match tensor.view.data {
                    Data::Extent(span) if span.source == id && span.len > 0 => Some((tensor, span)),
                    _ => None,
                })
                .collect();
            tensors.sort_by_key(|(_, span)| span.start);
            let Some((_, last)) = tensors.last() else { continue };
            let data_start = tensors.first().map_or(0, |(_, span)| span.start);
            let zeros = zero_start(cx, id, data_start, last.end())
                .map_err(|error| Error::io(&*source.name, error))?;
            if let Some((tensor, end)) = judge(&tensors, zeros, data_start) {
                let run = Span { source: id, start: zeros, len: end - zeros };
                let message = format!(
                    "the last {} bytes are zero, from the middle of tensor `{}` on",
                    run.len, tensor.name
                );
                findings.push(ZERO_TAIL.at(run, message).tensor(&tensor.name).help("fetch the file again"));
            }
        }
        cx.checkpoint.findings.extend(findings);
        Ok(())
    }
}

/// The tensor in which the zeros begin and their end, if they look like bytes that were never written.
fn judge<'a>(
    tensors: &[(&'a TensorInfo, Span)],
    zeros: u64,
    data_start: u64,
) -> Option<(&'a TensorInfo, u64)> {
    let end = tensors.last()?.1.end();
    if end.saturating_sub(zeros) < SHORTEST || zeros <= data_start {
        return None;
    }
    let at = tensors.partition_point(|(_, span)| span.end() <= zeros);
    let (tensor, span) = tensors.get(at)?;
    let n_whole = tensors.len() - at;
    let inside = zeros.saturating_sub(span.start);
    let suspicious = if inside == 0 {
        // Whole tensors of zeros: one is a fresh bias, several in a row at the very end are not.
        n_whole > 2
    } else if n_whole > 1 {
        true
    } else {
        // Within the last tensor: the last rows of a vocabulary may be padding, a part of a row may not.
        let rows = tensor.view.shape.first().copied().unwrap_or(1).max(1);
        let row_len = span.len / rows;
        let at_row = rows > 1 && row_len > 0 && inside % row_len == 0;
        !at_row || (span.len - inside) > span.len / PADDING_SHARE
    };
    suspicious.then_some((*tensor, end))
}

/// Offset at which the zeros begin that run to `end`.
fn zero_start(cx: &CheckCx<'_>, source: SourceId, data_start: u64, end: u64) -> std::io::Result<u64> {
    let io = cx.checkpoint.sources.io(source);
    let floor = data_start.max(end.saturating_sub(FARTHEST));
    let mut buf = vec![0; 64 << 10];
    let mut at = end;
    while at > floor {
        let len = (at - floor).min(buf.len() as u64);
        let block = &mut buf[..usize::try_from(len).unwrap_or(0)];
        io.read_at(at - len, block)?;
        if let Some(last) = block.iter().rposition(|byte| *byte != 0) {
            return Ok(at - len + last as u64 + 1);
        }
        at -= len;
    }
    Ok(floor)
}
