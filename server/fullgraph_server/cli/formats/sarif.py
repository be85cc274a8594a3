"""SARIF 2.1.0, for code scanning: one run with the findings of all targets.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

from ... import __version__
from ...report.model import Finding
from ...text import devices
from ...workspace.positions import Span, StackCall
from ..output import write_object
from .checked import CheckedReport, notes, shown_path
from .places import cell_of

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "information": "note"}
_ROOT = "SRCROOT"


def write(reports: Iterable[CheckedReport], targets: int, out: TextIO) -> None:  # noqa: ARG001
    """Write one log once all targets have run."""
    write_object(out, log(list(reports)), indent=2)


def log(reports: list[CheckedReport]) -> dict[str, Any]:
    """Return the SARIF log as JSON values."""
    findings = [
        (checked, finding)
        for checked in reports
        for finding in (*checked.report.findings, *checked.report.ignored)
        if not finding.of_run
    ]
    first = {finding.code: finding for _, finding in reversed(findings)}
    codes = sorted(first)
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "fullgraph",
                        "semanticVersion": __version__,
                        "rules": [_rule(first[code]) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {_ROOT: {"uri": Path.cwd().as_uri() + "/"}},
                "invocations": [_invocation(reports)],
                "results": [
                    _result(checked, finding, codes.index(finding.code)) for checked, finding in findings
                ],
            }
        ],
    }


def _invocation(reports: list[CheckedReport]) -> dict[str, Any]:
    """Describe how the targets ran.

    Findings that concern a run as a whole, and notes on dry runs, become notifications. They cannot be
    results: GitHub rejects a file with a result that has no location.
    """
    notifications = [
        _notification(checked, _LEVELS[finding.severity], "\n".join([finding.message, *notes(finding)]))
        for checked in reports
        for finding in checked.report.findings
        if finding.of_run
    ]
    notifications += [
        _notification(checked, "note", devices.sentence(checked.report.dry))
        for checked in reports
        if checked.report.dry is not None
    ]
    return {
        "executionSuccessful": all(checked.report.status == "finished" for checked in reports),
        **({"toolExecutionNotifications": notifications} if notifications else {}),
    }


def _notification(checked: CheckedReport, level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": f"{checked.target.label}: {text}"}}


def _rule(finding: Finding) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": finding.code, "shortDescription": {"text": finding.kind.replace("-", " ")}}
    if finding.url:
        rule["helpUri"] = finding.url
    return rule


def _result(checked: CheckedReport, finding: Finding, rule: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": "\n".join([finding.message, *notes(finding)])},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(finding.span.filename),
                    "region": _region(finding.span),
                },
                **_cell(finding.span.filename, finding.span.row),
            }
        ],
        "occurrenceCount": finding.count,
        # The standard requires it for all results or for none.
        "suppressions": [{"kind": kind} for kind in _suppressions(checked, finding)],
    }
    if checked.known is not None and finding not in checked.report.ignored:
        result["baselineState"] = "unchanged" if checked.is_known(finding) else "new"
    if len(finding.stack) > 1:
        # SARIF wants the innermost call first.
        result["stacks"] = [{"frames": [_frame(call) for call in reversed(finding.stack)]}]
    return result


def _suppressions(checked: CheckedReport, finding: Finding) -> Iterator[str]:
    """Yield the reasons why a finding is suppressed: source comment, baseline."""
    if finding in checked.report.ignored:
        yield "inSource"
    if checked.is_known(finding):
        yield "external"


def _region(span: Span) -> dict[str, int]:
    _, row = cell_of(span.filename, span.row)
    return {
        "startLine": row,
        "startColumn": span.column,
        "endLine": row + span.end_row - span.row,
        "endColumn": span.end_column,
    }


def _frame(call: StackCall) -> dict[str, Any]:
    _, row = cell_of(call.filename, call.row)
    location = {"artifactLocation": _artifact(call.filename), "region": {"startLine": row}}
    message = {"text": call.function}
    return {
        "location": {
            "physicalLocation": location,
            **_cell(call.filename, call.row),
            "message": message,
        }
    }


def _cell(filename: str, row: int) -> dict[str, Any]:
    """Return the logical location of a row's code cell; empty outside of notebooks."""
    cell, _ = cell_of(filename, row)
    return {"logicalLocations": [{"name": f"cell {cell}", "kind": "cell"}]} if cell else {}


def _artifact(filename: str) -> dict[str, str]:
    shown = shown_path(filename.encode("utf-8", "replace").decode())
    if os.path.isabs(shown):
        return {"uri": Path(shown).as_uri()}
    return {"uri": quote(Path(shown).as_posix()), "uriBaseId": _ROOT}
