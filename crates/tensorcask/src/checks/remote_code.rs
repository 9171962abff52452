//! Configs that name code to be run.

use super::{Check, CheckCx};
use crate::{
    core::{Result, Rule, Severity, rule},
    wire::json::{Json, Node},
};

pub(super) struct RemoteCode;

static AUTO_MAP: Rule = rule!("CK005" "auto-map" Security Warning ["TOK-01"] "`auto_map` names Python classes that a loader imports when it is told to trust remote code. Code in the same folder needs a look before that; code in another repository (`repository--module.Class`) is an error, because what it holds tomorrow is not what you looked at today.");

const CONFIGS: &[&str] = &[
    "config.json",
    "tokenizer_config.json",
    "processor_config.json",
    "preprocessor_config.json",
    "generation_config.json",
];

static RULES: &[&Rule] = &[&AUTO_MAP];

impl Check for RemoteCode {
    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn headers(&self, cx: &mut CheckCx<'_>) -> Result<()> {
        for name in CONFIGS {
            let Some(config) = cx.sidecar(name)? else { continue };
            let Some(map) = config.json.get("auto_map") else { continue };
            let mut classes = Vec::new();
            collect(map, &mut classes);
            let (remote, local): (Vec<&str>, Vec<&str>) =
                classes.iter().partition(|class| class.contains("--"));
            let cases = [
                (
                    remote,
                    Severity::Error,
                    "code in another repository",
                    "do not load it with trusted remote code",
                ),
                (
                    local,
                    Severity::Warning,
                    "code in this folder",
                    "read the named modules before you trust them",
                ),
            ];
            for (classes, severity, what, help) in cases {
                if let Some(first) = classes.first() {
                    let list =
                        classes.iter().map(|class| format!("`{class}`")).collect::<Vec<_>>().join(", ");
                    let finding = AUTO_MAP.at(config.span(map), format!("`{name}` names {what}: {list}"));
                    cx.checkpoint.findings.push(finding.subject(*first).severity(severity).help(help));
                }
            }
        }
        Ok(())
    }
}

/// The strings at the leaves: a class, or a list of a slow and a fast one.
fn collect<'a>(json: &'a Json, classes: &mut Vec<&'a str>) {
    let mut todo = vec![json];
    while let Some(value) = todo.pop() {
        match &value.node {
            Node::String(class) => classes.push(class),
            Node::Array(items) => todo.extend(items.iter().rev()),
            Node::Object(entries) => todo.extend(entries.iter().rev().map(|(_, value)| value)),
            _ => {}
        }
    }
}
