"""Run targets one after the other, and write their reports in a format."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from ..analyses.analysis import Analysis
from ..analyses.registry import analyses
from ..analyses.suitability import unsuited
from ..fixes.experiments import CannotTryError
from ..fixes.trying.advising import can_be_tried, outcomes_of, with_outcomes
from ..report.faults import is_incomplete
from ..report.model import Report
from ..runs.effective_settings import SettingOverrides
from ..workspace.targets import Target
from ..workspace.workspace import Workspace
from .fail_on import FAIL_ON
from .formats import CheckedReport, Format
from .known import KnownFindings
from .output import tell
from .session import NOT_STARTED, CommandSession, workspace_root

_FOUND = 1
_UNCHECKED = 3
"""The exit code if no checked graph is at fault, but not everything could be checked (``is_incomplete``)."""


def check_targets(
    targets: Sequence[Target],
    overrides: SettingOverrides,
    write: Format,
    fail_on: str = "failure",
    baseline: KnownFindings | None = None,
    analysis: Analysis | None = None,
) -> int:
    """Run an analysis on targets, write the reports to stdout; return the exit code.

    The default analysis is the ordinary run.
    """
    analysis = analysis or analyses()["graph"]
    once, timed = not analysis.repeats, analysis.timed
    with closing(CommandSession(targets, analysis.id, overrides, once=once, timed=timed)) as session:
        check = _CheckCommand(session, fail_on, analysis, baseline)
        write(check.reports(targets), len(targets), sys.stdout)
    message = baseline.end(complete=check.ran_all) if baseline else ""
    if message:
        tell(message)
    return check.exit_code


class _CheckCommand:
    def __init__(
        self, session: CommandSession, fail_on: str, analysis: Analysis, baseline: KnownFindings | None
    ) -> None:
        self.session = session
        self._failing = FAIL_ON[fail_on]
        self._wants_all = fail_on != "never"
        self._analysis = analysis
        self._baseline = baseline
        self._not_started = False
        self._found = False
        self._unchecked = False

    @property
    def ran_all(self) -> bool:
        """Whether every target was started, and no signal arrived."""
        return not (self._not_started or self.session.signalled)

    @property
    def exit_code(self) -> int:
        if self.session.signalled or self._not_started:
            return self.session.signalled or NOT_STARTED
        return _FOUND if self._found else _UNCHECKED if self._unchecked else 0

    def reports(self, targets: Sequence[Target]) -> Iterator[CheckedReport]:
        """Yield each report as soon as its run is over, until a signal stops everything."""
        for target in targets:
            checked = self._check(target)
            self._not_started |= checked.report.status == "not-started"
            self._found |= any(map(self._failing, checked.new_findings))
            # Code after the time limit was not checked, so the run does not pass.
            self._found |= self._wants_all and checked.report.status == "timeout"
            self._unchecked |= is_incomplete(checked.report)
            yield checked
            if self.session.signalled:
                return

    def _check(self, target: Target) -> CheckedReport:
        workspace = Workspace(workspace_root(target))
        report = self.session.report(target, workspace, self._analysis.id)
        if self._analysis.id == "graph":
            report = self._with_tried_advice(target, workspace, report)
        known = self._baseline.of(report, workspace.root) if self._baseline else None
        return CheckedReport(target, report, workspace, known)

    def _with_tried_advice(self, target: Target, workspace: Workspace, report: Report) -> Report:
        """Try a report's advice if this does not take long; return it with the outcomes."""
        if self.session.signalled or report.dry or unsuited(target, "fix") or not can_be_tried(report):
            return report
        with tempfile.TemporaryDirectory(prefix="fullgraph-") as folder:
            search = partial(outcomes_of, report=report)
            try:
                outcomes = self.session.prove(target, workspace, Path(folder), search)
            except CannotTryError:
                return report
            return with_outcomes(report, outcomes)
