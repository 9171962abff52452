//! Rules: their codes, their documents, and that each is found in some file.

use crate::cases::{load, repository};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::Path,
};
use tensorcask::{Rule, rules};

/// Rules that no file of the corpus can break, and the test that breaks each.
const ELSEWHERE: &[(&str, &str)] = &[
    ("CV", "a loss needs a target: tests/convert.rs"),
    ("ID001", "it takes two checkpoints: tests/contract, `verify --against`"),
    ("FI012", "it takes a write that was interrupted: `a_left_over_of_a_write_is_named`"),
    ("FI013", "`weights_that_no_format_claims_are_named`"),
];

/// Rows of the catalogues that this version answers; the others belong to formats it does not read.
const ROWS: &[&str] = &[
    "IX01", "IX02", "IX03", "IX04", "IX05", "IX06", "IX07", "IX08", "IX09", "IX10", "IX11", "IX12", "IX13",
    "IX14", "IX15", "IX16", "IX17", "CON-09", "CON-10", "CON-11", "CON-19",
];

#[test]
fn codes_and_slugs_are_unique_and_well_formed() {
    let mut slugs = BTreeMap::new();
    let mut codes = BTreeSet::new();
    for rule in rules::all() {
        assert!(codes.insert(rule.code), "{} twice", rule.code);
        let (family, number) = rule.code.split_at(2);
        assert!(family.bytes().all(|byte| byte.is_ascii_uppercase()), "{}", rule.code);
        assert!(number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit()), "{}", rule.code);
        let slug = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(rule.slug.bytes().all(slug), "{}", rule.slug);
        if let Some(other) = slugs.insert(rule.slug, rule.code) {
            panic!("{} and {other} are both `{}`", rule.code, rule.slug);
        }
        assert!(rule.doc.len() > 40 && rule.doc.ends_with('.'), "{}: the document is too short", rule.code);
        assert_eq!(rules::find(&rule.code.to_ascii_lowercase()).map(|rule| rule.code), Some(rule.code));
        assert_eq!(rules::find(rule.slug).map(|rule| rule.code), Some(rule.code));
    }
    assert!(rules::find("no-such-rule").is_none());
}

#[test]
fn every_rule_is_found_in_some_file() {
    let mut fired = BTreeSet::new();
    for case in load(&["safetensors", "identify", "shards"]) {
        for (_, result) in case.results() {
            let findings = result["findings"].as_array().into_iter().flatten();
            fired.extend(findings.filter_map(|finding| finding["rule"].as_str().map(str::to_owned)));
        }
    }
    let silent: Vec<&str> = rules::all()
        .map(|rule| rule.code)
        .filter(|code| !fired.contains(*code) && !ELSEWHERE.iter().any(|(known, _)| code.starts_with(known)))
        .collect();
    assert!(silent.is_empty(), "no case of the corpus breaks {silent:?}");
    let unknown: Vec<&String> = fired.iter().filter(|code| rules::find(code).is_none()).collect();
    assert!(unknown.is_empty(), "cases name rules that are none: {unknown:?}");
    for (code, reason) in ELSEWHERE {
        assert!(!fired.contains(*code), "{code} is in the corpus now, so `{reason}` is out of date");
    }
}

#[test]
fn every_row_of_the_catalogues_is_answered_by_a_rule() {
    let answered: BTreeSet<&str> = rules::all().flat_map(|rule| rule.rows).copied().collect();
    let open: Vec<&&str> = ROWS.iter().filter(|row| !answered.contains(**row)).collect();
    assert!(open.is_empty(), "no rule claims {open:?}");
}

#[test]
fn a_left_over_of_a_write_is_named() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("model.safetensors");
    let shape: &[u64] = &[1];
    let tensors = [("a", tensorcask::DType::U8, shape, &[1][..])];
    tensorcask::save::save(&path, &tensors, &[], &tensorcask::save::SaveOptions::default()).expect("saved");
    // A write that is dropped cleans up; one that is killed cannot. Its name is taken from a live one, by a dead process.
    let name = format!(".model.safetensors.tensorcask-{}-0.tmp", u32::MAX >> 1);
    fs::write(folder.path().join(&name), b"half").expect("written");
    let checkpoint = tensorcask::OpenOptions::new().read(&path).expect("a table");
    let codes: Vec<&str> = checkpoint.findings.iter().map(|finding| finding.rule.code).collect();
    assert_eq!(codes, ["FI012"]);
}

#[test]
fn weights_that_no_format_claims_are_named() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::write(folder.path().join("config.json"), b"{}").expect("written");
    fs::write(folder.path().join("weights.bin"), b"\x01\x02\x03 nothing that is known").expect("written");
    let checkpoint = tensorcask::OpenOptions::new().read(folder.path()).expect("a table");
    let codes: Vec<&str> = checkpoint.findings.iter().map(|finding| finding.rule.code).collect();
    assert_eq!(codes, ["FI013"]);
}

/// A rule's page.
fn page(rule: &Rule) -> String {
    let (category, severity) = (rule.category.name(), rule.severity.name());
    let mut page = format!("# {} {}\n\n{category}, usually {severity}\n\n", rule.code, rule.slug);
    for sentence in sentences(rule.doc) {
        let _ = writeln!(page, "{sentence}");
    }
    page
}

/// One sentence a line.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.match_indices(". ").map(|(at, _)| at + 1).find(|at| {
        let next = rest[at + 1..].chars().next();
        next.is_some_and(|c| c.is_uppercase() || c == '`')
    }) {
        sentences.push(&rest[..at]);
        rest = &rest[at + 1..];
    }
    sentences.push(rest);
    sentences
}

fn index() -> String {
    let mut index = String::from(
        "# Rules\n\nEvery kind of problem that `check`, `verify`, `scan` and `convert` can name.\n`tensorcask explain CODE` prints the same text.\nThis folder is generated by `make bless`.\n\n| code | name | category | usual severity |\n| --- | --- | --- | --- |\n",
    );
    for rule in rules::all() {
        let (code, category, severity) = (rule.code, rule.category.name(), rule.severity.name());
        let _ = writeln!(index, "| [{code}]({code}.md) | `{}` | {category} | {severity} |", rule.slug);
    }
    index
}

#[test]
fn the_documents_are_those_of_the_rules() {
    let folder = repository().join("docs/rules");
    let mut pages: BTreeMap<String, String> =
        rules::all().map(|rule| (format!("{}.md", rule.code), page(rule))).collect();
    pages.insert("README.md".to_owned(), index());
    if std::env::var_os("TENSORCASK_BLESS").is_some() {
        bless(&folder, &pages);
    }
    let mut stale = Vec::new();
    for (name, text) in &pages {
        if fs::read_to_string(folder.join(name)).unwrap_or_default() != *text {
            stale.push(name.clone());
        }
    }
    for entry in fs::read_dir(&folder).expect("docs/rules is there") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        if !pages.contains_key(&name) {
            stale.push(name);
        }
    }
    assert!(stale.is_empty(), "`make bless` rewrites {stale:?}");
}

fn bless(folder: &Path, pages: &BTreeMap<String, String>) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).expect("the folder can be made");
    for (name, text) in pages {
        fs::write(folder.join(name), text).expect("the page can be written");
    }
}
