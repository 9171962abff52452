use super::*;
use crate::{
    core::{ByteOrder, Data, Dims, Span, View},
    source::Bytes,
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// The definition once more, over whole buffers.
fn whole(dtype: &str, shape: &[u64], bytes: &[u8]) -> Digest {
    let mut text = b"tensorcask tensor 1\0".to_vec();
    text.extend(u32::try_from(dtype.len()).unwrap().to_le_bytes());
    text.extend(dtype.bytes());
    text.extend(u32::try_from(shape.len()).unwrap().to_le_bytes());
    text.extend(shape.iter().flat_map(|dim| dim.to_le_bytes()));
    text.extend(blake3::hash(bytes).as_bytes());
    blake3::hash(&text).into()
}

fn pattern(n: usize) -> Vec<u8> {
    (0..n).map(|i| u8::try_from(i * i % 251).unwrap()).collect()
}

/// A checkpoint over one file of `bytes`; each tensor is (name, dtype, shape, start, len).
fn checkpoint(bytes: Vec<u8>, tensors: &[(&str, DType, &[u64], u64, u64)]) -> Checkpoint {
    let mut ck = Checkpoint::default();
    let source = ck.sources.add_file("a".into(), Arc::new(Bytes::new(bytes)));
    for (name, dtype, shape, start, len) in tensors {
        let data = Data::Extent(Span { source, start: *start, len: *len });
        ck.tensors.push(TensorInfo::dense((*name).into(), dtype.clone(), Dims::from(*shape), data));
    }
    ck
}

struct Told(AtomicU64, AtomicU64);

impl Progress for Told {
    fn start(&self, _: &str, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    fn add(&self, bytes: u64) {
        self.1.fetch_add(bytes, Ordering::Relaxed);
    }
}

#[test]
fn the_published_vectors_hold() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/identity/vectors.json");
    let vectors: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let vectors = vectors["vectors"].as_array().unwrap();
    assert!(!vectors.is_empty());
    for vector in vectors {
        let mut ck = Checkpoint::default();
        let mut digests = Vec::new();
        for tensor in vector["tensors"].as_array().unwrap() {
            let hex = tensor["bytes"].as_str().unwrap();
            let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
            let shape: Vec<u64> =
                tensor["shape"].as_array().unwrap().iter().map(|dim| dim.as_u64().unwrap()).collect();
            let name = tensor["name"].as_str().unwrap();
            let source = ck.sources.add_file(name.into(), Arc::new(Bytes::new(bytes)));
            let dtype = DType::from_name(tensor["dtype"].as_str().unwrap()).unwrap();
            let data = Data::Extent(ck.sources.whole(source));
            ck.tensors.push(TensorInfo::dense(name.into(), dtype, shape[..].into(), data));
            digests.push(tensor["digest"].as_str().unwrap());
        }
        let found = identity(&ck, &()).unwrap();
        assert_eq!(found.tensors.iter().map(digest_text).collect::<Vec<_>>(), digests, "{}", vector["shows"]);
        assert_eq!(found.root, vector["root"], "{}", vector["shows"]);
        assert_eq!(found.content_root, vector["content_root"], "{}", vector["shows"]);
    }
}

#[test]
fn subtrees_give_the_digest_of_the_whole() {
    let mut lengths = vec![0, 1];
    for power in 0..14 {
        let n = 1024usize << power;
        lengths.extend([n - 1, n, n + 1]);
    }
    let block = crate::elements::BLOCK_BYTES;
    let subtree = usize::try_from(SUBTREE_BYTES).unwrap();
    for n in [block, 3 * block, subtree, 3 * subtree, 5 * subtree + 1024] {
        lengths.extend([n - 1, n, n + 1, n + 1023, n + 1025]);
    }
    let bytes = pattern(lengths.iter().max().unwrap() + 5);
    let sources = checkpoint(bytes.clone(), &[]).sources;
    let (source, _) = sources.iter().next().unwrap();
    for len in lengths {
        let n = len as u64;
        let data = Data::Extent(Span { source, start: 5, len: n });
        let tensor = TensorInfo::dense("w".into(), DType::U8, Dims::from([n]), data);
        let expected = *blake3::hash(&bytes[5..5 + len]).as_bytes();
        assert_eq!(element_digest(&sources, &tensor, &()).unwrap(), expected, "{len} bytes");
    }
}

#[test]
fn a_stream_in_order_gives_the_same_digest() {
    let bytes = pattern(3 << 20);
    let ck = checkpoint(bytes.clone(), &[("w", DType::F32, &[3 << 18], 0, 3 << 20)]);
    let mut stream = StreamDigest::default();
    bytes.chunks(100_003).for_each(|part| stream.update(part));
    assert_eq!(stream.finish(), element_digest(&ck.sources, &ck.tensors[0], &()).unwrap());
}

#[test]
fn a_view_counts_as_what_it_shows() {
    let n = 1_200u64;
    let bytes = pattern(usize::try_from(2 * n * n).unwrap());
    let size = usize::try_from(n).unwrap();
    let mut shown = Vec::new();
    for column in 0..size {
        for row in 0..size {
            let at = 2 * (row * size + column);
            shown.extend([bytes[at + 1], bytes[at]]);
        }
    }
    let mut ck = checkpoint(bytes, &[]);
    let (source, _) = ck.sources.iter().next().unwrap();
    let view = View {
        shape: Dims::from([n, n]),
        strides: Some([1, n.cast_signed()].into()),
        byte_order: ByteOrder::Big,
        data: Data::Extent(ck.sources.whole(source)),
    };
    ck.tensors.push(TensorInfo { name: "w".into(), dtype: DType::I16, view, storage: None });
    assert_eq!(identity(&ck, &()).unwrap().tensors, [whole("I16", &[n, n], &shown)]);
}

#[test]
fn names_order_aliases_and_progress() {
    let tensors: [(&str, DType, &[u64], u64, u64); 3] =
        [("b", DType::F32, &[2, 1], 0, 8), ("a", DType::F32, &[2, 1], 0, 8), ("é", DType::U8, &[0], 8, 0)];
    let ck = checkpoint(pattern(8), &tensors);
    let told = Told(0.into(), 0.into());
    let found = identity(&ck, &told).unwrap();
    assert_eq!((told.0.into_inner(), told.1.into_inner()), (16, 16));
    assert_eq!(found.tensors[0], whole("F32", &[2, 1], &pattern(8)));
    assert_eq!(found.tensors[0], found.tensors[1], "an alias has the same digest under each name");

    let mut reordered = tensors.clone();
    reordered.rotate_left(1);
    let again = identity(&checkpoint(pattern(8), &reordered), &()).unwrap();
    assert_eq!((&again.root, &again.content_root), (&found.root, &found.content_root));

    let mut renamed = tensors.clone();
    renamed[1].0 = "c";
    let renamed = identity(&checkpoint(pattern(8), &renamed), &()).unwrap();
    assert_ne!(renamed.root, found.root);
    assert_eq!(renamed.content_root, found.content_root);

    let single = identity(&checkpoint(pattern(8), &tensors[1..]), &()).unwrap();
    assert_ne!(single.content_root, found.content_root, "an alias counts");
}

#[test]
fn a_missing_tensor_has_no_root() {
    let mut ck = checkpoint(pattern(8), &[("a", DType::F32, &[2], 0, 8)]);
    ck.tensors[0].view.data = Data::Missing { want: 8, have: 3, file: None };
    let error = identity(&ck, &()).unwrap_err();
    assert_eq!(error.kind(), "unsupported");
    assert_eq!(error.to_string(), "tensor `a` is incomplete: 3 of its 8 bytes are here");
}

#[test]
fn a_file_that_became_shorter_is_an_error() {
    let ck = checkpoint(pattern(8), &[("a", DType::F32, &[1 << 20], 0, 4 << 20)]);
    let error = identity(&ck, &()).unwrap_err();
    assert_eq!(error.kind(), "io");
    assert!(error.help().unwrap().contains("became shorter"), "{error}");
}
