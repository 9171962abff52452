use super::*;
use crate::{
    core::{ByteOrder, DType, Data, Dims},
    source::Bytes,
};
use std::sync::Arc;

fn add(ck: &mut Checkpoint, name: &str, dtype: DType, shape: &[u64], bytes: Vec<u8>) {
    let source = ck.sources.add_file(name.into(), Arc::new(Bytes::new(bytes)));
    let data = Data::Extent(ck.sources.whole(source));
    ck.tensors.push(TensorInfo::dense(name.into(), dtype, Dims::from(shape), data));
}

fn one(dtype: DType, shape: &[u64], bytes: Vec<u8>) -> Checkpoint {
    let mut ck = Checkpoint::default();
    add(&mut ck, "w", dtype, shape, bytes);
    ck
}

/// What differs of the one tensor `w`.
fn what(a: &Checkpoint, b: &Checkpoint) -> Vec<String> {
    let found = diff(a, b, &()).unwrap();
    assert_eq!(found.equal, found.changed.is_empty());
    found.changed.into_iter().flat_map(|change| change.what).collect()
}

#[test]
fn equal_elements_are_equal_whatever_their_layout() {
    let a = one(DType::I16, &[2, 2], vec![1, 0, 2, 0, 3, 0, 4, 0]);
    let mut b = one(DType::I16, &[2, 2], vec![0, 1, 0, 3, 0, 2, 0, 4]);
    b.tensors[0].view.byte_order = ByteOrder::Big;
    assert_eq!(what(&a, &b), ["bytes: 2 of 4 elements differ, first at element 1"]);
    b.tensors[0].view.strides = Some([1, 2].into());
    assert!(diff(&a, &b, &()).unwrap().equal);
}

#[test]
fn names_types_and_shapes_come_first() {
    let mut a = one(DType::F16, &[2], vec![0; 4]);
    let mut b = one(DType::F32, &[1, 1], vec![1; 4]);
    assert_eq!(what(&a, &b), ["dtype F16 -> F32", "shape [2] -> [1, 1]"]);
    add(&mut a, "only.a", DType::U8, &[0], vec![]);
    add(&mut b, "z", DType::U8, &[0], vec![]);
    add(&mut b, "only.b", DType::U8, &[0], vec![]);
    let found = diff(&a, &b, &()).unwrap();
    assert_eq!((found.only_a, found.only_b), (vec!["only.a".into()], vec!["only.b".into(), "z".into()]));
}

#[test]
fn differences_are_counted_across_blocks() {
    let n = 5 * BLOCK_BYTES + 12;
    let a = one(DType::F32, &[n as u64 / 4], vec![0; n]);
    let mut other = vec![0; n];
    for at in [4 * 17 + 3, 4 * 18, 4 * 18 + 1, 3 * BLOCK_BYTES - 1, n - 1] {
        other[at] = 1;
    }
    let b = one(DType::F32, &[n as u64 / 4], other);
    assert_eq!(what(&a, &b), [format!("bytes: 4 of {} elements differ, first at element 17", n / 4)]);
    assert_eq!(what(&b, &b.clone()), [""; 0]);
}

#[test]
fn one_element_and_packed_types() {
    let a = one(DType::U8, &[3], vec![1, 2, 3]);
    let b = one(DType::U8, &[3], vec![1, 2, 4]);
    assert_eq!(what(&a, &b), ["bytes: 1 of 3 elements differs, first at element 2"]);
    let a = one(DType::F6_E2M3, &[8], vec![0; 6]);
    let b = one(DType::F6_E2M3, &[8], vec![0, 0, 0, 0, 1, 0]);
    assert_eq!(what(&a, &b), ["bytes: 1 of 2 blocks differs, first at block 1"]);
}

#[test]
fn minus_zero_and_nan_are_compared_as_bytes() {
    let bytes = |value: f32| value.to_le_bytes().to_vec();
    let zero = one(DType::F32, &[1], bytes(0.0));
    assert_eq!(what(&zero, &one(DType::F32, &[1], bytes(-0.0))).len(), 1);
    let nan = one(DType::F32, &[1], bytes(f32::NAN));
    assert!(diff(&nan, &nan.clone(), &()).unwrap().equal);
}

#[test]
fn missing_bytes_are_never_equal() {
    let whole = one(DType::F32, &[1], vec![0; 4]);
    let mut cut = whole.clone();
    cut.tensors[0].view.data = Data::Missing { want: 4, have: 1, file: None };
    assert_eq!(what(&cut, &whole), ["bytes: missing in A"]);
    assert_eq!(what(&whole, &cut), ["bytes: missing in B"]);
    assert_eq!(what(&cut, &cut), ["bytes: missing in A and in B, not compared"]);
}

#[test]
fn metadata_differ_in_value_or_type() {
    let with = |items: &[(&str, Value)]| {
        let metadata = items.iter().map(|(key, value)| ((*key).into(), value.clone())).collect();
        Checkpoint { metadata, ..Checkpoint::default() }
    };
    let text = |text: &str| Value::Str(text.into());
    let a =
        with(&[("same", Value::Float(f64::NAN)), ("n", text("1")), ("v", text("x")), ("gone", Value::Null)]);
    let b = with(&[
        ("v", text("y")),
        ("n", Value::Int(1)),
        ("same", Value::Float(f64::NAN)),
        ("z", Value::Float(-0.0)),
    ]);
    let found = diff(&a, &b, &()).unwrap();
    assert!(!found.equal);
    let rows: Vec<_> = found
        .metadata
        .iter()
        .map(|change| (change.key.as_str(), change.a.as_deref(), change.b.as_deref()))
        .collect();
    assert_eq!(
        rows,
        [
            ("gone", Some("null"), None),
            ("n", Some("\"1\""), Some("1")),
            ("v", Some("x"), Some("y")),
            ("z", None, Some("-0.0")),
        ]
    );
    assert!(diff(&a, &a.clone(), &()).unwrap().equal);
}
