//! The finished output, opened with the ordinary reader before it gets its name.

use super::plan::Plan;
use crate::{
    checkpoint::Checkpoint,
    core::{Error, Limits, Result, Severity},
    open::OpenOptions,
    ops::{
        Progress,
        hash::{Digest, identity},
    },
};
use std::{collections::HashMap, path::Path};

/// Opens what was written, compares its table and metadata with the plan, and gives the digest (T) of each target as
/// it reads back.
pub(super) fn prove(plan: &Plan, staged: &Path, progress: &dyn Progress) -> Result<Vec<Digest>> {
    // Our own output: no limit for a stranger's file applies.
    let options = OpenOptions::new().limits(Limits::none());
    let ck = match &plan.files[..] {
        // A folder with one file in it is no set.
        [single] if plan.is_folder => options.read(staged.join(&single.name))?,
        _ => options.read(staged)?,
    };
    let positions = same_table(plan, &ck)?;
    let digests = identity(&ck, &Proving(progress))?.tensors;
    Ok(positions.into_iter().filter_map(|position| digests.get(position).copied()).collect())
}

/// Names the stage after what the hash is for.
struct Proving<'a>(&'a dyn Progress);

impl Progress for Proving<'_> {
    fn start(&self, _: &str, bytes: u64) {
        self.0.start("prove", bytes);
    }

    fn add(&self, bytes: u64) {
        self.0.add(bytes);
    }
}

/// For each target the position of the tensor in the output that has its name, type and shape.
fn same_table(plan: &Plan, ck: &Checkpoint) -> Result<Vec<usize>> {
    if let Some(finding) = ck.findings.iter().find(|finding| finding.severity >= Severity::Error) {
        return Err(failed(plan, &format!("{}: {}", finding.rule.slug, finding.message)));
    }
    if ck.tensors.len() != plan.targets.len() {
        let message = format!("it reads back with {} tensors, not {}", ck.tensors.len(), plan.targets.len());
        return Err(failed(plan, &message));
    }
    let by_name: HashMap<&str, usize> =
        ck.tensors.iter().enumerate().map(|(position, tensor)| (tensor.name.as_str(), position)).collect();
    let mut positions = Vec::new();
    for target in &plan.targets {
        let spec = &target.spec;
        let same = by_name.get(spec.name.as_str()).copied().filter(|position| {
            let tensor = ck.tensors.get(*position);
            tensor.is_some_and(|tensor| tensor.dtype == spec.dtype && tensor.view.shape == spec.shape)
        });
        positions.push(same.ok_or_else(|| {
            failed(
                plan,
                &format!(
                    "tensor `{}`, `{}` {}, does not read back as such",
                    spec.name, spec.dtype, spec.shape
                ),
            )
        })?);
    }
    for (key, value) in plan.metadata.iter().filter(|(_, value)| plan.destination.encoder.holds_value(value))
    {
        if ck.metadata_value(key) != Some(value) {
            return Err(failed(plan, &format!("metadata `{key}` does not read back")));
        }
    }
    Ok(positions)
}

/// The error of a proof that does not hold.
pub(super) fn failed(plan: &Plan, what: &str) -> Error {
    Error::Unsupported {
        path: plan.target.clone(),
        message: format!(
            "the finished output was opened again and is not what was planned: {what}; nothing was put in place"
        ),
    }
}
