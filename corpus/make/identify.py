"""Makes corpus/identify: files that are not what their name says, files that are two things, and what only looks so.

Nothing here is ever unpickled: the pickles are written opcode by opcode, or by `pickle.dumps` from plain values, and checked with `pickletools`.
The worst that they would do is to print a line or to ask for the process id.
"""

import gzip
import io
import pathlib
import pickle
import pickletools
import struct
import tempfile
import zipfile

import numpy as np

from .case import entry, file, findings, lay_out, pad, raw, start, text, write_file_case, write_json
from .recipe import build, payload

FOLDER = start("identify")
U8 = payload("identify", 4096)


def case(name, shows, content, *codes, input_name="model.safetensors", **more):
    write_file_case(FOLDER, name, shows, content, codes, input_name=input_name, **more)


# --- not weights at all -------------------------------------------------------------------------------------------------

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 4970000000\n" % (b"0123456789abcdef" * 4)
case("empty", "a file of no bytes", b"", "FI001")
case("empty-bin", "a file of no bytes under a name of torch", b"", "FI001", input_name="pytorch_model.bin")
case("lfs-pointer", "a Git-LFS pointer in place of the weights", POINTER, "FI002")
case("lfs-pointer-bin", "a Git-LFS pointer under a name of torch", POINTER, "FI002", input_name="pytorch_model.bin")
case("lfs-pointer-in-metadata", "a good file whose metadata holds the text of a pointer",
     lay_out({"a": ("U8", [4], U8[:4])}, {"note": POINTER.decode()}), neighbour="FI002")
