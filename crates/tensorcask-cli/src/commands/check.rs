//! `check`, `verify` and `scan`: one pass, shown through the question that was asked.

use super::{Exit, Targets, options};
use crate::{
    args::{JudgeArgs, VerifyArgs},
    progress::Bar,
    render::{Out, json, sarif, text},
    report::{Answer, Failure, Question, Report},
};
use anyhow::Result;
use std::io::Write;
use tensorcask::{
    Error, OpenOptions, Severity,
    ops::{VerifyOptions, verify as verify_data},
};

/// `check PATH…`
pub(crate) fn check(args: &JudgeArgs, out: &mut Out) -> Result<Exit> {
    judge(args, Question::All, &Depth::Data, out)
}

/// `scan PATH…`
pub(crate) fn scan(args: &JudgeArgs, out: &mut Out) -> Result<Exit> {
    judge(args, Question::Harm, &Depth::Headers, out)
}

/// `verify PATH…`
pub(crate) fn verify(args: &VerifyArgs, out: &mut Out) -> Result<Exit> {
    let depth = match &args.against {
        Some(against) => {
            let other = options(&args.judge.reading).read(against)?;
            Depth::Against { other: Box::new(other), structure: args.structure }
        }
        None if args.structure => Depth::Headers,
        None => Depth::Data,
    };
    judge(&args.judge, Question::Whole, &depth, out)
}

/// How far the look goes.
enum Depth {
    /// What was seen when it was opened.
    Headers,
    /// Every byte that a check asks for.
    Data,
    /// The same, and a comparison with another checkpoint.
    Against { other: Box<tensorcask::Checkpoint>, structure: bool },
}

fn judge(args: &JudgeArgs, question: Question, depth: &Depth, out: &mut Out) -> Result<Exit> {
    let options = options(&args.reading);
    let targets = Targets::find(&args.paths, &options);
    let (is_one, skipped) = (targets.is_one(), targets.skipped);
    let mut answers = Vec::new();
    for item in targets.items {
        let path = item.path.clone();
        match look(item, &options, question, depth) {
            Ok(report) => answers.push(Answer::Report(report)),
            Err(error) if is_one => return Err(error.into()),
            Err(error) => answers.push(Answer::Failed(Failure::new(&path, &error))),
        }
    }
    if args.sarif {
        sarif::write(out, &answers)?;
    } else if args.talk.json {
        json::document(out, &json::Results::new(&answers))?;
    } else if !args.talk.quiet {
        let mut tally = text::Tally::new(question);
        let least = args.fail_on.min(Severity::Warning);
        for answer in &answers {
            text::answer(out, answer, least, args.talk.verbose)?;
            writeln!(out)?;
            tally.add(answer);
        }
        writeln!(out, "{}", tally.line(skipped))?;
    }
    Ok(exit(&answers, args.fail_on))
}

fn look(
    item: super::Item,
    options: &OpenOptions,
    question: Question,
    depth: &Depth,
) -> Result<Report, Error> {
    let mut checkpoint = item.read(options)?;
    let how = match depth {
        Depth::Headers => None,
        Depth::Data => Some(VerifyOptions::default()),
        Depth::Against { other, structure } => {
            Some(VerifyOptions { structure_only: *structure, against: Some(other) })
        }
    };
    if let Some(how) = how {
        let bar = Bar::new();
        verify_data(&mut checkpoint, &how, &bar)?;
    }
    Ok(Report::new(&checkpoint, question))
}

fn exit(answers: &[Answer], fail_on: Severity) -> Exit {
    let findings =
        answers.iter().any(|answer| matches!(answer, Answer::Report(report) if report.reaches(fail_on)));
    let unfinished = answers.iter().any(|answer| match answer {
        Answer::Report(report) => report.is_incomplete(),
        Answer::Failed(_) => true,
    });
    Exit::of(findings, unfinished)
}
