//! Names that a wrapper left behind: `torch.compile` puts `_orig_mod` into the path, data parallelism puts `module` before it.

use super::{Check, CheckCx};
use crate::core::{Result, Rule, rule};

pub(super) struct Prefixes;

static WRAPPER_PREFIX: Rule = rule!("CK001" "wrapper-prefix" Structure Warning ["IX17"] "Tensor names carry the prefix of a training wrapper: `_orig_mod.` (torch.compile) or `module.` (data parallel). A model built without the wrapper finds none of these names; with `strict=False` it loads nothing and says nothing. Rename the tensors.");

/// What the compile wrapper puts into a path, at any depth.
const COMPILED: &str = "_orig_mod";
/// What the data-parallel wrapper puts in front.
const PARALLEL: &str = "module.";

static RULES: &[&Rule] = &[&WRAPPER_PREFIX];

impl Check for Prefixes {
    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn headers(&self, cx: &mut CheckCx<'_>) -> Result<()> {
        let finder = memchr::memmem::Finder::new(COMPILED);
        let n_names = cx.checkpoint.tensors.len();
        let mut compiled: Vec<(&str, usize)> = Vec::new();
        let (mut n_parallel, mut parallel) = (0, "");
        for name in cx.checkpoint.tensors.iter().map(|tensor| tensor.name.as_str()) {
            if name.starts_with(PARALLEL) {
                (n_parallel, parallel) = (n_parallel + 1, name);
            }
            // Nearly no name has it: the search costs less than taking the name apart.
            if finder.find(name.as_bytes()).is_some()
                && let Some(end) = end_of_part(name, COMPILED)
            {
                compiled.push((name, end));
            }
        }
        // Everything up to and with the last wrapper part is the prefix to be cut.
        let (n_hit, example, end) = match compiled.first() {
            Some((example, end)) => (compiled.len(), *example, *end),
            None if n_parallel * 2 > n_names => (n_parallel, parallel, PARALLEL.len()),
            None => return Ok(()),
        };
        let prefix = example.get(..end).unwrap_or_default().to_owned();
        let share = if n_hit == n_names { format!("all {n_names}") } else { format!("{n_hit} of {n_names}") };
        let kept = prefix.replace("_orig_mod.", "");
        let kept = kept.strip_prefix(PARALLEL).unwrap_or(&kept);
        let help = if kept.is_empty() {
            format!("mend it with `tensorcask convert SRC DST --strip-prefix {prefix}`")
        } else {
            format!("mend it with `tensorcask convert SRC DST --rename '{prefix}*={kept}*'`")
        };
        let message = format!("{share} tensor names carry the wrapper prefix `{prefix}`, as in `{example}`");
        let finding = WRAPPER_PREFIX.found(super::WHOLE, message).subject(prefix).help(help);
        cx.checkpoint.findings.push(finding);
        Ok(())
    }
}

/// Offset after the part `part.` of a dotted name, where it is a whole part.
fn end_of_part(name: &str, part: &str) -> Option<usize> {
    let mut end = 0;
    let mut found = None;
    for piece in name.split_inclusive('.') {
        end += piece.len();
        if piece.strip_suffix('.') == Some(part) {
            found = Some(end);
        }
    }
    found
}
