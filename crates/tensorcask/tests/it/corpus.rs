//! Every case of the corpus through the library: findings, tables and digests, each as declared.

use crate::cases::{Case, load};
use serde_json::Value;
use std::{collections::BTreeMap, path::Path};
use tensorcask::{
    Checkpoint, Result,
    ops::{VerifyOptions, hash, verify},
};

/// One row a finding: rule, slug, category, severity.
type Rows = Vec<[String; 4]>;

fn declared(result: &Value) -> Rows {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let rows = result["findings"].as_array().into_iter().flatten();
    let mut rows: Rows =
        rows.map(|finding| ["rule", "slug", "category", "severity"].map(|key| text(finding, key))).collect();
    rows.sort();
    rows
}

fn found(checkpoint: &Checkpoint) -> Rows {
    let mut rows: Rows = checkpoint
        .findings
        .iter()
        .map(|finding| {
            let rule = finding.rule;
            [rule.code, rule.slug, rule.category.name(), finding.severity.name()].map(str::to_owned)
        })
        .collect();
    rows.sort();
    rows
}

/// The results of a case by their path relative to the input.
fn run(case: &Case, input: &Path) -> Result<BTreeMap<String, Checkpoint>> {
    let options = case.options();
    let discovery = options.discover(input)?;
    let options = options.within(discovery.within);
    let mut results = BTreeMap::new();
    for path in discovery.paths {
        let mut checkpoint = options.read(&path)?;
        verify(&mut checkpoint, &VerifyOptions::default(), &())?;
        let relative = path.strip_prefix(input).unwrap_or(&path).to_string_lossy().into_owned();
        results.insert(if relative.is_empty() { ".".to_owned() } else { relative }, checkpoint);
    }
    Ok(results)
}

/// Says how the table and the digests differ from the declared ones.
fn table(result: &Value, checkpoint: &Checkpoint) -> Option<String> {
    let has_digests = result.get("inspect").is_none() && result.get("root").is_some();
    let rows = result.get("inspect").or(result.get("tensors"))?.as_array()?;
    let broken = checkpoint.is_broken();
    let mut positions: Vec<usize> = (0..checkpoint.tensors.len()).collect();
    positions.sort_by_key(|at| checkpoint.tensors[*at].name.as_str());
    let table: Vec<(String, String, Vec<u64>)> = positions
        .iter()
        .map(|at| &checkpoint.tensors[*at])
        .map(|t| (t.name.to_string(), t.dtype.name().to_owned(), t.view.shape.to_vec()))
        .collect();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let dims =
        |row: &Value| row["shape"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let wanted: Vec<(String, String, Vec<u64>)> =
        rows.iter().map(|row| (text(row, "name"), text(row, "dtype"), dims(row))).collect();
    if broken {
        // What the reference reads from a file that breaks a rule (the last of two equal names) is its own affair.
        return None;
    }
    if table != wanted {
        return Some(format!("the table is {table:?}, not {wanted:?}"));
    }
    if !has_digests {
        return None;
    }
    let identity = match hash::identity(checkpoint, &()) {
        Ok(identity) => identity,
        Err(error) => return Some(format!("no identity: {error}")),
    };
    for (row, at) in rows.iter().zip(&positions) {
        let digest = hash::digest_text(&identity.tensors[*at]);
        if digest != text(row, "digest") {
            return Some(format!("`{}` has the digest {digest}", text(row, "name")));
        }
    }
    let roots = [identity.root, identity.content_root];
    (roots != [text(result, "root"), text(result, "content_root")])
        .then(|| format!("the roots are {roots:?}"))
}

#[test]
fn every_case_gives_what_it_declares() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let mut wrong = Vec::new();
    for case in load(&["safetensors", "identify", "shards"]) {
        let input = case.input(scratch.path());
        let results = match (run(&case, &input), case.expected["error"].as_str()) {
            (Err(error), Some(kind)) => {
                if error.kind() != kind {
                    wrong.push(format!("{}: the error is `{}`, not `{kind}`", case.name, error.kind()));
                }
                continue;
            }
            (Err(error), None) => {
                wrong.push(format!("{}: {error}", case.name));
                continue;
            }
            (Ok(_), Some(kind)) => {
                wrong.push(format!("{}: no error, `{kind}` is expected", case.name));
                continue;
            }
            (Ok(results), None) => results,
        };
        let expected = case.results();
        if expected.iter().map(|(path, _)| path).ne(results.keys()) && expected.len() != 1 {
            wrong.push(format!("{}: results at {:?}", case.name, results.keys()));
            continue;
        }
        for ((path, result), checkpoint) in expected.into_iter().zip(results.values()) {
            let (is, declared) = (found(checkpoint), declared(result));
            if is != declared {
                let messages: Vec<_> = checkpoint.findings.iter().map(|f| &f.message).collect();
                wrong
                    .push(format!("{} {path}: found {is:?}, declared {declared:?}: {messages:?}", case.name));
            }
            if let Some(difference) = table(result, checkpoint) {
                wrong.push(format!("{} {path}: {difference}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}
