//! What is written is read back, whatever it is: random tables from a fixed seed.

use std::collections::BTreeMap;
use tensorcask::{
    Checkpoint, DType, OpenOptions, Severity, Value,
    ops::{convert, hash},
    save::{SaveOptions, save},
};

/// Xorshift: the same numbers on every run.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // The first numbers still look like the seed.
        for _ in 0..8 {
            random.below(1);
        }
        random
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[usize::try_from(self.below(from.len() as u64)).expect("a position")]
    }

    /// Text with all that JSON escapes, and characters of every length.
    fn text(&mut self) -> String {
        const CHARS: &[char] = &[
            'a', 'B', '.', '_', '/', '\\', '"', '\0', '\u{1}', '\n', '\r', '\t', '\u{8}', '\u{c}', '\u{7f}',
            ' ', 'é', 'ß', '\u{2028}', '漢', '\u{feff}', '\u{ffff}', '😀', '{', '}', ':', ',',
        ];
        (0..self.below(12)).map(|_| *self.pick(CHARS)).collect()
    }
}

type Tensors = BTreeMap<String, (DType, Vec<u64>, Vec<u8>)>;

fn tensors(random: &mut Random) -> Tensors {
    let dtypes: Vec<DType> = DType::all().collect();
    (0..random.below(9))
        .map(|_| {
            let dtype = random.pick(&dtypes).clone();
            let mut shape: Vec<u64> = (0..random.below(4)).map(|_| random.below(6)).collect();
            if dtype.byte_len(&shape).is_err() {
                shape.push(4);
            }
            let n_bytes = dtype.byte_len(&shape).expect("four elements fill whole bytes of every type");
            let bytes = (0..n_bytes).map(|_| u8::try_from(random.below(256)).expect("a byte")).collect();
            (random.text(), (dtype, shape, bytes))
        })
        .collect()
}

fn metadata(random: &mut Random) -> BTreeMap<String, String> {
    (0..random.below(4)).map(|_| (random.text(), random.text())).collect()
}

fn same(seed: u64, checkpoint: &Checkpoint, tensors: &Tensors, metadata: &BTreeMap<String, String>) {
    let bad: Vec<_> = checkpoint.findings.iter().filter(|f| f.severity > Severity::Note).collect();
    assert!(bad.is_empty(), "seed {seed}: {bad:?}");
    assert_eq!(checkpoint.tensors.len(), tensors.len(), "seed {seed}");
    for (name, (dtype, shape, bytes)) in tensors {
        let tensor = checkpoint.tensor(name).unwrap_or_else(|| panic!("seed {seed}: no tensor {name:?}"));
        assert_eq!((&tensor.dtype, &tensor.view.shape[..]), (dtype, &shape[..]), "seed {seed}: {name:?}");
        assert_eq!(&*checkpoint.load(name).expect("its bytes"), &bytes[..], "seed {seed}: {name:?}");
    }
    for (key, value) in metadata {
        let found = checkpoint.metadata_value(key);
        assert_eq!(found, Some(&Value::Str(value.as_str().into())), "seed {seed}: {key:?}");
    }
}

#[test]
fn read_of_write_is_what_was_written() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("model.safetensors");
    let mut options = SaveOptions::default();
    options.sync = false;
    for seed in 1..=400 {
        let random = &mut Random::new(seed);
        let (tensors, metadata) = (tensors(random), metadata(random));
        options.reserve_bytes = *random.pick(&[0, 0, 1, 4096]);
        let list: Vec<_> = tensors
            .iter()
            .map(|(name, (dtype, shape, bytes))| (name.as_str(), dtype.clone(), &shape[..], &bytes[..]))
            .collect();
        let pairs: Vec<_> = metadata.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        save(&path, &list, &pairs, &options).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let first = std::fs::read(&path).expect("it is there");
        same(seed, &OpenOptions::new().read(&path).expect("a table"), &tensors, &metadata);
        // The same input in another order gives the same bytes.
        let backwards: Vec<_> = list.iter().rev().cloned().collect();
        save(&path, &backwards, &pairs, &options).expect("it can be saved again");
        assert_eq!(
            std::fs::read(&path).expect("it is there"),
            first,
            "seed {seed}: the bytes hang on the order"
        );
    }
}

#[test]
fn splitting_and_merging_keep_every_tensor_and_the_root() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (path, set) = (folder.path().join("model.safetensors"), folder.path().join("set"));
    let merged = folder.path().join("merged.safetensors");
    let mut options = SaveOptions::default();
    options.sync = false;
    for seed in 1..=100 {
        let random = &mut Random::new(seed + 1000);
        let (tensors, metadata) = (tensors(random), metadata(random));
        let list: Vec<_> = tensors
            .iter()
            .map(|(name, (dtype, shape, bytes))| (name.as_str(), dtype.clone(), &shape[..], &bytes[..]))
            .collect();
        let pairs: Vec<_> = metadata.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        save(&path, &list, &pairs, &options).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let read = |path: &std::path::Path| {
            let found = OpenOptions::new().discover(path).expect("a checkpoint");
            let [path] = &found.paths[..] else { panic!("seed {seed}: {found:?}") };
            OpenOptions::new().read(path).expect("a table")
        };
        let root = |checkpoint: &Checkpoint| hash::identity(checkpoint, &()).expect("an identity").root;
        let single = read(&path);

        let mut convert_options = convert::ConvertOptions::default();
        convert_options.sync = false;
        convert_options.overwrite = true;
        convert_options.max_shard_bytes = Some(random.below(200) + 1);
        let receipt = convert::plan(&single, &set, &convert_options)
            .and_then(|plan| plan.run(&single, &()))
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(receipt.lossless, "seed {seed}");
        let split = read(&set);
        same(seed, &split, &tensors, &metadata);
        assert_eq!(root(&split), root(&single), "seed {seed}");

        convert_options.max_shard_bytes = None;
        convert::plan(&split, &merged, &convert_options)
            .and_then(|plan| plan.run(&split, &()))
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let merged = read(&merged);
        same(seed, &merged, &tensors, &metadata);
        assert_eq!(root(&merged), root(&single), "seed {seed}");
        let _ = std::fs::remove_dir_all(&set);
    }
}
