"""``fullgraph explain``: what a code means, and what the rules make of small programs."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

import pytest
from faked_run import fullgraph
from fullgraph_server.cli.explain import explained
from fullgraph_server.fixes.explaining import examples
from fullgraph_server.fixes.rules.catalogue import _BREAKS
from fullgraph_server.kinds import KINDS
from fullgraph_server.workers import registry
from fullgraph_server.workers.registry import NoRegistryError, known_break
from json_schemas import check_schema

DOCS = Path(__file__).parents[3] / "docs"
CODES = [*sorted(_BREAKS), "graph-break", "recompile", "recompile-limit", "late-compile"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("code", CODES)
def test_every_code_that_has_rules_has_an_example(code: str) -> None:
    found = list(examples(code))
    assert found
    for example in found:
        ast.parse(example.before)
        ast.parse(example.after)
        assert example.before != example.after
        assert "«" not in example.before + example.after


def test_an_example_is_what_the_rule_writes() -> None:
    found = {example.fix.rule: example for example in examples("GB0170")}
    assert "    if y.sum() > 0:\n        y = -y\n" in found["where"].before
    assert "    y = torch.where(y.sum() > 0, -y, y)\n" in found["where"].after


@pytest.mark.parametrize("code", ["GB0098", "GB0156"])
def test_what_cannot_be_traced_becomes_an_operator(code: str) -> None:
    found = {example.fix.rule: example for example in examples(code)}
    assert "    return x.new_empty(x.shape)\n" in found["custom-operator"].after


def test_a_kind_means_what_the_documentation_says() -> None:
    table = re.findall(r"^\| `([\w-]+)` \|.*\| (.+) \|$", (DOCS / "findings.md").read_text(), re.MULTILINE)
    assert dict(table) == {name: kind.meaning for name, kind in KINDS.items()}
    got = fullgraph("explain", "Recompile-Limit").output
    assert got.startswith(
        "recompile-limit\n  A function was compiled too often, and new calls run eagerly.\n"
    )
    assert "torch._dynamo.mark_dynamic(batch, 0)" in got


def test_a_graph_break_is_explained_in_the_words_of_torch() -> None:
    got = fullgraph("explain", "gb0170", "--python", sys.executable)
    assert got.exit_code == 0
    lines = got.output.splitlines()
    assert lines[0] == "GB0170 Data-dependent branching"
    assert "  https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0170.html" in lines
    start = lines.index("fix: Choose with `torch.where` (safe; rule where)")
    assert "  -    if y.sum() > 0:" in lines[start:]
    assert "  +    y = torch.where(y.sum() > 0, -y, y)" in lines[start:]


def test_json_has_the_whole_texts() -> None:
    told = json.loads(fullgraph("explain", "GB0059", "--format", "json", "--python", sys.executable).stdout)
    check_schema("explain", told)
    assert (told["code"], told["title"]) == ("GB0059", "Failed to trace builtin operator")
    assert told["fixes"][0]["rule"] == "reorder-print"
    assert "reorderable_logging_functions.add(print)" in told["fixes"][0]["after"]


def test_without_torch_there_are_fixes_all_the_same() -> None:
    got = fullgraph("explain", "GB0170", "--python", "/no/python")
    assert got.exit_code == 0
    assert "There is no interpreter /no/python." in got.stderr
    assert "rule where" in got.stdout


@pytest.mark.parametrize(
    ("code", "told"), [("GB99", "GB99 is not a code"), ("GB9999", "no graph break GB9999")]
)
def test_what_is_no_code_is_told(code: str, told: str) -> None:
    got = fullgraph("explain", code, "--python", sys.executable)
    assert got.exit_code == 2
    assert told in got.stderr


REGISTRY = {
    "GB0001": [
        {"Gb_type": "_gb_type", "Explanation": '"A" + trace_info', "Hints": []},
        {"Gb_type": "title", "Explanation": "explanation", "Hints": []},
        {
            "Gb_type": "A title",
            "Explanation": "`{fn}` fails\n here.",
            "Hints": ["Do {x}. ", "_hints", "Set ", "`x` ", "or not.", "Ask"],
        },
    ],
    "GB0002": "damaged",
}


def test_the_newest_words_are_taken_that_are_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registry", lambda _: REGISTRY)
    found = known_break("python", "GB0001")
    assert found is not None
    assert (found.title, found.explanation, found.hints) == (
        "A title",
        "`…` fails here.",
        ("Do ….", "Set `x` or not.", "Ask"),
    )
    assert known_break("python", "GB0003") is None


def test_an_interpreter_without_torch_is_told(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho\n")
    python.chmod(0o755)
    with pytest.raises(NoRegistryError, match="There is no torch in"):
        known_break(str(python), "GB0001")


def test_codes_of_exports_are_explained() -> None:
    found = explained("data-dependent", None)
    assert (
        found.meaning.explanation == "Export needs the value of a condition or a number that depends on data."
    )
    assert found.meaning.url.endswith("/export.html")
