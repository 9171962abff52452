//! The finished output, opened with the ordinary reader before it gets its name.

use super::{
    lanes::in_order,
    plan::Plan,
    run::{Digests, read_and_hash},
    units::{Unit, Units, Work},
};
use crate::{
    checkpoint::Checkpoint,
    core::{Error, Limits, Result, TensorInfo},
    open::OpenOptions,
    ops::Progress,
};
use std::{collections::HashMap, path::Path};

/// Opens what was written and compares its table and metadata with the plan; the digests of its elements.
pub(super) fn prove(plan: &Plan, staged: &Path, progress: &dyn Progress) -> Result<Vec<[u8; 32]>> {
    // Our own output: no limit of a stranger's file applies.
    let ck = OpenOptions::new().limits(Limits::none()).read(staged)?;
    let by_name = same_table(plan, &ck)?;
    progress.start("prove", plan.targets.iter().map(|target| target.bytes).fold(0, u64::saturating_add));
    let mut digests = Digests::new(plan);
    let read = |unit: &Unit, buffer: &mut Vec<u8>| match &unit.work {
        Work::Bytes(_) => Ok(Vec::new()),
        Work::Tensors(parts) => read_and_hash(&ck, parts, buffer, |target| by_name.get(target).copied()),
    };
    let take = |unit: &Unit, hashes, bytes: &[u8]| {
        if let Work::Tensors(parts) = &unit.work {
            digests.take(parts, hashes);
        }
        progress.add(bytes.len() as u64);
        Ok(())
    };
    in_order(Units::new(&plan.files, &plan.targets), read, take)?;
    Ok(digests.elements)
}

/// For each target the tensor of the output that has its name, type and shape.
fn same_table<'c>(plan: &Plan, ck: &'c Checkpoint) -> Result<Vec<&'c TensorInfo>> {
    if let Some(finding) = ck.findings.iter().find(|finding| finding.severity >= crate::core::Severity::Error) {
        return Err(failed(plan, &format!("{}: {}", finding.rule.slug, finding.message)));
    }
    if ck.format != plan.format && !plan.is_folder {
        return Err(failed(plan, &format!("it reads back as `{}`, not as `{}`", ck.format, plan.format)));
    }
    let tensors: HashMap<&str, &TensorInfo> = ck.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    if ck.tensors.len() != plan.targets.len() {
        let message = format!("it reads back with {} tensors, not {}", ck.tensors.len(), plan.targets.len());
        return Err(failed(plan, &message));
    }
    let mut found = Vec::new();
    for target in &plan.targets {
        let spec = &target.spec;
        let tensor = tensors.get(spec.name.as_str()).copied();
        let same = tensor.filter(|tensor| tensor.dtype == spec.dtype && tensor.view.shape == spec.shape);
        found.push(same.ok_or_else(|| {
            failed(plan, &format!("tensor `{}`, `{}` {}, does not read back as such", spec.name, spec.dtype, spec.shape))
        })?);
    }
    for (key, value) in plan.metadata.iter().filter(|(_, value)| plan.destination.encoder.holds_value(value)) {
        if ck.metadata_value(key) != Some(value) {
            return Err(failed(plan, &format!("metadata `{key}` does not read back")));
        }
    }
    Ok(found)
}

/// The error of a proof that does not hold.
pub(super) fn failed(plan: &Plan, what: &str) -> Error {
    Error::Unsupported {
        path: plan.target.clone(),
        message: format!("the finished output was opened again and is not what was planned: {what}; nothing was put in place"),
    }
}
