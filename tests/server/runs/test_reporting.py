"""Reports of a run that is on: when there is one, and what takes the place of an earlier one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from fullgraph_compiler.facts import Fact, FrameStarted, RunFinished, Status, TargetProblem
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.runs.partial_reports import PartialReports, is_worth_showing
from fullgraph_server.workspace.workspace import Workspace

FRAME = FrameStarted("0/0", "f", "/w/model.py", 1)
PROBLEM = TargetProblem("warning", "a finding")


class LaunchNotes:
    """Facts, what was reported of them, and a way to wait for it."""

    def __init__(self, workspace: Workspace, facts: Sequence[Fact] = ()) -> None:
        self.facts = list(facts)
        self.reports: list[Report] = []
        self.event = asyncio.Event()
        self.reporting = PartialReports(self.fold, self.take)
        self._workspace = workspace

    def fold(self) -> Report:
        return fold("/w/model.py", 1, "2.13", tuple(self.facts), self._workspace)

    def take(self, report: Report) -> None:
        self.reports.append(report)
        self.event.set()


@pytest.fixture
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return Workspace(tmp_path_factory.mktemp("w"))


async def test_a_finding_is_reported_before_the_end_and_nothing_without_one(workspace: Workspace) -> None:
    told = LaunchNotes(workspace)
    for fact in (FRAME, PROBLEM):
        told.facts.append(fact)
        told.reporting.more()
    await asyncio.wait_for(told.event.wait(), 30)
    (report,) = told.reports
    assert (report.status, len(report.findings)) == (None, 1)
    told.facts.append(RunFinished("finished", 1.0, 0))
    told.reporting.end()
    assert (await told.reporting.finish()).status == "finished"
    assert told.reports[-1].status == "finished"


async def test_facts_that_come_while_a_report_is_made_are_in_the_next(workspace: Workspace) -> None:
    class Late(LaunchNotes):
        def fold(self) -> Report:
            report = super().fold()
            if len(self.facts) == 1:
                self.facts.append(TargetProblem("warning", "another"))
                self.reporting.more()
            return report

    told = Late(workspace, [PROBLEM])
    told.reporting.more()
    while len(told.reports) < 2:
        await asyncio.wait_for(told.event.wait(), 30)
        told.event.clear()
    assert [len(report.findings) for report in told.reports] == [1, 2]
    told.reporting.close()


async def test_where_nobody_wants_unfinished_reports_only_the_last_is_made() -> None:
    folded = []

    def make() -> Report:
        folded.append(1)
        return Report("target", 1, status="finished")

    reporting = PartialReports(make, None)
    reporting.more()
    reporting.end()
    assert (await reporting.finish()).status == "finished"
    assert len(folded) == 1


@pytest.mark.parametrize(
    ("status", "findings", "reported"),
    [("finished", False, True), ("cancelled", False, False), ("cancelled", True, True)],
)
async def test_a_run_that_was_cancelled_before_it_found_anything_leaves_the_earlier_report(
    workspace: Workspace, status: Status, findings: bool, reported: bool
) -> None:
    told = LaunchNotes(workspace, [FRAME, *([PROBLEM] if findings else []), RunFinished(status, 1.0)])
    told.reporting.end()
    report = await told.reporting.finish()
    assert bool(told.reports) == is_worth_showing(report) == reported
