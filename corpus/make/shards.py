"""Makes corpus/shards: sharded folders, model folders and hub caches, one for each rule and its legal neighbour.

Shards are split by huggingface_hub's own function; what is wrong is put in afterwards, so that each case differs from a good one in one thing.
"""

import hashlib
import io
import json
import pickle
import zipfile

import safetensors as peer
from huggingface_hub import split_state_dict_into_shards_factory

from .case import findings, identities, lay_out, start, write_json
from .recipe import payload

FOLDER = start("shards")
COMMIT = "0123456789abcdef0123456789abcdef01234567"
OTHER = "89abcdef0123456789abcdef0123456789abcdef"


class Link(str):
    """The target of a symbolic link."""


def put(root, files):
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Link):
            target.symlink_to(content)
        elif isinstance(content, bytes):
            target.write_bytes(content)
        else:
            target.write_text(content if isinstance(content, str) else json.dumps(content, indent=2) + "\n", encoding="utf-8")


def result(path, *codes, tensors=None, **more):
    row = {"path": path, "findings": findings(codes)}
    if tensors is not None:
        row |= identities(tensors)
    return row | more


def folders(name, shows, files, results, *, given="input", neighbour=(), **more):
    """A case with several results; `given` is the path that the command gets."""
    case = FOLDER / name
    put(case / "input", files)
    document = {"shows": shows, "input": given, "results": results}
    if neighbour:
        document["neighbour_of"] = [neighbour] if isinstance(neighbour, str) else list(neighbour)
    write_json(case / "case.json", document | more)


def weights(content, path):
    """What the peer reads from one shard."""
    return peer.deserialize(content) if path.endswith(".safetensors") and not isinstance(content, Link) else []


def folder(name, shows, files, *codes, neighbour=(), given="input", whole=True, **more):
    """A case with one result. A whole folder gets the digests of its tensors, joined over its files."""
    whole = whole and not codes
    tensors = [t for path, content in files.items() for t in weights(content, path)] if whole else None
    folders(name, shows, files, [result(".", *codes, tensors=tensors)], neighbour=neighbour, given=given, **more)


def f32(name, *shape):
    n = 4
    for dim in shape:
        n *= dim
    return {name: ("F32", list(shape), payload(name, n))}


LAYERS = ["model.layers.0.mlp.weight", "model.layers.1.mlp.weight"]
MODEL = (f32("lm_head.weight", 8, 4) | f32("model.embed_tokens.weight", 8, 4) | f32(LAYERS[0], 4, 4) | f32(LAYERS[1], 4, 4)
         | f32("model.norm.weight", 4))
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "tie_word_embeddings": False, "torch_dtype": "float32"}
PT = {"format": "pt"}


def split(tensors, pattern="model{suffix}.safetensors", limit=256, metadata=PT):
    """Shards and index as huggingface_hub lays them out: `{file: {name: tensor}}` and the index."""
    plan = split_state_dict_into_shards_factory(tensors, get_storage_size=lambda t: len(t[2]), filename_pattern=pattern, max_shard_size=limit)
    shards = {file: {n: tensors[n] for n in names} for file, names in plan.filename_to_tensors.items()}
    return shards, {"metadata": plan.metadata, "weight_map": plan.tensor_to_filename}


def written(shards, index, index_name="model.safetensors.index.json", metadata=PT):
    return {file: lay_out(tensors, metadata) for file, tensors in shards.items()} | {index_name: index}


SHARDS, INDEX = split(MODEL)
FIRST, SECOND = sorted(SHARDS)
GOOD = written(SHARDS, INDEX)
assert len(SHARDS) == 2, SHARDS.keys()


def changed_index(**changes):
    return GOOD | {"model.safetensors.index.json": INDEX | changes}


def mapped(**changes):
    return changed_index(weight_map={**INDEX["weight_map"], **changes})


NO_TOTAL = {"metadata": {}}

# --- good folders ---------------------------------------------------------------------------------------------------------

folder("good", "two shards and an index, split by huggingface_hub", GOOD,
       neighbour=["SH001", "SH003", "SH006", "SH007", "SH008", "SH009", "SH012", "SH013", "SH014", "SH015", "SH016"])
folder("good-with-config", "the same with a config that agrees, and the files around a model",
       GOOD | {"config.json": CONFIG, "tokenizer.json": {"version": "1.0"}, "generation_config.json": {}, "README.md": "# a model\n", "LICENSE": "none\n"},
       neighbour=["SH010", "CK002", "CK003", "CK005", "CK006"])
