//! The element type that `config.json` names against the one that most parameters have.

use super::{Check, CheckCx};
use crate::core::{DType, Result, Rule, rule};
use std::collections::BTreeMap;

pub(super) struct ConfigDtype;

static CONFIG_DTYPE: Rule = rule!("CK002" "config-dtype" Structure Warning ["IX15"] "`config.json` names one element type (`torch_dtype`, newer `dtype`) and most parameters have another. Loaders that follow the config cast silently: memory doubles or precision is lost.");

/// The framework's spelling of each floating type.
const TYPES: &[(&str, DType)] = &[
    ("float64", DType::F64),
    ("float32", DType::F32),
    ("float16", DType::F16),
    ("bfloat16", DType::BF16),
    ("float8_e4m3fn", DType::F8_E4M3),
    ("float8_e5m2", DType::F8_E5M2),
    ("float8_e4m3fnuz", DType::F8_E4M3FNUZ),
    ("float8_e5m2fnuz", DType::F8_E5M2FNUZ),
];

static RULES: &[&Rule] = &[&CONFIG_DTYPE];

impl Check for ConfigDtype {
    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn headers(&self, cx: &mut CheckCx<'_>) -> Result<()> {
        let Some(config) = cx.sidecar("config.json")? else { return Ok(()) };
        // Quantised weights are stored in another type than the one that they are computed in.
        if config.json.get("quantization_config").is_some() || config.json.get("quantization").is_some() {
            return Ok(());
        }
        let value = ["dtype", "torch_dtype"].iter().find_map(|key| config.json.get(key));
        let Some((value, named)) = value.and_then(|value| Some((value, value.as_str()?))) else {
            return Ok(());
        };
        let spelt = named.strip_prefix("torch.").unwrap_or(named);
        let Some((_, wanted)) = TYPES.iter().find(|(name, _)| *name == spelt) else { return Ok(()) };
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for tensor in &cx.checkpoint.tensors {
            if TYPES.iter().any(|(_, dtype)| *dtype == tensor.dtype) {
                let count = counts.entry(tensor.dtype.name()).or_default();
                *count = count.saturating_add(tensor.n_elements());
            }
        }
        let total = counts.values().fold(0u64, |sum, count| sum.saturating_add(*count));
        let Some((most, count)) = counts.iter().max_by_key(|(_, count)| **count) else { return Ok(()) };
        if *most != wanted.name() {
            let message =
                format!("the config says `{named}` ({wanted}); {count} of {total} parameters are {most}");
            let finding = CONFIG_DTYPE.at(config.span(value), message);
            cx.checkpoint.findings.push(finding.help("correct the config, or cast the weights"));
        }
        Ok(())
    }
}
