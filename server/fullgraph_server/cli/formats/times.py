"""Text: the times of a program with cold and warm caches, and findings about compile time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from rich.text import Text

from ...report.faults import outcome
from ...text.tables import aligned
from ..output import clean_console
from .checked import Checked
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
        for finding in report.findings:
            if finding.kind in _KINDS:
                print_finding(console, checked, finding)