case("lfs-pointer-gguf", "a Git-LFS pointer under a name that promises GGUF", POINTER, "FI002", input_name="model.gguf")
HTML = "<html>\n<head><title>Sign in - Example Hub</title></head>\n<body><p>Please sign in.</p></body>\n</html>\n"
case("error-page-html", "an HTML page with a title", ("<!DOCTYPE html>\n" + HTML).encode(), "FI003")
case("error-page-html-lower-case", "an HTML page with a lower-case document type, after blank lines", ("\n\n<!doctype html>" + HTML).encode(), "FI003")
case("error-page-html-bare", "an HTML page without a document type", HTML.upper().encode(), "FI003")
case("error-page-html-bom", "an HTML page that starts with a byte order mark", ("\ufeff<!DOCTYPE html>" + HTML).encode(), "FI003")
case("error-page-html-bin", "an HTML page under a name of torch", HTML.encode(), "FI003", input_name="pytorch_model.bin")
case("error-page-json", "a JSON error", b'{"error":"Repository not found"}', "FI003")
case("error-page-json-message", "a JSON error with a message, indented", b'{\n  "message": "Access to this model is restricted",\n  "status": 403\n}\n', "FI003")
case("error-page-xml", "an XML error of an object store",
     b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>', "FI003")
case("error-page-plain", "a one-line plain text error", b"Entry not found", "FI003")
for character in "{<":
    n = ord(character)
    header = text({"a": entry("U8", [4], 0, 4)})
    case(f"length-byte-{'brace' if character == '{' else 'angle'}", f"a good file whose first byte is `{character}`: its header has {n} bytes",
         raw(header + " " * (n - len(header)), U8[:4]), "ST020", neighbour="FI003")

# --- another format under the name, and each under its own -----------------------------------------------------------------


def stored_zip(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            archive.writestr(info, content)
    return out.getvalue()


def string(value):
    return b"X" + struct.pack("<I", len(value)) + value


ORDERED_DICT = b"ccollections\nOrderedDict\n)R"


def torch_pickle(view_metadata):
    """A state dict of one F32 tensor `w` of four elements, as torch pickles it; the legacy layout has one more item in the storage's id."""
    storage = b"(" + string(b"storage") + b"ctorch\nFloatStorage\n" + string(b"0") + string(b"cpu") + b"K\x04" + view_metadata + b"tQ"
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\x00K\x04\x85K\x01\x85\x89" + ORDERED_DICT + b"tR"
    return b"\x80\x02" + ORDERED_DICT + string(b"w") + tensor + b"s."


def calls(module, name, *arguments):
    """Protocol 2: calls a function with strings and leaves its result."""
    return b"\x80\x02c%s\n%s\n(" % (module, name) + b"".join(map(string, arguments)) + b"tR."


def walk(code):
    """The opcode names; fails where `pickletools` does."""
    out = io.StringIO()
    pickletools.dis(code, out)
    return [op.name for op, _, _ in pickletools.genops(code)]


STORAGE = struct.pack("<4f", 0.5, -1.0, 2.0, 0.25)
TORCH_ZIP = stored_zip({"archive/data.pkl": torch_pickle(b""), "archive/byteorder": b"little", "archive/data/0": STORAGE, "archive/version": b"3\n"})
TORCH_LEGACY = (pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2)
                + pickle.dumps({"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}, 2)
                + torch_pickle(b"N") + pickle.dumps(["0"], 2) + struct.pack("<q", 4) + STORAGE)
CALLS_PRINT = calls(b"builtins", b"print", b"this line was printed by the weights file")
CALLS_GETPID = b"\x80\x02cposix\ngetpid\n)R."
for code in (torch_pickle(b""), torch_pickle(b"N"), CALLS_PRINT, CALLS_GETPID):
    assert walk(code)[-1] == "STOP"

PLAIN = {"epoch": 3, "names": ["a", "b"], "rate": 0.5}
GGUF = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 20) + b"general.architecture" + struct.pack("<IQ", 8, 5) + b"llama"
# Superblock of version 0: sizes of offsets and lengths 8, group leaf 4, internal 16, base 0, end of file 96, root symbol table entry.
HDF5 = b"\x89HDF\r\n\x1a\n" + bytes(5) + b"\x08\x08\x00" + struct.pack("<HHI", 4, 16, 0) + struct.pack("<QqQq", 0, -1, 96, -1) + struct.pack("<QQII", 0, 96, 0, 0) + bytes(16)


def npy(array, **keywords):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=(1, 0), **keywords)
    return out.getvalue()


# what it is: (content, name of its own, findings under its own name)
FORMATS = {
    "zip": (stored_zip({"notes.txt": b"no weights here\n"}), "archive.zip", ["FI007"]),
    "torch-zip": (TORCH_ZIP, "model.pt", ["FI005"]),
    "torch-legacy": (TORCH_LEGACY, "pytorch_model.bin", ["FI005"]),
    "gguf": (GGUF, "model.gguf", ["FI007"]),
    "hdf5": (HDF5, "model.h5", ["FI007"]),
    "npy": (npy(np.arange(6, dtype="<f4").reshape(2, 3)), "weights.npy", ["FI007"]),
    "npy-object": (npy(np.array([1, "a", None], dtype=object), allow_pickle=True), "weights.npy", ["FI005"]),
    "gzip": (gzip.compress(b"no weights here\n" * 4, mtime=0), "weights.gz", ["FI007"]),
    "pickle-calls-print": (CALLS_PRINT, "model.pkl", ["FI005"]),
    "pickle-calls-getpid": (CALLS_GETPID, "model.ckpt", ["FI005"]),
} | {f"pickle-protocol-{p}": (pickle.dumps(PLAIN, p), "state.pkl", ["FI005"]) for p in range(6)}

for what, (content, own_name, own_codes) in FORMATS.items():
    case(f"{what}-own-name", f"{what} under a name of its own", content, *own_codes, input_name=own_name)
    case(f"{what}-as-safetensors", f"{what} saved as model.safetensors", content, "FI004", *own_codes)

GOOD = lay_out({"a": ("F32", [2, 2], U8[:16]), "b": ("U8", [8], U8[16:24])}, {"format": "pt"})
case("safetensors-as-bin", "safetensors under a name of torch: such names promise no format", GOOD, input_name="pytorch_model.bin", neighbour=["FI004", "FI005", "FI007"])
case("safetensors-as-ckpt", "safetensors under a checkpoint name", GOOD, input_name="model.ckpt", neighbour="FI004")
case("safetensors-no-suffix", "safetensors without any suffix, as in a hub's blob folder", GOOD, input_name="blob", neighbour="FI004")
for suffix in ("gguf", "npy", "npz", "onnx", "h5", "keras", "tflite"):
    case(f"safetensors-as-{suffix}", f"safetensors under a name that promises {suffix}", GOOD, "FI004", input_name=f"model.{suffix}")
case("safetensors-suffix-upper-case", "the suffix in capitals", GOOD, input_name="MODEL.SAFETENSORS", neighbour="FI004")
case("noise-bin", "bytes that no reader knows", U8[:256], input_name="weights.bin", error="unrecognized")
case("prose", "a text file given as a path", b"Just a few words about nothing.\n", input_name="notes.txt", error="unrecognized")

# --- polyglots ---------------------------------------------------------------------------------------------------------------


def opens_as_zip(content):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "x")
        path.write_bytes(content)
        if not zipfile.is_zipfile(path):
            return False
        try:
            with zipfile.ZipFile(path) as archive:
                return bool(archive.namelist()) and archive.testzip() is None
        except zipfile.BadZipFile:
            return False


