"""Every program under ``tests/cases`` has exactly the findings that are written in it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from expectations import Expectation, parse_expectations
from forked import observe
from fullgraph_compiler.facts import Script, Severity
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.workspace.workspace import Workspace

CASES = Path(__file__).parents[2] / "cases"
FINDINGS = sorted((CASES / "findings").glob("*.py"))
GRAPH_BREAKS = sorted((CASES / "graph_breaks").glob("*.py"))


def check(path: Path, tmp_path: Path) -> Report:
    facts = observe(Script(str(path)), tmp_path)
    return fold(str(path), 1, torch.__version__, facts, Workspace(path.parent))


def found_in(report: Report, path: Path, severities: tuple[Severity, ...]) -> list[Expectation]:
    """The findings of some severities, as expectations with the text of their first row."""
    lines = path.read_text().splitlines()
    found = []
    for finding in report.findings:
        if finding.severity not in severities:
            continue
        span = finding.span
        line = lines[span.row - 1] if span.filename == str(path) else span.filename
        text = line[span.column - 1 : span.end_column - 1 if span.end_row == span.row else None]
        found.append(Expectation(span.row, finding.code, text.partition("  # expect")[0]))
    return found


@pytest.mark.corpus
@pytest.mark.parametrize("path", GRAPH_BREAKS, ids=lambda path: path.stem)
def test_graph_break(path: Path, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    expected = parse_expectations(path, torch.__version__)
    found = found_in(check(path, tmp_path), path, ("error", "warning"))
    lines = Counter(item.row for item in expected) & Counter(item.row for item in found)
    ids = Counter((x.row, x.code) for x in expected) & Counter((x.row, x.code) for x in found)
    record_property("ratio: expected graph breaks on the right line", (lines.total(), len(expected)))
    record_property("ratio: expected graph breaks there with the right id", (ids.total(), len(expected)))
    assert_same(found, expected)


@pytest.mark.corpus
@pytest.mark.parametrize("path", FINDINGS, ids=lambda path: path.stem)
def test_finding(path: Path, tmp_path: Path) -> None:
    found = found_in(check(path, tmp_path), path, ("error", "warning", "information"))
    assert_same(found, parse_expectations(path, torch.__version__))


def assert_same(found: list[Expectation], expected: list[Expectation]) -> None:
    """Compare all but the texts that are not expected."""
    told = [item if want.text is not None else Expectation(item.row, item.code)
            for item, want in zip(sorted(found), sorted(expected), strict=False)]  # fmt: skip
    assert [*told, *sorted(found)[len(told) :]] == sorted(expected)


def test_the_corpus_covers_sixty_kinds() -> None:
    kinds = {item.code for path in GRAPH_BREAKS for item in parse_expectations(path, torch.__version__)}
    assert len([kind for kind in kinds if kind.startswith("GB")]) >= 60
    assert len(GRAPH_BREAKS) >= 60
    assert os.path.commonpath(GRAPH_BREAKS) == str(CASES / "graph_breaks")
