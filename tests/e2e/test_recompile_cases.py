"""Every program under ``tests/cases/recompiles`` is compiled again for the cause it tells, until advised.

What the finding advises is applied to the text, which is run again: nothing is recompiled then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from expectations import holds, parse_expectations
from forked import observe
from fullgraph_compiler.facts import Script, SourceText
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.workspace.workspace import Workspace

PROGRAMS = sorted((Path(__file__).parents[1] / "cases" / "recompiles").glob("*.py"))
_FIX = re.compile(r"^(?P<indent>\s*)(?P<old>.*?)\s*# fix: (?P<new>.*?)(?:\s+# expect: .*)?$")
_HEADER = re.compile(
    r"^# (?P<key>cause|advice)(?:\((?P<compare><=|>=|<|>)(?P<version>[\d.]+)\))?: (?P<text>.*)$", re.M
)
_LOGGED = re.compile(r"\[__recompiles\]\s+- \S+?: (?P<reason>.+?)\s*(?:# .*)?$", re.M)
"""How torch's own log tells a guard that failed (``torch/_dynamo/guards.py``)."""
_NO_FIX = re.compile(r"^# fix: none \(.+\)$", re.M)


@dataclass(frozen=True, slots=True)
class Case:
    """What a program says of itself. ``fixed`` is its text as advised, ``None`` where nothing helps."""

    cause: str
    advice: str
    fixed: str | None

    @staticmethod
    def read(text: str, torch_version: str) -> Case:
        told = {
            found["key"]: found["text"]
            for found in _HEADER.finditer(text)
            if holds(found["compare"], found["version"] or "", torch_version)
        }
        fixed = None if _NO_FIX.search(text) else "\n".join(map(_fixed, text.splitlines())) + "\n"
        return Case(told["cause"], told["advice"], fixed)


def _fixed(line: str) -> str:
    found = _FIX.match(line)
    return f"{found['indent']}{found['new']}" if found else line


class Score:
    """How many recompilations went away when the advice was followed."""

    def __init__(self) -> None:
        self.programs = self.told = self.fixable = self.gone = self.alike = 0


@pytest.fixture(scope="module")
def score(pytestconfig: pytest.Config) -> Iterator[Score]:
    score = Score()
    yield score
    if score.programs:
        with pytestconfig.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            print(
                f"\nrecompilations, torch {torch.__version__}, {score.programs} programs: "
                f"{score.told} of {score.programs} with cause, line and advice; "
                f"{score.gone} of {score.fixable} gone when the advice was applied; "
                f"{score.alike} with the guards that TORCH_LOGS=recompiles names"
            )


def check(path: Path, tmp_path: Path, text: str | None = None, log: Path | None = None) -> Report:
    texts = () if text is None else (SourceText(str(path), text),)
    facts = observe(Script(str(path)), tmp_path, texts, log)
    return fold(str(path), 1, torch.__version__, facts, Workspace(path.parent))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_recompile(path: Path, score: Score, tmp_path: Path) -> None:
    text = path.read_text()
    case, expected = Case.read(text, torch.__version__), parse_expectations(path, torch.__version__)
    score.programs += 1
    score.fixable += case.fixed is not None
    log = tmp_path / "recompiles.log"
    report = check(path, tmp_path, log=log)
    found = [finding for finding in report.findings if finding.code == "recompile"]
    span = [finding.span for finding in found]
    assert [part.row for part in span] == [item.row for item in expected if item.code == "recompile"]
    line = text.splitlines()[span[0].row - 1]
    assert expected[0].text in (None, line[span[0].column - 1 : span[0].end_column - 1])
    assert [finding.message for finding in found] == [f"recompiled: {case.cause}"]
    assert any(case.advice in hint for hint in found[0].hints), found[0].hints
    score.told += 1
    logged = [found["reason"] for found in _LOGGED.finditer(log.read_text())]
    assert logged
    assert [reason for reason in logged if reason not in found[0].text] == []
    score.alike += 1
    if case.fixed is None:
        return
    assert case.advice in case.fixed
    fixed = check(path, tmp_path, case.fixed)
    left = [f.message for f in fixed.findings if f.code in ("recompile", "recompile-limit", "target-error")]
    assert left == []
    assert sum(frame.graphs for frame in fixed.frames) > 0  # it is still compiled
    score.gone += 1


def test_nearly_all_causes_can_be_fixed() -> None:
    unfixed = [path for path in PROGRAMS if _NO_FIX.search(path.read_text())]
    assert len(PROGRAMS) >= 40
    assert len(unfixed) <= 6
