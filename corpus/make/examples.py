"""Makes examples/: four tiny folders for `tensorcask check examples/`, three of them bad on purpose."""

import json
import pathlib
import pickletools
import shutil
import struct

from .case import CORPUS, lay_out
from .recipe import payload

FOLDER = CORPUS.parent / "examples"


def weights(name, shape):
    """Small values around zero, fixed by the name of the tensor."""
    n = 1
    for dim in shape:
        n *= dim
    units = struct.unpack(f"<{n}H", payload(name, 2 * n))
    return ("F32", shape, struct.pack(f"<{n}f", *((u / 65536 - 0.5) / 8 for u in units)))


def model(shapes):
    return {name: weights(name, shape) for name, shape in shapes.items()}


def folder(name, config=None):
    path = FOLDER / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    if config is not None:
        (path / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    return path


def good_model():
    path = folder("good-model", {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1,
                                 "n_positions": 16, "vocab_size": 32, "tie_word_embeddings": True, "torch_dtype": "float32"})
    block = {"attn.c_attn.bias": [24], "attn.c_attn.weight": [8, 24], "attn.c_proj.bias": [8], "attn.c_proj.weight": [8, 8],
             "ln_1.bias": [8], "ln_1.weight": [8], "ln_2.bias": [8], "ln_2.weight": [8],
             "mlp.c_fc.bias": [32], "mlp.c_fc.weight": [8, 32], "mlp.c_proj.bias": [8], "mlp.c_proj.weight": [32, 8]}
    shapes = {f"transformer.h.0.{name}": shape for name, shape in block.items()}
    shapes |= {"transformer.ln_f.bias": [8], "transformer.ln_f.weight": [8], "transformer.wpe.weight": [16, 8], "transformer.wte.weight": [32, 8]}
    (path / "model.safetensors").write_bytes(lay_out(model(shapes), {"format": "pt"}))


def truncated_shard():
    path = folder("truncated-shard", {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8, "intermediate_size": 16,
                                      "num_attention_heads": 2, "num_hidden_layers": 1, "vocab_size": 32, "tie_word_embeddings": False,
                                      "torch_dtype": "float32"})
    layer = "model.layers.0."
    shards = [
        {"model.embed_tokens.weight": [32, 8], f"{layer}input_layernorm.weight": [8], f"{layer}mlp.down_proj.weight": [8, 16],
         f"{layer}mlp.gate_proj.weight": [16, 8], f"{layer}mlp.up_proj.weight": [16, 8], f"{layer}post_attention_layernorm.weight": [8]},
        {f"{layer}self_attn.{p}_proj.weight": [8, 8] for p in "kqvo"} | {"lm_head.weight": [32, 8], "model.norm.weight": [8]},
    ]
    weight_map, total = {}, 0
    for i, shapes in enumerate(shards, 1):
        name = f"model-{i:05}-of-00002.safetensors"
        content = lay_out(model(dict(sorted(shapes.items()))), {"format": "pt"})
        weight_map |= dict.fromkeys(shapes, name)
        total += sum(len(data) for _, _, data in model(shapes).values())
        # The second download stopped: the last 700 bytes are not there.
        (path / name).write_bytes(content if i == 1 else content[:-700])
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))}
    (path / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


def malicious_pickle():
    """A bare pickle of protocol 2 that calls `print` when it is loaded. It is written opcode by opcode and never loaded."""
    text = b"this line was printed by the weights file"
    code = (b"\x80\x02" b"cbuiltins\nprint\n" b"X" + struct.pack("<I", len(text)) + text + b"\x85" b"R" b"0"
            b"}" b"X" + struct.pack("<I", 6) + b"weight" b"]" b"s" b".")
    ops = [op.name for op, _, _ in pickletools.genops(code)]
    if "GLOBAL" not in ops or "REDUCE" not in ops or ops[-1] != "STOP":
        raise SystemExit(f"the pickle is not what it should be: {ops}")
    (folder("malicious-pickle") / "pytorch_model.bin").write_bytes(code)


def error_page():
    (folder("error-page") / "model.safetensors").write_text(
        "<!DOCTYPE html>\n<html>\n<head><title>404 Not Found</title></head>\n"
        "<body><h1>Not Found</h1><p>The requested file does not exist on this server.</p></body>\n</html>\n")


good_model()
truncated_shard()
malicious_pickle()
error_page()
