"""What makes a finding the same in another run: of edited files, on another machine, with another torch."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from ..report.model import Finding, Report
from ..text.messages import what_changed

_CAUSE = re.compile(r" (?:was|is no longer|failed:) ")
"""Between what a guard is on and the values that it was compared with (``wording.change``)."""
_VARIES = (
    (re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[/\\](?:[^\s'\"`:,()]+[/\\])[^\s'\"`:,()]*"), "PATH"),
    (re.compile(r"\b(?:0x[0-9a-fA-F]+|[0-9a-f]{12,}|[su]\d+|\d+/\d+(?:_\d+)?)\b"), "#"),
    (re.compile(r"(?<![A-Za-z])\d+(?:\.\d+)?(?:e[+-]?\d+)?"), "#"),
)
"""What differs between runs of one program: absolute paths; addresses, hashes, symbols of sizes and compile
ids; then numbers, but for those in names such as ``float32``."""


@dataclass(frozen=True, slots=True, order=True)
class Fingerprint:
    """All that counts of a finding. Two findings of a report may share it, such as those of equal lines.

    ``path`` is relative to the workspace, with slashes; ``line`` is the text of the source line, with blanks
    as one. ``message`` is without what varies between runs, and empty for a graph break with torch's id:
    that id outlives torch's wording.
    """

    path: str
    line: str
    code: str
    kind: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Fingerprinted:
    """A finding of a report with its fingerprint."""

    finding: Finding
    fingerprint: Fingerprint


def fingerprinted(report: Report, root: Path) -> tuple[Fingerprinted, ...]:
    """The findings of a report about the workspace at ``root``, in their order."""
    return tuple(Fingerprinted(finding, _fingerprint(finding, report, root)) for finding in report.findings)


def relative_path(report: Report, filename: str, root: Path) -> str:
    """The path below ``root`` of a file that a report names, with slashes; of a file elsewhere its name."""
    path = Path(filename)
    if report.may_read(filename) and not path.is_relative_to(root):
        path, root = Path(os.path.realpath(filename)), root.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else Path(filename).name


def line_text(report: Report, filename: str, row: int) -> str:
    """A line of the text that ran, with blanks as one; empty where the report does not hold that."""
    source = report.files.get(filename)
    return " ".join(source.line(row).split()) if source else ""


def _fingerprint(finding: Finding, report: Report, root: Path) -> Fingerprint:
    span = finding.span
    return Fingerprint(
        relative_path(report, span.filename, root),
        "" if finding.of_run else line_text(report, span.filename, span.row),
        finding.code,
        finding.kind,
        stable_message(finding),
    )


def stable_message(finding: Finding) -> str:
    """What a finding says, without what varies between runs; empty for a graph break with torch's id."""
    if finding.code != finding.kind:
        return ""  # torch's own id
    message = finding.message
    if finding.kind == "rank-difference":
        return message.partition("` ")[0]  # the function: how often which rank compiles it varies
    if finding.kind in ("recompile", "late-compile"):
        message, *values = _CAUSE.split(what_changed(message), maxsplit=1)
        if values:
            return message  # numbers are part of a name here, or count dimensions
    for pattern, stand_in in _VARIES:
        message = pattern.sub(stand_in, message)
    return message
