//! Every limit is reached by some file and then named; headers made to cost much cost what is promised.

use crate::memory::{Used, allowed, used};
use std::fmt::Write;
use tensorcask::{
    Bytes, Checkpoint, DType, Error, Limits, OpenOptions, Result,
    core::Limit,
    save::{SaveOptions, save},
};

/// A file with this header and `n_bytes` of data.
fn file(header: &str, n_bytes: usize) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.resize(bytes.len() + n_bytes, 1);
    bytes
}

fn read(limits: Limits, name: &str, bytes: Vec<u8>) -> (Result<Checkpoint>, Used) {
    let bytes = Bytes::new(bytes);
    used(|| OpenOptions::new().limits(limits).read_bytes(name, bytes))
}

const TWO: &str = r#"{"__metadata__":{"long key":"v","k":"v"},"a":{"dtype":"U8","shape":[1,1,1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2],"x":[[[[]]]]}}"#;

#[test]
fn every_limit_is_named_when_it_is_reached() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut options = SaveOptions::default();
    options.max_shard_bytes = Some(1);
    let set = folder.path().join("set");
    let one: &[u64] = &[1];
    save(&set, &[("a", DType::U8, one, &[1]), ("b", DType::U8, one, &[1])], &[], &options).expect("a set");
    for limit in Limit::ALL {
        let below = match limit {
            Limit::HeaderBytes => 100,
            Limit::Tensors | Limit::MetadataItems | Limit::Files => 1,
            Limit::StringBytes => 4,
            Limit::Dims => 2,
            Limit::Depth => 3,
            Limit::MemoryBytes => 50,
            other => panic!("the limit `{}` has no test", other.name()),
        };
        let mut limits = Limits::default();
        assert!(limits.set(limit.name(), below));
        let result = match limit {
            // In a header, too deep is a syntax error, as it is to the reference.
            Limit::Depth => read(limits.clone(), "m.safetensors.index.json", b"[[[[]]]]".to_vec()).0,
            Limit::Files => OpenOptions::new().limits(limits.clone()).read(&set),
            _ => read(limits.clone(), "model.safetensors", file(TWO, 2)).0,
        };
        match result {
            Err(error @ Error::Limit { .. }) => {
                let Error::Limit { hit, .. } = &error else { unreachable!("it was just matched") };
                assert_eq!((hit.limit, hit.allowed), (*limit, below));
                assert!(hit.asked > below, "{hit:?}");
                assert!(error.to_string().contains(limit.name()), "{error}");
                let help = error.help().expect("a limit says how it is raised");
                assert!(help.contains(&format!("--limit {}=", limit.name())), "{help}");
            }
            Err(other) => panic!("{}: {other:?}", limit.name()),
            Ok(_) => panic!("the limit `{}` = {below} was not held", limit.name()),
        }
    }
    assert!(!Limits::default().set("no such limit", 1));
    let (whole, _) = read(Limits::none(), "model.safetensors", file(TWO, 2));
    assert_eq!(whole.expect("without limits there is a table").tensors.len(), 2);
}