folder("config-cut", "a config that was cut short", GOOD | {"config.json": json.dumps(CONFIG)[:-9]}, "CK006")
folder("good-index-as-path", "the index given as the path", GOOD, given="input/model.safetensors.index.json")
folder("good-single", "one file and a config", {"config.json": CONFIG, "model.safetensors": lay_out(MODEL, PT)}, neighbour=["SH011", "SH014", "SH018"])
three, index = split(MODEL, limit=144)
folder("good-three", "three shards and more, one tensor a shard where it is over the limit", written(three, index))
diffusers, index = split(MODEL, "diffusion_pytorch_model{suffix}.safetensors")
folder("good-diffusers", "the names of diffusers", written(diffusers, index, "diffusion_pytorch_model.safetensors.index.json"))
variant, index = split(MODEL, "model.fp16{suffix}.safetensors")
folder("good-variant", "a variant: its name stands inside the name of the index", written(variant, index, "model.safetensors.index.fp16.json"), neighbour="SH005")
folder("good-no-metadata", "an index without metadata", changed_index(metadata={}), neighbour="SH012")
folder("good-more-metadata", "other keys in the index's metadata",
       changed_index(metadata=INDEX["metadata"] | {"total_parameters": 100, "mergekit_version": "0.1.0"}), neighbour=["SH002", "SH012"])

# --- SH: the index and its shards --------------------------------------------------------------------------------------------

folder("index-json", "a comma before the last brace of the index",
       GOOD | {"model.safetensors.index.json": json.dumps(INDEX)[:-1] + ",}"}, "SH001")
folder("index-empty", "an index of no bytes", GOOD | {"model.safetensors.index.json": ""}, "SH001")
name, shard = next(iter(INDEX["weight_map"].items()))
folder("index-duplicate-tensor", "one tensor twice in the map, with the same shard",
       GOOD | {"model.safetensors.index.json": json.dumps(INDEX).replace('"weight_map": {', f'"weight_map": {{"{name}": "{shard}", ')}, "SH002")
folder("index-duplicate-map", "`weight_map` twice",
       GOOD | {"model.safetensors.index.json": json.dumps(INDEX)[:-1] + ', "weight_map": ' + json.dumps(INDEX["weight_map"]) + "}"}, "SH002")
folder("index-duplicate-metadata", "`total_size` twice",
       GOOD | {"model.safetensors.index.json": json.dumps(INDEX).replace('"metadata": {', '"metadata": {"total_size": %d, ' % INDEX["metadata"]["total_size"])}, "SH002")
folder("index-map-array", "a map that is an array", changed_index(weight_map=list(INDEX["weight_map"])), "SH003")
folder("index-map-missing", "no map at all", GOOD | {"model.safetensors.index.json": {"metadata": INDEX["metadata"]}}, "SH003")
folder("index-map-number", "a shard that is a number", changed_index(weight_map=INDEX["weight_map"] | {"model.norm.weight": 2}), "SH003")

ESCAPED = {n: t for n, t in MODEL.items() if n != "model.norm.weight"}
shards, index = split(ESCAPED)
elsewhere = lay_out(f32("model.norm.weight", 4), PT)
for what, path in {"parent": "../elsewhere/model.safetensors", "inner-parent": "x/../../elsewhere/model.safetensors", "absolute": "/elsewhere/model.safetensors",
                   "drive": "C:\\elsewhere\\model.safetensors", "backslash": "sub\\model.safetensors", "unc": "\\\\server\\share\\model.safetensors"}.items():
    files = {f"model/{p}": c for p, c in written(shards, {"metadata": {}, "weight_map": index["weight_map"] | {"model.norm.weight": path}}).items()}
    folder(f"index-path-{what}", f"the index names `{path}`", files | {"elsewhere/model.safetensors": elsewhere}, "SH004", given="input/model")
files = written(shards, {"metadata": {}, "weight_map": index["weight_map"] | {"model.norm.weight": "sub/model-00003.safetensors"}})
folder("index-path-subfolder", "a shard in a folder below", files | {"sub/model-00003.safetensors": elsewhere}, neighbour="SH004")
files = written(shards, {"metadata": {}, "weight_map": index["weight_map"] | {"model.norm.weight": "model..norm.safetensors"}})
folder("index-path-dots", "two dots inside a name lead nowhere", files | {"model..norm.safetensors": elsewhere}, neighbour="SH004")
files = written(shards, {"metadata": {}, "weight_map": index["weight_map"] | {"model.norm.weight": "model-norm.bin"}})
folder("index-extension", "a safetensors index names a `.bin` shard", files | {"model-norm.bin": elsewhere}, "SH005")

