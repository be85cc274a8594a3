"""What a verdict rests on: the rest of a function, the whole compiler, and what Fullgraph fails at."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fullgraph_compiler.facts import (
    CompareRequest,
    Fact,
    LeftBehind,
    ResultsCompared,
    RunFinished,
    RunRequest,
    StatementsTried,
    TargetProblem,
)
from fullgraph_server.fixes.changes import removes_too
from fullgraph_server.fixes.editing import replaced
from fullgraph_server.fixes.experiments import ExperimentState
from fullgraph_server.fixes.model import Fix, RunCounts, Verdict
from fullgraph_server.fixes.printed import is_rounded, own_text
from fullgraph_server.fixes.prover import EditProver, _of_trials
from fullgraph_server.fixes.search import judged_by_run
from fullgraph_server.fixes.words import verdict_words
from fullgraph_server.report.model import Finding, Report
from fullgraph_server.runs.plan import RunPlan
from fullgraph_server.runs.schedule import AT_ONCE, processors
from fullgraph_server.workers.crash import REPORT_IT
from fullgraph_server.workers.settings import RunSettings
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.targets import script_target
from fullgraph_server.workspace.workspace import Workspace

EQUAL = StatementsTried(1, 9)
VALUE = StatementsTried(1, 9, difference="`s`: by up to 1.0e+00")
TYPE = StatementsTried(1, 9, difference="`s`: a tensor, before 1", depends_on_use=True)
ALONE = StatementsTried(1, 0, problem="They need what is elsewhere.")
UNTAKEN = StatementsTried(1, 9, untaken=("line 7: `x > 0` was never true",))
NOTHING = StatementsTried(1, 0)
FIX = Fix("rule", "", "", "safe", "", ())
STATE = ExperimentState({}, Report("", 1), "", Path())


@pytest.mark.parametrize(
    ("narrow", "wide", "expected"),
    [
        ([EQUAL], [VALUE], [EQUAL]),
        ([], [VALUE], []),
        ([VALUE], [EQUAL], [VALUE]),
        ([UNTAKEN], [EQUAL], [UNTAKEN]),
        ([TYPE, VALUE], [EQUAL], [TYPE, VALUE]),
        ([TYPE], [EQUAL], [EQUAL]),
        ([ALONE], [EQUAL], [EQUAL]),
        ([NOTHING], [EQUAL], [EQUAL]),
        ([EQUAL, TYPE], [UNTAKEN], [UNTAKEN]),
        ([TYPE], [VALUE], [VALUE]),
        ([TYPE], [ALONE], [TYPE]),
        ([TYPE], [], [TYPE]),
    ],
)
async def test_the_rest_of_a_function_decides_only_where_values_do_not(
    narrow: list[StatementsTried],
    wide: list[StatementsTried],
    expected: list[StatementsTried],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def tried(_: EditProver, __: ExperimentState, ___: Fix, parts: Any) -> list[StatementsTried]:
        return narrow if parts is replaced else wide

    monkeypatch.setattr(EditProver, "_tried_of", tried)
    prover = EditProver(None, None, Path())  # type: ignore[arg-type]
    assert await prover._try(STATE, FIX) == expected


def test_what_was_never_tried_is_not_equal() -> None:
    assert _of_trials([EQUAL]) == ""
    assert "There are no values for them" in _of_trials([EQUAL, NOTHING])


class _Worker:
    """A run that a worker answers with the next facts."""

    torch = "2.13"

    def __init__(self, answers: list[list[Fact]], asked: list[Any], request: Any) -> None:
        asked.append(request)
        self._facts = answers.pop(0) if len(answers) > 1 else answers[0]

    async def execute(self, on_facts: Any) -> None:
        on_facts(self._facts)

    def cancel(self) -> None:
        """Nothing is on."""


FAILED: list[Fact] = [
    TargetProblem("error", "The worker failed: EOFError", (REPORT_IT,)),
    RunFinished("crashed", 0.0),
]


def _prover(tmp_path: Path, answers: Mapping[type, list[list[Fact]]]) -> tuple[EditProver, list[Any]]:
    """A prover whose workers answer by the kind of the request, and what they are asked."""
    path = tmp_path / "program.py"
    path.write_text("x = 1\n")
    settings = RunSettings(sys.executable, tmp_path, {})
    plan = RunPlan(script_target(str(path), tmp_path), settings, Workspace(tmp_path))
    asked: list[Any] = []

    def start(_: RunPlan, request: Any, __: Any) -> Any:
        return _Worker(answers[type(request)], asked, request)

    return EditProver(plan, start, tmp_path), asked


def _without_inductor(tmp_path: Path) -> Iterator[ExperimentState]:
    """The states of a program before and after an edit, of runs that left TorchInductor out."""
    for text in "ab":
        report, record = Report("", 1, status="finished"), tmp_path / text
        yield ExperimentState({"f": text}, report, "", record, left_out=("TorchInductor",))


EDIT = Fix("rule", "", "", "safe", "", (), replaces=False)
SAME = ResultsCompared(1, "", ("results",))


async def test_a_comparison_that_fullgraph_fails_at_is_made_again(tmp_path: Path) -> None:
    prover, asked = _prover(tmp_path, {CompareRequest: [FAILED, [SAME, RunFinished("finished", 0.0)]]})
    assert await prover.compare(tmp_path / "a", tmp_path / "b") == SAME
    assert len(asked) == 2


async def test_what_fullgraph_fails_at_twice_is_not_tried_rather_than_refused(tmp_path: Path) -> None:
    prover, _ = _prover(tmp_path, {CompareRequest: [FAILED], RunRequest: [[RunFinished("finished", 0.0)]]})
    base = await prover.as_it_is()
    finding = Finding("graph-break", "GB0170", "warning", "breaks", Span("f", 1, 1, 1, 2))
    before = replace(base, report=replace(base.report, findings=(finding,)))
    verdict, _ = await prover.prove(base, before, EDIT, finding)
    assert not verdict.tried, verdict.reason
    assert verdict_words(verdict, EDIT) == "not tried: The worker failed: EOFError"
    prover, _ = _prover(tmp_path, {RunRequest: [FAILED]})
    base = await prover.as_it_is()
    verdict, _ = await prover.prove(base, base, EDIT, finding)
    assert not verdict.tried


@pytest.mark.parametrize(
    ("alone", "differs", "reason", "seen"),
    [
        (["finished"], [""], "", "one run with TorchInductor"),
        (["raised", "finished"], [""], "with TorchInductor the program raises an error", ""),
        (["raised", "raised"], [""], "it cannot be run with TorchInductor: even without an edit", ""),
        (["crashed", "finished"], [""], "with TorchInductor the program crashes", ""),
        (["timeout", "finished"], [""], "with TorchInductor the program takes too long", ""),
        (["finished"] * 2, ["x", ""], "", "which draws random numbers or rounds differently"),
        (["finished"] * 3, ["x", "x", ""], "", "which draws random numbers or rounds differently"),
        (["finished"] * 3, ["x", "x", "x", ""], "", "which rounds differently, about as much as without"),
        (["finished"] * 3, ["x"], "with TorchInductor results differ: x", ""),
    ],
    ids=[
        "runs",
        "raises",
        "fails already",
        "crashes",
        "hangs",
        "random",
        "compiled otherwise",
        "rounding",
        "other results",
    ],
)
async def test_an_edit_is_verified_only_with_a_run_of_the_whole_compiler(
    alone: list[str], differs: list[str], reason: str, seen: str, tmp_path: Path
) -> None:
    compared: list[list[Fact]] = [
        [ResultsCompared(1, words, ()), RunFinished("finished", 0.0)] for words in differs
    ]
    runs: list[list[Fact]] = [[RunFinished(status, 0.0)] for status in alone]  # type: ignore[arg-type]
    prover, asked = _prover(tmp_path, {CompareRequest: compared, RunRequest: runs})
    base, after = _without_inductor(tmp_path)
    found, basis = await prover._alone(base, after, EDIT)
    assert reason in found
    assert bool(found) == bool(reason)
    assert seen in basis
    assert all(item.depth == "alone" for item in asked if isinstance(item, RunRequest))
    assert len([item for item in asked if isinstance(item, RunRequest)]) == len(alone)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [(6, 6, ""), (6, 4, ""), (0, 6, "with TorchInductor"), (4, 6, "with TorchInductor 6 recompilations")],
    ids=["as often", "less often", "only with the edit", "more often"],
)
async def test_what_torchinductor_compiles_again_without_the_edit_refuses_no_edit(
    before: int, after: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = Finding("recompile", "recompile", "information", "again", Span("f", 1, 1, 1, 2), count=1)

    async def alone(_: EditProver, state: ExperimentState, __: Any) -> ExperimentState:
        count = before if state.texts == {"f": "a"} else after
        findings = (replace(again, count=count),) if count else ()
        return replace(state, report=replace(state.report, findings=findings))

    compared: list[Fact] = [SAME, RunFinished("finished", 0.0)]
    prover, _ = _prover(tmp_path, {CompareRequest: [compared]})
    monkeypatch.setattr(EditProver, "_run_alone", alone)
    was, now = _without_inductor(tmp_path)
    found, basis = await prover._alone(was, now, EDIT)
    assert reason in found
    assert bool(found) == bool(reason)
    assert basis == ("" if reason else "one run with TorchInductor")


def test_what_is_gone_is_gone_with_the_whole_compiler_too() -> None:
    again = Finding("recompile", "recompile", "information", "again", Span("f", 1, 1, 1, 2), count=1)
    none, one, two = (
        Report("", 1, status="finished", findings=(replace(again, count=count),) if count else ())
        for count in range(3)
    )
    assert removes_too(one, none, two, one)
    assert not removes_too(one, none, one, one)
    assert removes_too(none, none, one, one)


async def test_a_program_that_asks_for_no_torchinductor_was_run_as_it_is(tmp_path: Path) -> None:
    prover, asked = _prover(tmp_path, {})
    assert await prover._alone(STATE, STATE, EDIT) == ("", "")
    assert asked == []


async def test_numbers_that_vary_from_run_to_run_are_not_compared(tmp_path: Path) -> None:
    seconds, other = (
        LeftBehind(f"`M`.{name}[0] of call 1 of `M`", "2, before 1") for name in ("seconds", "n")
    )
    ended = RunFinished("finished", 0.0)
    told = [[ResultsCompared(1, "", ("results",), numbers=(seconds,)), ended]]
    told += [
        [ResultsCompared(1, "", ("results",), numbers=numbers), ended] for numbers in ((seconds,), (other,))
    ]
    prover, _ = _prover(tmp_path, {CompareRequest: told, RunRequest: [[ended]]})
    assert await prover.nondeterminism(await prover.as_it_is()) == ""
    base, after = (ExperimentState({"f": text}, STATE.report, "", tmp_path / text) for text in "ab")
    compared = await prover._same(base, after, EDIT)
    assert isinstance(compared, ResultsCompared)
    assert "not `M`.seconds, which differs each time" in prover._basis(compared, [], EDIT)
    again = replace(after, record=tmp_path / "c")
    assert await prover._same(base, again, EDIT) == "results differ: `M`.n[0] of call 1 of `M`: 2, before 1"


def test_an_edit_with_a_mild_difference_is_unsafe() -> None:
    counts = RunCounts(1, 2, 0)
    verdict = Verdict(True, "", counts, counts, noticed="`x`: strides [1], before strides [2]")
    fix = replace(EDIT, change="It does.")
    judged = judged_by_run(fix, verdict).fix
    assert judged.safety == "unsafe"
    assert (
        judged.change == "It does. Other code may notice a difference: `x`: strides [1], before strides [2]."
    )
    assert judged_by_run(judged, verdict).fix == judged
    assert judged_by_run(fix, replace(verdict, noticed="")).fix == fix


async def test_few_runs_are_made_at_once_each_with_few_threads(tmp_path: Path) -> None:
    running, most, release = 0, 0, asyncio.Event()

    class _WaitingWorker(_Worker):
        async def execute(self, on_facts: Any) -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            if running == AT_ONCE:
                release.set()  # all that may run do
            await release.wait()
            running -= 1
            await super().execute(on_facts)

    prover, _ = _prover(tmp_path, {})
    asked: list[Any] = []
    answers: list[list[Fact]] = [[RunFinished("finished", 0.0)]]
    prover.start = lambda _, request, __: _WaitingWorker(answers, asked, request)  # type: ignore[assignment,return-value]
    await asyncio.gather(*(prover.state({"f": str(number)}) for number in range(3 * AT_ONCE)))
    assert most == AT_ONCE
    assert len(asked) == 3 * AT_ONCE
    assert all(0 < request.threads * AT_ONCE <= max(AT_ONCE, processors()) for request in asked)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("loss 0.123456789 (step 3)", "loss 0.123456801 (step 3)", True),
        ("loss 1.5e-07", "loss 1.50001e-07", True),
        ("tensor([1.0000, -2.5])", "tensor([1.0000, -2.5001])", True),
        ("loss 0.1234", "loss 0.1235", False),
        ("loss 0.5", "loss -0.5", False),
        ("step 3 of 0.5", "step 4 of 0.5", False),
        ("loss 0.5", "Loss 0.50001", False),
        ("version 1.2.3", "version 1.2.4", False),
        ("0.5 0.5", "0.5", False),
    ],
)
def test_printed_numbers_may_differ_by_rounding_alone(before: str, after: str, expected: bool) -> None:
    assert is_rounded(before, after) is expected


OF_TORCH = "Converting a tensor to a scalar.\nConsider x. (Triggered internally at /pytorch/a.cpp:8.)\n"


@pytest.mark.parametrize(
    ("printed", "own"),
    [
        (
            "1\n/w/a.py:5: UserWarning: mine\n  warn('mine')\n2\n",
            "1\n/w/a.py: UserWarning: mine\n  warn('mine')\n2\n",
        ),
        ("/w/a.py:5: UserWarning: mine\n2\n", "/w/a.py: UserWarning: mine\n2\n"),
        (f"1\n/w/a.py:5: UserWarning: {OF_TORCH}  self.loss = float(loss)\n2\n", "1\n2\n"),
        ("1\n/v/torch/a.py:5: UserWarning: text\n  warn('text')\n  2\n", "1\n  2\n"),
    ],
    ids=["of the program", "without a line of code", "of torch's C++ code", "of torch"],
)
def test_warnings_of_torch_and_rows_do_not_count_as_printed(printed: str, own: str) -> None:
    assert own_text(printed) == own
