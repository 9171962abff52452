//! Protobuf messages have no magic: the fields of the outermost message tell, if they fill the file.

use super::Seen;
use crate::format::Head;

/// Longest tag and length in front of a field.
const FIELD_HEAD: usize = 20;
/// Fields of the outermost message that are stepped over. Real models have below 100, and a look beyond the head is
/// metered besides.
const FIELDS: usize = 4_096;

/// One field: its number, wire type, value of a varint, and where its bytes lie.
struct Field {
    number: u64,
    wire: u64,
    value: u64,
    start: u64,
    end: u64,
}

/// ONNX, `ModelProto`: an IR version and a graph, and nothing that the message does not define.
pub(super) fn onnx(head: &Head<'_>) -> Option<Seen> {
    const KNOWN: &[(u64, u64)] =
        &[(1, 0), (2, 2), (3, 2), (4, 2), (5, 0), (6, 2), (7, 2), (8, 2), (14, 2), (20, 2), (25, 2), (26, 2)];
    let (fields, whole) = outer_fields(head);
    let known = |field: &Field| KNOWN.contains(&(field.number, field.wire));
    let version = fields
        .iter()
        .find(|field| field.number == 1)
        .map(|field| field.value)
        .filter(|version| (1..=0x3f).contains(version))?;
    let graph = fields.iter().find(|field| field.number == 7)?;
    let inner = field_at(head, graph.start)?;
    let is_graph = inner.wire == 2 && matches!(inner.number, 1 | 2 | 5 | 10..=16);
    // A file that was cut inside its graph is still ONNX when its name says so.
    let fits = fields.iter().all(known) && is_graph && (whole || head.extension() == "onnx");
    fits.then(|| Seen::magic(graph.start).version(version).detail(format!("(IR version {version})")))
}

/// Core ML, `Model`: a specification version, a description and one kind of model.
pub(super) fn coreml(head: &Head<'_>) -> Option<Seen> {
    let (fields, whole) = outer_fields(head);
    let version = fields.iter().find(|field| field.number == 1 && field.wire == 0)?.value;
    let described = fields.iter().any(|field| field.number == 2 && field.wire == 2);
    let kinds = fields.iter().filter(|field| (200..=3_000).contains(&field.number)).count();
    let known =
        fields.iter().all(|field| matches!((field.number, field.wire), (1 | 10, 0) | (2 | 200..=3_000, 2)));
    let fits = known
        && described
        && kinds == 1
        && (1..=64).contains(&version)
        && (whole || head.extension() == "mlmodel");
    fits.then(|| Seen::magic(2).version(version).detail(format!("(specification version {version})")))
}

/// TensorFlow, `SavedModel`: a schema version of 1 and meta graphs.
pub(super) fn saved_model(head: &Head<'_>) -> Option<Seen> {
    let (fields, _) = outer_fields(head);
    let [version, graph, ..] = fields.as_slice() else { return None };
    let inner = field_at(head, graph.start)?;
    let fits = (version.number, version.wire, version.value) == (1, 0, 1)
        && (graph.number, graph.wire) == (2, 2)
        && inner.wire == 2
        && matches!(inner.number, 1 | 2)
        && head.extension() == "pb";
    fits.then(|| Seen::magic(2))
}

/// TensorFlow, `GraphDef`: nodes, each with a name and an operation.
pub(super) fn graph_def(head: &Head<'_>) -> Option<Seen> {
    let node =
        field_at(head, 0).filter(|field| (field.number, field.wire) == (1, 2) && head.extension() == "pb")?;
    let name = field_at(head, node.start).filter(|field| (field.number, field.wire) == (1, 2))?;
    let operation = field_at(head, name.end).filter(|field| (field.number, field.wire) == (2, 2))?;
    let printable = |field: &Field| {
        let len = field.end.checked_sub(field.start).and_then(|len| usize::try_from(len).ok());
        let text = len.filter(|len| (1..=1_024).contains(len)).and_then(|len| head.peek(field.start, len));
        text.is_some_and(|text| text.iter().all(u8::is_ascii_graphic))
    };
    (operation.end <= node.end && printable(&name) && printable(&operation)).then(|| Seen::magic(2))
}

/// The fields of the outermost message, and whether they end where the file ends.
fn outer_fields(head: &Head<'_>) -> (Vec<Field>, bool) {
    let (mut fields, mut at) = (Vec::new(), 0);
    while at < head.len && fields.len() < FIELDS {
        let Some(field) = field_at(head, at) else { break };
        at = field.end;
        fields.push(field);
    }
    (fields, at == head.len)
}

/// The field at `at`; one that is longer than the file ends behind it.
fn field_at(head: &Head<'_>, at: u64) -> Option<Field> {
    let here = usize::try_from(at).ok().and_then(|at| head.bytes.get(at..));
    let enough = |bytes: &&[u8]| bytes.len() >= FIELD_HEAD || head.bytes.len() as u64 == head.len;
    let far;
    let bytes = if let Some(bytes) = here.filter(enough) {
        bytes
    } else {
        let len = head.len.checked_sub(at)?.min(FIELD_HEAD as u64);
        far = head.peek(at, usize::try_from(len).ok()?)?;
        far.as_slice()
    };
    let (tag, rest) = varint(bytes)?;
    let (number, wire) = (tag >> 3, tag & 7);
    let (value, after) = if wire == 0 || wire == 2 { varint(rest)? } else { (0, rest) };
    let start = at.checked_add(bytes.len().checked_sub(after.len())? as u64)?;
    let len = match wire {
        0 => 0,
        1 => 8,
        2 => value,
        5 => 4,
        _ => return None,
    };
    Some(Field { number, wire, value, start, end: start.checked_add(len)? }).filter(|field| field.number != 0)
}

/// A number in groups of seven bits, lowest first, and what follows it.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let len = bytes.iter().take(10).position(|byte| *byte < 0x80)?.checked_add(1)?;
    let (number, rest) = bytes.split_at_checked(len)?;
    let value = number.iter().rev().fold(0_u64, |value, byte| value.wrapping_shl(7) | u64::from(byte & 0x7f));
    Some((value, rest))
}
