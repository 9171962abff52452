use super::*;
use crate::core::Dims;

fn spec(name: &str, dtype: DType, shape: &[u64]) -> TensorSpec {
    TensorSpec { name: name.into(), dtype, shape: Dims::from(shape) }
}

fn job<'a>(targets: &'a [TensorSpec], metadata: &'a [(Text, Value)]) -> Job<'a> {
    Job { targets, metadata, file_name: "a.safetensors", max_shard_bytes: None, reserve_bytes: 0 }
}

fn head(file: &OutFile) -> String {
    match file.segments.first() {
        Some(Segment::Bytes(bytes)) => String::from_utf8(bytes[8..].to_vec()).unwrap(),
        other => panic!("a file begins with its header, not with {other:?}"),
    }
}

fn split_of(sizes: &[u64], max: u64) -> Vec<Vec<u64>> {
    let rows: Vec<Row> = sizes.iter().map(|bytes| Row { rank: 0, bytes: *bytes }).collect();
    split(&rows, max).into_iter().map(|shard| shard.into_iter().map(|at| sizes[at]).collect()).collect()
}

#[test]
fn shards_are_cut_as_the_hub_client_cuts_them() {
    assert_eq!(split_of(&[6, 6, 2, 6, 2, 2], 10), [vec![6], vec![6, 2], vec![6, 2, 2]]);
    assert_eq!(
        split_of(&[6, 12, 2], 10),
        [vec![12], vec![6, 2]],
        "a tensor over the limit is placed at once"
    );
    assert_eq!(split_of(&[10], 10), [vec![10]]);
    assert_eq!(split_of(&[0, 0, 1], 0), [vec![1], vec![0, 0]]);
    assert_eq!(split_of(&[], 10), Vec::<Vec<u64>>::new());
}

#[test]
fn tensors_stand_by_type_then_by_the_bytes_of_their_names() {
    let targets = [
        spec("z", DType::Bool, &[1]),
        spec("\u{1f600}", DType::F32, &[1]),
        spec("\u{ffff}", DType::F32, &[1]),
        spec("a", DType::U64, &[1]),
    ];
    let files = Writer.encode(&job(&targets, &[])).unwrap();
    let order: Vec<usize> = files[0]
        .segments
        .iter()
        .filter_map(|s| if let Segment::Tensor(at) = s { Some(*at) } else { None })
        .collect();
    assert_eq!(order, [3, 2, 1, 0]);
}

#[test]
fn an_empty_file_is_an_empty_object_padded_to_eight() {
    let files = Writer.encode(&job(&[], &[])).unwrap();
    assert_eq!(head(&files[0]), "{}      ");
}

#[test]
fn metadata_keys_are_sorted_and_come_first() {
    let metadata = [("b".into(), Value::Str("2".into())), ("a".into(), Value::Str("\u{1}\"é/\u{7f}".into()))];
    let files = Writer.encode(&job(&[spec("t", DType::U8, &[])], &metadata)).unwrap();
    let text = head(&files[0]);
    assert_eq!(
        text.trim_end(),
        "{\"__metadata__\":{\"a\":\"\\u0001\\\"é/\u{7f}\",\"b\":\"2\"},\"t\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}"
    );
    assert_eq!(text.len() % 8, 0);
}

#[test]
fn other_values_become_json_text() {
    let value = Value::List(vec![Value::Int(1), Value::Null, Value::Bool(true), Value::Float(0.5)]);
    let files = Writer.encode(&job(&[], &[("k".into(), value)])).unwrap();
    assert_eq!(head(&files[0]).trim_end(), "{\"__metadata__\":{\"k\":\"[1,null,true,0.5]\"}}");
}

#[test]
fn spare_room_is_blanks_inside_the_header() {
    let targets = [spec("t", DType::U8, &[1])];
    let plain = head(&Writer.encode(&job(&targets, &[])).unwrap()[0]);
    let roomy = head(&Writer.encode(&Job { reserve_bytes: 1000, ..job(&targets, &[]) }).unwrap()[0]);
    assert_eq!(roomy.trim_end(), plain.trim_end());
    assert!(roomy.len() >= plain.trim_end().len() + 1000 && roomy.len().is_multiple_of(8));
}

