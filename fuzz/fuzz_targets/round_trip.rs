//! What is saved is read back: names, element types, shapes, bytes and metadata, whatever the bytes of the input make of them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::{cell::RefCell, collections::BTreeMap};
use tensorcask::{
    DType, OpenOptions, Value,
    save::{SaveOptions, save},
};

thread_local! {
    static FOLDER: RefCell<tempfile::TempDir> = RefCell::new(
        tempfile::Builder::new().tempdir_in(if std::path::Path::new("/dev/shm").is_dir() { "/dev/shm" } else { "." }).expect("a folder to write to"),
    );
}

/// Takes the input apart, front to back; zeros once it is used up.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn text(&mut self) -> String {
        let len = usize::from(self.byte() % 24).min(self.0.len());
        let (text, rest) = self.0.split_at(len);
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let dtypes: Vec<DType> = DType::all().collect();
    let mut tensors: BTreeMap<String, (DType, Vec<u64>, Vec<u8>)> = BTreeMap::new();
    for _ in 0..input.byte() % 6 {
        let dtype = dtypes[usize::from(input.byte()) % dtypes.len()].clone();
        let rank = input.byte() % 4;
        let mut shape: Vec<u64> = (0..rank).map(|_| u64::from(input.byte() % 5)).collect();
        if dtype.byte_len(&shape).is_err() {
            shape.push(4);
        }
        let n_bytes = dtype.byte_len(&shape).expect("four elements fill whole bytes of every type");
        let bytes = (0..n_bytes).map(|_| input.byte()).collect();
        tensors.insert(input.text(), (dtype, shape, bytes));
    }
    let metadata: BTreeMap<String, String> =
        (0..input.byte() % 4).map(|_| (input.text(), input.text())).collect();
    let max_shard = u64::from(input.byte() % 64);

    let list: Vec<_> = tensors
        .iter()
        .map(|(name, (dtype, shape, bytes))| (name.as_str(), dtype.clone(), shape.as_slice(), bytes.as_slice()))
        .collect();
    let pairs: Vec<_> = metadata.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    FOLDER.with_borrow(|folder| {
        let mut options = SaveOptions::default();
        options.sync = false;
        let path = if max_shard == 0 {
            folder.path().join("model.safetensors")
        } else {
            options.max_shard_bytes = Some(max_shard);
            folder.path().join("set")
        };
        let _ = std::fs::remove_dir_all(folder.path().join("set"));
        if let Err(error) = save(&path, &list, &pairs, &options) {
            assert!(tensors.contains_key("__metadata__"), "{error}");
            return;
        }
        // A folder with one file in it is no set: what lies in it is found as by the commands.
        let found = OpenOptions::new().discover(&path).expect("what was written can be found");
        let [path] = &found.paths[..] else { panic!("one checkpoint was written: {found:?}") };
        let read = OpenOptions::new().read(path).expect("what was written can be read");
        let bad: Vec<_> = read.findings.iter().filter(|f| f.severity >= tensorcask::Severity::Error).collect();
        assert!(bad.is_empty(), "{bad:?}");
        assert_eq!(read.tensors.len(), tensors.len());
        for (name, (dtype, shape, bytes)) in &tensors {
            let tensor = read.tensor(name).expect("the name is there");
            assert_eq!((&tensor.dtype, &tensor.view.shape[..]), (dtype, &shape[..]));
            assert_eq!(&*read.load(name).expect("the bytes are there"), &bytes[..]);
        }
        for (key, value) in &metadata {
            assert_eq!(read.metadata_value(key), Some(&Value::Str(value.as_str().into())));
        }
    });
});
