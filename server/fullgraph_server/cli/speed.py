"""The command that measures a target's speed, unmodified or in compile variants."""

from __future__ import annotations

import sys
from contextlib import closing

from fullgraph_compiler.facts import VariantMeasured

from ..analyses.registry import analyses
from ..report.measured.best_variant import Goal, best_for
from ..runs.effective_settings import SettingOverrides
from ..workspace.targets import Target
from ..workspace.workspace import Workspace
from .formats import CheckedReport
from .formats.analysed import formats_of
from .formats.variants import VARIANTS_FORMATS
from .session import NOT_STARTED, CommandSession, workspace_root

_FAILED = 1


def measure_target(target: Target, overrides: SettingOverrides, output: str, fail_under: float | None) -> int:
    """Measure a target, write its report to stdout, and return the exit code."""
    checked, ended = _measured(target, overrides)
    report = checked.report
    formats_of(analyses()["speed"])[output](iter([checked]), 1, sys.stdout)
    if ended:
        return ended
    if report.speed is None or not report.speed.measured.samples:
        return _FAILED
    return _FAILED if fail_under is not None and report.speed.measured.faster < fail_under else 0


def try_target(target: Target, overrides: SettingOverrides, output: str, goal: Goal) -> int:
    """Measure a target's compile variants, write the best; return the exit code."""
    checked, ended = _measured(target, overrides, variants=True)
    best = best_for(checked.report.of(VariantMeasured), goal)
    VARIANTS_FORMATS[output](checked, best, goal, sys.stdout)
    return ended or (0 if best else _FAILED)


def _measured(target: Target, overrides: SettingOverrides, **switches: bool) -> tuple[CheckedReport, int]:
    """Return the report of a measurement, and an exit code.

    The exit code is 0 unless the run did not start or a signal stopped it.
    """
    with closing(CommandSession([target], "speed", overrides)) as session:
        workspace = Workspace(workspace_root(target))
        report = session.report(target, workspace, "speed", files="discard", **switches)
    not_started = NOT_STARTED if report.status == "not-started" else 0
    return CheckedReport(target, report, workspace), session.signalled or not_started
