"""Makes corpus/safetensors: for each rule a small file that fires it, its nearest legal neighbour, and what real writers do.

The expected findings stand here, declared by hand from the rules; what the reference library says is asked of it.
"""

import json
import pathlib
import struct
import tempfile

import mlx.core as mx
import numpy as np
import safetensors as peer

from .case import entry, file, lay_out, pad, raw, start, text, write_file_case
from .recipe import build, payload

FOLDER = start("safetensors")


def case(name, shows, content, *codes, neighbour=(), **more):
    write_file_case(FOLDER, name, shows, content, codes, input_name="input.safetensors", neighbour=neighbour, **more)


def large(name, shows, parts, *codes, neighbour=()):
    case(name, shows, build(parts), *codes, neighbour=neighbour, recipe=parts)


F32 = payload("f32", 64)
ONE = {"a": ("F32", [1], F32[:4])}
A = entry("F32", [1], 0, 4)
DATA4, DATA8, DATA12, DATA16 = F32[:4], F32[:8], F32[:12], F32[:16]


def with_a(inner, data=DATA4):
    """A file of one tensor `a` whose entry is the given JSON text."""
    return file('{"a":' + inner + "}", data)


# --- plain files -------------------------------------------------------------------------------------------------------

case("plain", "two tensors and metadata, laid out as the reference does",
     lay_out({"b.weight": ("F32", [2, 2], DATA16), "a.bias": ("F16", [2], DATA4)}, {"format": "pt"}),
     neighbour=["ST004", "ST025", "ST027", "ST005", "ST012", "ST014", "ST017", "ST018", "ST026"])
case("empty-padded", "no tensors, as the reference writes it: `{}` and six blanks", file("{}"), neighbour="ST008")
case("empty-smallest", "the smallest file that the reference accepts: 10 bytes", raw("{}"), "ST020", neighbour=["ST001", "FI001"])
case("scalars", "shape [] is one element", lay_out({"step": ("I64", [], struct.pack("<q", 7)), "scale": ("F32", [], DATA4)}))
case("zero-size", "a tensor without elements",
     lay_out({"a": ("F32", [2], DATA8), "none": ("F32", [0, 3], b""), "b": ("F32", [1], DATA4)}), neighbour="ST023")
case("zero-size-only", "only tensors without elements, and no data at all",
     lay_out({"x": ("F32", [0], b""), "y": ("I64", [4, 0], b"")}))
case("zero-size-shared-offset", "several tensors without elements at one offset",
     file({"a": entry("F32", [2], 0, 8), "e1": entry("F32", [0], 8, 8), "e2": entry("I8", [0, 9], 8, 8),
           "e3": entry("F64", [3, 0], 8, 8), "b": entry("F32", [1], 8, 12)}, DATA12), neighbour="ST025")
case("zero-size-at-both-ends", "tensors without elements at the start and at the end of the data",
     file({"first": entry("U8", [0], 0, 0), "a": entry("U8", [3], 0, 3), "last": entry("U8", [0], 3, 3)}, DATA4[:3]))
case("rank-8", "eight dimensions", lay_out({"a": ("U8", [1, 2, 1, 2, 1, 1, 1, 3], F32[:12])}))
case("names-unicode", "names in several scripts, sorted by UTF-8 bytes and not by UTF-16 units",
     lay_out({n: ("U8", [1], bytes([i + 1])) for i, n in enumerate(["ß", "層.0.重み", "\uffff", "\U0001f600", "é", "e\u0301"])}))
case("names-escaped", "names written with escapes: quote, backslash, NUL, newline, a surrogate pair",
     file('{"q\\"q":%s,"b\\\\b":%s,"\\u0000":%s,"n\\n":%s,"\\ud83d\\ude00":%s}'
          % tuple(text(entry("U8", [1], i, i + 1)) for i in range(5)), F32[:5]), neighbour="ST007")
case("name-empty", "a tensor whose name is the empty string", lay_out({"": ("F32", [1], DATA4)}))
case("names-like-paths", "names with `/`, `..` and a drive: they are names, never paths",
     lay_out({n: ("U8", [1], bytes([i + 1])) for i, n in enumerate(["../../etc/passwd", "/abs", "a/b", "C:\\x", ".."])}))
