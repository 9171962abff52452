//! Which tensors are written, and under which names.

use super::{
    ConvertOptions,
    pattern::{Pattern, Rename},
};
use crate::{
    checkpoint::Checkpoint,
    core::{Error, Result, Text},
};
use std::collections::HashMap;

/// Positions in the checkpoint that are written, with their new names; the positions that are left out.
pub(super) struct Selection {
    pub(super) kept: Vec<(usize, Text)>,
    pub(super) left_out: Vec<usize>,
}

pub(super) fn select(ck: &Checkpoint, options: &ConvertOptions) -> Result<Selection> {
    let include: Vec<Pattern> = options.include.iter().map(|text| Pattern::new(text)).collect();
    let exclude: Vec<Pattern> = options.exclude.iter().map(|text| Pattern::new(text)).collect();
    let (mut kept, mut left_out, mut used) = (Vec::new(), Vec::new(), vec![false; include.len()]);
    for (position, tensor) in ck.tensors.iter().enumerate() {
        // Every pattern is tried, so that one that matches nothing is noticed.
        let mut included = include.is_empty();
        for (pattern, used) in include.iter().zip(&mut used) {
            let matches = pattern.matches(&tensor.name);
            included |= matches;
            *used |= matches;
        }
        if included && !exclude.iter().any(|pattern| pattern.matches(&tensor.name)) {
            kept.push((position, tensor.name.clone()));
        } else {
            left_out.push(position);
        }
    }
    if let Some((pattern, _)) = include.iter().zip(used).find(|(_, used)| !used) {
        return Err(Error::usage(
            format!("no tensor is called like `{}`", pattern.as_str()),
            "see the names with `tensorcask inspect`",
        ));
    }
    for prefix in &options.strip_prefix {
        strip(&mut kept, prefix)?;
    }
    rename(&mut kept, &options.rename)?;
    collisions(ck, &kept)?;
    Ok(Selection { kept, left_out })
}

fn strip(kept: &mut [(usize, Text)], prefix: &str) -> Result<()> {
    let mut any = false;
    for (_, name) in kept {
        if let Some(rest) = name.strip_prefix(prefix) {
            let rest = Text::from(rest);
            *name = rest;
            any = true;
        }
    }
    if any {
        return Ok(());
    }
    Err(Error::usage(
        format!("no tensor's name begins with `{prefix}`"),
        "see the names with `tensorcask inspect`",
    ))
}

fn rename(kept: &mut [(usize, Text)], renames: &[(String, String)]) -> Result<()> {
    let renames = renames.iter().map(|(old, new)| Rename::new(old, new)).collect::<Result<Vec<_>>>()?;
    let mut used = vec![false; renames.len()];
    for (_, name) in kept {
        let found = renames.iter().zip(&mut used).find_map(|(rename, used)| {
            let renamed = rename.apply(name)?;
            *used = true;
            Some(renamed)
        });
        if let Some(renamed) = found {
            *name = renamed.into();
        }
    }
    match renames.iter().zip(used).find(|(_, used)| !used) {
        None => Ok(()),
        Some((rename, _)) => Err(Error::usage(
            format!(
                "`{}` renames nothing: no tensor's name matches it before another rename does",
                rename.old.as_str()
            ),
            "see the names with `tensorcask inspect`",
        )),
    }
}

fn collisions(ck: &Checkpoint, kept: &[(usize, Text)]) -> Result<()> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (position, name) in kept {
        let Some(earlier) = seen.insert(name, *position) else { continue };
        let was = |position: usize| ck.tensors.get(position).map_or("", |tensor| tensor.name.as_str());
        return Err(Error::usage(
            format!("`{}` and `{}` would both be called `{name}`", was(earlier), was(*position)),
            "rename one of them otherwise, or leave one out with `--exclude`",
        ));
    }
    Ok(())
}
