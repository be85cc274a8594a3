"""The times of a program with cold and warm caches, what these held, and findings about compile time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from rich.text import Text

from ...report.caches.model import Caches, labels
from ...report.faults import outcome
from ...text.tables import aligned
from ..output import clean_console, write_object
from .checked import Checked, shown_path
from .json import report_object
from .places import in_cells
from .text import print_finding

_KINDS = ("target-error", "compile-error", "capture-error", "cudagraph-skip", "perf-hint")


def write(reports: Iterable[Checked], targets: int, out: TextIO) -> None:  # noqa: ARG001
    """Write each report as soon as it is complete."""
    console = clean_console(out)
    for checked in reports:
        report = checked.report
        rows = [
            (
                f"{item.cache} caches",
                f"{item.compiling:.1f} s",
                f"{item.seconds:.1f} s",
                outcome(item.failure),
            )
            for item in report.times
        ]
        if rows:
            for line in aligned([("", "compiling", "total", ""), *rows], "<>><"):
                console.print(Text(line))
            console.print()
        for line in cache_lines(report.caches):
            console.print(Text(line))
        for finding in report.findings:
            if finding.kind in _KINDS:
                print_finding(console, checked, finding)


def write_json(reports: Iterable[Checked], targets: int, out: TextIO) -> None:  # noqa: ARG001
    """Write one object a target: that of other commands, with the times."""
    for checked in reports:
        write_object(out, in_cells(_object(checked)), indent=2)


def _object(checked: Checked) -> dict[str, Any]:
    times = {
        item.cache: {
            "seconds": round(item.seconds, 3),
            "compiling": round(item.compiling, 3),
            "fails": outcome(item.failure) if item.failure else None,
        }
        for item in checked.report.times
    }
    return {**report_object(checked), "times": times}


def cache_lines(caches: Caches) -> Iterator[str]:
    """Yield what came of graphs in the caches: a table, then what is known of each miss and bypass."""
    if not caches.counts:
        return
    title = "in the warm caches" if caches.warm else "in the caches"
    rows = [
        (count.name, f"{count.hits:,}", f"{count.misses:,}", f"{count.bypasses:,}") for count in caches.counts
    ]
    yield from aligned([(title, "found", "missed", "left out"), *rows], "<>>>")
    yield ""
    for sentences, uses in caches.explained.items():
        yield f"{shown_path(uses[0].span.filename)}:{uses[0].span.row} {labels(uses)}: {sentences}"
    if caches.explained:
        yield ""
