#!/usr/bin/env python3
"""Builds the files that the benchmarks read, deterministically and in safetensors form, with json and struct only.

usage: gen.py NAME...     into the folder $BENCH_DIR (default target/bench); what is there already stays

names: llama57 (1 GiB, 57 tensors), llama57x4 (4 GiB), single (1 GiB, 1 tensor), flat300 (1 GiB, 300 tensors),
       moe50k (0.8 GB, 50,000 tensors), hdr100k (100,000 tensors of 16 bytes), shards200 (a folder of 200 shards),
       sparse700g (a 700 GB file with holes)
"""
import json
import os
import struct
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(os.environ.get("BENCH_DIR", "target/bench"))
GIB = 1 << 30
BLOCK = 4 << 20


def header(tensors):
    """The header of (name, dtype, shape, bytes) as the reference library lays it out: compact, padded to 8."""
    entries, at = {"__metadata__": {"format": "pt"}}, 0
    for name, dtype, shape, n_bytes in tensors:
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + n_bytes]}
        at += n_bytes
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text, at


def save(path, tensors, seed):
    """Random bytes: nothing to compress, no shared zero pages, no holes."""
    head, n_bytes = header(tensors)
    random = np.random.Generator(np.random.SFC64(seed))
    with open(path, "wb") as file:
        file.write(head)
        while n_bytes:
            n = min(n_bytes, BLOCK)
            file.write(random.bytes(n))
            n_bytes -= n
        file.flush()
        os.fsync(file.fileno())


def bf16(name, *shape):
    return name, "BF16", list(shape), 2 * int(np.prod(shape))


def llama(total):
    """57 tensors like a small dense model: an embedding, 6 layers of 9 tensors, a norm, and a head that fills up to `total` bytes."""
    width, inner = 2048, 5632
    scale = total // GIB
    tensors = [bf16("model.embed_tokens.weight", 32000, width)]
    for layer in range(6):
        at = f"model.layers.{layer}."
        tensors += [bf16(f"{at}{norm}.weight", width) for norm in ("input_layernorm", "post_attention_layernorm")]
        tensors += [bf16(f"{at}self_attn.{part}_proj.weight", width * scale, width) for part in "qkvo"]
        tensors += [bf16(f"{at}mlp.{part}_proj.weight", inner * scale, width) for part in ("gate", "up")]
        tensors.append(bf16(f"{at}mlp.down_proj.weight", width * scale, inner))
    tensors.append(bf16("model.norm.weight", width))
    left = total - sum(n_bytes for *_, n_bytes in tensors)
    tensors.append(bf16("lm_head.weight", left // 2))
    assert len(tensors) == 57 and left > 0
    return tensors


def moe(n, n_bytes):
    names = (f"model.layers.{i // 1000}.mlp.experts.{i % 1000}.weight" for i in range(n))
    return [bf16(name, n_bytes // 2 // 64, 64) for name in names]


def shards(folder, n_shards, n_tensors):
    """A good folder: config, index and shards of a few small tensors each; the work is in headers, not in bytes."""
    folder.mkdir()
    weight_map, total = {}, 0
    for shard in range(n_shards):
        name = f"model-{shard + 1:05}-of-{n_shards:05}.safetensors"
        tensors = [bf16(f"model.layers.{shard}.mlp.experts.{i}.weight", 8, 8) for i in range(n_tensors)]
        save(folder / name, tensors, shard)
        weight_map |= {tensor[0]: name for tensor in tensors}
        total += sum(tensor[3] for tensor in tensors)
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2))
    (folder / "config.json").write_text('{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "bfloat16"}\n')


def sparse(path, n_bytes):
    """Headers only: the data is one hole."""
    n = n_bytes // (1 << 28)
    tensors = [bf16(f"model.layers.{i}.weight", 1 << 14, 1 << 13) for i in range(n)]
    head, n_bytes = header(tensors)
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(len(head) + n_bytes)


MAKERS = {
    "llama57": lambda path: save(path, llama(GIB), 1),
    "llama57x4": lambda path: save(path, llama(4 * GIB), 2),
    "single": lambda path: save(path, [bf16("weight", GIB // 2)], 3),
    "flat300": lambda path: save(path, [bf16(f"layers.{i}.weight", GIB // 300 // 2) for i in range(300)], 4),
    "moe50k": lambda path: save(path, moe(50_000, 16 << 10), 5),
    "hdr100k": lambda path: save(path, [bf16(f"model.layers.{i // 1000}.mlp.experts.{i % 1000}.down_proj.weight", 2, 4) for i in range(100_000)], 6),
    "shards200": lambda path: shards(path, 200, 100),
    "sparse700g": lambda path: sparse(path, 700 * 10**9),
}


def make(name):
    """The path of `name`, built first if it is not there."""
    path = FOLDER / (name if name.startswith("shards") else f"{name}.safetensors")
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        # Built under another name: an interrupted run leaves nothing that looks finished.
        partial = path.with_name(f"{path.name}.partial")
        if partial.is_dir():
            import shutil
            shutil.rmtree(partial)
        MAKERS[name](partial)
        partial.rename(path)
    return path


if __name__ == "__main__":
    if not sys.argv[1:] or set(sys.argv[1:]) - set(MAKERS):
        sys.exit(__doc__)
    for argument in sys.argv[1:]:
        print(make(argument))
