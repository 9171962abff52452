"""What `tensorcask verify --structure` checks in a folder of shards, once more with json and struct: the peer of a benchmark.

For each shard: header length, JSON without duplicate keys, entries of the right form, known dtypes, size = shape x dtype, no gap, no
overlap, nothing after the end. For the index: both directions, each tensor in the shard named, stray shards, total_size, numbering.
"""
import json
import re
import struct
import sys
from math import prod
from pathlib import Path

BITS = {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8,
        "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64}
NUMBERED = re.compile(r".*-(\d{5})-of-(\d{5})\.safetensors")


def unique(pairs):
    """An object without duplicate keys."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def whole(number):
    return type(number) is int and 0 <= number < 1 << 64


def read_shard(path):
    """Names and bytes of the tensors of one shard, once everything about it holds."""
    file_bytes = path.stat().st_size
    with open(path, "rb") as file:
        head = file.read(8)
        if len(head) < 8:
            raise ValueError("shorter than a header")
        n, = struct.unpack("<Q", head)
        if n > 100_000_000 or 8 + n > file_bytes:
            raise ValueError(f"header of {n} bytes")
        text = file.read(n).decode()
    if not text.startswith("{"):
        raise ValueError("the header is no object")
    entries = json.loads(text, object_pairs_hook=unique)
    metadata = entries.pop("__metadata__", None) or {}
    if not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError("metadata that is no text")
    spans = []
    for name, entry in entries.items():
        if set(entry) != {"dtype", "shape", "data_offsets"}:
            raise ValueError(f"fields of {name}")
        bits, shape, offsets = BITS.get(entry["dtype"]), entry["shape"], entry["data_offsets"]
        if bits is None or not all(map(whole, shape)) or len(offsets) != 2 or not all(map(whole, offsets)):
            raise ValueError(f"types of {name}")
        begin, end = offsets
        size = prod(shape) * bits
        if size >= 1 << 64 or size % 8 or end - begin != size // 8:
            raise ValueError(f"size of {name}")
        spans.append((begin, end))
    at = 0
    for begin, end in sorted(spans):
        if begin != at:
            raise ValueError(f"gap or overlap at {at}")
        at = end
    if 8 + n + at != file_bytes:
        raise ValueError("bytes after the last tensor, or missing ones")
    return entries.keys(), at, metadata.get("format")


def main(folder):
    index = json.loads((folder / "model.safetensors.index.json").read_text(), object_pairs_hook=unique)
    weight_map, found, total, problems, formats = index["weight_map"], {}, 0, [], set()
    json.loads((folder / "config.json").read_text())
    for shard in sorted(folder.glob("*.safetensors")):
        try:
            names, n_bytes, made_by = read_shard(shard)
        except (ValueError, KeyError, TypeError) as error:
            problems.append(f"{shard.name}: {error}")
            continue
        total += n_bytes
        formats.add(made_by)
        for name in names:
            if name in found:
                problems.append(f"{name} is in {found[name]} and {shard.name}")
            found[name] = shard.name
    for name, shard in weight_map.items():
        if "/" in shard or "\\" in shard or not shard.endswith(".safetensors"):
            problems.append(f"{shard} is no plain name")
        if found.get(name) != shard:
            problems.append(f"{name} is not in {shard}")
    problems += [f"{name} is not in the index" for name in found.keys() - weight_map.keys()]
    problems += [f"{shard} is not named by the index" for shard in set(found.values()) - set(weight_map.values())]
    numbers = [NUMBERED.fullmatch(shard) for shard in set(weight_map.values())]
    if all(numbers) and sorted(int(number[1]) for number in numbers) != list(range(1, int(numbers[0][2]) + 1)):
        problems.append("the numbering of the shards has holes")
    if index["metadata"]["total_size"] != total:
        problems.append(f"total_size is not {total}")
    if len(formats) > 1:
        problems.append("the shards differ in format")
    print("\n".join(problems) or f"ok: {len(found)} tensors in {len(set(found.values()))} shards")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