folder("index-names-index", "the index names itself as a shard", changed_index(weight_map=INDEX["weight_map"] | {"model.norm.weight": "model.safetensors.index.json"}), "SH003")

folder("shard-missing", "the second shard is not there", {p: c for p, c in GOOD.items() if p != SECOND}, "SH006")
folder("shard-missing-all", "an index without any shard", {"model.safetensors.index.json": INDEX}, "SH006", "SH006")
folder("numbered-hole", "numbered shards without an index, and one of three is missing",
       {"model-00001-of-00003.safetensors": GOOD[FIRST], "model-00003-of-00003.safetensors": GOOD[SECOND]}, "SH006", "SH014")
folder("numbered-no-index", "numbered shards, complete, without an index", {FIRST: GOOD[FIRST], SECOND: GOOD[SECOND]}, "SH014", neighbour="SH006")
a, b = next(iter(SHARDS[FIRST])), next(iter(SHARDS[SECOND]))
folder("tensors-swapped", "two tensors are mapped to each other's shard", mapped(**{a: SECOND, b: FIRST}), "SH007", "SH007")
folder("tensor-nowhere", "a mapped tensor is in no shard", mapped(**{"model.ghost.weight": SECOND}), "SH007")
folder("tensor-not-in-index", "a shard holds a tensor that the index does not name",
       GOOD | {SECOND: lay_out(SHARDS[SECOND] | f32("model.extra.weight", 2), PT), "model.safetensors.index.json": INDEX | NO_TOTAL}, "SH008")
folder("tensor-in-two-shards", "one tensor in both shards",
       GOOD | {SECOND: lay_out(SHARDS[SECOND] | {a: MODEL[a]}, PT), "model.safetensors.index.json": INDEX | NO_TOTAL}, "SH009")
folder("stray-other-numbering", "a shard of an earlier numbering is left over", GOOD | {"model-00003-of-00003.safetensors": elsewhere}, "SH010")
folder("stray-other-name", "a weight file that the index does not name", GOOD | {"extra.safetensors": elsewhere}, "SH010")
folder("single-beside-index", "model.safetensors beside the shards", GOOD | {"model.safetensors": lay_out(MODEL, PT)}, "SH011")
total = INDEX["metadata"]["total_size"]
folder("total-size-wrong", "`total_size` is the size of the files", changed_index(metadata={"total_size": total + 400}), "SH012")
folder("total-size-float", "`total_size` is a float of the right value", changed_index(metadata={"total_size": float(total)}), "SH012")
renamed = {FIRST: "model-00001-of-00002.safetensors", SECOND: "model-00002-of-00003.safetensors"}
folder("numbering-totals", "the shards' names give two totals",
       {renamed[p]: GOOD[p] for p in (FIRST, SECOND)} | {"model.safetensors.index.json": INDEX | {"weight_map": {n: renamed[s] for n, s in INDEX["weight_map"].items()}}}, "SH013")
renamed = {FIRST: "model-00001-of-00003.safetensors", SECOND: "model-00003-of-00003.safetensors"}
folder("numbering-hole", "an index that names the shards 1 and 3 of 3",
       {renamed[p]: GOOD[p] for p in (FIRST, SECOND)} | {"model.safetensors.index.json": INDEX | {"weight_map": {n: renamed[s] for n, s in INDEX["weight_map"].items()}}}, "SH013")
folder("format-differs", "one shard says pt, the other mlx", GOOD | {SECOND: lay_out(SHARDS[SECOND], {"format": "mlx"})}, "SH015")
empty = {"model-00001-of-00003.safetensors": lay_out({}, PT), "model-00002-of-00003.safetensors": GOOD[FIRST], "model-00003-of-00003.safetensors": GOOD[SECOND]}
renamed = {FIRST: "model-00002-of-00003.safetensors", SECOND: "model-00003-of-00003.safetensors"}
folder("empty-first-shard", "a first shard without tensors, as mlx-lm writes it when the first tensor is over the limit",
       empty | {"model.safetensors.index.json": INDEX | {"weight_map": {n: renamed[s] for n, s in INDEX["weight_map"].items()}}}, "SH016")


