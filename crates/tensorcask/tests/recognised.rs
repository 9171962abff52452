//! What a file is, told by its content: every probe on files made here, and on the corpus.

use std::{collections::BTreeSet, path::Path};
use tensorcask::{Bytes, Checkpoint, Error, OpenOptions, Place};

fn read(name: &str, bytes: impl AsRef<[u8]>) -> Option<Checkpoint> {
    match OpenOptions::new().read_bytes(name, Bytes::new(bytes.as_ref().to_vec())) {
        Ok(checkpoint) => Some(checkpoint),
        Err(Error::Unrecognized { .. }) => None,
        Err(error) => panic!("{name}: {error}"),
    }
}

fn codes(checkpoint: &Checkpoint) -> Vec<&'static str> {
    checkpoint.findings.iter().map(|finding| finding.rule.code).collect()
}

/// Reads bytes that have to be of `format` and give exactly these findings.
fn expect(name: &str, bytes: impl AsRef<[u8]>, format: &str, wanted: &[&str]) -> Checkpoint {
    let checkpoint = read(name, bytes).unwrap_or_else(|| panic!("{name}: no format, not {format}"));
    let messages: Vec<_> = checkpoint.findings.iter().map(|finding| &finding.message).collect();
    assert_eq!((checkpoint.format, codes(&checkpoint).as_slice()), (format, wanted), "{name}: {messages:?}");
    checkpoint
}

fn message(checkpoint: &Checkpoint) -> &str {
    &checkpoint.findings.iter().next().expect("a finding").message
}

/// A safetensors file of one tensor whose header takes exactly `header_len` bytes.
fn safetensors(header_len: usize, data: &[u8]) -> Vec<u8> {
    let len = data.len();
    let mut header =
        format!(r#"{{"w":{{"dtype":"U8","shape":[{len}],"data_offsets":[0,{len}]}}}}"#).into_bytes();
    header.resize(header_len, b' ');
    [&(header_len as u64).to_le_bytes()[..], &header, data].concat()
}

/// Reproducible bytes without any structure.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        })
        .collect()
}

struct Zip {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    members: u16,
}

impl Zip {
    /// An archive of stored members behind `front`, whose stored offsets count from `base`.
    fn new(front: &[u8], base: usize, members: &[(&str, &[u8])]) -> Zip {
        let mut zip = Zip { bytes: front.to_vec(), directory: Vec::new(), members: 0 };
        for (name, data) in members {
            let offset = u32::try_from(zip.bytes.len() - base).expect("a small archive");
            let len = u32::try_from(data.len()).expect("a small member").to_le_bytes();
            let name_len = u16::try_from(name.len()).expect("a short name").to_le_bytes();
            let common =
                [&[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0, 0, 0, 0, 0], &len[..], &len, &name_len, &[0, 0]]
                    .concat();
            zip.bytes.extend([b"PK\x03\x04", &common[..], name.as_bytes(), data].concat());
            zip.directory.extend(
                [b"PK\x01\x02", &[20, 0][..], &common, &[0; 10], &offset.to_le_bytes(), name.as_bytes()]
                    .concat(),
            );
            zip.members += 1;
        }
        zip
    }

    fn directory_at(&self, base: usize) -> (u32, u32) {
        let at = u32::try_from(self.bytes.len() - base).expect("a small archive");
        (u32::try_from(self.directory.len()).expect("a small directory"), at)
    }

    fn finish(mut self, base: usize, comment: &[u8]) -> Vec<u8> {
        let (len, at) = self.directory_at(base);
        let count = self.members.to_le_bytes();
        let comment_len = u16::try_from(comment.len()).expect("a short comment").to_le_bytes();
        self.bytes.extend(&self.directory);
        let end = [
            b"PK\x05\x06\0\0\0\0",
            &count[..],
            &count,
            &len.to_le_bytes(),
            &at.to_le_bytes(),
            &comment_len,
            comment,
        ];
        self.bytes.extend(end.concat());
        self.bytes
    }