/// Headers that cost a careless reader much, by name.
fn hostile() -> Vec<(&'static str, String)> {
    const N: usize = 10_000_000;
    let many = |each: &dyn Fn(&mut String, usize), n: usize| {
        let mut header = String::from("{");
        for at in 0..n {
            each(&mut header, at);
        }
        header.pop();
        header.push('}');
        header
    };
    let entry = r#"{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#;
    let odd = |n: usize| {
        format!(r#"{{"a":{{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":{}}}}}"#, "[".repeat(n))
    };
    let mut long_name =
        format!(r#"{{"{}":{{"dtype":"U8","shape":[5000],"data_offsets":[0,5000]}}"#, "n".repeat(N / 10));
    for at in 0..3_000 {
        let _ = write!(long_name, r#","{at}":{{"dtype":"U8","shape":[1],"data_offsets":[{at},{}]}}"#, at + 1);
    }
    long_name.push('}');
    vec![
        ("braces", "{".repeat(N)),
        ("brackets", "[".repeat(N)),
        ("digits", "1".repeat(N)),
        ("digits in a shape", format!(r#"{{"a":{{"dtype":"U8","shape":[{}]}}}}"#, "1".repeat(N))),
        ("a shape of many dims", format!(r#"{{"a":{{"dtype":"U8","shape":[1{}]}}}}"#, ",1".repeat(N / 2))),
        ("one name", format!(r#"{{"{}":{entry}}}"#, "n".repeat(N))),
        ("one name in escapes", format!(r#"{{"{}":{entry}}}"#, r"\u0041".repeat(N / 6))),
        (
            "one unknown dtype",
            format!(r#"{{"a":{{"dtype":"{}","shape":[0],"data_offsets":[0,0]}}}}"#, "d".repeat(N)),
        ),
        ("one metadata value", format!(r#"{{"__metadata__":{{"k":"{}"}}}}"#, "v".repeat(N))),
        (
            "equal names",
            many(
                &|h, _| {
                    let _ = write!(h, r#""a":{entry},"#);
                },
                300_000,
            ),
        ),
        ("equal keys without a value", many(&|h, _| h.push_str(r#""a":1,"#), 1_000_000)),
        (
            "equal metadata keys",
            format!(r#"{{"__metadata__":{}}}"#, many(&|h, _| h.push_str(r#""k":"","#), 1_000_000)),
        ),
        (
            "many metadata keys",
            format!(
                r#"{{"__metadata__":{}}}"#,
                many(
                    &|h, at| {
                        let _ = write!(h, r#""{at}":"","#);
                    },
                    500_000
                )
            ),
        ),
        (
            "unknown fields",
            format!(
                r#"{{"a":{}}}"#,
                many(
                    &|h, at| {
                        let _ = write!(h, r#""{at}":0,"#);
                    },
                    1_000_000
                )
            ),
        ),
        (
            "empty tensors",
            many(
                &|h, at| {
                    let _ = write!(h, r#""{at}":{entry},"#);
                },
                150_000,
            ),
        ),
        (
            "array entries",
            many(
                &|h, at| {
                    let _ = write!(h, r#""{at}":[],"#);
                },
                500_000,
            ),
        ),
        ("a long name that others lie under", long_name),
        (
            "gaps",
            many(
                &|h, at| {
                    let _ = write!(
                        h,
                        r#""{at}":{{"dtype":"U8","shape":[1],"data_offsets":[{},{}]}},"#,
                        2 * at,
                        2 * at + 1
                    );
                },
                100_000,
            ),
        ),
        ("deep", odd(N)),
        ("backslashes", format!("{{\"{}", "\\".repeat(N))),
        ("quotes", "\"".repeat(N)),
        ("blanks", " ".repeat(N)),
        ("commas", format!("{{{}", ",".repeat(N))),
    ]
}

#[test]
fn a_hostile_header_costs_eight_times_its_bytes_at_most() {
    let mut over = Vec::new();
    for (what, header) in hostile() {
        let promised = allowed(header.len() as u64);
        let (result, used) = read(Limits::default(), "model.safetensors", file(&header, 0));
        if used.peak > promised {
            over.push(format!("{what}: {} bytes at once, {promised} are promised", used.peak));
        }
        if let Ok(checkpoint) = result {
            let text: usize = checkpoint.findings.iter().map(|f| f.message.len()).sum();
            assert!(text <= header.len() + (1 << 20), "{what}: {text} bytes of messages");
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}

#[test]
fn the_work_for_a_header_grows_with_its_length_alone() {
    // Bytes taken from the allocator stand for the work: twice the header may take little more than twice as much.
    for what in ["empty tensors", "equal names", "unknown fields", "many metadata keys", "array entries"] {
        let entry = |at: usize| match what {
            "empty tensors" => format!(r#""{at:06}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#),
            "equal names" => r#""a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#.to_owned(),
            "array entries" => format!(r#""{at:06}":[]"#),
            _ => format!(r#""{at:06}":"""#),
        };
        let taken = |n: usize| {
            let entries: Vec<String> = (0..n).map(entry).collect();
            let entries = entries.join(",");
            let header = match what {
                "unknown fields" => format!(r#"{{"a":{{{entries}}}}}"#),
                "many metadata keys" => format!(r#"{{"__metadata__":{{{entries}}}}}"#),
                _ => format!("{{{entries}}}"),
            };
            read(Limits::default(), "model.safetensors", file(&header, 0)).1.taken
        };
        // Vectors double, so one step may take twice its share; four steps may not.
        let (small, large) = (taken(2_000), taken(32_000));
        assert!(large <= small * 16 * 2, "{what}: {small} bytes for 2,000 entries, {large} for 32,000");
    }
}

#[test]
fn an_index_of_a_million_lines_that_name_nothing_comes_to_an_end() {
    let mut index = String::from(r#"{"metadata":{},"weight_map":{"#);
    for at in 0..1_000_000 {
        let _ = write!(index, r#""t{at}":"s{at}.safetensors","#);
    }
    index.pop();
    index.push_str("}}");
    let mut limits = Limits::default();
    limits.files = 10;
    let len = index.len() as u64;
    let (result, used) = read(limits, "model.safetensors.index.json", index.into_bytes());
    let checkpoint = result.expect("a table without tensors' bytes");
    assert!(checkpoint.is_broken());
    assert!(checkpoint.findings.count_all() < 10_000);
    // The index is kept as a tree, so a line costs more than a header's: forty times its bytes.
    assert!(used.peak <= 40 * len, "{} bytes at once for an index of {len}", used.peak);
}

#[test]
fn a_small_memory_budget_holds_for_an_index_too() {
    let index = format!(r#"{{"weight_map":{{"a":"m.safetensors"}},"x":[{}1]}}"#, "1,".repeat(1_000_000));
    let mut limits = Limits::default();
    limits.memory_bytes = 16 << 20;
    let (result, used) = read(limits, "model.safetensors.index.json", index.into_bytes());
    assert!(matches!(result, Err(Error::Limit { hit, .. }) if hit.limit == Limit::MemoryBytes));
    assert!(used.peak <= 64 << 20, "{} bytes at once", used.peak);
}

#[test]
fn an_index_that_names_itself_as_a_shard_ends() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let name = "model.safetensors.index.json";
    let index = format!(r#"{{"weight_map":{{"a":"{name}"}}}}"#);
    std::fs::write(folder.path().join(name), index).expect("it can be written");
    for path in [folder.path().to_owned(), folder.path().join(name)] {
        let checkpoint = OpenOptions::new().read(&path).expect("a table");
        assert!(checkpoint.is_broken(), "{:?}", checkpoint.findings);
    }
}
