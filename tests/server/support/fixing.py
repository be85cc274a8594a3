"""Findings invented for a text, and the fixes that the catalogue has for them."""

from __future__ import annotations

import ast
import re
from textwrap import dedent

from fullgraph_server.fixes.editing import edited
from fullgraph_server.fixes.model import Edit, Fix, RuleContext
from fullgraph_server.fixes.rules.catalogue import candidates
from fullgraph_server.report.model import Finding, FrameCompilation, Report
from fullgraph_server.text.remedies import Advice, Remedy
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.source import SourceFile

FILE = "model.py"


def span_of(source: SourceFile, text: str, number: int = 0) -> Span:
    """The range of an occurrence of a text."""
    start = [found.start() for found in re.finditer(re.escape(text), source.text)][number]
    before = source.text[:start]
    row, column = before.count("\n") + 1, start - (before.rfind("\n") + 1) + 1
    lines = text.split("\n")
    end = column + len(text) if len(lines) == 1 else len(lines[-1]) + 1
    return Span(source.filename, row, column, row + len(lines) - 1, end)


def rewriting(before: str, after: str) -> tuple[SourceFile, Fix]:
    """A safe fix that makes a text another one, and the file with the first."""
    source = SourceFile(FILE, before)
    span = Span(FILE, 1, 1, len(source.lines) + 1, 1)
    return source, Fix("rule", "", "It does.", "safe", "", (Edit(span, after),))


def fixes(
    text: str,
    at: str,
    code: str,
    remedies: tuple[Remedy, ...] = (),
    compiled: str = "",
    calls: tuple[str, ...] = (),
    number: int = 0,
) -> tuple[SourceFile, list[Fix]]:
    """Return the source file, and the fixes for a finding at a text.

    ``calls`` are the calls that made the function ``compiled`` compile.
    """
    source = SourceFile(FILE, text)
    kind = "recompile" if code == "recompile" else "graph-break"
    span = span_of(source, at, number)
    seen = frozenset({"0/0"})
    finding = Finding(kind, code, "warning", "", span, advice=(Advice("", remedies),), compile_ids=seen)
    name = span_of(source, f"def {compiled}") if compiled else Span(FILE, 1, 1, 1, 1)
    compilations = tuple(
        FrameCompilation(f"0/{index}", compiled, name, 0.0, 0.0, "", span_of(source, call))
        for index, call in enumerate(calls)
    )
    report = Report(FILE, 1, findings=(finding,), compilations=compilations)
    return source, candidates(finding, RuleContext(report, {FILE: source}))


def results(*arguments: object, **options: object) -> dict[str, str]:
    """The edited texts by rule; of a rule that offers several, the first."""
    source, found = fixes(*arguments, **options)  # type: ignore[arg-type]
    texts: dict[str, str] = {}
    for fix in found:
        text = edited(source, fix.edits)
        ast.parse(text)
        texts.setdefault(fix.rule, text)
    return texts


def body(text: str) -> str:
    """A text without the indentation that it has in a test."""
    return dedent(text).lstrip("\n")
