"""Every case of the corpus through the commands: findings, verdicts, tables, digests and exit statuses, each as declared."""

import json
import os

import pytest

from tests import identity
from tests.cases import counted, load, name_of
from tests.program import ROOT, ask, only_result, run

CASES = load("safetensors", "identify", "shards")
TABLES = [c for c in CASES if "error" not in c.expected and not c.has_error()]
every_case = pytest.mark.parametrize("case", CASES, ids=name_of)


def arguments(case):
    return case.expected.get("args", [])


def matched(case, path, document):
    """Pairs of the expected and the given result, by path relative to the input."""
    if "results" not in case.expected:
        return [(case.expected, only_result(document))]
    base = path if path.is_dir() else path.parent
    given = {os.path.relpath(r["path"], base) if r["path"] != str(path) else ".": r for r in document["results"]}
    wanted = {r["path"]: r for r in case.results}
    assert sorted(given) == sorted(wanted)
    assert [r["path"] for r in document["results"]] == sorted(r["path"] for r in document["results"])
    return [(wanted[p], given[p]) for p in sorted(wanted)]


def expected_status(case):
    if "error" in case.expected:
        return 2
    if case.has_error():
        return 1
    return 2 if any(f["rule"] == "FI007" for f in case.findings) else 0


def expected_security(findings):
    severities = {f["severity"] for f in findings if f["category"] == "security"}
    if severities & {"critical", "error"}:
        return {"dangerous"}
    not_read = {f["rule"] for f in findings} & {"FI007"}
    broken = any(f["category"] == "structure" and f["severity"] == "error" for f in findings)
    if not_read:
        return {"incomplete"}
    if "warning" in severities:
        return {"suspicious"}
    # A file that cannot be read may have been looked at or not; that it is broken is said by the other verdict.
    return {"clean", "incomplete"} if broken else {"clean"}


def expected_structure(result):
    if "structure" in result:
        return {result["structure"]}
    if any(f["category"] == "structure" and f["severity"] == "error" for f in result["findings"]):
        return {"broken"}
    if {f["rule"] for f in result["findings"]} & {"FI005", "FI007", "FI010", "FI011"}:
        return {"ok", "incomplete"}
    return {"ok"}


@every_case
def test_check(case):
    with case.path() as path:
        document = ask("check", path, *arguments(case), status=expected_status(case))
        if "error" in case.expected:
            assert document["error"]["kind"] == case.expected["error"]
            return
        for wanted, given in matched(case, path, document):
            assert counted(given["findings"]) == counted(wanted["findings"]), json.dumps(given["findings"], indent=1, ensure_ascii=False)
            assert given["security"] in expected_security(wanted["findings"])
            assert given["structure"] in expected_structure(wanted)
            assert given["identity"] == "unknown"


@every_case
def test_verify_and_scan_divide_the_findings(case):
    if "error" in case.expected:
        with case.path() as path:
            assert ask("scan", path, status=2)["error"]["kind"] == case.expected["error"]
        return
    with case.path() as path:
        for wanted, given in matched(case, path, ask("scan", path, *arguments(case))):
            assert counted(given["findings"], "security") == counted(wanted["findings"], "security")
            assert "security" in given
        for wanted, given in matched(case, path, ask("verify", path, *arguments(case))):
            assert counted(given["findings"], "structure") == counted(wanted["findings"], "structure")
            assert "structure" in given and "identity" in given


@pytest.mark.parametrize("case", TABLES, ids=name_of)
def test_inspect(case):
    with case.path() as path:
        for wanted, given in matched(case, path, ask("inspect", path, *arguments(case), status=0)):
            if "tensors" not in wanted and "inspect" not in wanted:
                continue
            table = wanted.get("inspect") or wanted["tensors"]
            rows = sorted(given["tensors"], key=lambda t: t["name"].encode())
            assert [(t["name"], t["dtype"], t["shape"]) for t in rows] == [(t["name"], t["dtype"], t["shape"]) for t in table]
            assert given["totals"]["tensors"] == len(rows)
            assert given["totals"]["bytes"] == sum(t["bytes"] for t in rows)
            if "inspect" in wanted:
                continue
            # The table says where the bytes lie: the digest of what lies there must be the peer's.
            base = path.parent if path.is_file() else path if given["path"] == str(path) else type(path)(given["path"])
            base = base if base.is_dir() else base.parent
            for row, reference in zip(rows, table, strict=True):
                with open(base / row["file"], "rb") as f:
                    f.seek(row["offset"])
                    data = f.read(row["bytes"])
                assert len(data) == row["bytes"]
                assert identity.tensor_digest(row["dtype"], row["shape"], data).hex() == reference["digest"]


@every_case
def test_inspect_is_lenient(case):
    with case.path() as path:
        done = run("inspect", path, *arguments(case))
        assert done.status == (2 if "error" in case.expected else 0), done.err


@every_case
def test_hash(case):
    with case.path() as path:
        if "error" in case.expected:
            ask("hash", path, status=2)
        elif case.has_error("structure"):
            assert run("hash", path, *arguments(case)).status == 1
        elif {f["rule"] for f in case.findings} & {"FI005", "FI007"}:
            assert run("hash", path, *arguments(case)).status == 2
        elif all("root" in r for r in case.results):
            for wanted, given in matched(case, path, ask("hash", path, *arguments(case), status=0)):
                assert (given["root"], given["content_root"]) == (wanted["root"], wanted["content_root"])
                rows = sorted(given["tensors"], key=lambda t: t["name"].encode())
                assert rows == wanted["tensors"]


def test_every_rule_has_a_case_and_a_neighbour():
    from_cases = {f["rule"] for c in CASES for f in c.findings}
    neighbours = {rule for c in CASES for rule in c.expected.get("neighbour_of", [])}
    for case in CASES:
        fired = {f["rule"] for f in case.findings}
        assert not fired & set(case.expected.get("neighbour_of", [])), f"{name_of(case)} is its own neighbour"
    rules = {f"ST{n:03}" for n in range(1, 31)} | {f"SH{n:03}" for n in range(1, 19)} | {f"CK{n:03}" for n in range(1, 6)} | {f"FI{n:03}" for n in range(1, 12)}
    assert rules - from_cases == set()
    assert rules - neighbours == set()


def test_vectors():
    for vector in json.loads((ROOT / "corpus/identity/vectors.json").read_text(encoding="utf-8"))["vectors"]:
        digests = {t["name"]: identity.tensor_digest(t["dtype"], t["shape"], bytes.fromhex(t["bytes"])) for t in vector["tensors"]}
        assert {n: d.hex() for n, d in digests.items()} == {t["name"]: t["digest"] for t in vector["tensors"]}
        assert (identity.root(digests), identity.content_root(digests)) == (vector["root"], vector["content_root"])
