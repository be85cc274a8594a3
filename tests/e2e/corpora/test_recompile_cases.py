"""Every program under ``tests/cases/recompiles`` is compiled again for the cause it tells, until advised.

What the finding advises is applied to the text, which is run again: nothing is recompiled then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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

PROGRAMS = sorted((Path(__file__).parents[2] / "cases" / "recompiles").glob("*.py"))
_FIX = re.compile(r"^(?P<indent>\s*)(?P<old>.*?)\s*# fix: (?P<new>.*?)(?:\s+# expect: .*)?$")
_HEADER = re.compile(
    r"^# (?P<key>cause|advice)(?:\((?P<compare><=|>=|<|>)(?P<version>[\d.]+)\))?: (?P<text>.*)$", re.M
)
_LOGGED = re.compile(r"\[__recompiles\]\s+- \S+?: (?P<reason>.+?)\s*(?:# .*)?$", re.M)
"""How torch's own log tells a guard that failed (``torch/_dynamo/guards.py``)."""
_AGAIN = re.compile(r"\[__recompiles\] Recompiling function ")
_IN_LIBRARY = re.compile(r" \(in `[^`]+`, \S+:\d+(?:, and \d+ other places?)?\)$")
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


def check(path: Path, tmp_path: Path, text: str | None = None, log: Path | None = None) -> Report:
    texts = () if text is None else (SourceText(str(path), text),)
    facts = observe(Script(str(path)), tmp_path, texts, log)
    return fold(str(path), 1, torch.__version__, facts, Workspace(path.parent))


@pytest.mark.corpus
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_recompile(path: Path, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    text = path.read_text()
    case, expected = Case.read(text, torch.__version__), parse_expectations(path, torch.__version__)
    log = tmp_path / "recompiles.log"
    report = check(path, tmp_path, log=log)
    logged = [found["reason"] for found in _LOGGED.finditer(log.read_text())]
    found = [finding for finding in report.findings if finding.code == "recompile"]
    with counted(record_property, "recompilations told with cause, line and advice"):
        span = [finding.span for finding in found]
        assert [part.row for part in span] == [item.row for item in expected if item.code == "recompile"]
        line = text.splitlines()[span[0].row - 1]
        assert expected[0].text in (None, line[span[0].column - 1 : span[0].end_column - 1])
        assert [_IN_LIBRARY.sub("", finding.message) for finding in found] == [f"recompiled: {case.cause}"]
        hints = found[0].hints or ("none",)
        assert any(case.advice in hint for hint in hints), hints
    with counted(record_property, "recompilations with the guards that TORCH_LOGS=recompiles names"):
        assert logged
        assert [reason for reason in logged if reason not in found[0].text] == []
    with counted(record_property, "programs with as many recompilations as TORCH_LOGS=recompiles has"):
        again = len(_AGAIN.findall(log.read_text()))
        assert sum(finding.count for finding in found) == again
        assert sum(frame.recompiles for frame in report.frames) == again
    if case.fixed is None:
        return
    with counted(record_property, "recompilations gone when the advice was applied"):
        assert case.advice in case.fixed
        fixed = check(path, tmp_path, case.fixed)
        unwanted = ("recompile", "recompile-limit", "target-error")
        assert [item.message for item in fixed.findings if item.code in unwanted] == []
        assert sum(frame.graphs for frame in fixed.frames) > 0  # it is still compiled


@contextmanager
def counted(record_property: Callable[[str, object], None], what: str) -> Iterator[None]:
    """Add one to a ratio: whether what is asserted within holds."""
    passed = 0
    try:
        yield
        passed = 1
    finally:
        record_property(f"ratio: {what}", (passed, 1))


def test_what_is_advised_can_be_done() -> None:
    texts = [path.read_text() for path in PROGRAMS]
    assert len(texts) >= 140
    assert sum(Case.read(text, torch.__version__).fixed is not None for text in texts) >= 90
    assert all(_NO_FIX.search(text) for text in texts if "# advice: none" in text)