def hub_metadata(files, commits):
    """What `hf download --local-dir` keeps about each file: commit, digest, a time after the file's own."""
    out = {}
    for path, commit in commits.items():
        out[f".cache/huggingface/download/{path}.metadata"] = f"{commit}\n{hashlib.sha256(files[path]).hexdigest()}\n4102444800.0\n"
    return out


folder("revisions-mixed", "the two shards were downloaded from two commits", GOOD | hub_metadata(GOOD, {FIRST: COMMIT, SECOND: OTHER}), "SH017")
folder("revisions-one", "both shards were downloaded from one commit", GOOD | hub_metadata(GOOD, {FIRST: COMMIT, SECOND: COMMIT}), neighbour="SH017")
folder("not-a-set", "two weight files of other names in a model folder, and no index",
       {"config.json": {"model_type": "tiny"}, "a.safetensors": lay_out(f32("a", 2)), "b.safetensors": lay_out(f32("b", 2))}, "SH018")


def torch_zip(name, values):
    """A torch zip with one state dict of plain numbers; its pickle calls nothing."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for member, content in {"data.pkl": pickle.dumps({name: values}, 2), "version": b"3\n"}.items():
            archive.writestr(zipfile.ZipInfo(f"{name}/{member}", (1980, 1, 1, 0, 0, 0)), content)
    return out.getvalue()


folder("torch-shards", "the index of a sharded torch model: recognised, its shards would be unpickled",
       {"pytorch_model-00001-of-00002.bin": torch_zip("a", [1.0]), "pytorch_model-00002-of-00002.bin": torch_zip("b", [2.0]),
        "pytorch_model.bin.index.json": {"metadata": {"total_size": 8},
                                         "weight_map": {"a": "pytorch_model-00001-of-00002.bin", "b": "pytorch_model-00002-of-00002.bin"}}},
       "FI005", "FI005")

# --- CK: the folder around the weights -------------------------------------------------------------------------------------------


def single(tensors, config=CONFIG, **files):
    return {"config.json": config, "model.safetensors": lay_out(tensors, PT)} | files


def prefixed(prefix, names=MODEL):
    return {(prefix + n if n in names else n): t for n, t in MODEL.items()}


PLAIN = {"model_type": "tiny"}
folder("prefix-compiled", "`_orig_mod.` before every name", single(prefixed("_orig_mod."), PLAIN), "CK001")
folder("prefix-parallel", "`module.` before every name", single(prefixed("module."), PLAIN), "CK001")
folder("prefix-both", "`module._orig_mod.` before every name", single(prefixed("module._orig_mod."), PLAIN), "CK001")
folder("prefix-nested", "`_orig_mod.` inside the names", single({n.replace("model.", "model._orig_mod."): t for n, t in MODEL.items()}, PLAIN), "CK001")
folder("prefix-partial", "`_orig_mod.` before some of the names", single(prefixed("_orig_mod.", LAYERS), PLAIN), "CK001")
shards, index = split(prefixed("_orig_mod."))
folder("prefix-sharded", "`_orig_mod.` before every name of a sharded model", written(shards, index), "CK001")
folder("prefix-not", "names that only resemble the prefixes",
       single(f32("module_list.0.weight", 4) | f32("modules.0.weight", 4) | f32("orig_mod.weight", 4) | f32("_orig_module.weight", 4), PLAIN), neighbour="CK001")

folder("config-dtype-differs", "the config says bfloat16, the tensors are F32", single(MODEL, CONFIG | {"torch_dtype": "bfloat16"}), "CK002")
new_key = {k: v for k, v in CONFIG.items() if k != "torch_dtype"}
folder("config-dtype-new-key", "the same under the newer key `dtype`", single(MODEL, new_key | {"dtype": "bfloat16"}), "CK002")
folder("config-dtype-agrees", "the newer key, and it agrees", single(MODEL, new_key | {"dtype": "float32"}), neighbour="CK002")
mixed = MODEL | {n: ("BF16", MODEL[n][1], MODEL[n][2][: len(MODEL[n][2]) // 2]) for n in MODEL if n != "model.norm.weight"}
folder("config-dtype-most", "bfloat16 but for one small norm", single(mixed, CONFIG | {"torch_dtype": "bfloat16"}), neighbour="CK002")
folder("config-dtype-none", "a config that names no dtype", single(MODEL, new_key), neighbour="CK002")
ids = {"embeddings.position_ids": ("I64", [1, 64], payload("ids", 512))}
folder("config-dtype-integers", "integer buffers are no parameters", single(MODEL | ids), neighbour="CK002")

headless = {n: t for n, t in MODEL.items() if n != "lm_head.weight"}
head = {"lm_head.weight": MODEL["model.embed_tokens.weight"]}
TIED = CONFIG | {"tie_word_embeddings": True}
folder("tied-false-no-head", "the config says untied, but there is no output head", single(headless), "CK003")
folder("tied-true-other-head", "the config says tied, but the head differs from the embedding", single(MODEL, TIED), "CK003")
folder("tied-true-no-head", "tied, and the head is left out", single(headless, TIED), neighbour="CK003")
folder("tied-true-equal-head", "tied, and the head is stored a second time", single(MODEL | head, TIED), neighbour="CK003")
unsaid = {k: v for k, v in CONFIG.items() if k != "tie_word_embeddings"}
folder("tied-unsaid", "a config that does not speak of it", single(headless, unsaid), neighbour="CK003")


def quantised(layer, parts):
    size = {"weight": ("U32", [4, 2]), "scales": ("F16", [4, 2]), "biases": ("F16", [4, 2]), "qweight": ("I32", [2, 4]), "qzeros": ("I32", [2, 1])}
    bytes_of = {"U32": 4, "I32": 4, "F16": 2}
    out = {}
    for part in parts:
        dtype, shape = size[part]
        out[f"model.layers.{layer}.mlp.{part}"] = (dtype, shape, payload(f"{layer}.{part}", bytes_of[dtype] * shape[0] * shape[1]))
    return out


MLX, GPTQ = ["weight", "scales", "biases"], ["qweight", "qzeros", "scales"]
MLX_CONFIG = {"model_type": "tiny", "quantization": {"group_size": 64, "bits": 4}}
GPTQ_CONFIG = {"model_type": "tiny", "torch_dtype": "float16", "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128}}
folder("quant-mlx", "MLX groups: weight, scales, biases", single(quantised(0, MLX) | quantised(1, MLX), MLX_CONFIG), neighbour="CK004")
folder("quant-mlx-no-scales", "one MLX group without its scales", single(quantised(0, MLX) | quantised(1, ["weight", "biases"]), MLX_CONFIG), "CK004")
folder("quant-mlx-no-weight", "one MLX group without its weight", single(quantised(0, MLX) | quantised(1, ["scales", "biases"]), MLX_CONFIG), "CK004")
folder("quant-gptq", "GPTQ groups: qweight, qzeros, scales; most elements are packed integers", single(quantised(0, GPTQ) | quantised(1, GPTQ), GPTQ_CONFIG),
       neighbour=["CK004", "CK002"])
folder("quant-gptq-no-qzeros", "one GPTQ group without its zeros", single(quantised(0, GPTQ) | quantised(1, ["qweight", "scales"]), GPTQ_CONFIG), "CK004")
folder("quant-mlx-no-biases", "a quantisation mode whose groups have no biases at all",
       single(quantised(0, ["weight", "scales"]) | quantised(1, ["weight", "scales"]), {"model_type": "tiny", "quantization": {"group_size": 32, "bits": 4, "mode": "mxfp4"}}),
       neighbour="CK004")
group = list(quantised(0, GPTQ).items())
straddling = {"model-00001-of-00002.safetensors": dict(group[:2]), "model-00002-of-00002.safetensors": dict(group[2:]) | quantised(1, GPTQ)}
index = {"metadata": {}, "weight_map": {n: file for file, tensors in straddling.items() for n in tensors}}
folder("quant-straddles", "a complete group over two shards", written(straddling, index) | {"config.json": GPTQ_CONFIG}, "CK004/note")

CODE = "class TinyModel:\n    pass\n"
folder("auto-map-local", "`auto_map` names code in the same folder",
       single(MODEL, CONFIG | {"auto_map": {"AutoModel": "modeling_tiny.TinyModel"}}, **{"modeling_tiny.py": CODE}), "CK005")
folder("auto-map-remote", "`auto_map` names code in another repository",
       single(MODEL, CONFIG | {"auto_map": {"AutoModel": "someone/else--modeling_tiny.TinyModel"}}), "CK005/error")
folder("auto-map-empty", "an `auto_map` without entries, and code that nothing names", single(MODEL, CONFIG | {"auto_map": {}}, **{"modeling_tiny.py": CODE}), neighbour="CK005")

ADAPTER = lay_out(f32("base_model.model.layers.0.lora_A.weight", 2, 4) | f32("base_model.model.layers.0.lora_B.weight", 4, 2), PT)
files = single(MODEL) | {"adapter_config.json": {"peft_type": "LORA", "r": 2}, "adapter_model.safetensors": ADAPTER}
folders("adapter-beside", "an adapter beside a model is a result of its own", files,
        [result(".", tensors=peer.deserialize(files["model.safetensors"])), result("adapter_model.safetensors", tensors=peer.deserialize(ADAPTER))], neighbour="SH018")

# --- links, the hub's cache, folders of several checkpoints ---------------------------------------------------------------------------


def hub_cache(files, commit=COMMIT):
    """`blobs/`, `refs/` and `snapshots/` of a repository in the hub's cache; every file of the snapshot is a link."""
    out = {"refs/main": commit}
    for path, content in files.items():
        content = content if isinstance(content, bytes) else (json.dumps(content, indent=2) + "\n").encode()
        blob = hashlib.sha256(content).hexdigest()
        out[f"blobs/{blob}"] = content
        out[f"snapshots/{commit}/{path}"] = Link("../" * (2 + path.count("/")) + f"blobs/{blob}")
    return out


