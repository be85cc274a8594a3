"""Workflow commands, which GitHub shows as annotations on the lines of a change.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from ...report.model import Finding
from ...text import devices
from ...text.visible import visible
from ...workspace.positions import Span
from .checked import CheckedReport, notes, shown_path
from .places import cell_of

_COMMANDS = {"error": "error", "warning": "warning", "information": "notice"}


def write(reports: Iterable[CheckedReport], targets: int, out: TextIO) -> None:  # noqa: ARG001
    """Write a command for each finding that is not in the baseline, and for a dry run."""
    for checked in reports:
        if checked.report.dry is not None:
            words = f"{checked.target.label}: {devices.sentence(checked.report.dry)}"
            out.write(f"::notice title=fullgraph::{_data(words)}\n")
        for finding in checked.new_findings:
            out.write(_command(finding) + "\n")
        out.flush()


def _command(finding: Finding) -> str:
    properties = {} if finding.of_run else _place(finding.span)
    cell, _ = cell_of(finding.span.filename, finding.span.row)
    properties["title"] = f"fullgraph {finding.code}" + (f" in cell {cell}" if cell else "")
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    message = "\n".join([finding.message, *notes(finding), *([finding.url] if finding.url else [])])
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(message)}"


def _place(span: Span) -> dict[str, str | int]:
    _, row = cell_of(span.filename, span.row)
    place: dict[str, str | int] = {"file": shown_path(span.filename), "line": row}
    if span.end_row == span.row:  # GitHub accepts columns only within one line
        place["col"] = span.column
    place["endLine"] = row + span.end_row - span.row
    if span.end_row == span.row:
        place["endColumn"] = span.end_column
    return place


def _data(text: str) -> str:
    """Escape a text for a workflow command.

    Line ends become ``%0A``; other control characters are made visible.
    """
    return "%0A".join(visible(line).replace("%", "%25") for line in text.splitlines())


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
