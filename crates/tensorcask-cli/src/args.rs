//! The command line as one definition: help, usage errors and completions come from it.

use crate::render::numbers::parse_size;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use tensorcask::{Limits, Severity};

/// Open any weight file without executing anything in it.
///
/// Says what a file or folder really is, whether it is whole, whether opening it can harm, and what differs; writes the
/// same weights in another layout, with proof.
///
/// A PATH is a file, a folder or a shard index. What it is gets decided by its content, never by its name alone.
#[derive(Parser, Debug)]
#[command(name = "tensorcask", version, max_term_width = 100, after_help = MAIN_EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const MAIN_EXAMPLES: &str = "\
Exit status: 0 nothing at or above --fail-on, 1 findings, 2 the job could not be finished

Examples:
  tensorcask check model/
  tensorcask inspect model.safetensors --tree
  tensorcask convert model.safetensors shards/ --max-shard-size 5GB";

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Whether it is whole and whether opening it can harm: verify and scan in one pass
    ///
    /// Reports everything that `verify` and `scan` report, with one verdict a checkpoint.
    #[command(after_help = "\
Examples:
  tensorcask check model/
  tensorcask check --json --fail-on warning downloads/
  tensorcask check --sarif model.safetensors > findings.sarif")]
    Check(JudgeArgs),

    /// Whether it is whole and what it should be: headers, shards, index, sidecars, data
    #[command(after_help = "\
Examples:
  tensorcask verify model/
  tensorcask verify --structure model.safetensors
  tensorcask verify shards/ --against model.safetensors")]
    Verify(VerifyArgs),

    /// Whether opening it can harm
    ///
    /// Nothing that a file names is executed, imported or resolved.
    #[command(after_help = "\
Examples:
  tensorcask scan downloads/
  tensorcask scan --json pytorch_model.bin")]
    Scan(JudgeArgs),

    /// What is in it: tensors, sizes, metadata, values
    #[command(after_help = "\
Examples:
  tensorcask inspect model.safetensors
  tensorcask inspect model/ --tree
  tensorcask inspect model.safetensors --tensor wte.weight --slice '0:4,:8'
  tensorcask inspect model.safetensors --metadata format")]
    Inspect(InspectArgs),

    /// Write the same weights in another layout, and prove that they are the same
    ///
    /// The target's format comes from its name or from --to. A target whose name ends like a file of a format is one
    /// file; any other name is a folder of shards with an index. Nothing appears under the target's name before the
    /// output was read back and every tensor's digest compared.
    #[command(after_help = "\
Examples:
  tensorcask convert model.safetensors shards/ --max-shard-size 5GB
  tensorcask convert shards/ merged.safetensors --receipt receipt.json
  tensorcask convert model.safetensors plain.safetensors --strip-prefix _orig_mod.
  tensorcask convert model.safetensors out.safetensors --rename 'model.layers.*=h.*' --dry-run")]
    Convert(ConvertArgs),

    /// Which tensors and metadata differ, across layouts and shardings
    ///
    /// The exit status is 0 when nothing differs, 1 when something does.
    #[command(after_help = "\
Examples:
  tensorcask diff model.safetensors shards/
  tensorcask diff --json before.safetensors after.safetensors")]
    Diff(DiffArgs),

    /// Identity of the weights: one root, the same in every layout and sharding
    #[command(after_help = "\
Examples:
  tensorcask hash model.safetensors
  tensorcask hash -v model/
  tensorcask hash --json model.safetensors shards/")]
    Hash(HashArgs),

    /// What a rule means, why it matters, what to do
    #[command(after_help = "\
Examples:
  tensorcask explain ST004
  tensorcask explain data-gap
  tensorcask explain")]
    Explain(ExplainArgs),

    /// Which formats this version reads, writes and recognises
    #[command(after_help = "\
Examples:
  tensorcask formats
  tensorcask formats --matrix")]
    Formats(FormatsArgs),

    /// Print a completion script for a shell
    #[command(after_help = "\
Examples:
  tensorcask completions bash > ~/.local/share/bash-completion/completions/tensorcask
  tensorcask completions fish > ~/.config/fish/completions/tensorcask.fish")]
    Completions(CompletionsArgs),
}

/// How files are read.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// Let a file ask for more, or for less, than usual; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = limit)]
    pub(crate) limit: Vec<(String, u64)>,
    /// Read every byte into own memory: a file that is cut short meanwhile is then an error, not a signal
    #[arg(long)]
    pub(crate) no_mmap: bool,
    /// Follow no symbolic link
    #[arg(long)]
    pub(crate) no_symlinks: bool,
}

