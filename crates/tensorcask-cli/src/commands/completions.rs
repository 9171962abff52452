//! `completions SHELL`: from the same definition as the help.

use super::Exit;
use crate::{
    args::{Cli, CompletionsArgs},
    render::Out,
};
use clap::CommandFactory;
use std::io::Write;

/// `completions SHELL`
pub(crate) fn run(args: &CompletionsArgs, out: &mut Out) -> anyhow::Result<Exit> {
    // The generator gives up hard on a write error, and a closed pipe is one: it writes into memory.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tensorcask", &mut script);
    out.write_all(&script)?;
    Ok(Exit::Done)
}
