"""JSON: one object for each target; several objects are on one line each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TextIO

from ...analyses.registry import of_depth
from ...shapes.report import REPORT
from ..output import write_object
from .checked import CheckedReport
from .places import in_cells


def write(reports: Iterable[CheckedReport], targets: int, out: TextIO) -> None:
    """Write each report as soon as it is complete."""
    for checked in reports:
        write_object(out, in_cells(report_object(checked)), indent=2 if targets == 1 else None)
        out.flush()


def report_object(checked: CheckedReport) -> dict[str, Any]:
    """Return a report as JSON values."""
    report = checked.report
    analysis = of_depth(report.depth)
    written = (analysis.shape(report) if analysis else REPORT).object(report)
    for item, finding in zip(written.get("findings", ()), report.findings, strict=False):
        item["baseline"] = checked.is_known(finding)
    return written
