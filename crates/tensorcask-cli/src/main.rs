//! The `tensorcask` command: a thin front end over the library. It knows no format.

mod args;
mod commands;
mod progress;
mod render;
mod report;

use args::{Cli, Command};
use clap::{Parser, error::ErrorKind};
use commands::Exit;
use render::{
    Out, json,
    numbers::{escape, message},
    say, text,
};
use report::ErrorRow;
use std::{
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
};
use tensorcask::Severity;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let mut out = Out::stdout();
    let exit = match Cli::try_parse_from(&arguments) {
        Ok(cli) => {
            let (json, quiet) = says(&cli.command);
            run(cli.command, &mut out).unwrap_or_else(|error| complain(&error, json, quiet, &mut out))
        }
        Err(error) => usage(&error, &arguments, &mut out),
    };
    ExitCode::from(exit as u8)
}

fn run(command: Command, out: &mut Out) -> anyhow::Result<Exit> {
    let exit = match command {
        Command::Check(args) => commands::check::check(&args, out),
        Command::Verify(args) => commands::check::verify(&args, out),
        Command::Scan(args) => commands::check::scan(&args, out),
        Command::Inspect(args) => commands::inspect::run(&args, out),
        Command::Convert(args) => commands::convert::run(&args, out),
        Command::Diff(args) => commands::diff::run(&args, out),
        Command::Hash(args) => commands::hash::run(&args, out),
        Command::Explain(args) => commands::explain::run(&args, out),
        Command::Formats(args) => commands::formats::run(&args, out),
        Command::Completions(args) => commands::completions::run(&args, out),
    }?;
    out.flush()?;
    Ok(exit)
}

/// Whether a command was asked for JSON, and whether for no text.
fn says(command: &Command) -> (bool, bool) {
    let talk = match command {
        Command::Check(args) | Command::Scan(args) => args.talk,
        Command::Verify(args) => args.judge.talk,
        Command::Inspect(args) => args.talk,
        Command::Convert(args) => args.talk,
        Command::Diff(args) => args.talk,
        Command::Hash(args) => args.talk,
        Command::Explain(args) => return (args.json, false),
        Command::Formats(args) => return (args.json, false),
        Command::Completions(_) => return (false, false),
    };
    (talk.json, talk.quiet)
}

/// Says why a job ended: a document on standard output if one was asked for, and lines on standard error.
fn complain(error: &anyhow::Error, json: bool, quiet: bool, out: &mut Out) -> Exit {
    if is_closed_pipe(error) {
        return Exit::Done;
    }
    let row = commands::error_row(error).unwrap_or_else(|| ErrorRow {
        kind: "io",
        message: format!("{error:#}"),
        path: None,
        help: None,
        findings: Vec::new(),
    });
    say(format_args!("error: {}", message(&row.message)));
    if let Some(help) = row.help.as_ref().filter(|_| row.findings.is_empty()) {
        say(format_args!("help: {}", message(help)));
    }
    let exit = if row.kind == "rejected" { Exit::Findings } else { Exit::Unfinished };
    let written = if json {
        json::document(out, &json::Failed::new(row))
    } else if quiet {
        Ok(())
    } else {
        text::findings(out, &row.findings, Severity::Warning, false)
    };
    // Standard output that cannot be written was the error, or does not matter any more.
    let _ = written.and_then(|()| out.flush());
    exit
}

/// Who reads the output may stop reading.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Help and version go to standard output; what is wrong with the arguments goes to standard error, and with `--json` is
/// a document too.
fn usage(error: &clap::Error, arguments: &[OsString], out: &mut Out) -> Exit {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let text = out.help(error);
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        return Exit::Done;
    }
    let _ = error.print();
    if arguments.iter().any(|argument| argument == "--json") {
        let text = error.to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let help = Some(
            "`tensorcask help` lists the commands and `tensorcask COMMAND --help` their flags".to_owned(),
        );
        let row = ErrorRow {
            kind: "usage",
            message: escape(&message).into(),
            path: None,
            help,
            findings: Vec::new(),
        };
        let _ = json::document(out, &json::Failed::new(row)).and_then(|()| out.flush());
    }
    Exit::Unfinished
}
