"""Lines of a report for a terminal, as texts with styles.

They are made without a terminal library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from ..kinds import KINDS
from ..report.model import Finding, Report
from ..workspace.positions import Span
from ..workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class StyledLine:
    """A line as pairs of a text and its style for the library rich (``bold red``)."""

    parts: tuple[tuple[str, str], ...]


def line(text: str, style: str = "") -> StyledLine:
    """Return a line with one style."""
    return StyledLine(((text, style),))


BLANK: Final = line("")


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report, with its target and places as they are written on the command line."""

    report: Report
    workspace: Workspace
    target: str
    """The target, as a user types it in a shell."""
    width: int | None
    """The columns of the terminal; ``None`` if lines are not wrapped."""
    place: Callable[[str, int], str]
    """A function that returns ``train.py:41`` for a file and a row, or ``model.ipynb:cell 3:2``."""
    summary_end: str
    """The end of a summary: torch's version, and notes on what the run left out or discarded."""
    sizes_command: str = ""
    """A line with the command that plans dynamic sizes, if untried advice makes sizes dynamic."""

    def at(self, span: Span) -> str:
        """Return the place of a span."""
        return self.place(span.filename, span.row)

    def code(self, span: Span) -> str:
        """Return the place of a span, with its line of code."""
        source = self.workspace.source(span.filename)
        text = source.line(span.row).strip() if source else ""
        return f"{self.at(span)}  {text}".rstrip()

    def failures(self) -> Iterator[Finding]:
        """Yield the findings that say why the program or the compiler stopped."""
        return (finding for finding in self.report.findings if KINDS[finding.kind].is_failure)