def in_last_tensor(content):
    """`content` as the last bytes of the last tensor."""
    return lay_out({"a": ("F32", [4], U8[:16]), "z": ("U8", [len(content)], content)})


def shifted(archive, by):
    """The archive with every offset counted from the start of the outer file."""
    out = bytearray(archive)
    end = out.rindex(b"PK\5\6")
    at, = struct.unpack_from("<I", out, end + 16)
    struct.pack_into("<I", out, end + 16, at + by)
    while out[at:at + 4] == b"PK\1\2":
        name, extra, comment = struct.unpack_from("<HHH", out, at + 28)
        local, = struct.unpack_from("<I", out, at + 42)
        struct.pack_into("<I", out, at + 42, local + by)
        at += 46 + name + extra + comment
    return bytes(out)


HIDDEN = stored_zip({"archive/data.pkl": CALLS_PRINT, "archive/version": b"3\n"})
BEFORE = len(in_last_tensor(HIDDEN)) - len(HIDDEN)
ABSOLUTE = in_last_tensor(shifted(HIDDEN, BEFORE))
COMMENT = bytearray(HIDDEN)
struct.pack_into("<H", COMMENT, len(COMMENT) - 2, 64)
for name, shows, content in [
    ("polyglot-zip", "the last tensor is a zip archive: a zip reader opens the file", in_last_tensor(HIDDEN)),
    ("polyglot-zip-absolute", "the same with offsets counted from the start of the file", ABSOLUTE),
    ("polyglot-zip-comment", "the archive's comment swallows the tensors behind it",
     lay_out({"z": ("U8", [len(COMMENT)], bytes(COMMENT)), "last": ("U8", [64], U8[:64])})),
]:
    assert opens_as_zip(content), name
    case(name, shows, content, "FI006")


def pickle_polyglot():
    """Both at once: 1,368 is `X 05 00 00 00`, a string of five bytes that ends behind `{"`; the tensor's name goes on as opcodes.

    JSON allows no control characters in a name, so only `U` (a string of up to 127 bytes) is at hand there; a chain of them reaches the data.
    """
    n_header, tail = 0x0558, b"cbuiltins\nprint\n(Vthis line was printed by the weights file\ntR."
    left = n_header - 2  # bytes of the header from the first one of the name to the data
    chain, links = b"", 0
    while left:
        step = min(left, 129)
        if 0 < left - step < 34:  # the last link needs a length of at least 32, a blank
            step -= 34
        chain += b"U" + bytes([step - 2]) + b"n" * (step - 2)
        left, links = left - step, links + 1
    data = b"0" * (links + 1) + tail
    end = b'":' + text(entry("U8", [len(data)], 0, len(data))).encode() + b"}"
    header = b'{"' + chain[: n_header - 2 - len(end)] + end
    content = raw(header, data)
    assert content[8 + n_header - len(end) - 8:8 + n_header - len(end)] == b"n" * 8 and len(header) == n_header
    return content


POLYGLOT = pickle_polyglot()
assert {"GLOBAL", "REDUCE", "STOP"} <= set(walk(POLYGLOT))
case("polyglot-pickle", "a safetensors file that is a pickle from its first byte to STOP, and calls a function on the way", POLYGLOT, "FI006")

# Neighbours: only look like it.
for n, opcodes in {640: "PROTO 2", 896: "PROTO 3", 1152: "PROTO 4", 1408: "PROTO 5", 11912: "NEWTRUE STOP"}.items():
    header = text({"__metadata__": {"format": "pt"}, "a": entry("U8", [16], 0, 16)})
    case(f"header-{n}", f"a header of {n} bytes: the first two bytes of the file are {opcodes}", raw(pad(header, n), U8[:16]), neighbour="FI006")
