"""Reports of a run that is on: when there is one, and what takes the place of an earlier one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from fullgraph_compiler.facts import FrameStarted, RunFinished, Status, TargetProblem
from fullgraph_server.engine import reporting as module
from fullgraph_server.engine.report import Report
from fullgraph_server.engine.reporting import Reporting
from fullgraph_server.workspace.targets import script_target
from fullgraph_server.workspace.workspace import Workspace

FRAME = FrameStarted("0/0", "f", "/w/model.py", 1)
PROBLEM = TargetProblem("warning", "a finding")


class Told:
    """What was reported, and a way to wait for it."""

    def __init__(self) -> None:
        self.reports: list[Report] = []
        self.event = asyncio.Event()
        target, workspace = script_target("/w/model.py", Path("/w")), Workspace(Path("/w"))
        self.reporting = Reporting(target, 1, "graph", workspace, lambda: "2.13", self.take)

    def take(self, report: Report) -> None:
        self.reports.append(report)
        self.event.set()


async def test_a_finding_is_reported_before_the_end_and_nothing_without_one() -> None:
    told = Told()
    told.reporting.take([FRAME])
    told.reporting.take([PROBLEM])
    await asyncio.wait_for(told.event.wait(), 30)
    (report,) = told.reports
    assert (report.status, len(report.findings)) == (None, 1)
    told.reporting.take([RunFinished("finished", 1.0, 0)])
    assert (await told.reporting.finish()).status == "finished"
    assert told.reports[-1].status == "finished"


async def test_facts_that_come_while_a_report_is_made_are_in_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = Told()
    fold = module.fold

    def fold_and_tell_more(*arguments: object) -> Report:
        if len(told.reporting.facts) == 1:
            told.reporting.facts.append(TargetProblem("warning", "another"))
        return fold(*arguments)

    monkeypatch.setattr(module, "fold", fold_and_tell_more)
    told.reporting.take([PROBLEM])
    while len(told.reports) < 2:
        await asyncio.wait_for(told.event.wait(), 30)
        told.event.clear()
    assert [len(report.findings) for report in told.reports] == [1, 2]
    told.reporting.close()


@pytest.mark.parametrize(
    ("status", "findings", "reported"),
    [("finished", False, True), ("cancelled", False, False), ("cancelled", True, True)],
)
async def test_a_run_that_was_cancelled_before_it_found_anything_leaves_the_earlier_report(
    status: Status, findings: bool, reported: bool
) -> None:
    told = Told()
    told.reporting.take([FRAME, *([PROBLEM] if findings else []), RunFinished(status, 1.0)])
    await told.reporting.finish()
    assert bool(told.reports) == told.reporting.told == reported
