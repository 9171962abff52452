//! Transcripts: every block of `tests/cmd/*.md` is run and its output compared. `TRYCMD=overwrite` rewrites them.
//!
//! They run in a scratch folder that holds a copy of `examples/` and of a few cases of the corpus.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Cases that a transcript names: (from the corpus, as in the scratch folder).
const CASES: &[(&str, &str)] = &[
    ("safetensors/dtypes-20/input.safetensors", "dtypes.safetensors"),
    ("safetensors/gap-in-the-middle/input.safetensors", "gap.safetensors"),
    ("safetensors/duplicate-equal/input.safetensors", "duplicate.safetensors"),
];

#[test]
fn transcripts() -> io::Result<()> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = crate_folder.join("../..");
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cmd");
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    copy(&workspace.join("examples"), &scratch.join("examples"))?;
    for (from, to) in CASES {
        fs::copy(workspace.join("corpus").join(from), scratch.join(to))?;
    }
    std::env::set_current_dir(&scratch)?;
    let cases = trycmd::TestCases::new();
    cases.env("NO_COLOR", "1").env("COLUMNS", "100").case(crate_folder.join("tests/cmd/*.md")).run();
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