REPO = "models--tiny--model"
cached = {f"{REPO}/{p}": c for p, c in hub_cache(GOOD | {"config.json": CONFIG}).items()}
joined = [t for p, c in GOOD.items() for t in weights(c, p)]
folders("hub-snapshot", "a snapshot of the hub's cache: every file is a link into `blobs/`", cached, [result(".", tensors=joined)],
        given=f"input/{REPO}/snapshots/{COMMIT}", neighbour=["FI010", "FI011"])
folders("hub-repository", "the repository folder of the hub's cache", cached, [result(f"snapshots/{COMMIT}", tensors=joined)], given=f"input/{REPO}")
second = {f"models--tiny--other/{p}": c for p, c in hub_cache({"model.safetensors": lay_out(MODEL, PT)}, OTHER).items()}
folders("hub-root", "a cache with two repositories, a lock and a tag", cached | second | {f".locks/{REPO}/x.lock": "", "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n"},
        [result(f"{REPO}/snapshots/{COMMIT}", tensors=joined), result(f"models--tiny--other/snapshots/{OTHER}", tensors=peer.deserialize(lay_out(MODEL, PT)))])
cut = {p: (c[:-100] if p == f"{REPO}/blobs/{hashlib.sha256(GOOD[SECOND]).hexdigest()}" else c) for p, c in cached.items()}
folders("hub-snapshot-cut", "a blob of the cache is cut short", cut, [result(".", "ST005")], given=f"input/{REPO}/snapshots/{COMMIT}")

