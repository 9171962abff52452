"""Makes corpus/identity/vectors.json: published values of the weights identity, computed by the ten lines of tests/identity.py."""

import struct

from tests import identity

from .case import start, write_json
from .recipe import payload

FOLDER = start("identity")
SETS = [
    ("no tensors at all", []),
    ("a scalar: rank 0, one element", [("step", "I64", [], struct.pack("<q", 7))]),
    ("a tensor without elements: E is the hash of no bytes", [("none", "F32", [0, 3], b"")]),
    ("a matrix of four F32", [("w", "F32", [2, 2], struct.pack("<4f", 1.0, -2.0, 0.5, 0.0))]),
    ("the same bytes under another shape are another tensor", [("w", "F32", [4], struct.pack("<4f", 1.0, -2.0, 0.5, 0.0))]),
    ("the same bytes under another dtype are another tensor", [("w", "I32", [2, 2], struct.pack("<4f", 1.0, -2.0, 0.5, 0.0))]),
    ("minus zero and NaN with a payload are kept as stored", [("w", "F32", [3], bytes.fromhex("00000080" "010080ff" "0000c07f"))]),
    ("F4: packed, the first element in the low bits; 1.0 -0.5 6.0 0.0 are the codes 2 9 7 0", [("w", "F4", [4], bytes([0x92, 0x07]))]),
    ("names are sorted by their UTF-8 bytes: U+FFFF before U+1F600, which UTF-16 turns round",
     [("\U0001f600", "U8", [1], b"\x01"), ("\uffff", "U8", [1], b"\x02"), ("é", "U8", [1], b"\x03"), ("e\u0301", "U8", [1], b"\x04"), ("", "U8", [1], b"\x05")]),
    ("an alias counts under each of its names", [("embed.weight", "F16", [2, 2], payload("alias", 8)), ("head.weight", "F16", [2, 2], payload("alias", 8))]),
    ("other names: another root, the same content root", [("a", "F16", [2, 2], payload("alias", 8)), ("b", "F16", [2, 2], payload("alias", 8))]),
    ("one byte more than a BLAKE3 chunk", [("w", "U8", [1025], payload("chunk", 1025))]),
]

rows = []
for shows, tensors in SETS:
    digests = {name: identity.tensor_digest(dtype, shape, data) for name, dtype, shape, data in tensors}
    rows.append({"shows": shows,
                 "tensors": [{"name": n, "dtype": d, "shape": s, "bytes": data.hex(), "digest": digests[n].hex()} for n, d, s, data in tensors],
                 "root": identity.root(digests), "content_root": identity.content_root(digests)})
write_json(FOLDER / "vectors.json", {"schema": 1, "vectors": rows})
