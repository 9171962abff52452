"""The commands as a user types them: statuses, messages, what convert writes, what diff and hash say about it."""

import json
import os
import pathlib
import re
import struct
import subprocess

import pytest

from tests.cases import load
from tests.program import BINARY, ROOT, ask, environment, only_result, read, root_of, run, slugs, validate, write

EXAMPLES = ROOT / "examples"
COMMANDS = ["check", "verify", "scan", "inspect", "convert", "diff", "hash", "explain", "formats", "completions"]
LATER = ["edit", "repair", "lock", "sign", "place", "doctor", "config"]


def f32(*values):
    return struct.pack(f"<{len(values)}f", *values)


def layer(n):
    return {f"model.layers.{n}.mlp.weight": ("F32", [8, 8], f32(*(n + i / 64 + 0.5 for i in range(64)))),
            f"model.layers.{n}.norm.weight": ("BF16", [8], b"\x80\x3f" * 8)}


MODEL = layer(0) | layer(1) | layer(2) | {"lm_head.weight": ("F16", [4, 8], b"\x01\x3c" * 32), "step": ("I64", [], struct.pack("<q", 9))}
METADATA = {"format": "pt", "note": "zwölf"}


@pytest.fixture
def model(tmp_path):
    return write(tmp_path / "model.safetensors", MODEL, METADATA)


@pytest.fixture
def shards(tmp_path, model):
    target = tmp_path / "shards"
    done = run("convert", model, target, "--max-shard-size", "512B")
    assert done.status == 0, done.err
    return target


# --- help and usage --------------------------------------------------------------------------------------------------------


def test_help_names_the_commands_and_no_others():
    done = run("--help")
    assert done.status == 0
    listed = re.findall(r"^  ([a-z]+)\b", done.out, flags=re.M)
    assert set(COMMANDS) <= set(listed)
    assert not set(LATER) & set(listed)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command):
    done = run(command, "--help")
    assert done.status == 0 and "Usage" in done.out


@pytest.mark.parametrize("command", LATER)
def test_a_command_not_yet_built_is_a_usage_error(command, model):
    assert run(command, model).status == 2


def test_version():
    assert re.fullmatch(r"tensorcask \d+\.\d+\.\d+\S*\n", run("--version").out)


@pytest.mark.parametrize("arguments", [[], ["check"], ["check", "--nonsense", "x"], ["nonsense"], ["check", "--fail-on", "sometimes", "x"],
                                       ["check", "--limit", "header_bytes", "x"], ["check", "--limit", "no_such_limit=1", "x"], ["convert", "only-one"],
                                       ["diff", "only-one"], ["explain", "XX999"], ["completions", "no-such-shell"]], ids=" ".join)
def test_wrong_usage_is_2(arguments):
    done = run(*arguments)
    assert done.status == 2
    assert done.err.strip()


def test_wrong_usage_with_json_is_an_error_document():
    done = run("check", "--json", "--fail-on", "sometimes", "x")
    assert done.status == 2
    validate(done.json(), "error")
    assert done.json()["error"]["kind"] == "usage"


@pytest.mark.parametrize("command", ["check", "verify", "scan", "inspect", "hash"])
def test_a_path_that_is_not_there(command, tmp_path):
    document = ask(command, tmp_path / "nothing.safetensors", status=2)
    assert document["error"]["kind"] == "io"
    assert document["error"]["path"] == str(tmp_path / "nothing.safetensors")
    done = run(command, tmp_path / "nothing.safetensors")
    assert done.status == 2 and done.out == "" and "nothing.safetensors" in done.err


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.safetensors")
    for path in (tmp_path / "pipe.safetensors", "/dev/zero"):
        assert ask("check", path, status=2, timeout=10)["error"]["kind"] in ("io", "unsupported")


# --- several paths, statuses, output -----------------------------------------------------------------------------------------


def broken(tmp_path, name="broken.safetensors"):
    path = write(tmp_path / name, MODEL)
    path.write_bytes(path.read_bytes()[:-5])
    return path


def test_one_path_of_several_that_fails_is_a_result_with_an_error(model, tmp_path):
    document = ask("check", tmp_path / "nothing", model, status=2)
    by_path = {r["path"]: r for r in document["results"]}
    assert by_path[str(tmp_path / "nothing")]["error"]["kind"] == "io"
    assert by_path[str(model)]["findings"] == []


