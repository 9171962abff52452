//! Every rule there is, gathered from where each is found.

use crate::{checks, core::Rule, formats, open, ops, source};
use std::collections::BTreeMap;

/// Every rule, sorted by code.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    let of_formats = formats::ALL.iter().flat_map(|format| format.info().rules);
    let of_checks = checks::ALL.iter().flat_map(|check| check.rules());
    let rules = of_formats
        .chain(of_checks)
        .chain(checks::RULES)
        .chain(source::RULES)
        .chain(open::RULES)
        .chain(ops::RULES.into_iter().flatten());
    // Formats that are only recognised share their rules.
    let by_code: BTreeMap<&str, &'static Rule> = rules.map(|rule| (rule.code, *rule)).collect();
    by_code.into_values()
}

/// The rule with this code (`ST004`, in any case) or slug (`data-gap`).
pub fn find(name: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.code.eq_ignore_ascii_case(name) || rule.slug == name)
}
