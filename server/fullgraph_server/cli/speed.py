"""The command that measures the speed of one target."""

from __future__ import annotations

import sys

import click

from ..runs.effective_settings import Overrides
from ..runs.suitability import unsuited
from ..workspace.targets import Target
from ..workspace.workspace import Workspace
from .formats import Checked, Format
from .session import NOT_STARTED, Session, workspace_root

_FAILED = 1


def measure_target(target: Target, overrides: Overrides, write: Format, fail_under: float | None) -> int:
    """Measure a target, write its report to stdout, and return the exit code."""
    if problem := unsuited(target, "speed"):
        raise click.UsageError(problem)
    session = Session(overrides, once=False)
    try:
        workspace = Workspace(workspace_root(target))
        report = session.report(target, workspace, "speed", files="discard")
        write(iter([Checked(target, report, workspace)]), 1, sys.stdout)
    finally:
        session.close()
    if session.signalled:
        return session.signalled
    if report.status == "not-started":
        return NOT_STARTED
    if report.speed is None or not report.speed.measured.samples:
        return _FAILED
    return _FAILED if fail_under is not None and report.speed.measured.faster < fail_under else 0
