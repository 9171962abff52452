//! Findings and verdicts for people: a header line, the place, a row of bytes around it, one action.

use super::{
    BOLD, CYAN, DIM, GREEN, Out, RED, YELLOW,
    numbers::{count, counted, escape, message, name, size},
};
use crate::report::{Answer, Failure, Hex, Question, Report, Row};
use anstyle::Style;
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
};
use tensorcask::{
    Severity,
    ops::{Identity, Security, Structure},
};

/// Findings of one rule that are shown before the rest is counted.
const SHOWN_PER_RULE: u64 = 10;

/// Writes one path's answer.
pub(crate) fn answer(out: &mut Out, answer: &Answer, least: Severity, verbose: bool) -> io::Result<()> {
    match answer {
        Answer::Report(report) => self::report(out, report, least, verbose),
        Answer::Failed(failed) => failure(out, failed),
    }
}

fn report(out: &mut Out, report: &Report, least: Severity, verbose: bool) -> io::Result<()> {
    let facts = &report.facts;
    let verdict = verdict(out, report);
    let path = out.paint(BOLD, escape(&report.path));
    writeln!(
        out,
        "{path}: {verdict} ({}, {}, {})",
        report.format,
        counted(facts.n_tensors, "tensor"),
        size(facts.bytes)
    )?;
    if verbose {
        writeln!(out, "   = {} read", counted(facts.n_files, "file"))?;
    }
    for unread in &facts.unread {
        writeln!(out, "   = not looked into: {}", name(unread))?;
    }
    findings(out, &report.findings, least, verbose)
}

/// Writes findings of severity `least` and above; the others are counted.
pub(crate) fn findings(out: &mut Out, rows: &[Row], least: Severity, verbose: bool) -> io::Result<()> {
    let least = if verbose { Severity::Note } else { least };
    let mut hidden: BTreeMap<&str, u64> = BTreeMap::new();
    let mut of_rule: BTreeMap<&str, u64> = BTreeMap::new();
    let mut n_low = 0;
    for row in rows {
        if row.severity < least {
            n_low += 1;
            continue;
        }
        let seen = of_rule.entry(row.rule.code).or_default();
        *seen += 1;
        if *seen > SHOWN_PER_RULE && !verbose {
            *hidden.entry(row.rule.code).or_default() += 1;
        } else {
            finding(out, row)?;
        }
    }
    for (code, n) in hidden {
        writeln!(out, "{} more of {code}: shown with `-v`", count(n))?;
    }
    if n_low > 0 {
        writeln!(out, "   = {}: shown with `-v`", counted(n_low, "note"))?;
    }
    Ok(())
}

fn finding(out: &mut Out, row: &Row) -> io::Result<()> {
    let head = out.paint(colour(row.severity), format_args!("{}[{}]", row.severity.name(), row.rule.code));
    let text = out.paint(BOLD, message(&row.message));
    writeln!(out, "{head}: {text}")?;
    if !row.file.is_empty() {
        let mut place = name(&row.file).into_owned();
        for member in &row.chain {
            let _ = write!(place, " > {}", name(member));
        }
        let bytes = match (row.offset, row.length) {
            (Some(start), Some(len)) => format!(" @ {start:#x}..{:#x}", start.saturating_add(len)),
            _ => String::new(),
        };
        writeln!(out, "  --> {place}{bytes}")?;
    }
    if let Some(bytes) = &row.bytes {
        hex(out, bytes, row)?;
    }
    if let Some(tensor) = &row.tensor {
        writeln!(out, "   = tensor: {}", name(tensor))?;
    }
    if let Some(help) = &row.help {
        writeln!(out, "   = help: {}", message(help))?;
    }
    Ok(())
}

/// Sixteen bytes as numbers and as text, with marks under those that the finding is about.
fn hex(out: &mut Out, hex: &Hex, row: &Row) -> io::Result<()> {
    let mut numbers = String::new();
    for byte in &hex.bytes {
        let _ = write!(numbers, " {byte:02x}");
    }
    let text: String = hex
        .bytes
        .iter()
        .map(|byte| if matches!(byte, b' '..=b'~') { char::from(*byte) } else { '.' })
        .collect();
    // Inside a decoded member the offset counts from the member's start, and the label says so by its sign.
    let label = if row.offset.is_some() { format!("{:#x}", hex.start) } else { format!("+{:#x}", hex.start) };
    let line = out.paint(DIM, format_args!("   | {label} {numbers:<48}  {text}"));
    writeln!(out, "{line}")?;
    // Marks under every byte would say nothing.
    if !hex.marked.is_empty() && hex.marked.len() < hex.bytes.len() {
        let before = 3 * hex.marked.start + 1;
        let marks = "^^ ".repeat(hex.marked.len());
        let marks = out.paint(colour(row.severity), marks.trim_end());
        writeln!(out, "   | {:label_width$} {:before$}{marks}", "", "", label_width = label.len())?;
    }
    Ok(())
}

