"""Runs the program as a user does and holds every run against what must always be true of it."""

import json
import os
import pathlib
import struct
import subprocess
from dataclasses import dataclass

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

ROOT = pathlib.Path(__file__).resolve().parents[1]
BINARY = pathlib.Path(os.environ.get("TENSORCASK_BIN") or ROOT / "target/release/tensorcask")
SCHEMAS = {path.name.removesuffix(".schema.json"): json.loads(path.read_text()) for path in (ROOT / "docs/schema").glob("*.schema.json")}
REGISTRY = Registry().with_resources((schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values())
SCHEMA_OF = {"verify": "check", "scan": "check"}


@dataclass
class Done:
    status: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)


def environment(**more):
    """Nothing of the user's settings reaches the program."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE")}
    return kept | {"LC_ALL": "C.UTF-8"} | more


def run(*arguments, timeout=120, cwd=None, preexec_fn=None, **env):
    """One run; fails on a panic, a signal or a status that the contract does not have."""
    command = [str(BINARY), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=timeout, cwd=cwd, env=environment(**env), preexec_fn=preexec_fn)
    out, err = done.stdout.decode(), done.stderr.decode()
    assert done.returncode in (0, 1, 2), f"{command}: status {done.returncode}\n{err}"
    assert "panicked" not in err and "RUST_BACKTRACE" not in err, err
    return Done(done.returncode, out, err)


def validate(document, name):
    Draft202012Validator(SCHEMAS[name], registry=REGISTRY).validate(document)


def ask(command, *arguments, status=None, **keywords):
    """A run with --json: the document, held against its schema."""
    done = run(command, "--json", *arguments, **keywords)
    assert status is None or done.status == status, f"{command} {arguments}: status {done.status}, not {status}\n{done.out}{done.err}"
    document = done.json()
    validate(document, "error" if "error" in document else SCHEMA_OF.get(command, command))
    return document


def only_result(document):
    assert "results" in document, document
    assert len(document["results"]) == 1, [r["path"] for r in document["results"]]
    return document["results"][0]


def slugs(result):
    return sorted(f["slug"] for f in result["findings"])


def root_of(path):
    return only_result(ask("hash", path, status=0))["root"]


# A second reader and writer of good files, for tests that need no peer.


def write(path, tensors, metadata=None):
    """`{name: (dtype, shape, bytes)}` in the order given."""
    header, at = ({} if metadata is None else {"__metadata__": metadata}), 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for _, _, data in tensors.values():
            f.write(data)
    return path


def read(path):
    """The tensors as `write` takes them, and the metadata."""
    data = pathlib.Path(path).read_bytes()
    n, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + n])
    metadata = header.pop("__metadata__", None)
    return {k: (v["dtype"], v["shape"], data[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]]) for k, v in header.items()}, metadata
