//! The cases of the corpus; `corpus/README.md` has the fields of a `case.json`.

use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};
use tensorcask::{Links, OpenOptions};

/// A case.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) expected: Value,
}

/// The root of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Every case of these families, sorted by name.
pub(crate) fn load(families: &[&str]) -> Vec<Case> {
    let mut cases = Vec::new();
    for family in families {
        let folder = repository().join("corpus").join(family);
        for entry in fs::read_dir(&folder).expect("the corpus has the family") {
            let folder = entry.expect("the corpus can be listed").path();
            let Ok(text) = fs::read_to_string(folder.join("case.json")) else { continue };
            let expected = serde_json::from_str(&text).expect("a case is valid JSON");
            let name = folder.file_name().map(|name| format!("{family}/{}", name.to_string_lossy()));
            cases.push(Case { name: name.unwrap_or_default(), folder, expected });
        }
    }
    assert!(!cases.is_empty(), "no cases in {families:?}");
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

impl Case {
    /// Where the input lies; one that is too large to keep is built into `scratch` first.
    pub(crate) fn input(&self, scratch: &Path) -> PathBuf {
        let input = self.expected["input"].as_str().expect("a case has an input");
        let Some(parts) = self.expected["recipe"].as_array() else { return self.folder.join(input) };
        let path = scratch.join(input);
        fs::write(&path, build(parts)).expect("the scratch folder can be written");
        path
    }

    /// How the case is opened.
    pub(crate) fn options(&self) -> OpenOptions {
        let args = self.expected["args"].as_array().cloned().unwrap_or_default();
        match args.iter().filter_map(Value::as_str).collect::<Vec<_>>()[..] {
            [] => OpenOptions::new(),
            ["--no-symlinks"] => OpenOptions::new().links(Links::Refused),
            ref other => panic!("{}: the arguments {other:?} have no meaning here", self.name),
        }
    }

    /// The expected results: path relative to the input, and what is expected there.
    pub(crate) fn results(&self) -> Vec<(String, &Value)> {
        match self.expected["results"].as_array() {
            Some(results) => results
                .iter()
                .map(|result| (result["path"].as_str().unwrap_or_default().to_owned(), result))
                .collect(),
            None => vec![(".".to_owned(), &self.expected)],
        }
    }
}

/// The bytes of a recipe, as `corpus/make/recipe.py` builds them.
fn build(parts: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    let count = |part: &Value| usize::try_from(part["count"].as_u64().expect("a count")).expect("it fits");
    for part in parts {
        if let Some(hex) = part["hex"].as_str() {
            let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("two digits");
            out.extend((0..hex.len()).step_by(2).map(digit));
        } else if let Some(text) = part["text"].as_str() {
            out.extend_from_slice(text.as_bytes());
        } else if let Some(key) = part["payload"].as_str() {
            let mut bytes = vec![0; count(part)];
            blake3::Hasher::new().update(key.as_bytes()).finalize_xof().fill(&mut bytes);
            out.extend(bytes.into_iter().map(|byte| byte.max(1)));
        } else {
            let text = part["repeat"].as_str().expect("a part of a known kind");
            out.extend_from_slice(text.repeat(count(part)).as_bytes());
        }
    }
    out
}
