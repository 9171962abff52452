"""README.md and the pages of docs/ as tests: every ```console block of README.md and the guide runs, and what it
shows is what the program prints; tables name what is there.

A line `$ COMMAND` runs in a copy of examples/ and corpus/; the blocks of a document share that copy, in order. The
lines below it are what comes out, standard error included. A line `…` stands for any lines, also none. A last line
`# status N` names the exit status; without it, it is 0."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("TENSORCASK_BIN") or ROOT / "target/release/tensorcask")
DOCUMENTS = ["README.md", "docs/guide.md"]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATUS = re.compile(r"# status (\d)")


def commands(text):
    """(line number, command, lines shown, status) of every command in a document."""
    found = []
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1)) + 1
        for number, line in enumerate(block[1].splitlines(), first):
            status = STATUS.fullmatch(line)
            if line.startswith("$ "):
                found.append([number, line[2:], [], 0])
            elif status:
                found[-1][3] = int(status[1])
            else:
                assert found and found[-1][0] >= first, f"line {number}: output before a command"
                found[-1][2].append(line)
    return found


def shows(shown, printed):
    pattern = "".join("(?:.*\n)*?" if line == "…" else re.escape(line) + "\n" for line in shown)
    return re.fullmatch(pattern, printed) is not None


@pytest.fixture
def shell(tmp_path):
    place = tmp_path / "copy"
    for name in ("examples", "corpus"):
        shutil.copytree(ROOT / name, place / name, symlinks=True)
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "tensorcask").symlink_to(BINARY.absolute())
    env = {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}

    def run(command):
        done = subprocess.run(["sh", "-c", command], cwd=place, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        return done.returncode, done.stdout.decode()

    return run


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_document_shows_is_what_the_program_prints(document, shell):
    found = commands((ROOT / document).read_text())
    assert len(found) >= 5
    wrong = []
    for number, command, shown, status in found:
        got, printed = shell(command)
        if got != status or not shows(shown, printed):
            wrong.append(f"{document}:{number}: $ {command}\nshown, with status {status}:\n" + "\n".join(shown) + f"\nprinted, with status {got}:\n{printed}")
    assert not wrong, "\n\n".join(wrong)


def test_the_readme_names_every_format(shell):
    status, printed = shell("tensorcask formats --json")
    assert status == 0
    section = re.search(r"^## Formats\n(.*?)^## ", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)[1]
    table = "\n".join(line for line in section.splitlines() if line.startswith("| "))
    named = set(re.findall(r"`([a-z0-9-]+)`", table)) - {"dangerous", "convert"}
    assert named == {row["id"] for row in json.loads(printed)["formats"]}


def test_a_row_of_dots_stands_for_any_lines():
    assert shows(["a", "…", "d"], "a\nb\nc\nd\n") and shows(["a", "…"], "a\n") and shows([], "")
    assert not shows(["a", "…", "d"], "a\nb\n") and not shows(["a"], "a\nb\n") and not shows(["a.c"], "abc\n")


PAGES = sorted(str(path.relative_to(ROOT)) for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("document", PAGES)
def test_every_link_of_a_document_leads_somewhere(document):
    path = ROOT / document
    targets = [target for target in LINK.findall(path.read_text()) if "://" not in target]
    assert [target for target in targets if not (path.parent / target).exists()] == []


RULE = re.compile(r"^\| ([A-Z]{2}\d{3}) \| ([a-z0-9-]+) \| ([a-z]+) \|", re.MULTILINE)
CASE = re.compile(r"`((?:safetensors|shards|identify)/[a-z0-9-]+)`")


def test_the_tables_of_rules_are_those_of_the_program(shell):
    status, printed = shell("tensorcask explain --json")
    assert status == 0
    rules = {(rule["code"], rule["slug"], rule["severity"]) for rule in json.loads(printed)["rules"]}
    tables = {"safetensors.md": ("ST",), "shards.md": ("SH", "CK"), "recognised.md": ("FI",)}
    for page, kinds in tables.items():
        shown = RULE.findall((ROOT / "docs/formats" / page).read_text())
        assert sorted(shown) == sorted(rule for rule in rules if rule[0].startswith(kinds)), page


def test_every_case_that_a_page_names_is_in_the_corpus_and_shows_its_rule():
    named = 0
    for page in (ROOT / "docs/formats").glob("*.md"):
        for line in page.read_text().splitlines():
            rule = RULE.match(line)
            for case in CASE.findall(line):
                expected = json.loads((ROOT / "corpus" / case / "case.json").read_text())
                rows = [expected, *expected.get("results", [])]
                found = {finding["rule"] for row in rows for finding in row.get("findings", [])}
                assert not rule or rule[1] in found, f"{page.name}: {case} does not show {rule[1]}"
                named += 1
    assert named > 60
