"""The cases of the corpus, as the tests see them."""

import contextlib
import json
import pathlib
import tempfile
from collections import Counter
from dataclasses import dataclass

from corpus.make.recipe import build
from tests.program import ROOT

LEVELS = ["note", "warning", "error", "critical"]


@dataclass
class Case:
    family: str
    name: str
    expected: dict

    @property
    def folder(self):
        return ROOT / "corpus" / self.family / self.name

    @contextlib.contextmanager
    def path(self):
        """Where the input lies; one that is built from a recipe goes away again."""
        if "recipe" not in self.expected:
            yield self.folder / self.expected["input"]
            return
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch, self.expected["input"])
            path.write_bytes(build(self.expected["recipe"]))
            yield path

    @property
    def results(self):
        """The expected results; a file has one, with no path of its own."""
        return self.expected.get("results", [{**self.expected, "path": "."}])

    @property
    def findings(self):
        return [f for result in self.results for f in result["findings"]]

    def has_error(self, category=None):
        return any(f["severity"] in ("error", "critical") and category in (None, f["category"]) for f in self.findings)


def load(*families):
    found = [Case(family, path.parent.name, json.loads(path.read_text(encoding="utf-8")))
             for family in families for path in sorted((ROOT / "corpus" / family).glob("*/case.json"))]
    assert found, f"no cases in {families}"
    return found


def name_of(case):
    return f"{case.family}/{case.name}"


def counted(findings, category=None):
    """Findings as a multiset of what a case declares."""
    return Counter(tuple(f[k] for k in ("rule", "slug", "category", "severity")) for f in findings if category in (None, f["category"]))
