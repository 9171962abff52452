use super::*;
use crate::{
    core::{Dims, Piece},
    source::ReadAt,
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Bytes that can only be read, and how often they were.
struct Counted {
    bytes: Vec<u8>,
    reads: AtomicU64,
}

impl ReadAt for Counted {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        Bytes::new(self.bytes.clone()).read_at(offset, buf)
    }
}

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n.max(1)
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| u8::try_from(self.below(256)).expect("below 256")).collect()
    }
}

fn one_file(bytes: Vec<u8>) -> (Sources, Span) {
    let mut sources = Sources::default();
    let id = sources.add_file("a".into(), Arc::new(Bytes::new(bytes)));
    let span = sources.whole(id);
    (sources, span)
}

fn view(shape: &[u64], strides: Option<&[i64]>, byte_order: ByteOrder, data: Data) -> View {
    View { shape: shape.into(), strides: strides.map(Into::into), byte_order, data }
}

fn collect(sources: &Sources, dtype: &DType, view: &View, range: Range<u64>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    canonical(sources, dtype, view, range, &mut |block| {
        assert!(block.len() <= BLOCK_BYTES);
        bytes.extend_from_slice(block);
        Ok(())
    })?;
    Ok(bytes)
}

fn all(sources: &Sources, dtype: &DType, view: &View) -> Result<Vec<u8>> {
    collect(sources, dtype, view, 0..stream_len(dtype, view)?)
}

/// One element by its index, computed without any of the code under test.
fn element(memory: &[u8], size: usize, unit: usize, view: &View, index: &[u64]) -> Vec<u8> {
    let mut bytes = match &view.data {
        Data::Fill(block) => block.to_vec(),
        Data::Extent(span) => {
            let (mut at, mut dense) = (0i64, 1i64);
            for axis in (0..index.len()).rev() {
                let dim = view.shape[axis].cast_signed();
                let stride = view.strides.as_ref().map_or(dense, |strides| strides[axis]);
                at += stride * index[axis].cast_signed() - stride.min(0) * (dim - 1);
                dense *= dim;
            }
            let at = usize::try_from(span.start).unwrap() + usize::try_from(at).unwrap() * size;
            memory[at..at + size].to_vec()
        }
        Data::Pieces(pieces) => {
            let inside = |piece: &&Piece| {
                (0..index.len()).all(|axis| {
                    let start = piece.at[axis];
                    (start..start + piece.view.shape[axis]).contains(&index[axis])
                })
            };
            let piece = pieces.iter().find(inside).unwrap();
            let inner: Vec<u64> = index.iter().zip(piece.at.iter()).map(|(i, at)| i - at).collect();
            return element(memory, size, unit, &piece.view, &inner);
        }
        Data::Missing { .. } => unreachable!("no test asks for missing elements"),
    };
    if view.byte_order == ByteOrder::Big {
        bytes.chunks_mut(unit).for_each(<[u8]>::reverse);
    }
    bytes
}

fn expected(memory: &[u8], size: usize, unit: usize, view: &View) -> Vec<u8> {
    let n: u64 = view.shape.iter().product();
    let mut bytes = Vec::new();
    for number in 0..n {
        let (mut rest, mut index) = (number, vec![0; view.shape.len()]);
        for axis in (0..index.len()).rev() {
            index[axis] = rest % view.shape[axis];
            rest /= view.shape[axis];
        }
        bytes.extend(element(memory, size, unit, view, &index));
    }
    bytes
}

