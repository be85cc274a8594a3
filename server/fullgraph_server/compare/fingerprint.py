"""Fingerprints: identify a finding across edits, machines and versions of torch."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from ..kinds import KINDS
from ..report.model import Finding, Report
from ..text.messages import what_changed

_CAUSE = re.compile(r" (?:was|is no longer|failed:) ")
"""Matches the words between the guarded value and the compared values in messages of ``text.messages``."""
_VARIES = (
    (re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[/\\](?:[^\s'\"`:,()]+[/\\])[^\s'\"`:,()]*"), "PATH"),
    (re.compile(r"\b(?:0x[0-9a-fA-F]+|[0-9a-f]{12,}|[su]\d+|\d+/\d+(?:_\d+)?)\b"), "#"),
    (re.compile(r"(?<![A-Za-z])\d+(?:\.\d+)?(?:e[+-]?\d+)?"), "#"),
)
"""Parts of messages that differ between runs of a program, and their replacements: absolute paths;
addresses, hashes, size symbols and compile ids; then numbers, except in names such as ``float32``."""


@dataclass(frozen=True, slots=True, order=True)
class Fingerprint:
    """The stable parts of a finding.

    Findings of a report may share a fingerprint, for example findings on equal lines. ``path`` is relative to
    the workspace, with slashes. ``line`` is the text of the source line, with single spaces. ``message``
    lacks the parts that vary between runs, and is empty for a graph break with torch's id, since torch
    changes messages more often than ids.
    """

    path: str
    line: str
    code: str
    kind: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class FingerprintedFinding:
    """A finding of a report with its fingerprint."""

    finding: Finding
    fingerprint: Fingerprint


def fingerprinted(report: Report, root: Path) -> tuple[FingerprintedFinding, ...]:
    """Return a report's findings with fingerprints relative to ``root``, in order."""
    return tuple(
        FingerprintedFinding(finding, _fingerprint(finding, report, root)) for finding in report.findings
    )


def relative_path(report: Report, filename: str, root: Path) -> str:
    """Return a file's path relative to ``root``; outside of ``root``, the file's name."""
    path = Path(filename)
    if report.may_read(filename) and not path.is_relative_to(root):
        path, root = Path(os.path.realpath(filename)), root.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else Path(filename).name


def line_text(report: Report, filename: str, row: int) -> str:
    """Return a line of the text that ran, with single spaces.

    The line is empty if the report does not contain the file's text.
    """
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
    """Return a finding's message without the parts that vary between runs.

    For a graph break with torch's id, the result is empty: the id is stable.
    """
    if finding.code != finding.kind:
        return ""  # the code is torch's own id
    message, stable = finding.message, KINDS[finding.kind].stable
    if stable == "function":
        return message.partition("` ")[0]  # only the function is stable: ranks and their counts vary
    if stable == "cause":
        message, *values = _CAUSE.split(what_changed(message), maxsplit=1)
        if values:
            return message  # numbers in it are parts of names, or dimensions
    for pattern, stand_in in _VARIES:
        message = pattern.sub(stand_in, message)
    return message
