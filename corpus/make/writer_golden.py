"""Files that safetensors 0.8.0 writes, for the tests of our writer: it must write the same bytes.

Two keys of metadata or more are written in random order by the peer, so no file here has more than one.
Run: python -m corpus.make.writer_golden
"""

import ctypes
import json
import pathlib

import safetensors

assert safetensors.__version__ == "0.8.0", safetensors.__version__
OUT = pathlib.Path(__file__).resolve().parents[2] / "crates/tensorcask/tests/golden"

# name as the Python layer spells it, bits of one element
DTYPES = {
    "bool": 8, "uint8": 8, "int8": 8, "float8_e5m2": 8, "float8_e4m3fn": 8, "float8_e8m0fnu": 8, "float8_e4m3fnuz": 8, "float8_e5m2fnuz": 8,
    "int16": 16, "uint16": 16, "float16": 16, "bfloat16": 16, "int32": 32, "uint32": 32, "float32": 32, "complex64": 64, "float64": 64, "int64": 64, "uint64": 64,
}
NAMES = ["", "a", "A", "a.b/c", "..", "é", "\u2028", "\uffff", "\U0001f600", "\x01\x1f\x7f", "\b\f\n\r\t", '"\\', "\x00"]


def tensor(dtype, shape, bits, key):
    count = 1
    for dim in shape:
        count *= dim
    data = bytes((key * 37 + at * 11) % 256 for at in range(count * bits // 8))
    return {"dtype": dtype, "shape": shape, "data": bytes(b & 1 for b in data) if dtype == "bool" else data}


def every_dtype():
    tensors = {f"{name}.{n}": tensor(name, [2, 3], bits, key) for key, (name, bits) in enumerate(DTYPES.items()) for n in "ba"}
    # The Python layer counts pairs and doubles the last dimension in the header.
    tensors["float4"] = {"dtype": "float4_e2m1fn_x2", "shape": [2, 3], "data": bytes(range(6))}
    return tensors


CASES = {
    "every_dtype": (every_dtype(), None),
    "names": ({name: tensor("float32", [1], 32, key) for key, name in enumerate(reversed(NAMES))}, {"format": "pt"}),
    "shapes": ({f"{len(shape)}-{key}": tensor("uint8", shape, 8, key) for key, shape in enumerate([[], [1], [0], [3, 0, 2], [1, 1, 1, 1, 1, 2], [5]])}, None),
    "metadata": ({"t": tensor("int64", [2], 64, 1)}, {'k"\\\n\x02é\u2028/': 'v"\\\t\x1f\U0001f600\x7f'}),
    "metadata_alone": ({}, {"format": "np"}),
    "nothing": ({}, None),
}


def index():
    weight_map = {name: f"model-0000{1 + key % 2}-of-00002.safetensors" for key, name in enumerate(NAMES)}
    document = {"metadata": {"total_size": 4 * len(NAMES)}, "weight_map": weight_map}
    # As transformers writes it.
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    for name, (tensors, metadata) in CASES.items():
        buffers = {key: ctypes.create_string_buffer(t["data"], max(1, len(t["data"]))) for key, t in tensors.items()}
        specs = {
            key: safetensors.TensorSpec(dtype=t["dtype"], shape=t["shape"], data_ptr=ctypes.addressof(buffers[key]), data_len=len(t["data"]))
            for key, t in tensors.items()
        }
        (OUT / f"{name}.safetensors").write_bytes(safetensors.serialize(specs, metadata=metadata))
    (OUT / "index.json").write_text(index(), encoding="ascii")


if __name__ == "__main__":
    main()