/// A view of rank 0 to 4 whose axes are permuted, reversed, spread or broadcast at random, and the bytes it needs.
fn random_view(numbers: &mut Numbers, size: u64, span: Span) -> (View, u64) {
    let rank = usize::try_from(numbers.below(5)).unwrap();
    let shape: Vec<u64> =
        (0..rank).map(|_| if numbers.below(20) == 0 { 0 } else { 1 + numbers.below(7) }).collect();
    let (mut strides, mut axes, mut step) = (vec![0i64; rank], (0..rank).collect::<Vec<_>>(), 1u64);
    while !axes.is_empty() {
        let pick = usize::try_from(numbers.below(axes.len() as u64)).unwrap();
        let axis = axes.swap_remove(pick);
        step += if numbers.below(3) == 0 { numbers.below(4) } else { 0 };
        strides[axis] = match numbers.below(8) {
            0 => 0,
            1 | 2 => -step.cast_signed(),
            _ => step.cast_signed(),
        };
        step *= shape[axis].max(1);
    }
    let order = if numbers.below(3) == 0 { ByteOrder::Big } else { ByteOrder::Little };
    let start = numbers.below(9);
    let reach: u64 = strides.iter().zip(&shape).map(|(s, n)| s.unsigned_abs() * n.saturating_sub(1)).sum();
    let span = Span { source: span.source, start, len: (reach + 1) * size };
    (view(&shape, Some(&strides), order, Data::Extent(span)), start + span.len)
}

#[test]
fn strided_views_equal_the_elements_one_by_one() {
    let mut numbers = Numbers(1);
    let memory = numbers.bytes(1 << 18);
    let (mapped, span) = one_file(memory.clone());
    let mut read_only = Sources::default();
    read_only.add_file("a".into(), Arc::new(Counted { bytes: memory.clone(), reads: 0.into() }));
    let mut tried = 0;
    for round in 0..2_000 {
        let (dtype, size, unit) = [
            (DType::I8, 1, 1),
            (DType::BF16, 2, 2),
            (DType::F32, 4, 4),
            (DType::F64, 8, 8),
            (DType::C64, 8, 4),
        ][round % 5]
            .clone();
        let (view, needs) = random_view(&mut numbers, size as u64, span);
        if needs > memory.len() as u64 {
            continue;
        }
        tried += 1;
        let expected = expected(&memory, size, unit, &view);
        assert_eq!(all(&mapped, &dtype, &view).unwrap(), expected, "{view:?}");
        assert_eq!(&*load(&mapped, &dtype, &view).unwrap(), expected, "{view:?}");
        let start = numbers.below(expected.len() as u64 + 1);
        let end = start + numbers.below(expected.len() as u64 - start + 1);
        let part = &expected[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()];
        assert_eq!(
            collect(&read_only, &dtype, &view, start..end).unwrap(),
            part,
            "{start}..{end} of {view:?}"
        );
    }
    assert!(tried > 1_500, "{tried}");
}

#[test]
fn a_large_transposed_view_crosses_blocks() {
    let mut numbers = Numbers(2);
    let memory = numbers.bytes(2 * 300 * 1_100);
    let (sources, span) = one_file(memory.clone());
    for strides in [[1, 300], [-1, 300], [1, -300]] {
        let view = view(&[300, 1_100], Some(&strides), ByteOrder::Little, Data::Extent(span));
        assert!(all(&sources, &DType::F16, &view).unwrap() == expected(&memory, 2, 2, &view), "{strides:?}");
    }
    // One row is longer than a block.
    let wide = view(&[2, 165_000], Some(&[1, 2]), ByteOrder::Big, Data::Extent(span));
    assert!(all(&sources, &DType::F16, &wide).unwrap() == expected(&memory, 2, 2, &wide));
}

#[test]
fn rows_are_not_read_element_by_element() {
    let reads = |shape: &[u64], strides: &[i64], n_elements: usize| {
        let counted = Arc::new(Counted { bytes: vec![7; 4 * n_elements], reads: 0.into() });
        let mut sources = Sources::default();
        let id = sources.add_file("a".into(), counted.clone());
        let view = view(shape, Some(strides), ByteOrder::Little, Data::Extent(sources.whole(id)));
        assert_eq!(
            all(&sources, &DType::F32, &view).unwrap().len() as u64,
            4 * shape.iter().product::<u64>()
        );
        counted.reads.load(Ordering::Relaxed)
    };
    // The left half of each row: few reads fetch many short rows, one read fetches a long row.
    assert!(reads(&[1_000, 8], &[16, 1], 16_000) <= 2);
    assert!(reads(&[10, 100_000], &[200_000, 1], 2_000_000) <= 40);
    // Every second element.
    assert!(reads(&[100_000], &[2], 200_000) <= 4);
    // A transposed matrix: one read a column and block, not one an element.
    assert!(reads(&[500, 1_000], &[1, 500], 500_000) <= 8_000);
    // A broadcast value: 16 blocks, each with the end of a row, whole rows and the start of one.
    assert!(reads(&[1_000, 1_000], &[0, 0], 1) <= 3 * 16);
}

