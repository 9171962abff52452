//! A file that becomes shorter while it is open: where we read at offsets, an error and never a signal.

use std::{fs, io::ErrorKind, path::Path};
use tensorcask::{
    DType, Error, OpenOptions,
    ops::{convert, diff, hash},
    save::{SaveOptions, save},
};

const N_BYTES: usize = 1 << 20;

fn written(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("model.safetensors");
    let bytes = vec![7; N_BYTES];
    let shape: &[u64] = &[N_BYTES as u64];
    let tensors = [("a", DType::U8, shape, &bytes[..]), ("b", DType::U8, shape, &bytes[..])];
    save(&path, &tensors, &[], &SaveOptions::default()).expect("it can be saved");
    path
}

/// Cuts the file in the middle of its second tensor.
fn cut(path: &Path) {
    let file = fs::OpenOptions::new().write(true).open(path).expect("it can be opened");
    file.set_len(N_BYTES as u64 + N_BYTES as u64 / 2).expect("it can be cut");
}

fn ends_early<T>(what: &str, result: Result<T, Error>) {
    match result {
        Err(Error::Io { source, path }) => {
            assert_eq!(source.kind(), ErrorKind::UnexpectedEof, "{what}");
            assert!(path.to_string_lossy().contains("model.safetensors"), "{what}: {}", path.display());
        }
        Err(other) => panic!("{what}: {other:?}"),
        Ok(_) => panic!("{what}: no error"),
    }
}

#[test]
fn every_reader_of_data_says_that_the_file_became_shorter() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = written(folder.path());
    let checkpoint = OpenOptions::new().mmap(false).open(&path).expect("it is whole");
    let target = folder.path().join("out.safetensors");
    let plan = convert::plan(&checkpoint, &target, &convert::ConvertOptions::default()).expect("a plan");
    let whole = hash::identity(&checkpoint, &()).expect("an identity").root;
    cut(&path);
    assert_eq!(checkpoint.load("a").expect("the first tensor is still there").len(), N_BYTES);
    ends_early("load", checkpoint.load("b"));
    ends_early("hash", hash::identity(&checkpoint, &()));
    ends_early("diff", diff::diff(&checkpoint, &checkpoint, &()));
    ends_early("convert", plan.run(&checkpoint, &()));
    let mut left: Vec<_> = fs::read_dir(folder.path())
        .expect("it can be listed")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["model.safetensors"], "the conversion left something behind");

    // Opened again, the file is what it is now: cut short, and with one tensor that can be read.
    let again = OpenOptions::new().read(&path).expect("there is a table");
    assert!(again.is_broken());
    assert_eq!(again.tensors.iter().filter(|tensor| tensor.is_missing()).count(), 1);
    assert_eq!(whole.len(), "tcw1:".len() + 64);
}
