//! `explain RULE`: what a rule means, from the same text as the documentation.

use super::Exit;
use crate::{
    args::ExplainArgs,
    render::{BOLD, Out, json, text::colour},
};
use anyhow::Result;
use serde::Serialize;
use std::io::Write;
use tensorcask::{Error, Rule, rules};

/// `explain [RULE]`
pub(crate) fn run(args: &ExplainArgs, out: &mut Out) -> Result<Exit> {
    let Some(wanted) = &args.rule else {
        if args.json {
            #[derive(Serialize)]
            struct Document<'a> {
                schema: u32,
                rules: Vec<Row<'a>>,
            }
            let rules = rules::all().map(Row::new).collect();
            json::document(out, &Document { schema: json::SCHEMA, rules })?;
        } else {
            for rule in rules::all() {
                let severity = out.paint(colour(rule.severity), format_args!("{:<8}", rule.severity.name()));
                writeln!(out, "{}  {severity}  {:<11}  {}", rule.code, rule.category.name(), rule.slug)?;
            }
        }
        return Ok(Exit::Done);
    };
    let rule = rules::find(wanted).ok_or_else(|| {
        Error::usage(format!("there is no rule `{wanted}`"), "`tensorcask explain` lists every rule")
    })?;
    if args.json {
        #[derive(Serialize)]
        struct Document<'a> {
            schema: u32,
            rule: Row<'a>,
        }
        json::document(out, &Document { schema: json::SCHEMA, rule: Row::new(rule) })?;
        return Ok(Exit::Done);
    }
    let head = out.paint(BOLD, format_args!("{} {}", rule.code, rule.slug));
    let severity = out.paint(colour(rule.severity), rule.severity.name());
    writeln!(out, "{head}\n{}, usually {severity}\n", rule.category.name())?;
    for line in wrapped(rule.doc) {
        writeln!(out, "{line}")?;
    }
    if !rule.rows.is_empty() {
        writeln!(out, "\nanswers: {}", rule.rows.join(", "))?;
    }
    Ok(Exit::Done)
}

/// A rule, in the form of the document.
#[derive(Serialize)]
struct Row<'a> {
    code: &'a str,
    slug: &'a str,
    category: &'a str,
    severity: &'a str,
    rows: &'a [&'a str],
    doc: &'a str,
}

impl<'a> Row<'a> {
    fn new(rule: &'a Rule) -> Self {
        Row {
            code: rule.code,
            slug: rule.slug,
            category: rule.category.name(),
            severity: rule.severity.name(),
            rows: rule.rows,
            doc: rule.doc,
        }
    }
}

/// Lines of at most 88 characters; a line end in the text stays.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > 88 {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}
