//! Is it whole, and is it what it should be? Headers were judged when the checkpoint was opened; this looks at the data.

use super::Progress;
use crate::{
    checkpoint::{Checkpoint, Comparison},
    checks,
    core::{Budget, Error, Result, Rule, rule},
    ops::diff::diff,
    source::{FolderRoot, NoRoot},
};

static CONTENT_DIFFERS: Rule = rule!("ID001" "content-differs" Integrity Error [] "The weights are not those of the checkpoint that was named with `--against`. `tensorcask diff` shows every difference.");

pub(crate) static RULES: &[&Rule] = &[&CONTENT_DIFFERS];

/// How far `verify` goes.
#[derive(Clone, Copy, Default)]
pub struct VerifyOptions<'a> {
    /// Stop at headers.
    pub structure_only: bool,
    /// Compare the weights with this checkpoint.
    pub against: Option<&'a Checkpoint>,
}

/// Looks at the data and adds what it finds to the checkpoint's findings.
///
/// # Errors
/// When the data cannot be read.
pub fn verify(
    checkpoint: &mut Checkpoint,
    options: &VerifyOptions<'_>,
    progress: &dyn Progress,
) -> Result<()> {
    if !options.structure_only {
        let budget = Budget::new(checkpoint.limits.clone());
        let path = checkpoint.path.clone();
        if path.is_dir() || checkpoint.shard_map.is_some() {
            let folder = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(&path) };
            let root = FolderRoot::new(folder, checkpoint.links, false, None)
                .map_err(|error| Error::io(folder, error))?;
            checks::data(checkpoint, &root, &budget)?;
        } else {
            checks::data(checkpoint, &NoRoot, &budget)?;
        }
    }
    if let Some(other) = options.against {
        let difference = diff(checkpoint, other, progress)?;
        // Metadata is no part of the weights' identity.
        let equal =
            difference.only_a.is_empty() && difference.only_b.is_empty() && difference.changed.is_empty();
        if !equal {
            let (a, b, changed) =
                (difference.only_a.len(), difference.only_b.len(), difference.changed.len());
            let other = other.path.display();
            let message = format!(
                "the weights differ from `{other}`: {changed} tensors changed, {a} only here, {b} only there"
            );
            let finding = CONTENT_DIFFERS.found(crate::core::Place::Whole, message);
            checkpoint
                .findings
                .push(finding.help(format!("`tensorcask diff` shows every difference to `{other}`")));
        }
        checkpoint.compared = Some(Comparison { equal, evidence: "given" });
    }
    Ok(())
}