#[test]
fn dense_bytes_come_as_they_lie() {
    let memory = Numbers(3).bytes(700_001);
    let (sources, mut span) = one_file(memory.clone());
    (span.start, span.len) = (1, 700_000);
    let dense = view(&[350, 1_000], None, ByteOrder::Little, Data::Extent(span));
    assert!(all(&sources, &DType::F16, &dense).unwrap() == memory[1..]);
    let loaded = load(&sources, &DType::F16, &dense).unwrap();
    assert_eq!(
        loaded.as_ptr(),
        sources.io(span.source).view(1..2).unwrap().as_ptr(),
        "loaded without a copy"
    );
    let spelled = view(&[350, 1, 1_000], Some(&[1_000, -77, 1]), ByteOrder::Little, Data::Extent(span));
    assert!(all(&sources, &DType::F16, &spelled).unwrap() == memory[1..]);
    let packed = view(&[10, 140_000], None, ByteOrder::Little, Data::Extent(span));
    assert!(all(&sources, &DType::F4, &packed).unwrap() == memory[1..]);
}

#[test]
fn an_unknown_type_is_its_stored_bytes() {
    let (sources, span) = one_file(vec![1, 2, 3]);
    let dtype = DType::Unknown("F3_X".into());
    let stored = view(&[8], None, ByteOrder::Little, Data::Extent(span));
    assert_eq!(all(&sources, &dtype, &stored).unwrap(), [1, 2, 3]);
    let strided = view(&[8], Some(&[2]), ByteOrder::Little, Data::Extent(span));
    assert!(all(&sources, &dtype, &strided).is_err());
}

#[test]
fn scalars_and_empty_tensors() {
    let (sources, span) = one_file(vec![1, 2]);
    let scalar = view(&[], None, ByteOrder::Little, Data::Extent(span));
    assert_eq!(all(&sources, &DType::I16, &scalar).unwrap(), [1, 2]);
    let big = view(&[], Some(&[]), ByteOrder::Big, Data::Extent(span));
    assert_eq!(all(&sources, &DType::I16, &big).unwrap(), [2, 1]);
    let empty = view(&[3, 0], Some(&[1, 900]), ByteOrder::Big, Data::Extent(Span { len: 0, ..span }));
    assert_eq!(all(&sources, &DType::I16, &empty).unwrap(), [0u8; 0]);
}

#[test]
fn a_fill_value_is_repeated_at_any_offset() {
    let (sources, _) = one_file(vec![]);
    for (order, value) in [(ByteOrder::Little, [1, 2, 3, 4]), (ByteOrder::Big, [4, 3, 2, 1])] {
        let filled = view(&[300, 1_000], None, order, Data::Fill(value.into()));
        let bytes = all(&sources, &DType::F32, &filled).unwrap();
        assert_eq!(bytes.len(), 1_200_000);
        assert!(bytes.chunks(4).all(|element| element == [1, 2, 3, 4]));
        assert_eq!(collect(&sources, &DType::F32, &filled, 6..13).unwrap(), [3, 4, 1, 2, 3, 4, 1]);
    }
    let wrong = view(&[2], None, ByteOrder::Little, Data::Fill([1, 2].into()));
    assert!(all(&sources, &DType::F32, &wrong).is_err());
}

