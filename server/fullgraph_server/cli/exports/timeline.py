"""A trace for Perfetto: the steps of the compiler on all ranks, and the findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TextIO

from ... import __version__
from ...report.model import Finding, Report
from ...traces.logs import LogFile
from ...traces.present import as_it_is_now
from ...traces.timeline import Event, Timeline
from ...workspace.workspace import Workspace
from ..formats.checked import shown_path
from ..output import write_list

_CLOCKS = "Each rank has the times of its own machine's clock."


def write_timeline(reports: Iterable[tuple[LogFile, Report]], workspace: Workspace, out: TextIO) -> str:
    """Write events rank by rank; return a warning about doubtful times, or ``""``.

    Raises ``OSError``.
    """
    timeline, versions = Timeline(), list[str]()

    def events() -> Iterator[Event]:
        for log, report in reports:
            versions.append(report.torch)
            findings = [_shown(finding) for finding in as_it_is_now(report, workspace).findings]
            name = "torch.compile" if log.rank is None else f"rank {log.rank}"
            yield from timeline.events(log, findings, name)

    def rest() -> dict[str, Any]:
        torch = next(filter(None, versions), "")
        told = {"fullgraph": __version__, "torch": torch, "clocks": _CLOCKS}
        return {"displayTimeUnit": "ms", "otherData": told}

    write_list(out, "traceEvents", events(), rest)
    return timeline.doubt


def _shown(finding: Finding) -> Finding:
    return replace(finding, span=replace(finding.span, filename=shown_path(finding.span.filename)))
