"""Run targets one after the other, and hand their reports to a format."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence

from fullgraph_compiler.facts import Depth, Fact, RunRequest, Severity

from ..engine.fold import fold
from ..workspace.targets import Target, problem_facts
from ..workspace.workspace import Workspace
from .formats import Checked, Format
from .session import NOT_STARTED, RunOptions, Session, workspace_root

FAIL_ON: Mapping[str, frozenset[Severity]] = {
    "break": frozenset({"error", "warning"}),
    "recompile": frozenset({"error", "warning", "information"}),
    "failure": frozenset({"error"}),
    "never": frozenset(),
}
"""Which severities make the exit code 1."""

_FOUND = 1


def check_targets(
    targets: Sequence[Target],
    options: RunOptions,
    write: Format,
    fail_on: str = "failure",
    depth: Depth = "graph",
) -> int:
    """Run the targets, write their reports to stdout, and return the exit code."""
    check = _Check(Session(options), FAIL_ON[fail_on], depth)
    try:
        write(check.reports(targets), len(targets), sys.stdout)
    finally:
        check.session.close()
    return check.exit_code


class _Check:
    def __init__(self, session: Session, failing: frozenset[Severity], depth: Depth) -> None:
        self.session = session
        self._failing = failing
        self._depth = depth
        self._not_started = False
        self._found = False

    @property
    def exit_code(self) -> int:
        return self.session.signalled or (NOT_STARTED if self._not_started else _FOUND if self._found else 0)

    def reports(self, targets: Sequence[Target]) -> Iterator[Checked]:
        """Each report as soon as its run is over, until a signal stops everything."""
        for target in targets:
            checked = self._check(target)
            self._not_started |= checked.report.status == "not-started"
            self._found |= any(finding.severity in self._failing for finding in checked.report.findings)
            yield checked
            if self.session.signalled:
                return

    def _check(self, target: Target) -> Checked:
        facts: list[Fact] = list(problem_facts(target))
        workspace = Workspace(workspace_root(target))
        request = RunRequest(1, target.program, self._depth)
        torch = self.session.execute(target, request, facts.extend)
        report = fold(target.id, 1, torch, facts, workspace, target.filename, self._depth)
        return Checked(target, report, workspace)