#[test]
fn pieces_are_put_in_their_places() {
    let memory = Numbers(4).bytes(4 * 700 * 600);
    let (sources, span) = one_file(memory.clone());
    let part = |at: [u64; 2], shape: [u64; 2], strides: [i64; 2], byte_order, start| {
        let reach: u64 = strides.iter().zip(shape).map(|(s, n)| s.unsigned_abs() * (n - 1)).sum();
        let data = Data::Extent(Span { start, len: (reach + 1) * 4, ..span });
        Piece { at: Dims::from(at), view: view(&shape, Some(&strides), byte_order, data) }
    };
    let fill = Piece {
        at: Dims::from([500, 0]),
        view: view(&[200, 100], None, ByteOrder::Little, Data::Fill([9, 8, 7, 6].into())),
    };
    let pieces = [
        part([0, 0], [500, 100], [1, 500], ByteOrder::Little, 12),
        part([0, 100], [700, 500], [500, 1], ByteOrder::Big, 100_000),
        fill,
    ];
    let whole = view(&[700, 600], None, ByteOrder::Little, Data::Pieces(pieces[..].into()));
    let expected = expected(&memory, 4, 4, &whole);
    assert!(all(&sources, &DType::F32, &whole).unwrap() == expected);
    assert_eq!(collect(&sources, &DType::F32, &whole, 333..400_001).unwrap(), expected[333..400_001]);

    let hole = view(&[700, 600], None, ByteOrder::Little, Data::Pieces(pieces[..2].into()));
    let message = all(&sources, &DType::F32, &hole).unwrap_err().to_string();
    assert!(message.contains("pieces give"), "{message}");
    let outside = view(&[700, 599], None, ByteOrder::Little, Data::Pieces(pieces.into()));
    let message = all(&sources, &DType::F32, &outside).unwrap_err().to_string();
    assert!(message.contains("leaves the shape"), "{message}");
}

#[test]
fn what_lies_outside_is_an_error() {
    let (sources, span) = one_file(vec![0; 16]);
    let short = Span { len: 12, ..span };
    let reject = |shape: &[u64], strides: Option<&[i64]>, order, span| {
        all(&sources, &DType::F32, &view(shape, strides, order, Data::Extent(span))).unwrap_err().to_string()
    };
    let message = reject(&[4], None, ByteOrder::Little, short);
    assert_eq!(message, "F32 [4] needs 16 bytes, its extent has 12");
    let message = reject(&[2, 2], Some(&[1, 3]), ByteOrder::Little, span);
    assert_eq!(message, "shape [2, 2] with strides [1, 3] reaches element 4, its extent has 4");
    reject(&[4], None, ByteOrder::Big, short);
    reject(&[2, 2], Some(&[i64::MIN, i64::MAX]), ByteOrder::Little, span);
    reject(&[1 << 30, 1 << 30], Some(&[i64::MIN, i64::MIN]), ByteOrder::Big, span);
    reject(&[2, 2], Some(&[1]), ByteOrder::Little, span);
    reject(&[4], None, ByteOrder::Little, Span { start: u64::MAX - 3, len: 16, ..span });
    // The extent says more than the file has: it was cut short after it was opened.
    assert_eq!(
        reject(&[8], None, ByteOrder::Little, Span { len: 32, ..span }),
        "`a`: unexpected end of file"
    );
    let gone = view(&[4], None, ByteOrder::Little, Data::Missing { want: 16, have: 3, file: None });
    assert_eq!(all(&sources, &DType::F32, &gone).unwrap_err().to_string(), "only 3 of 16 bytes are here");
    let dense = view(&[4], None, ByteOrder::Little, Data::Extent(span));
    assert!(collect(&sources, &DType::F32, &dense, 8..17).is_err(), "a range past the end");
}

#[test]
fn a_closure_may_come_back() {
    let (sources, span) = one_file(vec![5; 8]);
    let big = view(&[4], None, ByteOrder::Big, Data::Extent(span));
    let mut seen = 0;
    canonical(&sources, &DType::I16, &big, 0..8, &mut |outer| {
        let inner = all(&sources, &DType::I16, &big)?;
        assert_eq!(outer, inner);
        seen += inner.len();
        Ok(())
    })
    .unwrap();
    assert_eq!(seen, 8);
}

#[test]
fn load_names_what_is_not_there() {
    let mut ck = Checkpoint::default();
    let data = Data::Missing { want: 8, have: 3, file: Some("b.safetensors".into()) };
    ck.tensors.push(TensorInfo::dense("w".into(), DType::F32, Dims::from([2]), data));
    let message = ck.load("w").err().unwrap().to_string();
    assert_eq!(message, "tensor `w` is incomplete: 3 of its 8 bytes are here in `b.safetensors`");
    assert_eq!(ck.load("v").err().unwrap().kind(), "usage");
}
