"""Fixes of the programs under ``tests/cases``: what is verified holds when it is written into the program.

A fix can exist for a break for which the catalogue has candidates, and for a recompilation if the program
says how it is written otherwise, and this gives the same results. The others are what they show on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from fullgraph_server.fixes.changes import fixable
from fullgraph_server.fixes.editing import edited
from fullgraph_server.fixes.model import Edit, Fix
from fullgraph_server.fixes.prover import EditProver
from fullgraph_server.fixes.rules.catalogue import candidates
from fullgraph_server.fixes.search import FindingTries, try_finding
from fullgraph_server.report.model import Finding, Report
from fullgraph_server.workspace.drift import TextDrift
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.source import SourceFile
from proving import Proving
from test_recompile_cases import Case

CASES = Path(__file__).parents[2] / "cases"
FEW = ("gb0170_branch",)
"""The programs that have a fix, and run each time."""
PROGRAMS = sorted([*(CASES / "graph_breaks").glob("*.py"), *(CASES / "recompiles").glob("*.py")])


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(item, marks=() if item.stem in FEW else pytest.mark.corpus, id=item.stem)
        for item in PROGRAMS
    ],
)
def test_what_is_verified_holds(
    path: Path, proving: Proving, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    source = SourceFile(str(path), path.read_text())
    report, tried, otherwise = proving.run(path, lambda prover: _searched(prover, source))
    for item in tried:
        best = item.best()
        is_break = item.finding.kind == "graph-break"
        if best is not None or (item.tries if is_break else otherwise):
            what = "breaks" if is_break else "recompilations that can be avoided,"
            record_property(f"ratio: {what} with a verified fix", (best is not None, 1))
        if best is None:
            for one in item.tries:
                record_property("difference", f"{one.fix.rule}: {one.verdict.reason}")
            continue
        text = _edited(report, best.fix, str(path))
        written = tmp_path / path.name
        written.write_text(text)
        after = proving.run(written, _report)
        place = TextDrift(source, SourceFile(str(path), text)).span(item.finding.span).span
        left = [(found.kind, found.code, found.span.row) for found in after.findings]
        assert (item.finding.kind, item.finding.code, place.row) not in left, best.fix.rule
    if path.stem in FEW:
        assert any(item.best() for item in tried)


async def _report(prover: EditProver) -> Report:
    return (await prover.as_it_is()).report


async def _searched(prover: EditProver, source: SourceFile) -> tuple[Report, Sequence[FindingTries], bool]:
    """What was tried for each finding, and whether the program's own other text has the same results."""
    base = await prover.as_it_is()
    found = [item for item in fixable(base.report) if item.span.filename == source.filename]
    tried = [await try_finding(prover, base, base, item, candidates) for item in found]
    missing = [item.finding for item in tried if item.best() is None and item.finding.kind != "graph-break"]
    return base.report, tried, bool(missing) and await _can_be_avoided(prover, source, missing[0])


async def _can_be_avoided(prover: EditProver, source: SourceFile, finding: Finding) -> bool:
    if Path(source.filename).parent.name != "recompiles":
        return False
    fixed = Case.read(source.text, torch.__version__).fixed
    if fixed is None:
        return False
    base = await prover.as_it_is()
    rows = len(source.text.splitlines())
    edit = Edit(Span(source.filename, 1, 1, rows + 1, 1), fixed)
    fix = Fix("own", "", "", "unsafe", "", (edit,), replaces=False)
    verdict, _ = await prover.prove(base, base, fix, finding)
    return verdict.verified


def _edited(report: Report, fix: Fix, filename: str) -> str:
    source = report.files[filename]
    assert source is not None
    return edited(source, fix.edits)