    /// The same with a zip64 end record, and full fields in the classic one.
    fn finish_64(mut self, base: usize) -> Vec<u8> {
        let (len, at) = self.directory_at(base);
        self.bytes.extend(&self.directory);
        let record_at = (self.bytes.len() - base) as u64;
        let count = u64::from(self.members).to_le_bytes();
        let record = [b"PK\x06\x06", &44_u64.to_le_bytes()[..], &[45, 0, 45, 0], &[0; 8], &count, &count];
        self.bytes.extend(record.concat());
        self.bytes.extend([u64::from(len).to_le_bytes(), u64::from(at).to_le_bytes()].concat());
        self.bytes.extend([b"PK\x06\x07\0\0\0\0", &record_at.to_le_bytes()[..], &[1, 0, 0, 0]].concat());
        self.bytes.extend([b"PK\x05\x06\0\0\0\0", &[0xff; 12][..], &[0, 0]].concat());
        self.bytes
    }
}

const TORCH_MEMBERS: &[(&str, &[u8])] =
    &[("m/data.pkl", b"\x80\x02N."), ("m/data/0", b"1234"), ("m/version", b"3\n")];

#[test]
fn every_protocol_is_a_pickle_under_any_name() {
    expect("p0.bin", b"(dp0\nVepoch\np1\nI3\nsVnames\np2\n(lp3\nVa\np4\naVb\np5\nas.", "pickle", &["FI005"]);
    expect("p1.bin", b"}q\x00(X\x05\x00\x00\x00epochq\x01K\x03X\x05\x00\x00\x00namesq\x02]q\x03(X\x01\x00\x00\x00aq\x04X\x01\x00\x00\x00bq\x05eu.", "pickle", &["FI005"]);
    expect("p2.bin", b"\x80\x02}q\x00(X\x05\x00\x00\x00epochq\x01K\x03X\x05\x00\x00\x00namesq\x02]q\x03(X\x01\x00\x00\x00aq\x04X\x01\x00\x00\x00bq\x05eu.", "pickle", &["FI005"]);
    expect("p3.bin", b"\x80\x03}q\x00(X\x05\x00\x00\x00epochq\x01K\x03X\x05\x00\x00\x00namesq\x02]q\x03(X\x01\x00\x00\x00aq\x04X\x01\x00\x00\x00bq\x05eu.", "pickle", &["FI005"]);
    expect("p4.bin", b"\x80\x04\x95#\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x05epoch\x94K\x03\x8c\x05names\x94]\x94(\x8c\x01a\x94\x8c\x01b\x94eu.", "pickle", &["FI005"]);
    expect("p5.bin", b"\x80\x05\x95#\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x05epoch\x94K\x03\x8c\x05names\x94]\x94(\x8c\x01a\x94\x8c\x01b\x94eu.", "pickle", &["FI005"]);
    let checkpoint = expect("model.pkl", b"\x80\x02cposix\ngetpid\n)R.", "pickle", &["FI005"]);
    assert!(
        message(&checkpoint).ends_with("loading this file can run code; this version has not looked inside")
    );
    assert_eq!(checkpoint.unread.len(), 1);
    assert!(checkpoint.tensors.is_empty());
    // What comes behind STOP, or goes wrong behind a call, is no protection.
    expect("model.txt", b"\x80\x02cposix\ngetpid\n)R.trailing bytes", "pickle", &["FI005"]);
    expect("model.ckpt", b"cposix\ngetpid\n)R\xff\xff", "pickle", &["FI005"]);
    expect(
        "model.bin",
        b"\x80\x04\x95\x09\0\0\0\0\0\0\0\x8c\x05posix\x94\x8c\x06getpid\x94\x93)R\xff",
        "pickle",
        &["FI005"],
    );
}

#[test]
fn a_pickle_longer_than_a_look_is_walked_to_its_call() {
    // Three arguments of 100 KB, the last one text of protocol 0, then the call.
    let mut bytes = Vec::new();
    for _ in 0..2 {
        bytes.extend([&b"X\xa0\x86\x01\0"[..], &vec![b'x'; 100_000], b"0"].concat());
    }
    bytes.extend([&b"V"[..], &vec![b'y'; 100_000], b"\n0cposix\ngetpid\n)R."].concat());
    expect("model.bin", &bytes, "pickle", &["FI005"]);
    bytes.truncate(bytes.len() - 20);
    assert!(read("model.bin", &bytes).is_none());
}