folder("link-outside", "the weights are a link that leaves the folder",
       {"model/config.json": CONFIG, "model/model.safetensors": Link("../elsewhere/model.safetensors"), "elsewhere/model.safetensors": lay_out(MODEL, PT)},
       "FI010", given="input/model")
inside = {"config.json": CONFIG, "model.safetensors": Link("files/weights.safetensors"), "files/weights.safetensors": lay_out(MODEL, PT)}
folder("link-inside", "a link that stays in the folder", inside, neighbour="FI010")
folder("link-refused", "the same with --no-symlinks", inside, "FI011", args=["--no-symlinks"])

one, two = lay_out(f32("a", 2)), lay_out(f32("b", 2))
folders("walk", "a folder of two models, no model itself: two results, sorted", {"b/model.safetensors": two, "a/model.safetensors": one, "README.md": "# two models\n"},
        [result("a/model.safetensors", tensors=peer.deserialize(one)), result("b/model.safetensors", tensors=peer.deserialize(two))])
folders("walk-files", "loose weight files in a folder without config or index: one result each", {"one.safetensors": one, "two.safetensors": two},
        [result("one.safetensors", tensors=peer.deserialize(one)), result("two.safetensors", tensors=peer.deserialize(two))], neighbour="SH018")
folders("walk-dead-link", "a dead link is skipped", {"a.safetensors": one, "dead.safetensors": Link("nowhere.safetensors")},
        [result("a.safetensors", tensors=peer.deserialize(one))])
folders("walk-nothing", "a folder without weights", {"README.md": "# nothing\n", "logo.txt": "no weights\n"}, [], error="unrecognized")