case("name-long", "a name of 3,000 bytes", lay_out({"layer." * 500: ("U8", [1], b"\x05")}))
case("names-near", "names that differ in case or in Unicode form are different names",
     lay_out({n: ("U8", [1], bytes([i + 1])) for i, n in enumerate(["a", "A", "\u00e9", "e\u0301", "a ", "K", "\u212a"])}),
     neighbour="ST009")
case("metadata-keys", "metadata with more keys than `format`",
     lay_out(ONE, {"format": "pt", "note": "zwölf", "": "", "dtype": "F32"}), neighbour=["ST015", "ST010"])
case("metadata-empty", "an empty metadata object", lay_out(ONE, {}), neighbour="ST016")
case("metadata-last", "`__metadata__` after the tensors",
     file('{"a":%s,"__metadata__":{"format":"np"}}' % text(A), DATA4))
case("metadata-json-in-string", "metadata that holds JSON as a string", lay_out(ONE, {"config": '{"a":1,"a":2}'}), neighbour="ST010")
case("header-order", "the header lists the tensors in another order than the data",
     file({"c": entry("F32", [1], 8, 12), "a": entry("F32", [1], 4, 8), "b": entry("F32", [1], 0, 4)}, DATA12))
case("header-pretty", "blanks and line ends between the JSON tokens",
     file(json.dumps({"__metadata__": {"format": "pt"}, "a": A}, indent=2), DATA4), neighbour=["ST019", "ST018"])
case("field-order", "shape before dtype, offsets first", with_a('{"data_offsets":[0,4],"shape":[1],"dtype":"F32"}'))
case("values-nan", "NaN, infinities and a boolean byte of 2 are values like any other",
     lay_out({"f": ("F32", [3], bytes.fromhex("0000c07f0000807f000080ff")), "b": ("BOOL", [2], b"\x02\x01")}))

CODES = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
         "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
         "C64": 64, "F64": 64, "I64": 64, "U64": 64}
PEER_NAMES = {"bool": 8, "float4_e2m1fn_x2": 8, "uint8": 8, "int8": 8, "float8_e5m2": 8, "float8_e4m3fn": 8, "float8_e8m0fnu": 8,
              "float8_e4m3fnuz": 8, "float8_e5m2fnuz": 8, "int16": 16, "uint16": 16, "float16": 16, "bfloat16": 16, "int32": 32,
              "uint32": 32, "float32": 32, "complex64": 64, "float64": 64, "int64": 64, "uint64": 64}


