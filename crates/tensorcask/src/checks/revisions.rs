//! Whether every file of a set was downloaded from one commit, as the downloader's notes say.

use super::{Check, CheckCx};
use crate::core::{Result, Rule, Text, rule};
use std::collections::BTreeMap;

pub(super) struct Revisions;

static MIXED_REVISIONS: Rule = rule!("SH017" "mixed-revisions" Integrity Error ["IX13"] "The downloader's notes (`.cache/huggingface/download`) name different commits for files of one set: the shards come from different revisions of the model and do not belong together. Fetch the folder again at one commit.");

/// Where a download into a plain folder keeps its notes (`huggingface_hub`, `--local-dir`).
const NOTES: &str = ".cache/huggingface/download";
/// Three short lines; anything longer is something else.
const LONGEST_NOTE: u64 = 4_096;

static RULES: &[&Rule] = &[&MIXED_REVISIONS];

impl Check for Revisions {
    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn headers(&self, cx: &mut CheckCx<'_>) -> Result<()> {
        // Nearly no folder has notes: one look at the folder costs less than one for each file.
        if cx.root.list(NOTES).is_err() {
            return Ok(());
        }
        let mut commits: BTreeMap<String, Text> = BTreeMap::new();
        for (_, source) in cx.checkpoint.sources.iter() {
            let Ok(note) = cx.root.open(&format!("{NOTES}/{}.metadata", source.name)) else { continue };
            let mut bytes = vec![0; usize::try_from(note.len().min(LONGEST_NOTE)).unwrap_or_default()];
            if note.read_at(0, &mut bytes).is_err() {
                continue;
            }
            let text = String::from_utf8_lossy(&bytes);
            let commit = text.lines().next().unwrap_or_default().trim();
            if commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                commits.entry(commit.to_owned()).or_insert_with(|| source.name.clone());
            }
        }
        if commits.len() > 1 {
            let list: Vec<_> =
                commits.iter().map(|(commit, file)| format!("`{file}` from {commit}")).collect();
            let message = format!("the files come from {} commits: {}", commits.len(), list.join(", "));
            let finding = MIXED_REVISIONS.found(super::WHOLE, message);
            cx.checkpoint.findings.push(finding.help("fetch the folder again at one commit"));
        }
        Ok(())
    }
}