#[test]
fn what_only_begins_like_a_pickle_is_none() {
    // Lengths that spell PROTO 2 to 5 and NEWTRUE STOP.
    for header_len in [640, 896, 1_152, 1_408, 11_912] {
        expect("model.safetensors", safetensors(header_len, &[7; 64]), "safetensors", &[]);
    }
    // Lengths whose first byte pushes text that ends somewhere in the header or the data.
    for header_len in (0..=64).map(|n| n * 256 + 0x58).filter(|len| *len > 60) {
        expect("model.safetensors", safetensors(header_len, b".N.N.N.0.].}...."), "safetensors", &[]);
    }
    let prose = [
        "I am a README.\n\nNothing here is a model.\n",
        "Just text.\n",
        "(see below)\n",
        "N.B. this is a note.\n",
        "cat sat\non the mat\n.",
        "come\nhere .\n",
        "Vim is an editor.\nVi is older.\n",
        "0.1 first release\n",
        "]\n",
        "",
        "}.",
        "a.b.c",
    ];
    for text in prose {
        assert!(read("notes.txt", text).is_none(), "{text:?}");
    }
    for seed in 0..20_000 {
        let found = read("noise.bin", noise(seed, 300)).map(|checkpoint| checkpoint.format);
        assert_eq!(found, None, "seed {seed}: {:?}", &noise(seed, 300)[..40]);
    }
    for seed in 0..500 {
        let start = [&[0x80, 2 + u8::try_from(seed % 4).expect("small")][..], &noise(seed, 300)].concat();
        assert!(
            read("noise.bin", start).is_none_or(|checkpoint| checkpoint.format == "pickle"),
            "seed {seed}"
        );
    }
}

