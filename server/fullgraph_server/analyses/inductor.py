"""TorchInductor in the background: ordinary runs leave it out."""

from __future__ import annotations

from typing import Final

from ..report.model import Report
from ..text.messages import counted
from .analysis import Analysis

INDUCTOR: Final = "TorchInductor"
"""The part of the compiler that ordinary runs leave out."""


def _verdict(report: Report) -> str:
    """Return the first failure, or the number of graphs that got code."""
    if report.problem is not None:
        return report.problem.message
    graphs = len({code.compile_id for code in report.codes})
    return f"{INDUCTOR} wrote code for {counted(graphs, 'graph')}" if graphs else f"{INDUCTOR} had no graph"


ANALYSIS: Final = Analysis(
    id="inductor",
    label=INDUCTOR,
    doing="running {target}",
    verdict=_verdict,
)
