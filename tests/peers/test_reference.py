"""The same files through the reference libraries: what we accept they accept, what we write they read, what they write we read."""

import json
import pathlib
import random
import subprocess
import sys

import ml_dtypes
import mlx.core as mx
import numpy as np
import pytest
import safetensors
from huggingface_hub import split_state_dict_into_shards_factory
from safetensors.numpy import save_file

from tests import identity
from tests.cases import load, name_of
from tests.program import ROOT, ask, only_result, run, slugs

CASES = load("safetensors")
# What the reference takes and we refuse, each for its reason; nothing may be added here without one.
STRICTER = {
    "duplicate-equal": "which of two entries counts depends on the reader",
    "duplicate-escaped": "the same, hidden behind an escape",
    "duplicate-among-others": "the same, among other tensors",
    "duplicate-metadata-key": "which of two values counts depends on the reader",
    "entry-array": "no writer makes it and other readers refuse it",
    "entry-dtype-object": "no writer makes it and other readers refuse it",
    "leading-space": "the format says that a header starts with a brace, and other readers insist",
    "leading-newline": "the format says that a header starts with a brace, and other readers insist",
}
# What the reference refuses and we read with a warning: the other tensors stay readable.
UNKNOWN_DTYPE = {"unknown-dtype", "unknown-dtype-lower-case", "unknown-dtype-empty", "unknown-dtype-torch"}
GOOD = [c for c in CASES if not c.has_error() and c.name not in UNKNOWN_DTYPE]
NUMPY = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": ml_dtypes.bfloat16, "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
         "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?"}


def read(path):
    """What the reference reads: tensors by name with dtype, shape and bytes, and the metadata."""
    data = pathlib.Path(path).read_bytes()
    tensors = {name: (t["dtype"], t["shape"], bytes(t["data"])) for name, t in safetensors.deserialize(data)}
    with safetensors.safe_open(str(path), "np") as f:
        return tensors, f.metadata()


def read_folder(folder):
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    joined = {}
    for shard in sorted(set(index["weight_map"].values())):
        tensors, _ = read(folder / shard)
        assert not joined.keys() & tensors.keys()
        assert all(index["weight_map"][name] == shard for name in tensors)
        joined |= tensors
    assert joined.keys() == index["weight_map"].keys()
    return joined


def same_as(path, tensors):
    """inspect and hash say of the path what the reference says."""
    table = {t["name"]: (t["dtype"], t["shape"]) for t in only_result(ask("inspect", path, status=0))["tensors"]}
    assert table == {name: (dtype, shape) for name, (dtype, shape, _) in tensors.items()}
    digests = {name: identity.tensor_digest(*tensor) for name, tensor in tensors.items()}
    result = only_result(ask("hash", path, status=0))
    assert {t["name"]: t["digest"] for t in result["tensors"]} == {name: digest.hex() for name, digest in digests.items()}
    assert (result["root"], result["content_root"]) == (identity.root(digests), identity.content_root(digests))


def test_the_peers_are_the_pinned_ones():
    wanted = dict(line.strip().split("==") for line in (ROOT / "corpus/make/requirements.txt").read_text().splitlines() if "==" in line)
    assert safetensors.__version__ == wanted["safetensors"]
    assert mx.__version__ == wanted["mlx[cpu]"]


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_reference_still_says_what_the_corpus_says(case):
    with case.path() as path:
        try:
            safetensors.deserialize(path.read_bytes())
            accepts = True
        except safetensors.SafetensorError:
            accepts = False
    assert accepts == case.expected["reference"]["accepts"]


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_nothing_is_accepted_that_the_reference_refuses(case):
    with case.path() as path:
        ours = run("check", path).status == 0
    reference = case.expected["reference"]["accepts"]
    if case.name in STRICTER:
        assert reference and not ours
    elif case.name in UNKNOWN_DTYPE:
        assert ours and not reference
    else:
        assert ours == reference


@pytest.mark.parametrize("case", GOOD, ids=name_of)
def test_what_we_write_from_the_corpus_is_read_by_the_reference(case, tmp_path):
    with case.path() as path:
        tensors, metadata = read(path)
        assert run("convert", path, tmp_path / "out.safetensors").status == 0
        written, written_metadata = read(tmp_path / "out.safetensors")
        assert written == tensors
        assert (written_metadata or {}) == (metadata or {})
        assert only_result(ask("check", tmp_path / "out.safetensors", status=0))["findings"] == []
        if len(tensors) > 1:
            assert run("convert", path, tmp_path / "shards", "--max-shard-size", "16B").status == 0
            folder = tmp_path / "shards"
            if (folder / "model.safetensors.index.json").exists():
                assert read_folder(folder) == tensors
            else:
                assert read(folder / "model.safetensors")[0] == tensors


def random_arrays(rng, n):
    """Arrays of every dtype that numpy and the reference share, empty ones and scalars among them."""
    out = {}
    for i in range(n):
        dtype = np.dtype(rng.choice(list(NUMPY.values())))
        shape = tuple(rng.randrange(0, 5) for _ in range(rng.randrange(0, 4)))
        size = int(np.prod(shape, dtype=int)) * dtype.itemsize
        data = rng.randbytes(size) if dtype != np.bool_ else bytes(b & 1 for b in rng.randbytes(size))
        out[f"block.{i}.{rng.choice(['weight', 'bias', 'größe', '層'])}"] = np.frombuffer(data, dtype=dtype).reshape(shape)
    return out