#[test]
fn a_pickle_inside_a_safetensors_file_is_a_second_format() {
    // The length 0x558 pushes five bytes of text, `U` steps over the header into the data.
    let file = |tail: &[u8]| {
        let header_len = 0x558;
        let text = |len: usize| [&[b'U', u8::try_from(len).expect("a byte")][..], &vec![b'n'; len]].concat();
        let rest = format!(r#"":{{"dtype":"U8","shape":[{0}],"data_offsets":[0,{0}]}}}}"#, tail.len());
        let mut key = Vec::new();
        while key.len() + 42 + rest.len() + 4 <= header_len {
            key.extend(text(40));
        }
        let key = String::from_utf8(key).expect("ASCII");
        let filler = header_len - 2 - key.len() - rest.len() - 2;
        let step = rest.len() + filler;
        let header = format!(
            "{{\"{key}U{}{}{rest}",
            char::from(u8::try_from(step).expect("a byte")),
            "n".repeat(filler)
        );
        assert_eq!(header.len(), header_len);
        [&(header_len as u64).to_le_bytes()[..], header.as_bytes(), tail].concat()
    };
    expect("model.safetensors", file(b"cposix\ngetpid\n)R."), "safetensors", &["FI006"]);
    expect("model.safetensors", file(b"cposix\ngetpid\n)R\xff"), "safetensors", &["FI006"]);
    expect("model.safetensors", file(b"\xff\xff\xff\xff"), "safetensors", &[]);
}

#[test]
fn zips_are_told_apart_by_their_members() {
    let zip = |members: &[(&str, &[u8])]| Zip::new(b"", 0, members).finish(0, b"");
    expect("m.pt", zip(TORCH_MEMBERS), "torch-zip", &["FI005"]);
    expect("m.bin", zip(&[("m/DATA.PKL", b"N.")]), "torch-zip", &["FI005"]);
    expect(
        "m.pt",
        zip(&[("m/data.pkl", b"N."), ("m/constants.pkl", b"N."), ("m/version", b"3")]),
        "torchscript",
        &["FI005"],
    );
    expect(
        "m.pt",
        zip(&[("m/.data/extern_modules", b""), ("m/a/b.pkl", b"N.")]),
        "torch-package",
        &["FI005"],
    );
    expect(
        "m.pt2",
        zip(&[("m/archive_format", b"pt2"), ("m/models/model.json", b"{}")]),
        "torch-export",
        &["FI005"],
    );
    expect("m.npz", zip(&[("a.npy", b"\x93NUMPY"), ("b/c.npy", b"")]), "npz", &["FI007"]);
    expect(
        "m.keras",
        zip(&[("metadata.json", b"{}"), ("config.json", b"{}"), ("model.weights.h5", b"")]),
        "keras",
        &["FI007"],
    );
    expect("m.skops", zip(&[("schema.json", b"{}"), ("1.npy", b"")]), "skops", &["FI007"]);
    expect("m.zip", zip(&[("notes.txt", b"hello")]), "zip", &["FI007"]);
    expect("m.zip", zip(&[("notes.txt", b"hello"), ("deep/inside/x.PKL", b"N.")]), "zip", &["FI005"]);
}

#[test]
fn zips_are_found_with_comment_zip64_and_other_bytes_in_front() {
    let comment = vec![b'c'; 65_535];
    expect("m.pt", Zip::new(b"", 0, TORCH_MEMBERS).finish(0, &comment), "torch-zip", &["FI005"]);
    expect("m.pt", Zip::new(b"", 0, TORCH_MEMBERS).finish_64(0), "torch-zip", &["FI005"]);
    // A comment of another length than the record says, as Python's reader accepts it.
    let mut lying = Zip::new(b"", 0, TORCH_MEMBERS).finish(0, b"");
    lying.extend(b"more");
    expect("m.pt", &lying, "torch-zip", &["FI005"]);
    // In the data of a safetensors file, with offsets from its own start and from the start of the file.
    let front = safetensors(88, b"");
    for base in [front.len(), 0] {
        let zip = Zip::new(&front, base, TORCH_MEMBERS);
        let (bytes, zip_64) =
            (zip.finish(base, b"bye"), Zip::new(&front, base, TORCH_MEMBERS).finish_64(base));
        for bytes in [bytes, zip_64] {
            let data = &bytes[front.len()..];
            // The header has to cover the archive for the file to be sound.
            let whole = [&safetensors(88, data)[..96], data].concat();
            expect("model.safetensors", whole, "safetensors", &["FI006"]);
        }
    }
}

#[test]
fn what_only_looks_like_a_zip_is_none() {
    let end = b"PK\x05\x06\0\0\0\0\x01\0\x01\0\x40\0\0\0\0\0\0\0\0\0";
    let parts: &[&[u8]] = &[end, b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"];
    for part in parts {
        let data = [&noise(1, 200), *part].concat();
        expect("model.safetensors", safetensors(88, &data), "safetensors", &[]);
        assert!(read("noise.bin", &data).is_none());
    }
    // A directory whose member is not where it says.
    let mut moved = Zip::new(&safetensors(88, &[1; 50]), 0, TORCH_MEMBERS).finish(0, b"");
    for member in [b"PK\x03\x04"; 3] {
        let at = moved.windows(4).position(|bytes| bytes == member).expect("a member");
        moved[at] = b'Q';
    }
    assert!(codes(&read("model.bin", &moved).expect("safetensors")).iter().all(|code| *code != "FI006"));
    // A cut archive begins with a member; four bytes alone do not.
    let whole = Zip::new(b"", 0, TORCH_MEMBERS).finish(0, b"");
    let cut = expect("m.pt", &whole[..60], "zip", &["FI007"]);
    assert!(message(&cut).contains("without its directory"), "{}", message(&cut));
    assert!(
        read("m.bin", b"PK\x03\x04\xff\xff\xff\xff and then nothing of an archive, only noise").is_none()
    );
}

#[test]
fn numpy_arrays_of_objects_are_pickles() {
    let npy = |header: &str| {
        let len = u16::try_from(header.len()).expect("a short header").to_le_bytes();
        [b"\x93NUMPY\x01\0", &len[..], header.as_bytes(), &[0; 24]].concat()
    };
    let plain = [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n",
        "{'shape': (), 'fortran_order': True, 'descr': '|b1'}",
        "{\"descr\": \"<M8[ns]\", \"fortran_order\": False, \"shape\": (3,)}\n",
        "{'descr': '<V2', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': [('shape', '<f4'), ('pos', '<f8', (3,))], 'fortran_order': False, 'shape': (3,)}",
    ];
    for header in plain {
        expect("a.npy", npy(header), "npy", &["FI007"]);
    }
    let objects = [
        "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }\n",
        "{'descr': 'O', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': 'O8', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': 'object', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '|' 'O', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '\\x4f', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': 'i4,O', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'descr': '|O'}",
        "{'descr': [('shape', '<f4'), ('x', '|O')], 'fortran_order': False, 'shape': (3,)}",
        "{'descr': [('a', [('b', 'O')])], 'fortran_order': False, 'shape': (3,)}",
        "no header at all",
    ];
    for header in objects {
        expect("a.npy", npy(header), "npy", &["FI005"]);
    }
}

#[test]
fn magics_are_told_with_their_version() {
    let version = |checkpoint: &Checkpoint| checkpoint.format_version.as_ref().map(ToString::to_string);
    let gguf = expect("m.gguf", b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0", "gguf", &["FI007"]);
    assert_eq!(version(&gguf).as_deref(), Some("3"));
    assert_eq!(message(&gguf), "recognised as GGUF version 3; this version does not read it yet");
    assert!(
        matches!(gguf.findings.iter().next().expect("one").place, Place::Span(span) if (span.start, span.len) == (0, 8))
    );
    assert_eq!(gguf.unread, ["m.gguf"]);
    let big = expect("m.gguf", b"GGUF\0\0\0\x03", "gguf", &["FI007"]);
    assert!(message(&big).contains("big-endian"));
    let hdf5 = b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0";
    expect("m.h5", hdf5, "hdf5", &["FI007"]);
    expect("m.h5", [&[b'u'; 2_048][..], hdf5].concat(), "hdf5", &["FI007"]);
    assert!(read("m.bin", [&[b'u'; 2_000][..], hdf5].concat()).is_none());
    let rows: &[(&str, &[u8], &str)] = &[
        ("m.bin", b"tjgg\x03\0\0\0", "ggml"),
        ("m.tflite", b"\x1c\0\0\0TFL3\x14\0\0\0", "tflite"),
        ("m.ort", b"\x1c\0\0\0ORTM\x14\0\0\0", "ort"),
        ("m.pte", b"\x1c\0\0\0ET12eh00", "executorch"),
        ("m.ptd", b"\x1c\0\0\0FT01FH01", "executorch-data"),
        ("m.engine", b"ftrt\0\0\0\0\xe8\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0a\x03\0\x1a", "tensorrt"),
        ("m.engine", b"\x02\0\0\0{}ftrt\0\0\0\0", "tensorrt"),
        ("m.om", b"IMOD\0\x01\0\0", "huawei-om"),
        ("m.param", b"7767517\n2 3\n", "ncnn"),
        ("m.msgpack", b"\x81\xa6params\x80", "flax"),
        ("m.pdiparams", b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x06\0\0\0\x08\x05\x10\x02\x10\x03", "paddle"),
        ("m.7z", b"7z\xbc\xaf\x27\x1c\0\x04", "7z"),
        ("m.rar", b"Rar!\x1a\x07\x01\0", "rar"),
        ("m.zst", b"\x28\xb5\x2f\xfd\x24\x05", "zstd"),
        ("m.lz4", b"\x04\x22\x4d\x18\x64\x40", "lz4"),
        ("model.so", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", "executable"),
        ("model.bin", b"\xcf\xfa\xed\xfe\x07\0\0\x01", "executable"),
        ("m.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcbH\xcd\xc9\xc9\x07\x00\x86\xa6\x106\x05\x00\x00\x00", "gzip"),
        ("m.bz2", b"BZh91AY&SY\x191e=\x00\x00\x00\x81\x00\x02D\xa0\x00!\x9ah3M\x073\x8b\xb9\"\x9c(H\x0c\x98\xb2\x9e\x80", "bzip2"),
        ("m.xz", b"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F\x02\x00!\x01\x16\x00\x00\x00t/\xe5\xa3\x01\x00\x04hello\x00\x00\x00\x00\xb17\xb9\xdb\xe5\xda\x1e\x9b\x00\x01\x1d\x05\xb8-\x80\xaf\x1f\xb6\xf3}\x01\x00\x00\x00\x00\x04YZ", "xz"),
    ];
    for (name, bytes, format) in rows {
        let checkpoint = expect(name, bytes, format, &["FI007"]);
        assert_eq!(checkpoint.unread, [*name]);
    }
    // The length 559,903 spells the magic of gzip.
    let mut spelt = safetensors(559_903, &[0; 8]);
    expect("model.bin", &spelt, "safetensors", &["ST020"]);
    spelt[0] = 0;
    assert_ne!(read("model.bin", &spelt).map(|checkpoint| checkpoint.format), Some("gzip"));
}

#[test]
fn what_joblib_unpacks_is_a_pickle() {
    let packed: &[&[u8]] = &[b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcbH\xcd\xc9\xc9\x07\x00\x86\xa6\x106\x05\x00\x00\x00", b"BZh91AY&SY\x191e=\x00\x00\x00\x81\x00\x02D\xa0\x00!\x9ah3M\x073\x8b\xb9\"\x9c(H\x0c\x98\xb2\x9e\x80", b"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F\x02\x00!\x01\x16\x00\x00\x00t/\xe5\xa3\x01\x00\x04hello\x00\x00\x00\x00\xb17\xb9\xdb\xe5\xda\x1e\x9b\x00\x01\x1d\x05\xb8-\x80\xaf\x1f\xb6\xf3}\x01\x00\x00\x00\x00\x04YZ", b"x\x9c\xcbH\xcd\xc9\xc9\x07\x00\x06,\x02\x15"];
    for bytes in packed {
        for name in ["model.joblib", "model.pkl", "model.pkl.z", "model.joblib.gz"] {
            expect(name, bytes, "joblib", &["FI005"]);
        }
    }
    // An array lies raw behind its wrapper.
    expect("model.joblib", b"\x80\x03cjoblib.numpy_pickle\nNumpyArrayWrapper\nq\x00)\x81q\x01}q\x02(X\x05\x00\x00\x00orderq\x03X\x01\x00\x00\x00Cq\x04ub\xff\x00\x01\x02raw array bytes", "joblib", &["FI005"]);
}

#[test]
fn protobufs_are_told_by_their_fields() {
    let onnx = b"\x08\x0a\x12\x07pytorch\x3a\x06\x12\x04main\x42\x02\x10\x11";
    let checkpoint = expect("m.onnx", onnx, "onnx", &["FI007"]);
    assert!(message(&checkpoint).contains("IR version 10"), "{}", message(&checkpoint));
    expect("m.bin", onnx, "onnx", &["FI007"]);
    // Cut inside its graph: only with the name.
    expect("m.onnx", &onnx[..17], "onnx", &["FI007"]);
    assert!(read("m.bin", &onnx[..17]).is_none());
    // A graph larger than a look, with the operator sets behind it.
    let graph = [&[0x12, 4][..], b"main", &[0x2a, 0x80, 0x89, 0x7a], &vec![0; 2_000_000]].concat();
    let len = [0x8a, 0x89, 0x7a];
    let large = [b"\x08\x08\x3a", &len[..], &graph, b"\x42\x02\x10\x0d"].concat();
    expect("m.bin", large, "onnx", &["FI007"]);
    let coreml = b"\x08\x04\x12\x05\xa2\x06\x02\x0a\0\xa2\x1f\x02\x0a\0";
    expect("m.mlmodel", coreml, "coreml", &["FI007"]);
    expect("saved_model.pb", b"\x08\x01\x12\x04\x0a\x02\x22\0", "tf-saved-model-graph", &["FI007"]);
    expect("frozen.pb", b"\x0a\x0a\x0a\x01x\x12\x05Const", "tf-graph", &["FI007"]);
    let index = [&[0; 40][..], b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"].concat();
    expect("variables.index", index, "tf-checkpoint", &["FI007"]);
}

#[test]
fn tars_are_told_by_their_checksum() {
    let member = |name: &str, data: &[u8]| {
        let mut header = vec![0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", data.len()).as_bytes());
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        let mut bytes = [&header, data].concat();
        bytes.resize(bytes.len().next_multiple_of(512), 0);
        bytes
    };
    let plain =
        [member("config.yaml", b"a: 1"), member("weights.ckpt", &noise(3, 700)), vec![0; 1_024]].concat();
    expect("m.nemo", &plain, "tar", &["FI007"]);
    let torch =
        ["sys_info", "pickle", "tensors", "storages"].map(|name| member(name, b"\x80\x02N.")).concat();
    expect("m.pt", &torch, "torch-tar", &["FI005"]);
    // An archive as the last member is no second format.
    let zip = Zip::new(b"", 0, &[("a.txt", b"hello")]).finish(0, b"");
    expect("m.tar", [member("a.zip", &zip), vec![0; 1_024]].concat(), "tar", &["FI007"]);
    let mut broken = plain;
    broken[0] ^= 1;
    assert!(read("m.nemo", &broken).is_none());
}

#[test]
fn a_pointer_names_its_size_and_digest() {
    let digest = "ab12".repeat(16);
    let text = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 4970000000\n");
    for name in ["model.safetensors", "weights", "README.md", "model.gguf"] {
        let checkpoint = expect(name, &text, "git-lfs-pointer", &["FI002"]);
        let message = message(&checkpoint);
        assert!(message.contains("4.97 GB (4970000000 bytes)") && message.contains(&digest), "{message}");
        assert!(checkpoint.unread.is_empty());
    }
    let small = expect("m.bin", text.replace("4970000000", "999"), "git-lfs-pointer", &["FI002"]);
    assert!(message(&small).contains("to 999 bytes with"), "{}", message(&small));
    let hawser =
        expect("m.bin", "version https://hawser.github.com/spec/v1\nsize x\n", "git-lfs-pointer", &["FI002"]);
    assert!(message(&hawser).contains("an unknown size with no digest"));
    assert!(read("m.txt", "version https://git-lfs.github.com/spec/v1x\n").is_none());
    assert!(read("m.txt", format!("{text}{}", "x".repeat(1_024))).is_none());
}

#[test]
fn an_error_page_is_quoted_only_under_a_name_of_weights() {
    let pages = [
        (
            "<!DOCTYPE html>\n<html><head><TITLE>Sign\n in &amp; go</TITLE>",
            "an HTML page saved as weights: `Sign in &amp; go`",
        ),
        (
            "\u{feff}  <html lang=en><body><h1>502 Bad Gateway</h1>",
            "an HTML page saved as weights: `502 Bad Gateway`",
        ),
        ("<html></html>", "an HTML page saved as weights"),
        (
            "<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>",
            "an XML error saved as weights: `Access Denied`",
        ),
        (r#"{"error":"Repository not found"}"#, "a JSON error saved as weights: `Repository not found`"),
        (
            r#" {"code":404, "error": {"message": "no \"m\u00f6del\"", "x": [1, 2.5e3, true]}} "#,
            "a JSON error saved as weights: `no \"m\u{f6}del\"`",
        ),
        (r#"{"errors":["first","second"],"detail":null}"#, "a JSON error saved as weights: `first`"),
        ("Entry not found", "a line of text saved as weights: `Entry not found`"),
    ];
    for (page, wanted) in pages {
        for name in ["model.safetensors", "pytorch_model.bin", "m.gguf", "tokenizer.model"] {
            let checkpoint = expect(name, page, "error-page", &["FI003"]);
            assert_eq!(message(&checkpoint), format!("this is {wanted}"));
        }
        for name in ["README.html", "config.json", "notes.txt", "page"] {
            assert!(read(name, page).is_none(), "{name}: {page}");
        }
    }
    let hostile = expect(
        "m.bin",
        format!("<html><title>\u{1b}[31m`red`\u{202e}{}</title>", "x".repeat(300)),
        "error-page",
        &["FI003"],
    );
    let message = message(&hostile);
    assert!(!message.contains(['\u{1b}', '\u{202e}']) && message.ends_with("x…`"), "{message}");
    let none = [
        r#"{"weight_map":{"a":"model-1.bin"},"message":"x"}"#,
        r#"{"error":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#,
        r#"{"learner":{"version":[1]}}"#,
        r#"{"error":"cut"#,
        r#"["error"]"#,
        r#"{"error":"x"} and more"#,
        "tree\nversion=v3\nnum_class=1\n",
        "1 2 3",
    ];
    for text in none {
        assert!(read("model.bin", text).is_none(), "{text}");
    }
}

#[test]
fn an_empty_file_is_reported_only_under_a_name_of_weights() {
    for name in ["model.safetensors", "m.bin", "M.GGUF", "m.onnx", "m.model"] {
        let checkpoint = read(name, b"").unwrap_or_else(|| panic!("{name}"));
        assert!(codes(&checkpoint).contains(&"FI001"), "{name}: {:?}", codes(&checkpoint));
    }
    for name in ["__init__.py", "notes.txt", "empty"] {
        assert!(read(name, b"").is_none(), "{name}");
    }
}

#[test]
fn folders_are_told_by_their_names() {
    let folder = std::env::temp_dir().join(format!("tensorcask-recognised-{}", std::process::id()));
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("tf-saved-model", &["saved_model.pb"], &["FI007"]),
        ("torch-dcp", &[".metadata", "__0_0.distcp"], &["FI005"]),
        ("orbax", &["_CHECKPOINT_METADATA", "manifest.ocdbt"], &["FI007"]),
        ("keras-folder", &["config.json", "metadata.json", "model.weights.h5"], &["FI007"]),
        ("zarr", &[".zgroup"], &["FI007"]),
        ("coreml-compiled", &["coremldata.bin"], &["FI007"]),
    ];
    for (format, files, wanted) in cases {
        let path = folder.join(format);
        std::fs::create_dir_all(&path).expect("a temporary folder");
        for file in *files {
            std::fs::write(path.join(file), b"{}").expect("a file in it");
        }
        let checkpoint = OpenOptions::new().read(&path).expect("a layout");
        assert_eq!((checkpoint.format, codes(&checkpoint).as_slice()), (*format, *wanted));
        assert_eq!(checkpoint.unread.len(), 1);
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder goes");
}

/// Every case of `corpus/identify` that is one file kept as bytes, with those of its findings that say what a file is.
#[test]
fn the_corpus_is_told_as_its_cases_say() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/identify");
    let told: BTreeSet<&str> = ["FI001", "FI002", "FI003", "FI004", "FI005", "FI006", "FI007"].into();
    let mut n_cases = 0;
    for case in std::fs::read_dir(&corpus).expect("the corpus").flatten().map(|entry| entry.path()) {
        let text = std::fs::read_to_string(case.join("case.json")).expect("a case");
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let file = case.join(json["input"].as_str().expect("an input"));
        if !file.is_file() || json.get("recipe").is_some() {
            continue;
        }
        let name = case.display();
        n_cases += 1;
        match OpenOptions::new().read(&file) {
            Ok(checkpoint) => {
                let wanted: Vec<&str> = json["findings"]
                    .as_array()
                    .expect("findings")
                    .iter()
                    .filter_map(|row| row["rule"].as_str())
                    .collect();
                let mut found = codes(&checkpoint);
                found.sort_unstable();
                let of = |codes: &[&'static str]| {
                    codes.iter().copied().filter(|code| told.contains(code)).collect::<Vec<_>>()
                };
                let wanted: Vec<&str> = wanted.into_iter().filter(|code| told.contains(code)).collect();
                assert_eq!(of(&found), wanted, "{name}");
            }
            Err(Error::Unrecognized { .. }) => assert_eq!(json["error"], "unrecognized", "{name}"),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    assert!(n_cases > 60, "{n_cases}");
}
