//! The 68 opcodes of protocols 0 to 5 as one table (`CPython`, `Lib/pickletools.py`).

/// What follows an opcode's byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arg {
    /// Nothing.
    None,
    /// This many bytes.
    Bytes(u8),
    /// A little-endian count of this many bytes, then that many bytes.
    Counted(u8),
    /// The same with a signed count of four bytes; a negative one is an error.
    SignedCounted,
    /// Lines of text, each ended by a line feed.
    Lines(u8, Line),
}

/// What a line of text has to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Line {
    /// A decimal integer.
    Int,
    /// A decimal integer, perhaps with an `L` behind it.
    Long,
    /// A floating-point number.
    Float,
    /// Text in quotes.
    Quoted,
    /// Any text.
    Any,
    /// A name that can be imported.
    Name,
}

/// What an opcode takes from the stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Before {
    /// The top items.
    Items(u8),
    /// Everything above the topmost mark and the mark; then `below` items under it. `even`: the slice is made of pairs;
    /// `least`: items that the slice has to hold.
    Slice { below: u8, even: bool, least: u8 },
    /// The top item, or the mark if that is on top.
    ItemOrMark,
}

/// What else an opcode does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Does {
    /// Only what its stack effect says.
    Data,
    /// Puts a mark on the stack.
    Mark,
    /// Ends the stream.
    Stop,
    /// Names the protocol.
    Proto,
    /// Reads the memo at the index of its argument.
    Get,
    /// Stores the top item in the memo at the index of its argument.
    Put,
    /// Stores the top item in the memo at the next free index.
    Memoize,
    /// Imports a name.
    Import,
    /// Calls what was imported, or sets attributes on it.
    Call,
    /// Imports a name and calls it.
    ImportCall,
}

/// One opcode.
#[derive(Debug)]
pub(super) struct Opcode {
    pub(super) code: u8,
    /// Its name in `pickletools`.
    #[cfg_attr(not(test), expect(dead_code, reason = "names the row for the reader of the table"))]
    pub(super) name: &'static str,
    pub(super) arg: Arg,
    pub(super) before: Before,
    /// Items that it pushes.
    pub(super) after: u8,
    pub(super) does: Does,
    /// The protocol that introduced it.
    #[cfg_attr(not(test), expect(dead_code, reason = "names the row for the reader of the table"))]
    pub(super) proto: u8,
}

/// The opcode of this byte.
pub(super) fn opcode(code: u8) -> Option<&'static Opcode> {
    let position = *POSITIONS.get(usize::from(code))?;
    OPCODES.get(usize::from(position))
}

/// Position in [`OPCODES`] by code; 255 where there is none.
#[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "evaluated at compile time")]
static POSITIONS: [u8; 256] = {
    let mut positions = [u8::MAX; 256];
    let mut at = 0;
    while at < OPCODES.len() {
        positions[OPCODES[at].code as usize] = at as u8;
        at += 1;
    }
    positions
};

const fn op(
    code: u8,
    name: &'static str,
    arg: Arg,
    before: Before,
    after: u8,
    does: Does,
    proto: u8,
) -> Opcode {
    Opcode { code, name, arg, before, after, does, proto }
}

const NONE: Arg = Arg::None;
const ONE_LINE: Arg = Arg::Lines(1, Line::Any);
const TWO_NAMES: Arg = Arg::Lines(2, Line::Name);
const NOTHING: Before = Before::Items(0);
const SLICE: Before = Before::Slice { below: 0, even: false, least: 0 };
/// The slice goes into the object below the mark.
const INTO: Before = Before::Slice { below: 1, even: false, least: 0 };
const PAIRS: Before = Before::Slice { below: 0, even: true, least: 0 };
const PAIRS_INTO: Before = Before::Slice { below: 1, even: true, least: 0 };

use Arg::{Bytes, Counted, Lines, SignedCounted};
use Before::Items;
use Does::{Call, Data, Get, Import, ImportCall, Put};

