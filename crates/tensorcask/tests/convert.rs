//! Writing and conversion, from the outside: the peer's bytes, round trips, patterns, refusals.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};
use tensorcask::{
    Checkpoint, DType, Dims, Error, OpenOptions, Severity, Value, open,
    ops::{
        convert::{ConvertOptions, Receipt, plan},
        hash::identity,
    },
    save::{SaveOptions, Saver, save},
};

/// name to (type, shape, bytes)
type Table = BTreeMap<String, (DType, Vec<u64>, Vec<u8>)>;

fn table(ck: &Checkpoint) -> Table {
    let row = |tensor: &tensorcask::TensorInfo| {
        let bytes = ck.load(&tensor.name).unwrap().to_vec();
        (tensor.name.to_string(), (tensor.dtype.clone(), tensor.view.shape.to_vec(), bytes))
    };
    ck.tensors.iter().map(row).collect()
}

fn save_table(path: &Path, table: &Table, metadata: &[(&str, &str)]) {
    let tensors: Vec<(&str, DType, &[u64], &[u8])> = table
        .iter()
        .map(|(name, (dtype, shape, bytes))| (name.as_str(), dtype.clone(), &shape[..], &bytes[..]))
        .collect();
    save(path, &tensors, metadata, &SaveOptions::default()).unwrap();
}

fn convert(source: &Path, target: &Path, set: impl FnOnce(&mut ConvertOptions)) -> Result<Receipt, Error> {
    let ck = open(source)?;
    let mut options = ConvertOptions::default();
    set(&mut options);
    plan(&ck, target, &options)?.run(&ck, &())
}

fn set_to_file(ck: &Checkpoint, target: &Path) {
    plan(ck, target, &ConvertOptions::default()).unwrap().run(ck, &()).unwrap();
}

fn refused(source: &Path, target: &Path, set: impl FnOnce(&mut ConvertOptions)) -> (String, String) {
    let error = convert(source, target, set).unwrap_err();
    assert_eq!(error.kind(), "usage", "{error}");
    (error.to_string(), error.help().unwrap())
}

/// xorshift64*: the same numbers on every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Tensors of every type and of ranks 0 to 5, some empty, two larger than the pieces that are hashed apart.
fn any_table(numbers: &mut Numbers) -> Table {
    let dtypes: Vec<DType> = DType::all().collect();
    let mut table = Table::new();
    for number in 0..numbers.below(40) {
        let dtype = dtypes[usize::try_from(numbers.below(dtypes.len() as u64)).unwrap()].clone();
        let (elements, _) = dtype.block().unwrap();
        let mut shape: Vec<u64> = (0..numbers.below(6)).map(|_| numbers.below(5)).collect();
        if elements > 1 || numbers.below(20) == 0 {
            shape.push(elements * numbers.below(9));
        }
        if numbers.below(25) == 0 {
            shape = vec![elements * (300_000 + numbers.below(300_000)), 3];
        }
        let len = dtype.byte_len(&shape).unwrap();
        let bytes = (0..len).map(|at| (at.wrapping_mul(number + 3) ^ (at >> 9)).to_le_bytes()[0]).collect();
        let name = ["w", "é/", "\u{1f600}", "a.b", "\"\\\n"][usize::try_from(number % 5).unwrap()];
        table.insert(format!("{name}{number}"), (dtype, shape, bytes));
    }
    table
}

#[test]
fn what_the_peer_wrote_is_written_again_byte_for_byte() {
    let scratch = tempfile::tempdir().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut n_files = 0;
    for entry in fs::read_dir(golden).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ext| ext != "safetensors") {
            continue;
        }
        n_files += 1;
        let want = fs::read(&path).unwrap();
        let name = path.file_name().unwrap();
        convert(&path, &scratch.path().join(name), |_| {}).unwrap();
        assert_eq!(fs::read(scratch.path().join(name)).unwrap(), want, "{}: converted", path.display());

        let ck = open(&path).unwrap();
        let text =
            |value: &Value| if let Value::Str(text) = value { text.to_string() } else { panic!("{value:?}") };
        let metadata: Vec<(String, String)> =
            ck.metadata.iter().map(|(key, value)| (key.to_string(), text(value))).collect();
        let metadata: Vec<(&str, &str)> = metadata.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        save_table(&scratch.path().join(name), &table(&ck), &metadata);
        assert_eq!(fs::read(scratch.path().join(name)).unwrap(), want, "{}: saved", path.display());
    }
    assert_eq!(n_files, 6);
}

