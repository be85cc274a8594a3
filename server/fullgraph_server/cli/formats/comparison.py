"""Comparisons of two reports as text, JSON, and Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TextIO

from rich.text import Text

from ...compare.comparison import AmountChange, FunctionChange, ReportComparison, compare
from ...compare.comparison_texts import KEYS, keys, lists, markdown, place, sentence, tables
from ...compare.fingerprint import FingerprintedFinding
from ...shapes.report import FINDING, VERSION
from ...text.tables import aligned
from ..output import clean_console, write_line, write_object
from .checked import CheckedReport
from .text import print_finding


def compared(before: CheckedReport, after: CheckedReport) -> ReportComparison:
    """Compare two reports, each with its own workspace."""
    return compare(before.report, after.report, before.workspace.root, after.workspace.root)


def write(comparison: ReportComparison, after: CheckedReport, out: TextIO) -> None:
    """Write text: new findings with source code, findings that are gone, then numbers."""
    console = clean_console(out)
    if comparison.new:
        console.print(Text("New", "bold"))
    for item in comparison.new:
        print_finding(console, after, item.finding)
    for title, lines in lists(comparison):
        console.print(Text(title, "bold"))
        for item, words in lines:
            console.print(Text(f"  {place(item)} {words}"))
        console.print()
    if comparison.keys:
        console.print(Text(KEYS, "bold"))
        for line in keys(comparison):
            console.print(Text(f"  {line}"))
        console.print()
    for table in tables(comparison):
        console.print(Text(table.title, "bold"))
        for line in aligned([("", *table.columns), *table.rows], "<>>>"):
            console.print(Text(f"  {line}".rstrip()))
        console.print()
    console.print(Text(sentence(comparison), "bold"))


def write_markdown(comparison: ReportComparison, after: CheckedReport, out: TextIO) -> None:  # noqa: ARG001
    """Write the comparison as Markdown."""
    for line in markdown(comparison).splitlines():
        write_line(out, line)


def write_json(comparison: ReportComparison, after: CheckedReport, out: TextIO) -> None:  # noqa: ARG001
    """Write the comparison as one JSON object."""
    write_object(out, comparison_object(comparison), indent=2)


def comparison_object(comparison: ReportComparison) -> dict[str, Any]:
    """Return the comparison as JSON values.

    The key ``both`` holds findings that are in both reports: as in the newer report, with both counts.
    """
    return {
        "version": VERSION,
        "torch": dict(zip(("before", "after"), comparison.torch, strict=True)),
        "worse": comparison.worse,
        "new": [_finding(item) for item in comparison.new],
        "gone": [_finding(item) for item in comparison.gone],
        "both": [
            {**_finding(now), "count": {"before": old.finding.count, "after": now.finding.count}}
            for old, now in comparison.both
        ],
        "counts": _object(comparison.counts),
        "functions": [_function(function) for function in comparison.functions],
        "cache_keys": [{"words": words, "graphs": list(labels)} for words, labels in comparison.keys],
        "compile_seconds": {
            "total": _values(comparison.seconds),
            "parts": _object(comparison.parts),
            "phases": _object(comparison.phases),
        },
    }


# -- parts of JSON -----------------------------------------------------------------------------


def _finding(item: FingerprintedFinding) -> dict[str, Any]:
    return {**FINDING.object(item.finding), "path": item.fingerprint.path, "line": item.fingerprint.line}


def _function(function: FunctionChange) -> dict[str, Any]:
    return {
        "path": function.path,
        "function": function.name,
        "compiled": dict(zip(("before", "after"), function.compiled, strict=True)),
        "counts": _object(function.counts),
        "causes": _object(function.causes),
        "kernels": _object(function.kernels),
        "seconds": _values(function.seconds),
    }


def _object(amounts: Iterable[AmountChange]) -> dict[str, Any]:
    return {amount.name: _values(amount) for amount in amounts}


def _values(amount: AmountChange) -> dict[str, float]:
    return {"before": round(amount.before, 3), "after": round(amount.after, 3)}