@pytest.mark.parametrize("seed", range(20))
def test_random_files_of_the_reference(seed, tmp_path):
    rng = random.Random(seed)
    path = tmp_path / "model.safetensors"
    save_file(random_arrays(rng, rng.randrange(1, 30)), str(path), metadata={"format": "np"})
    assert only_result(ask("check", path, status=0))["findings"] == []
    tensors, _ = read(path)
    same_as(path, tensors)
    assert run("convert", path, tmp_path / "out.safetensors").status == 0
    # The order of tensors and the padding are the reference's: with one metadata key the files are equal byte by byte.
    assert (tmp_path / "out.safetensors").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("seed", range(10))
def test_folders_split_by_huggingface_hub(seed, tmp_path):
    rng = random.Random(seed)
    arrays = random_arrays(rng, 25)
    limit = rng.choice([16, 64, 200, 1000])
    plan = split_state_dict_into_shards_factory(arrays, get_storage_size=lambda a: a.nbytes, filename_pattern="model{suffix}.safetensors", max_shard_size=limit)
    for file, names in plan.filename_to_tensors.items():
        save_file({n: arrays[n] for n in names}, str(tmp_path / file), metadata={"format": "pt"})
    if plan.is_sharded:
        (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"metadata": plan.metadata, "weight_map": plan.tensor_to_filename}, indent=2))
    result = only_result(ask("check", tmp_path, status=0))
    assert {f["severity"] for f in result["findings"]} <= {"note"}, result["findings"]
    # Its splitter can leave a first shard without tensors, before a tensor over the limit.
    assert set(slugs(result)) <= {"empty-shard"}
    tensors = {}
    for file in plan.filename_to_tensors:
        tensors |= read(tmp_path / file)[0]
    same_as(tmp_path, tensors)


@pytest.mark.parametrize("metadata", [None, {"format": "mlx"}], ids=["null", "map"])
def test_files_of_mlx_give_at_most_notes(metadata, tmp_path):
    path = tmp_path / "model.safetensors"
    arrays = {f"layers.{i}.{n}": mx.arange(i + 3).astype(t) for i in range(4)
              for n, t in [("weight", mx.float32), ("scales", mx.bfloat16), ("mask", mx.bool_), ("ids", mx.int64), ("codes", mx.uint8), ("c", mx.complex64)]}
    mx.save_safetensors(str(path), arrays, **({} if metadata is None else {"metadata": metadata}))
    result = only_result(ask("check", path, status=0))
    assert {f["severity"] for f in result["findings"]} <= {"note"}
    assert set(slugs(result)) <= {"metadata-null", "header-unpadded", "unaligned-start"}
    same_as(path, read(path)[0])


def test_what_we_write_is_read_by_mlx(tmp_path):
    arrays = {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "i": np.arange(4, dtype=np.int32)}
    save_file(arrays, str(tmp_path / "in.safetensors"))
    assert run("convert", tmp_path / "in.safetensors", tmp_path / "out.safetensors").status == 0
    loaded = mx.load(str(tmp_path / "out.safetensors"))
    assert loaded.keys() == arrays.keys()
    assert all((np.array(loaded[name]) == array).all() for name, array in arrays.items())


# --- real files --------------------------------------------------------------------------------------------------------------


def fetched(name):
    """The real files of one id; a file that cannot be had is a failure, not a skip."""
    done = subprocess.run([sys.executable, ROOT / "corpus/fetch.py", "--path", name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [pathlib.Path(line) for line in done.stdout.splitlines()]


def only_notes(path):
    for result in ask("check", path, status=0)["results"]:
        assert {f["severity"] for f in result["findings"]} <= {"note"}, result["findings"]
        assert (result["security"], result["structure"]) == ("clean", "ok")


@pytest.mark.parametrize("name", ["st-silero-vad-16k", "st-wordllama-256"])
def test_real_files(name):
    path, = fetched(name)
    only_notes(path)
    same_as(path, read(path)[0])


def test_a_real_model_folder(tmp_path):
    folder, = {p.parent for p in fetched("hf-minilm")}
    only_notes(folder)
    tensors, _ = read(folder / "model.safetensors")
    assert len(tensors) == 104
    same_as(folder, tensors)
    assert run("convert", folder, tmp_path / "shards", "--max-shard-size", "20MB").status == 0
    assert read_folder(tmp_path / "shards") == tensors
    assert run("convert", tmp_path / "shards", tmp_path / "merged.safetensors").status == 0
    assert read(tmp_path / "merged.safetensors")[0] == tensors


def test_a_real_folder_of_pickles():
    folder, = {p.parent for p in fetched("hf-rxnmapper")}
    found = [f for r in ask("check", folder, status=1)["results"] for f in r["findings"]]
    assert {f["slug"] for f in found} == {"pickle-not-inspected"}
    assert {f["file"] for f in found} == {"pytorch_model.bin", "training_args.bin"}
