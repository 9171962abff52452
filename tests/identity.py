"""The weights identity a second time, in ten lines; docs/identity.md describes it.

It shares no code with the Rust one and reads no file: who calls it brings dtype names, shapes and the bytes of the elements.
"""

import struct

from blake3 import blake3


def tensor_digest(dtype, shape, data):
    name = dtype.encode()
    dims = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
    return blake3(b"tensorcask tensor 1\0" + struct.pack("<I", len(name)) + name + dims + blake3(data).digest()).digest()


def root(digests):
    names = sorted((name.encode(), digest) for name, digest in digests.items())
    parts = [struct.pack("<I", len(name)) + name + digest for name, digest in names]
    return "tcw1:" + blake3(b"tensorcask weights 1\0" + b"".join(parts)).hexdigest()


def content_root(digests):
    return "tcw1:" + blake3(b"tensorcask content 1\0" + b"".join(sorted(digests.values()))).hexdigest()