#[test]
fn the_index_is_written_as_the_peer_writes_it() {
    let scratch = tempfile::tempdir().unwrap();
    let want =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/index.json")).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/names.safetensors");
    convert(&source, &scratch.path().join("out"), |options| options.max_shard_bytes = Some(4)).unwrap();
    let index = fs::read_to_string(scratch.path().join("out/model.safetensors.index.json")).unwrap();
    // The peer's example spreads the names otherwise; all else is the same.
    let lines = |text: &str| -> Vec<String> {
        let shard =
            |line: &str| line.split_once("\"model-").map_or(line.to_owned(), |(name, _)| name.to_owned());
        text.split('\n').map(shard).collect()
    };
    assert_eq!(lines(&index), lines(&want));
}

#[test]
fn everything_comes_back_from_files_and_shards() {
    let mut numbers = Numbers(0x5eed);
    for round in 0..30 {
        let scratch = tempfile::tempdir().unwrap();
        let path = |name: &str| scratch.path().join(name);
        let want = any_table(&mut numbers);
        save_table(&path("a.safetensors"), &want, &[("format", "pt"), ("k", "v")]);
        let ck = open(path("a.safetensors")).unwrap();
        assert_eq!(table(&ck), want, "round {round}: saved");
        let root = identity(&ck, &()).unwrap();

        let max = 1 + numbers.below(2_000_000);
        let receipt =
            convert(&path("a.safetensors"), &path("set"), |options| options.max_shard_bytes = Some(max))
                .unwrap();
        assert!(receipt.lossless && receipt.tensors.iter().all(|row| row.equal && row.steps.is_empty()));
        let one_file = path("set/model.safetensors");
        let set = open(if one_file.exists() { one_file } else { path("set") }).unwrap();
        assert_eq!(table(&set), want, "round {round}: shards of {max}");
        assert_eq!(identity(&set, &()).unwrap().root, root.root);
        assert!(
            set.findings.iter().all(|finding| finding.severity < Severity::Warning),
            "{:?}",
            set.findings
        );
        for row in &receipt.tensors {
            let position = ck.tensors.iter().position(|tensor| tensor.name == row.name).unwrap();
            assert_eq!(row.target_digest, root.tensors[position], "round {round}: `{}`", row.name);
        }

        set_to_file(&set, &path("b.safetensors"));
        assert_eq!(fs::read(path("b.safetensors")).unwrap(), fs::read(path("a.safetensors")).unwrap());
    }
}

