"""What the makers of the corpus share: the rules by code, bytes of a safetensors file, and the writing of one case.

A case is a folder with the input and a `case.json` that says what it shows and what is expected; corpus/README.md has the fields.
"""

import json
import pathlib
import re
import shutil
import struct

import safetensors

from tests import identity

CORPUS = pathlib.Path(__file__).resolve().parents[1]

# code: (slug, category, usual severity). Written by hand from the rule list, so that a slip in the program shows as a difference.
RULES = {
    "ST001": ("header-too-small", "structure", "error"),
    "ST002": ("header-too-large", "structure", "error"),
    "ST003": ("header-large", "structure", "note"),
    "ST004": ("data-gap", "structure", "error"),
    "ST005": ("file-truncated", "structure", "error"),
    "ST006": ("header-not-utf8", "structure", "error"),
    "ST007": ("header-json", "structure", "error"),
    "ST008": ("header-not-object", "structure", "error"),
    "ST009": ("duplicate-name", "structure", "error"),
    "ST010": ("duplicate-key", "structure", "error"),
    "ST011": ("entry-form", "structure", "error"),
    "ST012": ("missing-field", "structure", "error"),
    "ST013": ("field-type", "structure", "error"),
    "ST014": ("unknown-field", "structure", "note"),
    "ST015": ("metadata-not-string", "structure", "error"),
    "ST016": ("metadata-null", "structure", "note"),
    "ST017": ("header-trailing", "structure", "error"),
    "ST018": ("leading-blanks", "structure", "error"),
    "ST019": ("padding-not-space", "structure", "note"),
    "ST020": ("header-unpadded", "structure", "note"),
    "ST021": ("spare-room", "structure", "note"),
    "ST022": ("unknown-dtype", "portability", "warning"),
    "ST023": ("size-mismatch", "structure", "error"),
    "ST024": ("size-overflow", "structure", "error"),
    "ST025": ("data-overlap", "structure", "error"),
    "ST026": ("offsets-reversed", "structure", "error"),
    "ST027": ("trailing-bytes", "structure", "error"),
    "ST028": ("partial-byte", "structure", "error"),
    "ST029": ("reserved-name", "structure", "error"),
    "ST030": ("unaligned-start", "structure", "note"),
    "FI001": ("empty-file", "structure", "error"),
    "FI002": ("lfs-pointer", "structure", "error"),
    "FI003": ("error-page", "structure", "error"),
    "FI004": ("content-contradicts-name", "structure", "error"),
    "FI005": ("pickle-not-inspected", "security", "error"),
    "FI006": ("polyglot", "security", "error"),
    "FI007": ("not-read", "structure", "note"),
    "FI008": ("incomplete-download", "structure", "warning"),
    "FI009": ("zero-tail", "structure", "error"),
    "FI010": ("link-leaves-folder", "security", "error"),
    "FI011": ("link-refused", "security", "error"),
    "FI012": ("interrupted-write", "structure", "warning"),
    "SH001": ("index-json", "structure", "error"),
    "SH002": ("index-duplicate-key", "structure", "error"),
    "SH003": ("index-weight-map", "structure", "error"),
    "SH004": ("shard-path-escapes", "security", "error"),
    "SH005": ("shard-extension", "structure", "error"),
    "SH006": ("shard-missing", "structure", "error"),
    "SH007": ("tensor-not-in-shard", "structure", "error"),
    "SH008": ("tensor-not-in-index", "structure", "error"),
    "SH009": ("tensor-in-two-shards", "structure", "error"),
    "SH010": ("stray-weights", "structure", "warning"),
    "SH011": ("single-file-beside-index", "structure", "error"),
    "SH012": ("total-size", "structure", "warning"),
    "SH013": ("shard-numbering", "structure", "warning"),
    "SH014": ("shards-without-index", "structure", "warning"),
    "SH015": ("shard-format-differs", "structure", "warning"),
    "SH016": ("empty-shard", "structure", "note"),
    "SH017": ("mixed-revisions", "integrity", "error"),
    "SH018": ("not-a-sharded-set", "structure", "warning"),
    "CK001": ("wrapper-prefix", "structure", "warning"),
    "CK002": ("config-dtype", "structure", "warning"),
    "CK003": ("tied-head", "structure", "warning"),
    "CK004": ("quant-group", "structure", "error"),
    "CK005": ("auto-map", "security", "warning"),
    "CK006": ("sidecar-json", "structure", "error"),
}


def findings(codes):
    """`"ST004"`, or `"CK005/error"` where a finding is not of its rule's usual severity."""
    rows = []
    for text in sorted(codes):
        code, _, severity = text.partition("/")
        slug, category, usual = RULES[code]
        rows.append({"rule": code, "slug": slug, "category": category, "severity": severity or usual})
    return rows


def text(obj):
    """JSON as the reference writes it: compact, non-ASCII as it is."""
    return json.dumps(obj, ensure_ascii=False, separators=(",", ":"))


def pad(header, to=8):
    header = header.encode() if isinstance(header, str) else header
    return header + b" " * (-len(header) % to)


def raw(header, data=b"", length=None):
    """Length, header as it is, data."""
    header = header.encode() if isinstance(header, str) else header
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def file(header, data=b""):
    """The same with the header padded to a multiple of 8 as the reference does."""
    return raw(pad(header if isinstance(header, str | bytes) else text(header)), data)


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def lay_out(tensors, metadata=None):
    """A file of `{name: (dtype, shape, bytes)}` in the order given."""
    header, data = ({"__metadata__": metadata} if metadata is not None else {}), b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = entry(dtype, shape, len(data), len(data) + len(content))
        data += content
    return file(header, data)


def reference(content):
    """What safetensors says about these bytes: (verdict, tensors or None)."""
    try:
        tensors = safetensors.deserialize(bytes(content))
    except safetensors.SafetensorError as e:
        # The reference sorts with an unstable order, so the name it gives for equal ranges changes from run to run.
        message = re.sub(r"(invalid offset for tensor) `.*`", r"\1", str(e))
        return {"version": safetensors.__version__, "accepts": False, "error": message}, None
    return {"version": safetensors.__version__, "accepts": True, "error": None}, tensors


def identities(tensors):
    """The fields `tensors`, `root` and `content_root` for what the peer read."""
    rows, digests = [], {}
    for name, tensor in sorted(tensors, key=lambda item: item[0].encode()):
        digests[name] = identity.tensor_digest(tensor["dtype"], tensor["shape"], bytes(tensor["data"]))
        rows.append({"name": name, "dtype": tensor["dtype"], "shape": tensor["shape"], "digest": digests[name].hex()})
    return {"tensors": rows, "root": identity.root(digests), "content_root": identity.content_root(digests)}


def start(family):
    """Empties the family's folder, so that a case that is no longer made is gone."""
    folder = CORPUS / family
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def write_json(path, document):
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_file_case(folder, name, shows, content, codes, *, input_name, neighbour=(), recipe=None, **more):
    """One file and its expectation; with a recipe the file is left to the tests, because it is too large to keep."""
    case = folder / name
    case.mkdir()
    verdict, tensors = reference(content)
    document = {"shows": shows, "input": input_name, "reference": verdict, "findings": findings(codes)}
    if neighbour:
        document["neighbour_of"] = [neighbour] if isinstance(neighbour, str) else list(neighbour)
    if recipe is not None:
        document["recipe"] = recipe
    else:
        (case / input_name).write_bytes(content)
    if tensors is not None:
        document |= identities(tensors)
    document |= more
    write_json(case / "case.json", document)
