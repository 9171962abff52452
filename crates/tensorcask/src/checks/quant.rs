//! Groups of tensors that make up one quantised weight.

use super::{Check, CheckCx};
use crate::core::{DType, Result, Rule, Severity, Text, rule};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct QuantGroups;

static QUANT_GROUP: Rule = rule!("CK004" "quant-group" Structure Error ["IX14"] "A quantised weight is stored as several tensors (`qweight`, `qzeros`, `scales`; or packed `weight`, `scales`, `biases`), and one of them is missing, so the weight cannot be computed. As a note: the group lies in more than one shard, which loaders that read shard by shard have to wait for.");

const MEMBERS: &[&str] = &["qweight", "qzeros", "scales", "biases", "weight"];

static RULES: &[&Rule] = &[&QUANT_GROUP];

impl Check for QuantGroups {
    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn headers(&self, cx: &mut CheckCx<'_>) -> Result<()> {
        if !cx.checkpoint.tensors.iter().any(|tensor| tensor.name.ends_with(".scales")) {
            return Ok(());
        }
        // prefix -> member -> file
        let mut groups: BTreeMap<&str, BTreeMap<&str, Option<Text>>> = BTreeMap::new();
        for tensor in &cx.checkpoint.tensors {
            let Some((prefix, member)) = tensor.name.rsplit_once('.') else { continue };
            // Only packed integers make a `weight` one of a group.
            if MEMBERS.contains(&member) && (member != "weight" || tensor.dtype == DType::U32) {
                groups.entry(prefix).or_default().insert(member, cx.file_of(tensor));
            }
        }
        let packed = |group: &BTreeMap<&str, Option<Text>>| {
            group.contains_key("qweight") || group.contains_key("weight")
        };
        // Without one group that has weight and scales the names mean something else.
        if !groups.values().any(|group| packed(group) && group.contains_key("scales")) {
            return Ok(());
        }
        // What one group has, all have: the modes differ in whether they store zeros or biases at all.
        let usual: BTreeSet<&str> =
            groups.values().filter(|group| group.len() > 1).flat_map(|group| group.keys().copied()).collect();
        let mut findings = Vec::new();
        let mut straddling = Vec::new();
        for (prefix, group) in &groups {
            let missing: Vec<String> = usual
                .iter()
                .filter(|member| !group.contains_key(*member))
                .map(|member| format!("`{prefix}.{member}`"))
                .collect();
            let files: BTreeSet<&Text> = group.values().flatten().collect();
            if !missing.is_empty() {
                let message = format!("the quantised weight `{prefix}` lacks {}", missing.join(" and "));
                let finding = QUANT_GROUP.found(super::WHOLE, message).subject(*prefix);
                findings.push(finding.help("fetch the checkpoint again, or quantise it again"));
            } else if files.len() > 1 {
                straddling.push(*prefix);
            }
        }
        if let Some(first) = straddling.first() {
            let message = format!(
                "{} quantised weights lie in more than one shard; the first is `{first}`",
                straddling.len()
            );
            findings.push(QUANT_GROUP.found(super::WHOLE, message).subject(*first).severity(Severity::Note));
        }
        cx.checkpoint.findings.extend(findings);
        Ok(())
    }
}