def test_findings_win_over_a_failed_path(model, tmp_path):
    assert run("check", model, broken(tmp_path)).status == 1
    assert run("check", tmp_path / "nothing", broken(tmp_path)).status == 1
    assert run("check", tmp_path / "nothing", model).status == 2
    assert run("check", model, model).status == 0


def test_results_are_sorted_by_path(tmp_path):
    names = ["c.safetensors", "a.safetensors", "b.safetensors"]
    paths = [write(tmp_path / n, MODEL) for n in names]
    for command in ("check", "inspect", "hash"):
        assert [r["path"] for r in ask(command, *paths, status=0)["results"]] == sorted(map(str, paths))


def test_fail_on(tmp_path):
    warns = write(tmp_path / "warns.safetensors", {"a": ("U3", [2], b"abcd")})
    notes = ROOT / "corpus/safetensors/empty-smallest/input.safetensors"
    for path, level, status in [(warns, "error", 0), (warns, "warning", 1), (warns, "note", 1), (notes, "warning", 0), (notes, "note", 1),
                                (broken(tmp_path), "critical", 0), (broken(tmp_path), "error", 1)]:
        assert run("check", "--fail-on", level, path).status == status, (path, level)


def test_quiet_says_nothing_and_keeps_the_status(tmp_path, model):
    for path, status in [(model, 0), (broken(tmp_path), 1)]:
        done = run("check", "--quiet", path)
        assert (done.status, done.out) == (status, "")


def test_text_has_no_escape_codes_when_nobody_looks(tmp_path):
    assert "\x1b" not in (done := run("check", broken(tmp_path))).out + done.err


@pytest.mark.parametrize("command", ["check", "inspect", "hash", "scan", "verify"])
def test_names_from_a_file_do_not_reach_the_terminal_raw(tmp_path, command):
    path = write(tmp_path / "x.safetensors", {"evil\x1b[2J\x07\r\u202e": ("U3", [2], b"abcd"), "n" * 5000: ("U8", [4], b"abcd")}, {"k\x1b": "v\x1b]0;x\x07"})
    done = run(command, path)
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(done.out + done.err)


def test_the_same_output_on_every_run():
    for command in ("check", "inspect", "hash"):
        assert len({run(command, "--json", EXAMPLES).out for _ in range(3)}) == 1


def test_the_text_ends_with_a_count():
    last = run("check", EXAMPLES).out.rstrip().splitlines()[-1]
    for word in ("clean", "dangerous", "broken"):
        assert re.search(rf"\d+ {word}|{word}:? \d+", last), last


