"""The formats of an analysis: text for a terminal, and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TextIO

from rich.text import Text

from ...analyses.analysis import Analysis
from ...analyses.shown import ReportView, StyledLine
from ...report.model import Finding
from ..output import clean_console
from ..resolve import as_typed
from . import FORMATS, Format, json
from .checked import CheckedReport
from .places import shown_row
from .text import print_finding, run_words, sizes_command


def formats_of(analysis: Analysis) -> Mapping[str, Format]:
    """Return the formats of an analysis.

    An analysis without ``lines`` has the formats of ``fullgraph check``.
    """
    lines = analysis.lines
    if lines is None:
        return FORMATS

    def write(reports: Iterable[CheckedReport], targets: int, out: TextIO) -> None:  # noqa: ARG001
        """Write each report as soon as it is complete."""
        _write_lines(lines, reports, out)

    return {"text": write, "json": json.write}


def _write_lines(
    lines: Callable[[ReportView], Iterator[StyledLine | Finding]],
    reports: Iterable[CheckedReport],
    out: TextIO,
) -> None:
    console = clean_console(out)
    width = console.width if console.is_terminal else None
    for checked in reports:
        report = checked.report
        typed, end, sizes = as_typed(checked.target), run_words(report), sizes_command(checked)
        for item in lines(ReportView(report, checked.workspace, typed, width, shown_row, end, sizes)):
            if isinstance(item, StyledLine):
                console.print(Text.assemble(*item.parts))
            else:
                print_finding(console, checked, item)
