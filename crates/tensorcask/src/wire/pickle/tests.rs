//! Walks over streams as `pickle.dumps` writes them, and over bytes that only begin like one.

use super::{Walk, Walker, opcodes};

/// An `OrderedDict` of lists, numbers, text, bytes, a set and a shared value, by protocols 0 to 5 (`CPython` 3.11).
const PICKLED: [&[u8]; 6] = [
    b"ccollections\nOrderedDict\np0\n(tRp1\nVw\np2\n(lp3\nI1\naF2.5\naNaI01\nasVn\np4\n(I70000\nL1180591620717411303424L\nI-1\nVh\xe9\np5\nc_codecs\nencode\np6\n(V\\u0000\xff\np7\nVlatin1\np8\ntp9\nRp10\ntp11\nsVs\np12\nc__builtin__\nset\np13\n((lp14\nI3\natp15\nRp16\nsVagain\np17\ng3\ns.",
    b"ccollections\nOrderedDict\nq\x00)Rq\x01(X\x01\x00\x00\x00wq\x02]q\x03(K\x01G@\x04\x00\x00\x00\x00\x00\x00NI01\neX\x01\x00\x00\x00nq\x04(Jp\x11\x01\x00L1180591620717411303424L\nJ\xff\xff\xff\xffX\x03\x00\x00\x00h\xc3\xa9q\x05c_codecs\nencode\nq\x06(X\x03\x00\x00\x00\x00\xc3\xbfq\x07X\x06\x00\x00\x00latin1q\x08tq\x09Rq\ntq\x0bX\x01\x00\x00\x00sq\x0cc__builtin__\nset\nq\x0d(]q\x0eK\x03atq\x0fRq\x10X\x05\x00\x00\x00againq\x11h\x03u.",
    b"\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01(X\x01\x00\x00\x00wq\x02]q\x03(K\x01G@\x04\x00\x00\x00\x00\x00\x00N\x88eX\x01\x00\x00\x00nq\x04(Jp\x11\x01\x00\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00@J\xff\xff\xff\xffX\x03\x00\x00\x00h\xc3\xa9q\x05c_codecs\nencode\nq\x06X\x03\x00\x00\x00\x00\xc3\xbfq\x07X\x06\x00\x00\x00latin1q\x08\x86q\x09Rq\ntq\x0bX\x01\x00\x00\x00sq\x0cc__builtin__\nset\nq\x0d]q\x0eK\x03a\x85q\x0fRq\x10X\x05\x00\x00\x00againq\x11h\x03u.",
    b"\x80\x03ccollections\nOrderedDict\nq\x00)Rq\x01(X\x01\x00\x00\x00wq\x02]q\x03(K\x01G@\x04\x00\x00\x00\x00\x00\x00N\x88eX\x01\x00\x00\x00nq\x04(Jp\x11\x01\x00\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00@J\xff\xff\xff\xffX\x03\x00\x00\x00h\xc3\xa9q\x05C\x02\x00\xffq\x06tq\x07X\x01\x00\x00\x00sq\x08cbuiltins\nset\nq\x09]q\nK\x03a\x85q\x0bRq\x0cX\x05\x00\x00\x00againq\x0dh\x03u.",
    b"\x80\x04\x95t\x00\x00\x00\x00\x00\x00\x00\x8c\x0bcollections\x94\x8c\x0bOrderedDict\x94\x93\x94)R\x94(\x8c\x01w\x94]\x94(K\x01G@\x04\x00\x00\x00\x00\x00\x00N\x88e\x8c\x01n\x94(Jp\x11\x01\x00\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00@J\xff\xff\xff\xff\x8c\x03h\xc3\xa9\x94C\x02\x00\xff\x94t\x94\x8c\x01s\x94\x8f\x94(K\x03\x90\x8c\x05again\x94h\x05u.",
    b"\x80\x05\x95t\x00\x00\x00\x00\x00\x00\x00\x8c\x0bcollections\x94\x8c\x0bOrderedDict\x94\x93\x94)R\x94(\x8c\x01w\x94]\x94(K\x01G@\x04\x00\x00\x00\x00\x00\x00N\x88e\x8c\x01n\x94(Jp\x11\x01\x00\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00@J\xff\xff\xff\xff\x8c\x03h\xc3\xa9\x94C\x02\x00\xff\x94t\x94\x8c\x01s\x94\x8f\x94(K\x03\x90\x8c\x05again\x94h\x05u.",
];

fn walk(bytes: &[u8]) -> Walk {
    let mut walker = Walker::new(bytes.len() as u64);
    walker.feed(bytes, 0).unwrap_or_else(|| walker.running())
}

/// The same in looks of `size` bytes, each from where the walk stands.
fn walk_in_parts(bytes: &[u8], size: usize) -> Walk {
    let mut walker = Walker::new(bytes.len() as u64);
    loop {
        let start = usize::try_from(walker.position()).expect("an offset in memory");
        let window = &bytes[start..bytes.len().min(start + size)];
        if let Some(walk) = walker.feed(window, start as u64) {
            return walk;
        }
    }
}

#[test]
fn the_table_has_every_opcode_once() {
    let codes: std::collections::BTreeSet<u8> = opcodes::OPCODES.iter().map(|opcode| opcode.code).collect();
    let names: std::collections::BTreeSet<&str> = opcodes::OPCODES.iter().map(|opcode| opcode.name).collect();
    assert_eq!((opcodes::OPCODES.len(), codes.len(), names.len()), (68, 68, 68));
    for code in 0..=u8::MAX {
        assert_eq!(opcodes::opcode(code).map(|opcode| opcode.code), codes.get(&code).copied());
    }
    let of_protocol = |wanted| opcodes::OPCODES.iter().filter(|opcode| opcode.proto == wanted).count();
    assert_eq!([0, 1, 2, 3, 4, 5].map(of_protocol), [22, 19, 12, 2, 10, 3]);
}

