//! SARIF 2.1.0 (OASIS Standard, 2020): findings for code hosts.
//!
//! Each file is an artifact, each span a byte region. A path that gave no answer is a notification of the run.

use super::json;
use crate::report::{Answer, Report, Row};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
    path::Path,
};
use tensorcask::{Rule, Severity};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Writes all answers as one run.
pub(crate) fn write(out: &mut impl Write, answers: &[Answer]) -> io::Result<()> {
    json::document(out, &document(answers))
}

fn document(answers: &[Answer]) -> Value {
    let reports = || {
        answers.iter().filter_map(|answer| match answer {
            Answer::Report(report) => Some(report),
            Answer::Failed(_) => None,
        })
    };
    let rows = reports().flat_map(|report| &report.findings);
    let rules: BTreeMap<&str, &Rule> = rows.map(|row| (row.rule.code, row.rule)).collect();
    let index: BTreeMap<&str, usize> =
        rules.keys().enumerate().map(|(position, code)| (*code, position)).collect();
    let results: Vec<Value> =
        reports().flat_map(|report| report.findings.iter().map(|row| result(report, row, &index))).collect();
    let notifications: Vec<Value> = answers.iter().filter_map(notification).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "tensorcask",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.values().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
            }},
            "columnKind": "utf16CodeUnits",
            "invocations": [{
                "executionSuccessful": notifications.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
            "properties": {"verdicts": reports().map(verdict).collect::<Vec<_>>()},
        }],
    })
}

fn descriptor(rule: &Rule) -> Value {
    let short = rule.doc.split_inclusive(". ").next().unwrap_or(rule.doc).trim_end();
    json!({
        "id": rule.code,
        "name": rule.slug,
        "shortDescription": {"text": short},
        "fullDescription": {"text": rule.doc},
        "help": {"text": rule.doc},
        "defaultConfiguration": {"level": level(rule.severity)},
        "properties": {"category": rule.category.name(), "severity": rule.severity.name()},
    })
}

fn result(report: &Report, row: &Row, index: &BTreeMap<&str, usize>) -> Value {
    let mut place = json!({"artifactLocation": {"uri": uri(report, row)}});
    // The format counts with signed 64 bits.
    if let (Some(Ok(offset)), Some(Ok(length))) =
        (row.offset.map(i64::try_from), row.length.map(i64::try_from))
    {
        place["region"] = json!({"byteOffset": offset, "byteLength": length});
    }
    let mut location = json!({"physicalLocation": place});
    let members = row.chain.iter().map(|member| json!({"fullyQualifiedName": member, "kind": "member"}));
    let tensor = row.tensor.iter().map(|tensor| json!({"fullyQualifiedName": tensor, "kind": "tensor"}));
    let logical: Vec<Value> = members.chain(tensor).collect();
    if !logical.is_empty() {
        location["logicalLocations"] = logical.into();
    }
    let text = row
        .help
        .as_ref()
        .map_or_else(|| row.message.clone(), |help| format!("{}\nhelp: {help}", row.message));
    json!({
        "ruleId": row.rule.code,
        "ruleIndex": index.get(row.rule.code),
        "level": level(row.severity),
        "message": {"text": text},
        "locations": [location],
        "properties": {"severity": row.severity.name(), "subject": row.subject},
    })
}

fn notification(answer: &Answer) -> Option<Value> {
    let Answer::Failed(failed) = answer else { return None };
    Some(json!({
        "level": "error",
        "message": {"text": failed.error.message},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": encoded(&failed.path)}}}],
        "descriptor": {"id": failed.error.kind},
    }))
}

fn verdict(report: &Report) -> Value {
    json!({
        "path": report.path,
        "format": report.format,
        "security": report.security.map(tensorcask::ops::Security::name),
        "structure": report.structure.map(tensorcask::ops::Structure::name),
        "identity": report.identity.map(tensorcask::ops::Identity::name),
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// The file of a finding as a URI reference: relative if the path of the command line is.
fn uri(report: &Report, row: &Row) -> String {
    let path = Path::new(&report.path);
    let own = path.file_name().is_some_and(|name| name.to_string_lossy() == row.file);
    // A finding names a file relative to the folder; a finding about a single file names the file itself.
    let file = match path.is_dir() {
        _ if row.file.is_empty() || own => path.to_owned(),
        true => path.join(&row.file),
        false => path.with_file_name(&row.file),
    };
    encoded(&file.to_string_lossy())
}

/// Percent-encoding of everything that RFC 3986 does not let stand in a path.
fn encoded(path: &str) -> String {
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() };
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into());
            }
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Failure, Question};
    use tensorcask::{Bytes, Error, OpenOptions};

    #[test]
    fn the_document_is_sarif() {
        // A header of two bytes, `{}`, and a byte that belongs to no tensor.
        let bytes = Bytes::new([&2u64.to_le_bytes()[..], b"{}", b"\0"].concat());
        let checkpoint = OpenOptions::new().read_bytes("a b.safetensors", bytes).unwrap();
        let report = Report::new(&checkpoint, Question::All);
        let failure = Failure::new(Path::new("gone"), &Error::usage("nothing there", "look elsewhere"));
        let text = document(&[Answer::Report(report), Answer::Failed(failure)]).to_string();
        let parsed: serde_sarif::sarif::Sarif = serde_json::from_str(&text).unwrap();
        let run = &parsed.runs[0];
        let results = run.results.as_ref().unwrap();
        let trailing = results.iter().find(|result| result.rule_id.as_deref() == Some("ST027")).unwrap();
        let place = trailing.locations.as_ref().unwrap()[0].physical_location.as_ref().unwrap();
        assert_eq!(place.region.as_ref().unwrap().byte_offset, Some(10));
        assert_eq!(place.artifact_location.as_ref().unwrap().uri.as_deref(), Some("a%20b.safetensors"));
        let rules = run.tool.driver.rules.as_ref().unwrap();
        let rule = &rules[usize::try_from(trailing.rule_index.unwrap()).unwrap()];
        assert_eq!(rule.id, "ST027");
        assert!(!run.invocations.as_ref().unwrap()[0].execution_successful);
    }
}
