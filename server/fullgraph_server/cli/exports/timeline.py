"""A trace for Perfetto: the steps of the compiler on all ranks, and the findings."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TextIO, cast

from ... import __version__
from ...report.model import Finding, Report
from ...traces.logs import LogFile
from ...traces.present import as_it_is_now
from ...traces.timeline import Timeline
from ...workspace.workspace import Workspace
from ..formats.checked import shown_path
from ..output import write_object

_CLOCKS = "Each rank has the times of its own machine's clock."


def open_text(file: Path) -> TextIO:
    """Open a file for writing, packed if its name says so. Raises ``OSError``."""
    if file.suffix == ".gz":
        return cast(TextIO, gzip.open(file, "wt", encoding="ascii"))
    return file.open("w", encoding="ascii")


def write(reports: Iterable[tuple[LogFile, Report]], workspace: Workspace, out: TextIO) -> str:
    """Write the events of one rank after another; return a sentence of doubt about their times, or nothing.

    Raises ``OSError``.
    """
    timeline, torch, comma = Timeline(), "", ""
    out.write('{"traceEvents": [\n')
    for log, report in reports:
        torch = torch or report.torch
        findings = [_shown(finding) for finding in as_it_is_now(report, workspace).findings]
        name = "torch.compile" if log.rank is None else f"rank {log.rank}"
        for event in timeline.events(log, findings, name):
            out.write(comma)
            write_object(out, event)
            comma = ","
    out.write('], "displayTimeUnit": "ms", "otherData": ')
    write_object(out, {"fullgraph": __version__, "torch": torch, "clocks": _CLOCKS})
    out.write("}\n")
    return timeline.doubt


def _shown(finding: Finding) -> Finding:
    return replace(finding, span=replace(finding.span, filename=shown_path(finding.span.filename)))