#[test]
fn shards_and_their_index_are_as_asked() {
    let scratch = tempfile::tempdir().unwrap();
    let path = |name: &str| scratch.path().join(name);
    let source = path("a.safetensors");
    let tensor = |len: u8| (DType::U8, vec![u64::from(len)], vec![len; usize::from(len)]);
    let want = Table::from([("a".into(), tensor(6)), ("b".into(), tensor(12)), ("c".into(), tensor(2))]);
    save_table(&source, &want, &[("format", "pt")]);
    convert(&source, &path("set"), |options| options.max_shard_bytes = Some(10)).unwrap();
    let names = |name: &str| -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(path(name))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let index = "model.safetensors.index.json";
    assert_eq!(names("set"), ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", index]);
    assert_eq!(
        table(&open(path("set/model-00001-of-00002.safetensors")).unwrap()).into_keys().collect::<Vec<_>>(),
        ["b"]
    );
    for shard in [1, 2] {
        let ck = open(path(&format!("set/model-0000{shard}-of-00002.safetensors"))).unwrap();
        assert_eq!(ck.metadata, [("format".into(), Value::Str("pt".into()))]);
    }
    fs::write(path("set/config.json"), "{}").unwrap();

    convert(&source, &path("set"), |options| (options.max_shard_bytes, options.overwrite) = (Some(1), true))
        .unwrap();
    assert_eq!(names("set").len(), 5, "three shards, an index and what was not ours");
    convert(&path("set"), &path("set"), |options| options.overwrite = true).unwrap();
    assert_eq!(names("set"), ["config.json", "model.safetensors"], "one shard needs no index");
    assert_eq!(table(&open(path("set/model.safetensors")).unwrap()), want);
}

#[test]
fn patterns_choose_and_rename() {
    let scratch = tempfile::tempdir().unwrap();
    let (source, target) = (scratch.path().join("a.safetensors"), scratch.path().join("b.safetensors"));
    let one = || (DType::U8, vec![1], vec![1]);
    let names = ["module.h.0.w", "module.h.0.b", "module.h.1.w", "other"];
    save_table(&source, &names.map(|name| (name.to_owned(), one())).into(), &[]);
    let written = |set: &dyn Fn(&mut ConvertOptions)| {
        let receipt = convert(&source, &target, |options| {
            options.overwrite = true;
            set(options);
        });
        (table(&open(&target).unwrap()).into_keys().collect::<Vec<_>>(), receipt.unwrap())
    };
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();

    let (names, receipt) =
        written(&|options| (options.include, options.exclude) = (words(&["*.h.*"]), words(&["*.b"])));
    assert_eq!(names, ["module.h.0.w", "module.h.1.w"]);
    assert!(!receipt.lossless);
    assert_eq!(receipt.losses[0].message, "2 of 4 tensors are left out: `module.h.0.b`, `other`");

    let (names, receipt) = written(&|options| {
        options.strip_prefix = words(&["module."]);
        options.rename = vec![("h.*.[wx]".into(), "layer.*.weight".into()), ("other".into(), "same".into())];
    });
    assert_eq!(names, ["h.0.b", "layer.0.weight", "layer.1.weight", "same"]);
    assert!(receipt.lossless, "the receipt keeps the old names");
    let row = receipt.tensors.iter().find(|row| row.name == "layer.1.weight").unwrap();
    assert_eq!((&row.source_names[0].to_string()[..], &row.steps[..]), ("module.h.1.w", &["rename"][..]));

    let refused =
        |set: &dyn Fn(&mut ConvertOptions)| refused(&source, &scratch.path().join("x.safetensors"), set).0;
    assert!(refused(&|o| o.include = words(&["nothing*"])).contains("no tensor is called like `nothing*`"));
    assert!(refused(&|o| o.strip_prefix = words(&["model."])).contains("begins with `model.`"));
    assert!(
        refused(&|o| o.rename = vec![("nothing".into(), "x".into())]).contains("`nothing` renames nothing")
    );
    assert!(refused(&|o| o.rename = vec![("a".into(), "*".into())]).contains("has 1 `*`"));
    let both = refused(&|o| o.rename = vec![("*.w".into(), "w".into())]);
    assert_eq!(both, "`module.h.0.w` and `module.h.1.w` would both be called `w`");
}

#[test]
fn a_loss_is_refused_by_name_until_it_is_accepted() {
    let scratch = tempfile::tempdir().unwrap();
    let path = |name: &str| scratch.path().join(name);
    fs::create_dir(path("set")).unwrap();
    for (shard, value) in [(1, "one"), (2, "two")] {
        let name = format!("t{shard}");
        let file = path(&format!("set/model-0000{shard}-of-00002.safetensors"));
        save(
            file,
            &[(&name, DType::U8, &[1], &[7])],
            &[("k", value), ("format", "pt")],
            &SaveOptions::default(),
        )
        .unwrap();
    }
    let (message, help) = refused(&path("set"), &path("out.safetensors"), |_| {});
    assert!(
        message.contains("1 × metadata-conflict[CV001]; first: metadata `k` is `one` and `two`"),
        "{message}"
    );
    assert_eq!(help, "allow it by name: `--accept metadata-conflict`");
    assert!(!path("out.safetensors").exists());
    for word in ["metadata-conflict", "CV001", "cv001"] {
        let receipt = convert(&path("set"), &path("out.safetensors"), |options| {
            (options.accept, options.overwrite) = (vec![word.to_owned()], true);
        });
        assert!(!receipt.unwrap().lossless);
    }
    assert_eq!(open(path("out.safetensors")).unwrap().metadata_value("k"), Some(&Value::Str("one".into())));
    let (message, help) =
        refused(&path("set"), &path("x.safetensors"), |options| options.accept = vec!["all".into()]);
    assert!(message.contains("no loss called `all`") && help.contains("`metadata-conflict`"));
}

#[test]
fn a_type_that_the_target_lacks_is_a_loss() {
    let scratch = tempfile::tempdir().unwrap();
    let (source, target) = (scratch.path().join("a.safetensors"), scratch.path().join("b.safetensors"));
    let header = br#"{"a":{"dtype":"Q9","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}    "#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header);
    bytes.extend_from_slice(&[1, 2]);
    fs::write(&source, bytes).unwrap();
    let (message, _) = refused(&source, &target, |_| {});
    assert!(message.contains("dtype-not-in-target[CV002]; first: tensor `a` is `Q9`"), "{message}");
    let receipt =
        convert(&source, &target, |options| options.accept = vec!["dtype-not-in-target".into()]).unwrap();
    assert_eq!((receipt.lossless, receipt.tensors.len()), (false, 1));
}

#[test]
fn values_that_are_no_text_are_a_loss_of_their_type() {
    let scratch = tempfile::tempdir().unwrap();
    let (source, target) = (scratch.path().join("a.safetensors"), scratch.path().join("b.safetensors"));
    save(&source, &[("t", DType::U8, &[1], &[7])], &[], &SaveOptions::default()).unwrap();
    let mut ck = open(&source).unwrap();
    ck.metadata.push(("n".into(), Value::List(vec![Value::Int(3)])));
    let mut options = ConvertOptions::default();
    let error = plan(&ck, &target, &options).map(drop).unwrap_err().to_string();
    assert!(error.contains("metadata-type[CV005]; first: metadata `n` is a list of 1"), "{error}");
    options.accept = vec!["metadata-type".into()];
    plan(&ck, &target, &options).unwrap().run(&ck, &()).unwrap();
    assert_eq!(open(&target).unwrap().metadata_value("n"), Some(&Value::Str("[3]".into())));
}

#[test]
fn a_broken_source_is_rejected_with_its_findings() {
    let scratch = tempfile::tempdir().unwrap();
    let source = scratch.path().join("a.safetensors");
    save(&source, &[("t", DType::U8, &[9], &[7; 9])], &[], &SaveOptions::default()).unwrap();
    let bytes = fs::read(&source).unwrap();
    fs::write(&source, &bytes[..bytes.len() - 1]).unwrap();
    let ck = OpenOptions::new().read(&source).unwrap();
    let error =
        plan(&ck, &scratch.path().join("b.safetensors"), &ConvertOptions::default()).map(drop).unwrap_err();
    let Error::Rejected(report) = error else { panic!("{error}") };
    assert!(report.findings.iter().any(|finding| finding.rule.slug == "file-truncated"));
}

#[test]
fn a_plan_writes_nothing_and_says_what_it_would_write() {
    let scratch = tempfile::tempdir().unwrap();
    let source = scratch.path().join("a.safetensors");
    save(
        &source,
        &[("a", DType::F32, &[4], &[1; 16]), ("b", DType::U8, &[8], &[2; 8])],
        &[],
        &SaveOptions::default(),
    )
    .unwrap();
    let before: Vec<PathBuf> =
        fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let ck = open(&source).unwrap();
    let mut options = ConvertOptions::default();
    options.max_shard_bytes = Some(16);
    let planned = plan(&ck, &scratch.path().join("set"), &options).unwrap();
    assert_eq!((planned.format, planned.is_folder, planned.files.len()), ("safetensors", true, 3));
    assert_eq!(planned.bytes, planned.files.iter().map(|file| planned.file_len(file)).sum::<u64>());
    let after: Vec<PathBuf> =
        fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(before, after);

    let refused = |target: &str, set: &dyn Fn(&mut ConvertOptions)| {
        let mut options = ConvertOptions::default();
        set(&mut options);
        plan(&ck, &scratch.path().join(target), &options).map(drop).unwrap_err().to_string()
    };
    assert!(refused("a.safetensors", &|_| {}).contains("exists already"));
    assert!(
        refused("x.safetensors", &|o| o.max_shard_bytes = Some(1)).contains("cannot be written as shards")
    );
    assert!(
        refused("x.safetensors", &|o| o.format = Some("nonsense".into()))
            .contains("no format called `nonsense`")
    );
    assert!(refused("absent/x.safetensors", &|_| {}).contains("no such folder"));
}

#[test]
fn spare_room_is_kept_in_the_header() {
    let scratch = tempfile::tempdir().unwrap();
    let (source, target) = (scratch.path().join("a.safetensors"), scratch.path().join("b.safetensors"));
    save(&source, &[("t", DType::U8, &[9], &[7; 9])], &[], &SaveOptions::default()).unwrap();
    convert(&source, &target, |options| options.reserve_bytes = 4096).unwrap();
    let grown = fs::metadata(&target).unwrap().len() - fs::metadata(&source).unwrap().len();
    assert!((4096 - 8..=4096 + 8).contains(&grown), "{grown}");
    assert_eq!(table(&open(&target).unwrap()), table(&open(&source).unwrap()));
}

#[test]
fn a_saver_takes_data_in_any_order_and_misses_none() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("a.safetensors");
    let specs = [
        ("a", DType::U8, Dims::from([8])),
        ("b", DType::F32, Dims::SCALAR),
        ("c", DType::I64, Dims::from([0])),
    ];
    let new = |path: &Path| Saver::new(path, &specs, &[], &SaveOptions::default()).unwrap();
    let saver = new(&path);
    saver.write("b", &[9; 4]).unwrap();
    saver.write_at("a", 4, &[2; 4]).unwrap();
    assert!(saver.write("a", &[0; 7]).unwrap_err().to_string().contains("takes 8 bytes, 7 are given"));
    assert!(saver.write_at("a", 5, &[0; 4]).unwrap_err().to_string().contains("past the 8"));
    assert!(saver.write("z", &[]).unwrap_err().to_string().contains("no tensor `z`"));
    let error = saver.finish().unwrap_err().to_string();
    assert!(
        error.contains("1 of 3 tensors are not filled; the first is `a`: nothing from byte 0 of 8 on"),
        "{error}"
    );
    drop(new(&path));
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "nothing is left behind");

    let saver = new(&path);
    std::thread::scope(|scope| {
        scope.spawn(|| saver.write_at("a", 4, &[2; 4]).unwrap());
        scope.spawn(|| saver.write_at("a", 0, &[1; 4]).unwrap());
        saver.write("b", &[9; 4]).unwrap();
    });
    saver.finish().unwrap();
    let found = table(&open(&path).unwrap());
    assert_eq!(found["a"].2, [1, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!(found["b"].2, [9; 4]);

    let large = scratch.path().join("large.safetensors");
    let saver =
        Saver::new(&large, &[("t", DType::U8, Dims::from([200_000]))], &[], &SaveOptions::default()).unwrap();
    saver.write_at("t", 10, &[1; 10]).unwrap();
    saver.write_at("t", 0, &vec![2; 200_000]).unwrap();
    saver.write_at("t", 100, &[3; 10]).unwrap();
    saver.finish().unwrap();
    let bytes = &table(&open(&large).unwrap())["t"].2;
    assert_eq!((bytes[10], bytes[100], bytes[110]), (2, 3, 2), "what is given later counts");

    let mut options = SaveOptions::default();
    options.max_shard_bytes = Some(8);
    let set = scratch.path().join("set");
    save(&set, &[("a", DType::U8, &[8], &[1; 8]), ("b", DType::U8, &[8], &[2; 8])], &[], &options).unwrap();
    assert_eq!(table(&open(&set).unwrap())["b"].2, [2; 8]);
}