#[test]
fn every_protocol_walks_to_its_stop() {
    for (protocol, bytes) in PICKLED.iter().enumerate() {
        let Walk::Stop { end, opcodes, imports } = walk(bytes) else {
            panic!("protocol {protocol}: {:?}", walk(bytes))
        };
        assert_eq!((end, imports), (bytes.len() as u64, true), "protocol {protocol}");
        assert!(opcodes > 20, "protocol {protocol}: {opcodes}");
        for size in [9, 10, 16, 33] {
            assert_eq!(walk_in_parts(bytes, size), walk(bytes), "protocol {protocol} in looks of {size}");
        }
    }
}

#[test]
fn a_stream_without_its_end_is_none() {
    for (protocol, bytes) in PICKLED.iter().enumerate() {
        for cut in 0..bytes.len() {
            let walk = walk(&bytes[..cut]);
            assert!(
                matches!(walk, Walk::Not | Walk::Breaks { .. }),
                "protocol {protocol} cut at {cut}: {walk:?}"
            );
        }
    }
}

#[test]
fn a_window_that_ends_inside_a_stream_leaves_it_running() {
    let bytes = PICKLED[4];
    let mut walker = Walker::new(bytes.len() as u64);
    assert_eq!(walker.feed(&bytes[..40], 0), None);
    assert!(
        matches!(walker.running(), Walk::Running { opcodes, .. } if opcodes > 3),
        "{:?}",
        walker.running()
    );
    // An argument beyond the window is stepped over, not looked at.
    let mut far = Walker::new(1 << 40);
    assert_eq!(far.feed(b"\x80\x04\x8e\0\0\0\0\x01\0\0\0", 0), None);
    assert_eq!(far.position(), 11 + (1 << 32));
    assert_eq!(
        far.feed(b"N\x86.", 11 + (1 << 32)),
        Some(Walk::Stop { end: 14 + (1 << 32), opcodes: 5, imports: false })
    );
}

#[test]
fn what_no_loader_takes_is_no_pickle() {
    let cases: &[(&str, &[u8])] = &[
        ("an unknown opcode", b"\x80\x02N\xff."),
        ("a protocol of the future", b"\x80\x06N."),
        ("STOP on an empty stack", b"\x80\x02."),
        ("STOP on a mark", b"N(."),
        ("a pop below the bottom", b"N00N."),
        ("a tuple across a mark", b"NN(N\x86."),
        ("a slice without a mark", b"]Ne."),
        ("a dict of three", b"(NNNd."),
        ("a memo index never stored", b"Nq\x05h\x04."),
        ("PUT of nothing", b"q\0N."),
        ("an argument past the end", b"\x80\x02X\xff\xff\0\0abc."),
        ("a negative length", b"T\xff\xff\xff\xffabc."),
        ("a number that is none", b"Iseven\n."),
        ("a line without end", b"I12345"),
        ("text without quotes", b"Sabc\n."),
        ("a module with a blank", b"cThe cat\nsat\n."),
        ("an index that is no number", b"Np-1\n."),
        ("nothing", b""),
    ];
    for (what, bytes) in cases {
        assert_eq!(walk(bytes), Walk::Not, "{what}");
    }
}

#[test]
fn what_runs_before_a_break_is_told() {
    assert_eq!(walk(b"cos\ngetpid\n)R\xff"), Walk::Breaks { at: 13, calls: true });
    assert_eq!(walk(b"cos\ngetpid\n\xff"), Walk::Breaks { at: 11, calls: false });
    assert_eq!(walk(b"(ios\ngetpid\n\xff"), Walk::Breaks { at: 12, calls: true });
    assert_eq!(walk(b"\x8c\x02os\x8c\x06getpid\x93)R"), Walk::Breaks { at: 15, calls: true });
}

#[test]
fn memo_indices_in_any_order_are_kept() {
    // 1, 0 and a large one, then a MEMOIZE, whose index is the count.
    assert!(matches!(walk(b"Nq\x01q\0r\0\0\0\x7f\x94h\x03h\x01j\0\0\0\x7f."), Walk::Stop { .. }));
    assert_eq!(walk(b"Nq\x01h\0."), Walk::Not);
    // Neither marks nor indices take more memory than is kept.
    assert!(matches!(walk(&vec![b'('; 100_000]), Walk::Running { .. }));
    let scattered: Vec<u8> = std::iter::once(b'N')
        .chain((1..50_000_u32).flat_map(|n| [vec![b'r'], (n * 2).to_le_bytes().to_vec()].concat()))
        .collect();
    assert!(matches!(walk(&scattered), Walk::Running { opcodes, .. } if opcodes < 20_000));
}

#[test]
fn long_text_is_read_across_windows() {
    let long = |head: &[u8], fill: u8, tail: &[u8]| [head, &vec![fill; 5_000], tail].concat();
    for bytes in [long(b"V", b'x', b"\n."), long(b"S'", b'x', b"'\n."), long(b"L", b'7', b"L\n.")] {
        assert_eq!(
            walk_in_parts(&bytes, 64),
            Walk::Stop { end: bytes.len() as u64, opcodes: 2, imports: false }
        );
    }
    assert_eq!(walk_in_parts(&long(b"I", b'x', b"\n."), 64), Walk::Not);
    assert_eq!(walk_in_parts(&long(b"S'", b'x', b"\n."), 64), Walk::Not);
}