/// How much is said.
#[derive(Args, Debug, Default, Clone, Copy)]
#[command(next_help_heading = "Output")]
pub(crate) struct Talk {
    /// Print one JSON document on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no text: only the exit status, and errors on standard error
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more: notes, every finding of a rule, every digest
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// Arguments of `check` and `scan`.
#[derive(Args, Debug)]
pub(crate) struct JudgeArgs {
    /// Files, folders or shard indexes
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The least severity that gives exit status 1: note, warning, error or critical
    #[arg(long, value_name = "LEVEL", default_value = "error", value_parser = severity)]
    pub(crate) fail_on: Severity,
    /// Print SARIF 2.1.0 on standard output, for code hosts
    #[arg(long, conflicts_with = "json")]
    pub(crate) sarif: bool,
    #[command(flatten)]
    pub(crate) talk: Talk,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// Stop at headers: read no tensor data
    #[arg(long)]
    pub(crate) structure: bool,
    /// Compare the weights with those of another checkpoint
    #[arg(long, value_name = "PATH")]
    pub(crate) against: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}

#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    /// Files, folders or shard indexes
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Show the names as a tree with sizes; equal layers are folded
    #[arg(long, group = "view", conflicts_with = "json")]
    pub(crate) tree: bool,
    /// Show the header as the file holds it
    #[arg(long, group = "view")]
    pub(crate) header: bool,
    /// Show one tensor: type, shape, place, digest, values
    #[arg(long, value_name = "NAME", group = "view")]
    pub(crate) tensor: Option<String>,
    /// The part of the tensor that is shown, in the notation of Python: `0:4,:` or `-1,::2`
    #[arg(long, value_name = "SLICE", requires = "tensor", allow_hyphen_values = true)]
    pub(crate) slice: Option<String>,
    /// Show one metadata value
    #[arg(long, value_name = "KEY", group = "view")]
    pub(crate) metadata: Option<String>,
    #[command(flatten)]
    pub(crate) talk: Talk,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    /// The checkpoint to read: a file, a folder or a shard index
    #[arg(value_name = "SRC")]
    pub(crate) source: PathBuf,
    /// The file or folder to write
    #[arg(value_name = "DST")]
    pub(crate) target: PathBuf,
    /// Format of the target, as `tensorcask formats` names it
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<String>,
    /// Tensor bytes of one shard at most, as in 5GB; a larger tensor gets a shard of its own
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_shard_size: Option<u64>,
    /// Replace the target if it is there; it stays whole until the new one is
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Say what would be written and what would be lost; write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write the proof as JSON: per tensor the digests of what was read, meant and written
    #[arg(long, value_name = "FILE")]
    pub(crate) receipt: Option<PathBuf>,
    /// Allow a loss, by the name that the refusal gives; may be repeated
    #[arg(long, value_name = "LOSS")]
    pub(crate) accept: Vec<String>,
    /// Write only the tensors that a pattern matches; may be repeated
    #[arg(long, value_name = "PATTERN", help_heading = "Tensors")]
    pub(crate) include: Vec<String>,
    /// Leave out the tensors that a pattern matches; may be repeated
    #[arg(long, value_name = "PATTERN", help_heading = "Tensors")]
    pub(crate) exclude: Vec<String>,
    /// Rename tensors; each * of OLD is carried over to NEW; may be repeated
    #[arg(long, value_name = "OLD=NEW", value_parser = rename, help_heading = "Tensors")]
    pub(crate) rename: Vec<(String, String)>,
    /// Take a prefix off the names that begin with it; may be repeated
    #[arg(long, value_name = "PREFIX", help_heading = "Tensors")]
    pub(crate) strip_prefix: Vec<String>,
    /// Leave spare room in each header for later edits in place
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "0", hide_default_value = true)]
    pub(crate) reserve: u64,
    #[command(flatten)]
    pub(crate) talk: Talk,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct DiffArgs {
    /// The first checkpoint
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// The second checkpoint
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    #[command(flatten)]
    pub(crate) talk: Talk,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct HashArgs {
    /// Files, folders or shard indexes
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) talk: Talk,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// Code or name of a rule, as in ST004 or data-gap; all rules are listed without it
    #[arg(value_name = "RULE")]
    pub(crate) rule: Option<String>,
    /// Print one JSON document on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct FormatsArgs {
    /// Show which command works on which format, and what converts to what
    #[arg(long)]
    pub(crate) matrix: bool,
    /// Print one JSON document on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

fn severity(text: &str) -> Result<Severity, String> {
    Severity::from_name(text).ok_or_else(|| "the levels are note, warning, error and critical".to_owned())
}

fn limit(text: &str) -> Result<(String, u64), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, as in header_bytes=250MB")?;
    let value = parse_size(value)?;
    if !Limits::default().set(name, value) {
        let names: Vec<_> = tensorcask::core::Limit::ALL.iter().map(|limit| limit.name()).collect();
        return Err(format!("there is no limit `{name}`; the limits are {}", names.join(", ")));
    }
    Ok((name.to_owned(), value))
}

fn rename(text: &str) -> Result<(String, String), String> {
    let (old, new) = text.split_once('=').ok_or("write OLD=NEW, as in 'model.*=*'")?;
    Ok((old.to_owned(), new.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_argument_has_help_and_every_command_examples() {
        for command in Cli::command().get_subcommands() {
            assert!(command.get_after_help().is_some_and(|text| text.to_string().starts_with("Examples:\n")));
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
            }
        }
    }

    #[test]
    fn the_examples_of_the_help_are_valid() {
        let mut n_examples = 0;
        for command in Cli::command().get_subcommands() {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for example in text.lines().skip(1) {
                let line = example.split(" > ").next().unwrap_or_default().trim();
                let words = line.split_whitespace().map(|word| word.trim_matches('\''));
                assert!(Cli::try_parse_from(words).is_ok(), "{line}");
                n_examples += 1;
            }
        }
        assert!(n_examples > 20);
    }
}