def written_by_the_reference():
    """All the dtypes that its Python writer takes: 20 of the 22."""
    buffers = {name: np.frombuffer(payload(name, 4 * bits // 8), dtype=np.uint8) for name, bits in PEER_NAMES.items()}
    specs = {f"t.{name}": peer.TensorSpec(dtype=name, shape=[2, 2], data_ptr=b.ctypes.data, data_len=b.nbytes)
             for name, b in buffers.items()}
    return bytes(peer.serialize(specs, metadata={"format": "np"}))


case("dtypes-20", "the 20 dtypes that the Python writer of the reference takes, written by it", written_by_the_reference(),
     neighbour=["ST022", "ST030", "ST020"])
for dtype, bits in CODES.items():
    case(f"dtype-{dtype.lower().replace('_', '-')}", f"{dtype}: {bits} bits an element",
         lay_out({"t": (dtype, [2, 4], payload(dtype, 8 * bits // 8))}), neighbour="ST022")
case("dtype-f4-odd-rows", "F4 with an odd last dimension but an even number of elements", lay_out({"t": ("F4", [2, 3], F32[:3])}),
     neighbour="ST028")
case("dtype-f6-12-elements", "F6 fills whole bytes every four elements", lay_out({"t": ("F6_E2M3", [3, 4], F32[:9])}),
     neighbour="ST028")


def written_by_mlx(arrays, **keywords):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "out.safetensors")
        mx.save_safetensors(str(path), arrays, **keywords)
        return path.read_bytes()


case("mlx-notes-only", "written by MLX: `__metadata__` null, no padding, tensors not in the order of the header",
     written_by_mlx({"b": mx.array([[1, 2], [3, 4]], dtype=mx.uint8), "aa": mx.array([3], dtype=mx.int8),
                     "c": mx.array([5, 6, 7], dtype=mx.uint8)}), "ST016", "ST020")
case("mlx-metadata", "written by MLX with metadata: a string map, still no padding",
     written_by_mlx({"w": mx.array([1, 2, 3], dtype=mx.uint8)}, metadata={"format": "mlx"}), "ST020")
case("mlx-bfloat16", "BF16 written by MLX at an odd offset of the file",
     written_by_mlx({"weights": mx.array([1.5, -2.0], dtype=mx.bfloat16)}), "ST016", "ST020", "ST030")

# --- ST001 to ST003: the length field -----------------------------------------------------------------------------------

case("length-field-1-byte", "one byte: not even a length", b"\x10", "ST001")
case("length-field-7-bytes", "seven bytes: not even a length", b"\x10" + bytes(6), "ST001")
case("length-zero", "a header of no bytes is no JSON", raw("", length=0), "ST007")
case("length-2-64", "a length of 2^64 - 1", raw("{}", length=2**64 - 1), "ST002")
case("length-2-63", "a length of 2^63: negative for who reads it as signed", raw("{}", length=2**63), "ST002")
case("length-big-endian", "the length written with the most significant byte first", b"\0\0\0\0\0\0\0\x08" + pad("{}"), "ST002")


def blank_header(n):
    return [{"hex": struct.pack("<Q", n).hex()}, {"text": "{}"}, {"repeat": " ", "count": n - 2}]


large("header-100000001", "one byte over the largest header", blank_header(100_000_001), "ST002")
large("header-100000000", "the largest header that the reference accepts", blank_header(100_000_000), "ST003", "ST021",
      neighbour="ST002")
large("header-25000000", "the smallest header that remote tools refuse", blank_header(25_000_000), "ST003", "ST021")
large("header-24999992", "just below what remote tools refuse", blank_header(24_999_992), "ST021", neighbour="ST003")
large("spare-room-2-mb", "two megabytes of blanks after the object", blank_header(2_000_000), "ST021")
large("spare-room-half-mb", "half a megabyte of blanks: room for later edits", blank_header(500_000), neighbour="ST021")

# --- ST004, ST025 to ST027: the cover of the data ------------------------------------------------------------------------

case("gap-at-start", "four bytes before the first tensor", file({"a": entry("F32", [1], 4, 8)}, DATA8), "ST004")
case("gap-in-the-middle", "four bytes between two tensors",
     file({"a": entry("F32", [1], 0, 4), "b": entry("F32", [1], 8, 12)}, DATA12), "ST004")
case("gap-of-one-byte", "one byte between two tensors", file({"a": entry("U8", [2], 0, 2), "b": entry("U8", [2], 3, 5)}, F32[:5]), "ST004")
case("gaps-two", "two gaps are two findings",
     file({"a": entry("F32", [1], 4, 8), "b": entry("F32", [1], 12, 16)}, DATA16), "ST004", "ST004")
case("overlap-partial", "two tensors share four bytes", file({"a": entry("F32", [2], 0, 8), "b": entry("F32", [2], 4, 12)}, DATA12), "ST025")
case("overlap-equal", "two names for one range", file({"a": A, "b": A}, DATA4), "ST025")
case("overlap-inside", "one tensor inside another", file({"a": entry("F32", [3], 0, 12), "b": entry("F32", [1], 4, 8)}, DATA12), "ST025")
case("overlap-empty-inside", "a tensor without elements inside the bytes of another",
     file({"a": entry("F32", [2], 0, 8), "e": entry("F32", [0], 4, 4)}, DATA8), "ST025")
case("reversed", "begin after end", file({"a": entry("F32", [1], 4, 0)}, DATA4), "ST026")
case("reversed-empty", "begin after end of a tensor without elements",
     file({"a": entry("F32", [2], 0, 8), "e": entry("F32", [0], 8, 4)}, DATA8), "ST026")
case("trailing-one-byte", "one byte after the last tensor", file({"a": A}, DATA4 + b"\x01"), "ST027")
case("trailing-only", "data that no tensor claims, in a file without tensors", file("{}", DATA8), "ST027")
case("trailing-page", "4,096 bytes after the last tensor", file({"a": A}, DATA4 + payload("page", 4096)), "ST027")

# --- ST005: cut short -----------------------------------------------------------------------------------------------------

WHOLE = lay_out({"a": ("F32", [2], DATA8), "b": ("F32", [2], DATA8), "c": ("F32", [2], DATA8)})
case("cut-last-byte", "one byte is missing at the end", WHOLE[:-1], "ST005")
case("cut-two-tensors", "the file ends inside the second of three tensors", WHOLE[:-12], "ST005")
case("cut-all-data", "header whole, no data at all", WHOLE[:-24], "ST005")
case("cut-in-header", "the file ends inside the header", WHOLE[:40], "ST005")
case("cut-after-length", "nothing after the length", WHOLE[:8], "ST005")
case("size-2-61", "an extent of 2^61 - 1 bytes does not overflow; it is only not there",
     file({"a": entry("U8", [2**61 - 1], 0, 2**61 - 1)}, DATA8), "ST005", neighbour="ST024")

# --- ST006 to ST008, ST017 to ST020: the JSON text --------------------------------------------------------------------------

case("not-utf8-byte", "a byte that is no UTF-8 in a name", file(b'{"\xff":%s}' % text(A).encode(), DATA4), "ST006")
case("not-utf8-overlong", "an overlong form of `/`", file(b'{"\xc0\xaf":%s}' % text(A).encode(), DATA4), "ST006")
case("not-utf8-surrogate", "a surrogate encoded as three bytes", file(b'{"\xed\xa0\x80":%s}' % text(A).encode(), DATA4), "ST006")
case("utf8-four-bytes", "four-byte UTF-8 is fine", lay_out({"\U00010348": ("F32", [1], DATA4)}), neighbour="ST006")
case("json-cut", "the object does not end", raw(pad('{"a":' + text(A)), DATA4), "ST007")
case("json-trailing-comma", "a comma before the brace", file('{"a":%s,}' % text(A), DATA4), "ST007")
case("json-nan", "NaN is no JSON number", with_a('{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}'), "ST007")
case("json-infinity", "Infinity is no JSON number", with_a('{"dtype":"F32","shape":[Infinity],"data_offsets":[0,4]}'), "ST007")
case("json-comment", "a comment is no JSON", file('{/* x */"a":%s}' % text(A), DATA4), "ST007")
case("json-single-quotes", "Python's quotes are no JSON", file("{'a':%s}" % text(A), DATA4), "ST007")
case("json-control-character", "a raw control character in a name", file('{"a\x01":%s}' % text(A), DATA4), "ST007")
case("json-lone-surrogate", "an escape for half a character", file('{"\\ud800":%s}' % text(A), DATA4), "ST007")
case("json-leading-zero", "016 is no JSON number", with_a('{"dtype":"F32","shape":[01],"data_offsets":[0,4]}'), "ST007")
case("json-bom", "a byte order mark before the object", file("\ufeff" + text({"a": A}), DATA4), "ST007")
case("json-bad-escape", "an escape that JSON does not have", file('{"\\x61":%s}' % text(A), DATA4), "ST007")
case("json-too-deep", "200 levels inside an unknown field, more than the reference follows",
     with_a('{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":%s%s}' % ("[" * 200, "]" * 200)), "ST007", "ST014")
case("json-deep", "100 levels inside an unknown field",
     with_a('{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":%s%s}' % ("[" * 100, "]" * 100)), "ST014", neighbour="ST007")
for form, inner in {"array": "[]", "null": "null", "string": '"{}"', "number": "42", "true": "true"}.items():
    case(f"top-level-{form}", f"the header is JSON, but {form} in place of an object", file(inner), "ST008")
case("trailing-nul", "the header is padded with NUL bytes", raw(text({"a": A}) + "\0" * (-len(text({"a": A})) % 8 or 8), DATA4), "ST017")
case("trailing-object", "a second object in the header", file(text({"a": A}) + "{}", DATA4), "ST017")
case("trailing-brace", "one brace too many", file(text({"a": A}) + "}", DATA4), "ST017")
case("trailing-form-feed", "a form feed is no JSON blank", raw(pad(text({"a": A}) + "\f"), DATA4), "ST017")
case("leading-space", "a space before the object", file(" " + text({"a": A}), DATA4), "ST018")
case("leading-newline", "a line end before the object", file("\n" + text({"a": A}), DATA4), "ST018")


def padded_with(blank):
    header = text({"a": A})
    return raw(header + blank * (-len(header) % 8 or 8), DATA4)


case("padding-tab", "tabs as padding", padded_with("\t"), "ST019")
case("padding-newline", "line ends as padding", padded_with("\n"), "ST019")
case("padding-cr", "carriage returns as padding", padded_with("\r"), "ST019")
case("unpadded", "a header whose length is no multiple of 8", raw('{"a":%s} ' % text(entry("U8", [4], 0, 4)), DATA4), "ST020")
case("unaligned-f32", "a four-byte element at an odd offset",
     file({"u": entry("U8", [1], 0, 1), "f": entry("F32", [2], 1, 9)}, F32[:9]), "ST030")
case("unaligned-f64", "an eight-byte element at a multiple of four",
     file({"f": entry("F32", [1], 0, 4), "d": entry("F64", [1], 4, 12)}, DATA12), "ST030")
case("aligned-small-first", "small elements first, and the large ones aligned all the same",
     file({"u": entry("U8", [4], 0, 4), "f": entry("F32", [2], 4, 12)}, DATA12), neighbour="ST030")

# --- ST009, ST010: duplicates -------------------------------------------------------------------------------------------------

case("duplicate-equal", "one name twice with equal extents: nothing else is wrong",
     file('{"a":%s,"a":%s}' % (text(A), text(A)), DATA4), "ST009")
case("duplicate-escaped", "`a` and `\\u0061` are one name", file('{"a":%s,"\\u0061":%s}' % (text(A), text(A)), DATA4), "ST009")
case("duplicate-other-range", "one name for two ranges: which one is loaded depends on the reader",
     file('{"a":%s,"a":%s}' % (text(A), text(entry("F32", [1], 4, 8))), DATA8), "ST009")
case("duplicate-among-others", "the second entry of `a` covers what the first leaves open",
     file('{"a":%s,"b":%s,"a":%s}' % (text(A), text(entry("F32", [1], 4, 8)), text(A)), DATA8), "ST009")
case("duplicate-dtype", "`dtype` twice in an entry", with_a('{"dtype":"F32","dtype":"I32","shape":[1],"data_offsets":[0,4]}'), "ST010")
case("duplicate-shape", "`shape` twice in an entry, equal", with_a('{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}'), "ST010")
case("duplicate-offsets", "`data_offsets` twice, once with an escape",
     with_a('{"dtype":"F32","shape":[1],"data_offsets":[0,4],"d\\u0061ta_offsets":[0,4]}'), "ST010")
case("duplicate-metadata-key", "one key twice inside the metadata", file('{"__metadata__":{"k":"1","k":"2"},"a":%s}' % text(A), DATA4), "ST010")
case("duplicate-metadata", "`__metadata__` twice", file('{"__metadata__":{"k":"1"},"a":%s,"__metadata__":{"j":"2"}}' % text(A), DATA4), "ST010")
case("duplicate-metadata-escaped", "`__metadata__` twice, once with an escape",
     file('{"__metadata__":{"k":"1"},"a":%s,"\\u005f_metadata__":{"j":"2"}}' % text(A), DATA4), "ST010")

# --- ST011 to ST015, ST029: the entries ----------------------------------------------------------------------------------------

case("entry-array", "an entry as an array in field order, which the reference takes by accident", with_a('["F32",[1],[0,4]]'), "ST011")
case("entry-dtype-object", "a dtype as an enum object, which the reference takes by accident",
     with_a('{"dtype":{"F32":null},"shape":[1],"data_offsets":[0,4]}'), "ST011")
for form, inner in {"number": "1", "string": '"F32"', "null": "null"}.items():
    case(f"entry-{form}", f"an entry that is a {form}", file('{"a":%s}' % inner), "ST011")
case("entry-object", "the plain form of the same tensor", with_a('{"dtype":"F32","shape":[1],"data_offsets":[0,4]}'),
     neighbour=["ST011", "ST013"])
case("missing-dtype", "an entry without dtype", with_a('{"shape":[1],"data_offsets":[0,4]}'), "ST012")
case("missing-shape", "an entry without shape", with_a('{"dtype":"F32","data_offsets":[0,4]}'), "ST012")
case("missing-offsets", "an entry without data_offsets", file('{"a":{"dtype":"F32","shape":[0]}}'), "ST012")
for form, inner in {"number": "1", "null": "null", "bool": "true", "array": '["F32"]'}.items():
    case(f"dtype-is-{form}", f"a dtype that is a {form}", with_a('{"dtype":%s,"shape":[1],"data_offsets":[0,4]}' % inner), "ST013")
for form, inner in {"null": "null", "number": "1", "string": '"1"', "nested": "[[1]]", "object": '{"0":1}', "text-item": '["1"]',
                    "negative": "[-1]", "minus-zero": "[1,-0]", "fraction": "[1.0]", "exponent": "[1e0]", "2-64": "[0,18446744073709551616]"}.items():
    case(f"shape-{form}", f"a shape of {inner if len(inner) < 9 else form}",
         with_a('{"dtype":"F32","shape":%s,"data_offsets":[0,4]}' % inner), "ST013")
for form, inner in {"16-0": "[0,4.0]", "exponent": "[0,4e0]", "minus-zero": "[-0,4]", "text": '["0","4"]', "null": "null", "one": "[4]",
                    "three": "[0,2,4]", "object": '{"begin":0,"end":4}', "negative": "[-4,0]", "2-64": "[0,18446744073709551616]"}.items():
    case(f"offsets-{form}", f"data_offsets of {inner}", with_a('{"dtype":"F32","shape":[1],"data_offsets":%s}' % inner), "ST013")
case("shape-2-64-minus-1", "2^64 - 1 is still an integer, and no elements are no bytes",
     file({"a": entry("U8", [0, 2**64 - 1], 0, 0)}), neighbour="ST013")
case("unknown-field", "one more field in an entry", with_a('{"dtype":"F32","shape":[1],"data_offsets":[0,4],"note":"x"}'), "ST014")
case("unknown-field-object", "one more field that is an object with the known names inside",
     with_a('{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":{"dtype":"I32","shape":null}}'), "ST014")
for form, inner in {"number": '{"k":1}', "bool": '{"k":true}', "null-value": '{"k":null}', "array-value": '{"k":["1"]}',
                    "object-value": '{"k":{"j":"1"}}', "is-string": '"pt"', "is-array": '["pt"]', "is-number": "1", "is-false": "false"}.items():
    case(f"metadata-{form}", f"`__metadata__` of {inner}", file('{"__metadata__":%s,"a":%s}' % (inner, text(A)), DATA4), "ST015")
case("metadata-null", "`__metadata__` is null, as MLX writes it", file('{"__metadata__":null,"a":%s}' % text(A), DATA4), "ST016")
case("tensor-called-metadata", "a tensor with the reserved name, as a known bug of the reference writes it",
     file({"__metadata__": A}, DATA4), "ST029")
case("metadata-like-a-tensor", "metadata with the keys of an entry, all strings",
     lay_out(ONE, {"dtype": "F32", "shape": "[1]", "data_offsets": "[0,4]"}), neighbour="ST029")
case("name-near-metadata", "names next to the reserved one", lay_out({"__metadata_": ("U8", [1], b"\x01"), "_metadata__": ("U8", [1], b"\x02")}),
     neighbour="ST029")

# --- ST022 to ST024, ST028: sizes ------------------------------------------------------------------------------------------------


def beside_good(dtype, size=4):
    return file({"a": A, "new": entry(dtype, [2], 4, 4 + size), "z": entry("F32", [1], 4 + size, 8 + size)}, F32[: 8 + size])


TABLE = [{"name": "a", "dtype": "F32", "shape": [1]}, {"name": "new", "dtype": "U3", "shape": [2]}, {"name": "z", "dtype": "F32", "shape": [1]}]
case("unknown-dtype", "a dtype newer than the reader, beside good tensors: all three stay in the table", beside_good("U3"), "ST022", inspect=TABLE)
case("unknown-dtype-lower-case", "codes are upper case: `f32` is unknown", beside_good("f32", 8), "ST022")
case("unknown-dtype-empty", "an empty string is a dtype that nobody knows", beside_good(""), "ST022")
case("unknown-dtype-torch", "torch's own spelling", beside_good("torch.float32", 8), "ST022")
case("size-too-small", "four bytes for two F32", file({"a": entry("F32", [2], 0, 4)}, DATA4), "ST023")
case("size-too-large", "eight bytes for one F32", file({"a": entry("F32", [1], 0, 8)}, DATA8), "ST023")
case("size-scalar", "eight bytes for a scalar F32", file({"a": entry("F32", [], 0, 8)}, DATA8), "ST023")
case("size-zero", "four bytes for no elements", file({"a": entry("F32", [0], 0, 4)}, DATA4), "ST023")
case("size-none", "no bytes for one element", file({"a": entry("F32", [1], 0, 0)}), "ST023")
case("size-dtype", "the dtype says F16, the bytes say F32",
     file({"a": entry("F16", [2], 0, 8), "b": entry("F32", [1], 8, 12)}, DATA12), "ST023")
case("overflow-before-zero", "the product overflows before the zero comes", file({"a": entry("F32", [2**63, 4, 0], 0, 0)}), "ST024")
case("zero-before-overflow", "the same dims with the zero first", file({"a": entry("F32", [0, 2**63, 4], 0, 0)}), neighbour="ST024")
case("overflow-in-bits", "2^61 bytes are 2^64 bits", file({"a": entry("U8", [2**61], 0, 8)}, DATA8), "ST024")
case("overflow-2-64-minus-1", "2^64 - 1 elements of one byte", file({"a": entry("U8", [2**64 - 1], 0, 4)}, DATA4), "ST024")
case("overflow-wraps-to-4", "a product that is 4 modulo 2^64", file({"a": entry("U8", [2**62 + 1, 4], 0, 4)}, DATA4), "ST024")
case("partial-byte-f4", "three F4 elements are a byte and a half", file({"a": entry("F4", [3], 0, 2)}, F32[:2]), "ST028")
case("partial-byte-f4-scalar", "one F4 element is half a byte", file({"a": entry("F4", [], 0, 1)}, F32[:1]), "ST028")
case("partial-byte-f6", "three F6 elements are 18 bits", file({"a": entry("F6_E3M2", [3], 0, 3)}, F32[:3]), "ST028")

# --- several at once ---------------------------------------------------------------------------------------------------------------

case("six-at-once", "six things are wrong in one file, and one run shows them all",
     file('{"__metadata__":{"k":"1","k":"2"},"a":%s,"b":%s,"c":%s,"d":{"dtype":"F32","shape":[1],"data_offsets":[20,24],"x":1}}'
          % (text(entry("F32", [1], 4, 8)), text(entry("F32", [2], 8, 12)), text(entry("U3", [2], 12, 20))), payload("six", 28)),
     "ST004", "ST010", "ST014", "ST022", "ST023", "ST027")
case("good-beside-broken", "one entry is broken, the others stay readable",
     file('{"a":%s,"b":{"dtype":"F32","data_offsets":[4,8]},"c":%s}' % (text(A), text(entry("F32", [1], 8, 12))), DATA12), "ST012")