def test_an_unread_pipe_is_no_error(tmp_path):
    path = write(tmp_path / "many.safetensors", {f"layer.{i:05}.weight": ("U8", [1], b"\x01") for i in range(20_000)})
    for arguments in (["inspect", path], ["inspect", "--json", path], ["hash", path], ["hash", "--json", path]):
        process = subprocess.Popen([BINARY, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read().decode()
        process.stderr.close()
        assert (process.wait(timeout=60), err) == (0, ""), arguments


def test_a_pipe_that_is_closed_from_the_start_is_no_error(model):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([BINARY, "inspect", model], stdout=writer, stderr=subprocess.PIPE, env=environment())
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


# --- examples ------------------------------------------------------------------------------------------------------------------


def test_the_examples():
    document = ask("check", EXAMPLES, status=1)
    by_name = {pathlib.Path(r["path"]).relative_to(EXAMPLES).parts[0]: r for r in document["results"]}
    assert sorted(by_name) == ["error-page", "good-model", "malicious-pickle", "truncated-shard"]
    good = by_name["good-model"]
    assert (good["security"], good["structure"], good["findings"]) == ("clean", "ok", [])
    cut = by_name["truncated-shard"]
    assert (cut["structure"], slugs(cut)) == ("broken", ["file-truncated"])
    assert cut["findings"][0]["file"] == "model-00002-of-00002.safetensors"
    pickle = by_name["malicious-pickle"]
    assert (pickle["security"], slugs(pickle)) == ("dangerous", ["pickle-not-inspected"])
    assert "can run code" in pickle["findings"][0]["message"]
    page = by_name["error-page"]
    assert (page["structure"], slugs(page)) == ("broken", ["error-page"])
    assert "404 Not Found" in page["findings"][0]["message"]


def test_the_examples_as_text():
    done = run("check", EXAMPLES)
    assert done.status == 1
    for word in ("ST005", "FI003", "FI005", "model-00002-of-00002.safetensors", "404 Not Found"):
        assert word in done.out + done.err


def test_the_readme_of_the_examples_is_no_checkpoint():
    assert ask("check", EXAMPLES / "README.md", status=2)["error"]["kind"] == "unrecognized"


# --- SARIF, explain, formats, completions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["check", "verify", "scan"])
def test_sarif(command):
    done = run(command, "--sarif", EXAMPLES)
    document = done.json()
    assert document["version"] == "2.1.0"
    assert len(document["runs"]) == 1
    sarif = document["runs"][0]
    assert sarif["tool"]["driver"]["name"] == "tensorcask"
    assert sarif["results"]
    rules = {r["id"] for r in sarif["tool"]["driver"]["rules"]}
    for result in sarif["results"]:
        assert result["ruleId"] in rules
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]


def test_explain_knows_every_rule_by_code_and_slug():
    rules = {(f["rule"], f["slug"]) for c in load("safetensors", "identify", "shards") for f in c.findings}
    for code, slug in sorted(rules):
        by_code, by_slug = run("explain", code), run("explain", slug)
        assert by_code.status == by_slug.status == 0
        assert by_code.out == by_slug.out and code in by_code.out and slug in by_code.out


def test_formats():
    assert "safetensors" in run("formats").out
    assert "safetensors" in run("formats", "--matrix").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions(shell):
    done = run("completions", shell)
    assert done.status == 0 and "tensorcask" in done.out


# --- inspect ---------------------------------------------------------------------------------------------------------------------


def test_inspect_text(model):
    out = run("inspect", model).out
    for name, (dtype, _, _) in MODEL.items():
        assert name in out and dtype in out


def test_inspect_metadata(model):
    assert only_result(ask("inspect", model))["metadata"] == METADATA
    assert "zwölf" in run("inspect", model, "--metadata", "note").out


def test_inspect_tree_groups_by_name(model):
    out = run("inspect", model, "--tree").out
    assert "layers" in out and "model.layers.0.mlp.weight" not in out


def test_inspect_header_prints_the_json(model):
    out = run("inspect", model, "--header").out
    n, = struct.unpack_from("<Q", model.read_bytes())
    assert json.loads(out) == json.loads(model.read_bytes()[8:8 + n])


def test_inspect_tensor_values(tmp_path):
    path = write(tmp_path / "v.safetensors", {"w": ("F32", [3, 4], f32(*(i + 0.5 for i in range(12)))), "i": ("I64", [2], struct.pack("<2q", -3, 2**60))})
    out = run("inspect", path, "--tensor", "w").out
    for value in ("0.5", "7.5", "11.5"):
        assert value in out
    out = run("inspect", path, "--tensor", "w", "--slice", "1:2,1:3").out
    assert "5.5" in out and "6.5" in out and "7.5" not in out and "0.5" not in out.replace("5.5", "")
    out = run("inspect", path, "--tensor", "i").out
    assert "-3" in out and str(2**60) in out.replace(",", "").replace("_", "")
    assert run("inspect", path, "--tensor", "nothing").status == 2


def test_inspect_reads_only_the_header_of_a_large_file(tmp_path):
    path, size = tmp_path / "large.safetensors", 700_000_000_000
    header = json.dumps({"w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    header += b" " * (-len(header) % 8)
    with path.open("wb") as f:
        f.write(struct.pack("<Q", len(header)) + header)
        f.truncate(8 + len(header) + size)
    assert only_result(ask("inspect", path, status=0, timeout=5))["totals"]["bytes"] == size


def test_no_mmap_and_verbose_change_nothing_in_the_answer(model):
    plain = run("hash", "--json", model).out
    assert run("hash", "--json", "--no-mmap", model).out == plain
    assert run("hash", "--json", "-v", model).out == plain


# --- limits ------------------------------------------------------------------------------------------------------------------------


def test_a_limit_that_is_hit_says_how_to_raise_it(model):
    error = ask("inspect", "--limit", "header_bytes=64", model, status=2)["error"]
    assert error["kind"] == "limit"
    assert "header_bytes" in error["message"] and "--limit header_bytes=" in error["help"]
    assert run("check", "--limit", "header_bytes=1MB", model).status == 0


def test_a_header_over_the_format_s_cap_stays_a_finding():
    case = next(c for c in load("safetensors") if c.name == "header-100000001")
    with case.path() as path:
        result = only_result(ask("check", "--limit", "header_bytes=250MB", path, status=1))
        assert "header-too-large" in slugs(result)


# --- hash and diff ------------------------------------------------------------------------------------------------------------------


def test_the_root_is_the_same_in_every_sharding(tmp_path, model, shards):
    merged = tmp_path / "merged.safetensors"
    assert run("convert", shards, merged).status == 0
    other_order = write(tmp_path / "order.safetensors", dict(reversed(MODEL.items())))
    roots = {root_of(p) for p in (model, shards, shards / "model.safetensors.index.json", merged, other_order)}
    assert len(roots) == 1
    assert roots.pop() in run("hash", model).out


def test_the_root_depends_on_name_dtype_shape_and_bytes(tmp_path):
    base = {"a": ("F32", [2, 2], f32(1, 2, 3, 4)), "b": ("U8", [1], b"\x01")}
    others = [{"a": ("F32", [4], f32(1, 2, 3, 4))}, {"a": ("I32", [2, 2], f32(1, 2, 3, 4))}, {"a": ("F32", [2, 2], f32(1, 2, 3, 5))}]
    variants = [base, *(base | o for o in others), {"x": base["a"], "b": base["b"]}, {"a": base["a"]}]
    results = [only_result(ask("hash", write(tmp_path / f"{i}.safetensors", v))) for i, v in enumerate(variants)]
    assert len({r["root"] for r in results}) == len(variants)
    assert results[0]["content_root"] == results[4]["content_root"]
    assert len({r["content_root"] for r in results}) == len(variants) - 1


def test_vectors(tmp_path):
    for i, vector in enumerate(json.loads((ROOT / "corpus/identity/vectors.json").read_text(encoding="utf-8"))["vectors"]):
        tensors = {t["name"]: (t["dtype"], t["shape"], bytes.fromhex(t["bytes"])) for t in vector["tensors"]}
        result = only_result(ask("hash", write(tmp_path / f"{i}.safetensors", tensors), status=0))
        assert (result["root"], result["content_root"]) == (vector["root"], vector["content_root"]), vector["shows"]
        assert {t["name"]: t["digest"] for t in result["tensors"]} == {t["name"]: t["digest"] for t in vector["tensors"]}


def test_diff_of_equal_weights_is_0(model, shards):
    document = ask("diff", model, shards, status=0)
    assert (document["equal"], document["only_a"], document["only_b"], document["changed"]) == (True, [], [], [])


def test_diff_names_what_differs(tmp_path, model):
    changed = dict(MODEL)
    del changed["step"]
    changed["new"] = ("U8", [1], b"\x01")
    changed["lm_head.weight"] = ("BF16", *MODEL["lm_head.weight"][1:])
    changed["model.layers.0.mlp.weight"] = ("F32", [8, 8], bytes(256))
    changed["model.layers.1.mlp.weight"] = ("F32", [64], MODEL["model.layers.1.mlp.weight"][2])
    other = write(tmp_path / "other.safetensors", changed, METADATA | {"note": "elf"})
    document = ask("diff", model, other, status=1)
    assert document["equal"] is False
    assert (document["only_a"], document["only_b"]) == (["step"], ["new"])
    what = {row["name"]: set(row["what"]) for row in document["changed"]}
    assert sorted(what) == ["lm_head.weight", "model.layers.0.mlp.weight", "model.layers.1.mlp.weight"]
    assert "dtype" in what["lm_head.weight"] and "shape" in what["model.layers.1.mlp.weight"]
    assert "shape" not in what["model.layers.0.mlp.weight"] and "dtype" not in what["model.layers.0.mlp.weight"]
    assert any("note" in json.dumps(row) for row in document["metadata"])
    text = run("diff", model, other)
    assert text.status == 1 and "step" in text.out and "new" in text.out


def test_verify_against(tmp_path, model, shards):
    same = only_result(ask("verify", model, "--against", shards, status=0))
    assert (same["identity"], same["identity_evidence"]) == ("matched", "given")
    other = write(tmp_path / "other.safetensors", MODEL | {"step": ("I64", [], struct.pack("<q", 10))})
    assert only_result(ask("verify", model, "--against", other, status=1))["identity"] == "mismatched"


def test_verify_structure_stops_at_headers():
    case = next(c for c in load("identify") if c.name == "zero-tail")
    with case.path() as path:
        assert "zero-tail" in slugs(only_result(ask("verify", path, status=1)))
        assert slugs(only_result(ask("verify", "--structure", path, status=0))) == []


# --- convert -------------------------------------------------------------------------------------------------------------------------


def receipt(path):
    document = json.loads(path.read_text())
    validate(document, "receipt")
    assert all(t["equal"] and t["expected_digest"] == t["target_digest"] for t in document["tensors"])
    return document


def test_split(tmp_path, model):
    target = tmp_path / "out"
    done = run("convert", model, target, "--max-shard-size", "512B", "--receipt", tmp_path / "receipt.json")
    assert done.status == 0, done.err
    index = json.loads((target / "model.safetensors.index.json").read_text())
    assert set(index["weight_map"]) == set(MODEL)
    assert index["metadata"]["total_size"] == sum(len(t[2]) for t in MODEL.values())
    files = sorted(p.name for p in target.iterdir())
    n = len(files) - 1
    assert files == [f"model-{i:05}-of-{n:05}.safetensors" for i in range(1, n + 1)] + ["model.safetensors.index.json"] and n > 1
    joined = {}
    for name in files[:-1]:
        tensors, metadata = read(target / name)
        assert metadata is not None and metadata["format"] == "pt"
        assert sum(len(t[2]) for t in tensors.values()) <= 512
        assert {index["weight_map"][t] for t in tensors} == {name}
        joined |= tensors
    assert joined == MODEL
    assert only_result(ask("check", target, status=0))["findings"] == []
    document = receipt(tmp_path / "receipt.json")
    assert document["lossless"] is True and document["losses"] == []
    assert {t["name"] for t in document["tensors"]} == set(MODEL)


def test_merge_gives_the_tensors_and_metadata_back(tmp_path, shards):
    merged = tmp_path / "merged.safetensors"
    assert run("convert", shards, merged, "--receipt", tmp_path / "receipt.json").status == 0
    tensors, metadata = read(merged)
    assert (tensors, metadata) == (MODEL, METADATA)
    assert receipt(tmp_path / "receipt.json")["lossless"] is True


def test_the_bytes_written_are_the_same_every_time(tmp_path, model):
    outputs = set()
    for i in range(3):
        assert run("convert", model, tmp_path / f"{i}.safetensors").status == 0
        outputs.add((tmp_path / f"{i}.safetensors").read_bytes())
    assert len(outputs) == 1
    data = outputs.pop()
    n, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + n])
    assert n % 8 == 0 and list(header["__metadata__"]) == sorted(METADATA)
    widths = [{"I64": 8, "F32": 4, "BF16": 2, "F16": 2}[v["dtype"]] for k, v in header.items() if k != "__metadata__"]
    assert widths == sorted(widths, reverse=True)


def test_a_target_that_is_there_is_refused(tmp_path, model, shards):
    target = write(tmp_path / "there.safetensors", {"old": ("U8", [1], b"\x07")})
    before = target.read_bytes()
    done = run("convert", model, target)
    assert done.status == 2 and "--overwrite" in done.out + done.err
    assert target.read_bytes() == before
    assert run("convert", model, target, "--overwrite").status == 0
    assert read(target)[0] == MODEL
    listing = {p.name: p.read_bytes() for p in shards.iterdir()}
    assert run("convert", model, shards, "--max-shard-size", "1KB").status == 2
    assert {p.name: p.read_bytes() for p in shards.iterdir()} == listing
    assert run("convert", model, shards, "--max-shard-size", "1KB", "--overwrite").status == 0
    assert only_result(ask("check", shards, status=0))["findings"] == []
    assert root_of(shards) == root_of(model)


def test_a_file_is_not_converted_onto_itself(model):
    run("convert", model, model, "--overwrite")
    assert read(model)[0] == MODEL and root_of(model)


def test_dry_run_writes_nothing(tmp_path, model):
    before = sorted(tmp_path.rglob("*"))
    done = run("convert", model, tmp_path / "out", "--max-shard-size", "512B", "--dry-run")
    assert done.status == 0 and "model-00001-of-" in done.out + done.err
    assert sorted(tmp_path.rglob("*")) == before


def test_rename(tmp_path, model):
    target = tmp_path / "renamed.safetensors"
    assert run("convert", model, target, "--rename", "model.layers.*=transformer.h.*", "--rename", "step=steps").status == 0
    expected = {k.replace("model.layers.", "transformer.h.").replace("step", "steps"): v for k, v in MODEL.items()}
    assert read(target)[0] == expected
    a, b = (only_result(ask("hash", p)) for p in (model, target))
    assert a["root"] != b["root"] and a["content_root"] == b["content_root"]


def test_a_rename_that_makes_two_names_one_is_refused(tmp_path, model):
    done = run("convert", model, tmp_path / "x.safetensors", "--rename", "model.layers.0.mlp.weight=step")
    assert done.status == 2 and "step" in done.out + done.err
    assert not (tmp_path / "x.safetensors").exists()


@pytest.mark.parametrize("prefix", ["_orig_mod.", "module."])
def test_strip_prefix(tmp_path, prefix):
    source = write(tmp_path / "source.safetensors", {prefix + k: v for k, v in MODEL.items()})
    assert run("convert", source, tmp_path / "plain.safetensors", "--strip-prefix", prefix).status == 0
    assert read(tmp_path / "plain.safetensors")[0] == MODEL


def test_include_and_exclude(tmp_path, model):
    for arguments, kept in [(["--include", "model.layers.*"], lambda k: k.startswith("model.layers.")),
                            (["--exclude", "model.layers.*"], lambda k: not k.startswith("model.layers.")),
                            (["--include", "model.layers.*", "--exclude", "*.norm.weight"], lambda k: k.startswith("model.layers.") and "norm" not in k)]:
        target = tmp_path / "part.safetensors"
        done = run("convert", model, target, *arguments, "--overwrite", "--accept", "tensors-left-out", "--receipt", tmp_path / "receipt.json")
        assert done.status == 0, done.err
        assert read(target)[0] == {k: v for k, v in MODEL.items() if kept(k)}
        document = receipt(tmp_path / "receipt.json")
        assert document["lossless"] is False and document["losses"]


def test_a_broken_source_is_not_converted(tmp_path):
    source = broken(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert run("convert", source, tmp_path / "out.safetensors").status == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_pickle_is_not_converted(tmp_path):
    assert run("convert", EXAMPLES / "malicious-pickle/pytorch_model.bin", tmp_path / "out.safetensors").status == 2
    assert list(tmp_path.iterdir()) == []


def test_a_link_as_target_keeps_pointing(tmp_path, model):
    real = write(tmp_path / "real/weights.safetensors", {"old": ("U8", [1], b"\x07")})
    link = tmp_path / "link.safetensors"
    link.symlink_to("real/weights.safetensors")
    assert run("convert", model, link, "--overwrite").status == 0
    assert link.is_symlink() and read(real)[0] == MODEL
    dangling = tmp_path / "dangling.safetensors"
    dangling.symlink_to("nowhere/x.safetensors")
    assert run("convert", model, dangling, "--overwrite").status == 2
    assert dangling.is_symlink()


def test_the_mode_is_what_the_umask_says(tmp_path, model):
    for umask, mode in [(0o022, 0o644), (0o077, 0o600)]:
        target = tmp_path / f"{umask:o}.safetensors"
        assert run("convert", model, target, preexec_fn=lambda umask=umask: os.umask(umask)).status == 0
        assert target.stat().st_mode & 0o777 == mode


def test_the_format_of_the_target(tmp_path, model):
    assert run("convert", model, tmp_path / "weights", "--to", "safetensors", "--max-shard-size", "1GB").status == 0
    assert run("convert", model, tmp_path / "x.gguf").status == 2
    assert run("convert", model, tmp_path / "y.safetensors", "--to", "no-such-format").status == 2


def test_a_walk_skips_git_and_locks(tmp_path):
    for folder in (".git", ".locks", "good"):
        write(tmp_path / folder / "model.safetensors", MODEL)
    assert [r["path"] for r in ask("check", tmp_path, status=0)["results"]] == [str(tmp_path / "good" / "model.safetensors")]


def test_a_folder_with_one_file_is_read_as_that_file(tmp_path, model):
    out = tmp_path / "out"
    assert run("convert", model, out).status == 0
    assert [p.name for p in out.iterdir()] == ["model.safetensors"]
    assert run("diff", model, out).status == 0
    assert run("convert", out, tmp_path / "back.safetensors").status == 0
    assert root_of(tmp_path / "back.safetensors") == root_of(model)
    (out / "other.safetensors").write_bytes(model.read_bytes())
    done = run("diff", model, out)
    assert done.status == 2 and "2 checkpoints" in done.out + done.err