LONE_END = b"PK\5\6" + bytes(18)
LYING_END = b"PK\5\6" + struct.pack("<4H2IH", 0, 0, 1, 1, 60, 4, 0)
for name, shows, content in [
    ("zip-end-record-empty", "the data ends like an archive without members", U8[:40] + LONE_END),
    ("zip-end-record-lying", "the data ends like an archive, but there is no directory", U8[:120] + LYING_END),
    ("zip-local-header", "the data starts like a member of an archive", b"PK\3\4" + U8[:60]),
    ("zip-directory-header", "the data starts like the directory of an archive", b"PK\1\2" + U8[:60]),
    ("pickle-in-data", "the data starts like a pickle that calls a function", CALLS_PRINT + U8[:8]),
    ("gguf-in-data", "the data starts like a GGUF file", GGUF + U8[:8]),
]:
    assert not opens_as_zip(in_last_tensor(content)), name
    case(name, shows, in_last_tensor(content), neighbour="FI006")

# --- zero tail ---------------------------------------------------------------------------------------------------------------


def zero_tail(name, shows, *codes, rows=512, columns=128, zeros, neighbour=()):
    """F32 [rows, columns] of noise, the last `zeros` bytes of the file zero."""
    size = rows * columns * 4
    head = file({"w": entry("F32", [rows, columns], 0, size)})
    parts = [{"hex": head.hex()}, {"payload": name, "count": size - zeros}, {"repeat": "\0", "count": zeros}]
    case(name, shows, build(parts), *codes, recipe=parts, neighbour=neighbour)


zero_tail("zero-tail", "the last 96 KiB and a bit of 256 KiB were never written", "FI009", zeros=98_408)
zero_tail("zero-tail-most", "only the first 10,000 bytes were written", "FI009", zeros=512 * 512 - 10_000)
zero_tail("zero-rows", "the last 100 rows are zero: padding of a vocabulary", zeros=100 * 512, neighbour="FI009")
zero_tail("zero-few", "the last three elements are zero", zeros=12, neighbour="FI009")
NOISE = payload("noise", 65536)
for name, shows, tensors in [
    ("zero-tensor-last", "the last tensor is zero as a whole: a fresh bias", {"w": ("F32", [128, 128], NOISE), "x.bias": ("F32", [1024], bytes(4096))}),
    ("zero-all", "every tensor is zero: a fresh adapter", {"lora_A": ("F32", [16, 16], bytes(1024)), "lora_B": ("F32", [16, 16], bytes(1024))}),
]:
    header, data = {}, [{"hex": ""}]
    at = 0
    for tensor, (dtype, shape, content) in tensors.items():
        header[tensor] = entry(dtype, shape, at, at + len(content))
        at += len(content)
        data.append({"payload": "noise", "count": len(content)} if any(content) else {"repeat": "\0", "count": len(content)})
    parts = [{"hex": file(header).hex()}, *data[1:]]
    case(name, shows, build(parts), recipe=parts, neighbour="FI009")
# The second of two tensors was never written, and the first only in part.
head = file({"v": entry("F32", [128, 128], 0, 65536), "w": entry("F32", [128, 128], 65536, 131072)})
parts = [{"hex": head.hex()}, {"payload": "zero-tail-two", "count": 50_000}, {"repeat": "\0", "count": 131072 - 50_000}]
case("zero-tail-two-tensors", "the file was never written from the middle of the first tensor on", build(parts), "FI009", recipe=parts)

# --- left-overs of a download ----------------------------------------------------------------------------------------------------


def leftover(name, shows, *paths):
    case_folder = FOLDER / name
    folder = case_folder / "input"
    (folder).mkdir(parents=True)
    (folder / "config.json").write_text('{"model_type": "tiny"}\n')
    (folder / "model.safetensors").write_bytes(GOOD)
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(GOOD[:30])
    write_json(case_folder / "case.json", {"shows": shows, "input": "input", "results": [{"path": ".", "structure": "incomplete" if paths else "ok",
               "findings": findings(["FI008"] * len(paths))}]} | ({} if paths else {"neighbour_of": ["FI008"]}))


leftover("incomplete-local-dir", "a dead download in the folder's own cache",
         ".cache/huggingface/download/kJrVqbOYLvhbe1-C7QYLqXnhXlg=.0123456789abcdef.1a2b3c4d.incomplete")
leftover("incomplete-beside", "a half file beside the model", "model.safetensors.incomplete")
leftover("incomplete-none", "the same folder without left-overs")