#[test]
fn what_has_no_place_is_refused() {
    let refused = |targets: &[TensorSpec], metadata: &[(Text, Value)]| {
        Writer.encode(&job(targets, metadata)).unwrap_err().to_string()
    };
    assert!(refused(&[spec("__metadata__", DType::U8, &[1])], &[]).contains("keeps that name"));
    assert!(refused(&[spec("a", DType::U8, &[1]), spec("a", DType::I8, &[1])], &[]).contains("two tensors"));
    assert!(refused(&[spec("a", DType::Unknown("Q9".into()), &[1])], &[]).contains("`Q9`"));
    assert!(refused(&[spec("a", DType::F4, &[3])], &[]).contains("`F4` [3]"));
    let twice = [("k".into(), Value::Null), ("k".into(), Value::Null)];
    assert!(refused(&[], &twice).contains("given twice"));
    let huge = Job { reserve_bytes: 100_000_000, ..job(&[], &[]) };
    assert!(Writer.encode(&huge).unwrap_err().to_string().contains("100000000"));
}

#[test]
fn shards_name_themselves_and_their_index() {
    let targets = [spec("a", DType::F32, &[2]), spec("é", DType::F32, &[2]), spec("c", DType::F32, &[2])];
    let files = Writer.encode(&Job { max_shard_bytes: Some(16), ..job(&targets, &[]) }).unwrap();
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", INDEX]);
    let Some(Segment::Bytes(index)) = files[2].segments.first() else { panic!("the index is bytes") };
    assert_eq!(
        std::str::from_utf8(index).unwrap(),
        "{\n  \"metadata\": {\n    \"total_size\": 24\n  },\n  \"weight_map\": {\n    \"a\": \"model-00001-of-00002.safetensors\",\n    \"c\": \"model-00002-of-00002.safetensors\",\n    \"\\u00e9\": \"model-00001-of-00002.safetensors\"\n  }\n}\n"
    );
    let one = Writer.encode(&Job { max_shard_bytes: Some(24), ..job(&targets, &[]) }).unwrap();
    assert_eq!(one.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), [SINGLE]);
}

fn old(names: &[&str], index: &str) -> OldSet {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    Writer.old_set(&names, &|_| Ok(index.as_bytes().to_vec())).unwrap()
}

#[test]
fn an_earlier_set_is_known_by_its_index_and_its_names() {
    let set = old(
        &["config.json", "model.safetensors", "model-00001-of-00002.safetensors", "other.safetensors"],
        "",
    );
    assert!(set.index.is_none());
    assert_eq!(set.shards, [SINGLE]);
    assert_eq!(set.strays, ["model-00001-of-00002.safetensors"]);

    let index = r#"{"metadata":{"total_size":1},"weight_map":{"a":"w.safetensors","b":"../x.safetensors","c":"config.json"}}"#;
    let set = old(&["config.json", "w.safetensors", "model-00001-of-00002.safetensors", INDEX], index);
    assert_eq!(set.shards, ["w.safetensors"], "only weight files of this folder are touched");
    assert_eq!(set.strays, ["model-00001-of-00002.safetensors"]);
    assert_eq!(set.index.as_deref(), Some(INDEX));

    let set = old(&[INDEX, "model-00001-of-00002.safetensors"], "{");
    assert!(set.shards.is_empty(), "a damaged index names nothing");
}

#[test]
fn an_index_can_name_its_shards_elsewhere() {
    let targets = [spec("a", DType::F32, &[2]), spec("b", DType::F32, &[2])];
    let files = Writer.encode(&Job { max_shard_bytes: Some(8), ..job(&targets, &[]) }).unwrap();
    let Some(Segment::Bytes(index)) = files[2].segments.first() else { panic!("the index is bytes") };
    assert_eq!(Writer.renamed_index(index, &str::to_owned).unwrap(), *index);
    let moved = Writer.renamed_index(index, &|shard| format!("x/{shard}")).unwrap();
    assert!(String::from_utf8(moved).unwrap().contains("\"b\": \"x/model-00002-of-00002.safetensors\""));
    assert!(Writer.renamed_index(b"{", &str::to_owned).is_none());
}