/// Writes a path that gave no answer.
pub(crate) fn failure(out: &mut Out, failed: &Failure) -> io::Result<()> {
    let path = out.paint(BOLD, escape(&failed.path));
    let head = out.paint(RED, format_args!("failed ({})", failed.error.kind));
    writeln!(out, "{path}: {head}")?;
    writeln!(out, "   = {}", message(&failed.error.message))?;
    if let Some(help) = &failed.error.help {
        writeln!(out, "   = help: {}", message(help))?;
    }
    Ok(())
}

fn verdict(out: &Out, report: &Report) -> String {
    let mut words = Vec::new();
    if let Some(security) = report.security {
        let style = match security {
            Security::Clean => GREEN,
            Security::Dangerous => RED,
            _ => YELLOW,
        };
        words.push(format!("security {}", out.paint(style, security.name())));
    }
    if let Some(structure) = report.structure {
        let style = match structure {
            Structure::Ok => GREEN,
            Structure::Broken => RED,
            Structure::Incomplete => YELLOW,
        };
        words.push(format!("structure {}", out.paint(style, structure.name())));
    }
    if let Some(identity) = report.identity {
        let style = match identity {
            Identity::Matched => GREEN,
            Identity::Mismatched => RED,
            Identity::Unknown => Style::new(),
        };
        let evidence = report.identity_evidence.map(|evidence| format!(" ({evidence})")).unwrap_or_default();
        words.push(format!("identity {}{evidence}", out.paint(style, identity.name())));
    }
    words.join(", ")
}

/// The colour of a severity; the word stands beside it.
pub(crate) fn colour(severity: Severity) -> Style {
    match severity {
        Severity::Critical | Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Note => CYAN,
    }
}

/// What the answers add up to.
pub(crate) struct Tally {
    question: Question,
    results: u64,
    clean: u64,
    suspicious: u64,
    dangerous: u64,
    broken: u64,
    mismatched: u64,
    incomplete: u64,
    failed: u64,
}

impl Tally {
    pub(crate) fn new(question: Question) -> Self {
        let (results, clean, suspicious, dangerous, broken, mismatched, incomplete, failed) =
            Default::default();
        Tally { question, results, clean, suspicious, dangerous, broken, mismatched, incomplete, failed }
    }

    pub(crate) fn add(&mut self, answer: &Answer) {
        self.results += 1;
        match answer {
            Answer::Report(report) => {
                self.clean += u64::from(report.is_clean());
                self.suspicious += u64::from(report.security == Some(Security::Suspicious));
                self.dangerous += u64::from(report.security == Some(Security::Dangerous));
                self.broken += u64::from(report.structure == Some(Structure::Broken));
                self.mismatched += u64::from(report.identity == Some(Identity::Mismatched));
                self.incomplete += u64::from(report.says_incomplete());
            }
            Answer::Failed(_) => self.failed += 1,
        }
    }

    /// `4 results: 1 clean, 0 suspicious, 1 dangerous, 2 broken, 0 incomplete, 1 skipped`
    pub(crate) fn line(&self, skipped: u64) -> String {
        let columns = [
            (true, self.clean, "clean"),
            (self.question.asks_harm(), self.suspicious, "suspicious"),
            (self.question.asks_harm(), self.dangerous, "dangerous"),
            (self.question.asks_whole(), self.broken, "broken"),
            (self.mismatched > 0, self.mismatched, "mismatched"),
            (true, self.incomplete, "incomplete"),
            (self.failed > 0, self.failed, "failed"),
            (true, skipped, "skipped"),
        ];
        let words: Vec<_> = columns
            .iter()
            .filter(|column| column.0)
            .map(|(_, n, word)| format!("{} {word}", count(*n)))
            .collect();
        format!("{}: {}", counted(self.results, "result"), words.join(", "))
    }
}