/// Every opcode, by code.
#[rustfmt::skip]
pub(super) const OPCODES: &[Opcode] = &[
    op(0x28, "MARK",             NONE,                     NOTHING,    0, Does::Mark,    0),
    op(0x29, "EMPTY_TUPLE",      NONE,                     NOTHING,    1, Data,          1),
    op(0x2E, "STOP",             NONE,                     Items(1),   0, Does::Stop,    0),
    op(0x30, "POP",              NONE,                     Before::ItemOrMark, 0, Data,  0),
    op(0x31, "POP_MARK",         NONE,                     SLICE,      0, Data,          1),
    op(0x32, "DUP",              NONE,                     Items(1),   2, Data,          0),
    op(0x42, "BINBYTES",         Counted(4),               NOTHING,    1, Data,          3),
    op(0x43, "SHORT_BINBYTES",   Counted(1),               NOTHING,    1, Data,          3),
    op(0x46, "FLOAT",            Lines(1, Line::Float),    NOTHING,    1, Data,          0),
    op(0x47, "BINFLOAT",         Bytes(8),                 NOTHING,    1, Data,          1),
    op(0x49, "INT",              Lines(1, Line::Int),      NOTHING,    1, Data,          0),
    op(0x4A, "BININT",           Bytes(4),                 NOTHING,    1, Data,          1),
    op(0x4B, "BININT1",          Bytes(1),                 NOTHING,    1, Data,          1),
    op(0x4C, "LONG",             Lines(1, Line::Long),     NOTHING,    1, Data,          0),
    op(0x4D, "BININT2",          Bytes(2),                 NOTHING,    1, Data,          1),
    op(0x4E, "NONE",             NONE,                     NOTHING,    1, Data,          0),
    op(0x50, "PERSID",           ONE_LINE,                 NOTHING,    1, Data,          0),
    op(0x51, "BINPERSID",        NONE,                     Items(1),   1, Data,          1),
    op(0x52, "REDUCE",           NONE,                     Items(2),   1, Call,          0),
    op(0x53, "STRING",           Lines(1, Line::Quoted),   NOTHING,    1, Data,          0),
    op(0x54, "BINSTRING",        SignedCounted,            NOTHING,    1, Data,          1),
    op(0x55, "SHORT_BINSTRING",  Counted(1),               NOTHING,    1, Data,          1),
    op(0x56, "UNICODE",          ONE_LINE,                 NOTHING,    1, Data,          0),
    op(0x58, "BINUNICODE",       Counted(4),               NOTHING,    1, Data,          1),
    op(0x5D, "EMPTY_LIST",       NONE,                     NOTHING,    1, Data,          1),
    op(0x61, "APPEND",           NONE,                     Items(2),   1, Data,          0),
    op(0x62, "BUILD",            NONE,                     Items(2),   1, Call,          0),
    op(0x63, "GLOBAL",           TWO_NAMES,                NOTHING,    1, Import,        0),
    op(0x64, "DICT",             NONE,                     PAIRS,      1, Data,          0),
    op(0x65, "APPENDS",          NONE,                     INTO,       1, Data,          1),
    op(0x67, "GET",              Lines(1, Line::Int),      NOTHING,    1, Get,           0),
    op(0x68, "BINGET",           Bytes(1),                 NOTHING,    1, Get,           1),
    op(0x69, "INST",             TWO_NAMES,                SLICE,      1, ImportCall,    0),
    op(0x6A, "LONG_BINGET",      Bytes(4),                 NOTHING,    1, Get,           1),
    op(0x6C, "LIST",             NONE,                     SLICE,      1, Data,          0),
    op(0x6F, "OBJ",              NONE,                     Before::Slice { below: 0, even: false, least: 1 }, 1, Call, 1),
    op(0x70, "PUT",              Lines(1, Line::Int),      Items(1),   1, Put,           0),
    op(0x71, "BINPUT",           Bytes(1),                 Items(1),   1, Put,           1),
    op(0x72, "LONG_BINPUT",      Bytes(4),                 Items(1),   1, Put,           1),
    op(0x73, "SETITEM",          NONE,                     Items(3),   1, Data,          0),
    op(0x74, "TUPLE",            NONE,                     SLICE,      1, Data,          0),
    op(0x75, "SETITEMS",         NONE,                     PAIRS_INTO, 1, Data,          1),
    op(0x7D, "EMPTY_DICT",       NONE,                     NOTHING,    1, Data,          1),
    op(0x80, "PROTO",            Bytes(1),                 NOTHING,    0, Does::Proto,   2),
    op(0x81, "NEWOBJ",           NONE,                     Items(2),   1, Call,          2),
    // What a code stands for was registered by the program that loads: no stream chooses it.
    op(0x82, "EXT1",             Bytes(1),                 NOTHING,    1, Data,          2),
    op(0x83, "EXT2",             Bytes(2),                 NOTHING,    1, Data,          2),
    op(0x84, "EXT4",             Bytes(4),                 NOTHING,    1, Data,          2),
    op(0x85, "TUPLE1",           NONE,                     Items(1),   1, Data,          2),
    op(0x86, "TUPLE2",           NONE,                     Items(2),   1, Data,          2),
    op(0x87, "TUPLE3",           NONE,                     Items(3),   1, Data,          2),
    op(0x88, "NEWTRUE",          NONE,                     NOTHING,    1, Data,          2),
    op(0x89, "NEWFALSE",         NONE,                     NOTHING,    1, Data,          2),
    op(0x8A, "LONG1",            Counted(1),               NOTHING,    1, Data,          2),
    op(0x8B, "LONG4",            SignedCounted,            NOTHING,    1, Data,          2),
    op(0x8C, "SHORT_BINUNICODE", Counted(1),               NOTHING,    1, Data,          4),
    op(0x8D, "BINUNICODE8",      Counted(8),               NOTHING,    1, Data,          4),
    op(0x8E, "BINBYTES8",        Counted(8),               NOTHING,    1, Data,          4),
    op(0x8F, "EMPTY_SET",        NONE,                     NOTHING,    1, Data,          4),
    op(0x90, "ADDITEMS",         NONE,                     INTO,       1, Data,          4),
    op(0x91, "FROZENSET",        NONE,                     SLICE,      1, Data,          4),
    op(0x92, "NEWOBJ_EX",        NONE,                     Items(3),   1, Call,          4),
    op(0x93, "STACK_GLOBAL",     NONE,                     Items(2),   1, Import,        4),
    op(0x94, "MEMOIZE",          NONE,                     Items(1),   1, Does::Memoize, 4),
    op(0x95, "FRAME",            Bytes(8),                 NOTHING,    0, Data,          4),
    op(0x96, "BYTEARRAY8",       Counted(8),               NOTHING,    1, Data,          5),
    op(0x97, "NEXT_BUFFER",      NONE,                     NOTHING,    1, Data,          5),
    op(0x98, "READONLY_BUFFER",  NONE,                     Items(1),   1, Data,          5),
];
