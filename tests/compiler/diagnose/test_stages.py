"""What the stages compare of whole programs, without running one."""

from __future__ import annotations

import io
import os
import sys
import time
from pathlib import Path

import pytest
import torch

if sys.platform != "linux":
    pytest.skip("the stages of a program are forked, on Linux only", allow_module_level=True)

from fullgraph_compiler.cases.case import CaseGraph, CaseOperation, FailureCase
from fullgraph_compiler.cases.oracle import AnswerCache, FailureOracle
from fullgraph_compiler.diagnose import printed, programs, stages, wrappers
from fullgraph_compiler.diagnose.results import ResultRecorder
from fullgraph_compiler.facts import (
    Fact,
    Failure,
    FaultLocated,
    GraphUnchecked,
    MinifyRequest,
    ProgramRaised,
    RerunsSkipped,
    RunFinished,
    RunRequest,
    Script,
    StageChecked,
)
from fullgraph_compiler.minify import minifier
from fullgraph_compiler.processes.children import ChildResult, ForkedChild, run_child


@pytest.mark.parametrize(
    ("uncompiled", "captured", "compiled", "words"),
    [
        (["size 12"], ["size 12"], ["size 1"], "it prints `size 1`, but `size 12` uncompiled"),
        (["[2]"], ["[]"], ["[]"], "it prints `[]`, as under Dynamo alone, but `[2]` uncompiled"),
        (["a"], ["a"], ["a", "b"], "it prints `b`, but not uncompiled"),
        (["a", "b"], ["a", "b"], ["a"], "it does not print `b`, but does uncompiled"),
        (["12 ms"], ["13 ms"], ["14 ms"], ""),
        (["loss 0.25 at 0x7f00"], ["loss 0.25 at 0x7f01"], ["loss 2.5e-1 at 0x7f02"], ""),
        (["tensor([1., -2.])"], ["tensor([1., -2.])"], ["tensor([ 1.0000, -2.0001])"], ""),
        (["a", "b"], ["b", "a"], ["b", "a"], ""),
        ([], [], [], ""),
    ],
)
def test_what_a_program_prints_is_compared_but_for_what_may_vary(
    uncompiled: list[str], captured: list[str], compiled: list[str], words: str
) -> None:
    assert printed.difference(uncompiled, captured, compiled) == words


def test_printed_lines_are_kept_and_still_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), write_through=True)
    monkeypatch.setattr(sys, "stdout", out)
    lines = printed.PrintedLines()
    lines.install()
    print("a", 1)
    print("b")
    lines.save(tmp_path / "lines")
    assert printed.load(tmp_path / "lines") == ["a 1", "b"]
    assert out.buffer.getvalue() == b"a 1\nb\n"
    assert type(sys.stdout) is io.TextIOWrapper, "what Dynamo may trace is Python's own"


@pytest.mark.parametrize("compiled", [False, True])
def test_processes_that_an_uncompiled_program_starts_compile_nothing(compiled: bool) -> None:
    def look() -> tuple[str | None, int]:
        recorder = ResultRecorder(compiled=compiled)
        recorder.install()
        torch.compile(torch.sin, backend="eager")(torch.ones(2))
        return os.environ.get("TORCHDYNAMO_DISABLE"), recorder.calls

    variable = None if compiled else "1"
    assert run_child(look).answer == (variable, 1), "what this process compiles is still recorded"


def test_an_exception_that_the_program_caught_is_no_failure() -> None:
    caught = ProgramRaised("RecompileError", "again", (), "", caught=True)
    raised = ProgramRaised("ValueError", "no", (), "")

    def ran(*facts: Fact, unobserved: int = 0) -> programs.ProgramResult:
        end = RunFinished("finished", 1.0, unobserved=unobserved)
        return programs.how_it_ran(ChildResult((*facts, end), answered=True))

    assert ran(caught, unobserved=2) == programs.ProgramResult(None, 0.0, others=True)
    assert not ran(caught).others
    assert ran(caught, raised).raised == (raised,)


def test_a_graph_that_cannot_be_written_is_not_checked() -> None:
    names_nothing = CaseOperation("y", "call_method", "sin", ())
    case = FailureCase("dynamo", "inductor", CaseGraph(("x",), (names_nothing,), ()), (), compile_id="0/0")
    facts: list[Fact] = []
    found = stages._climb_with(case, FailureOracle(1.0, AnswerCache()), facts.extend, 1)
    assert isinstance(found, GraphUnchecked)
    assert facts == [found]
    assert (found.compile_id, found.reason.partition(":")[0]) == ("0/0", "it cannot be copied into a program")


WHOLE = stages.Fault(FaultLocated(1, "compiled", "uncompiled", Failure("error", "RuntimeError", "no"), ""))
OTHERS = GraphUnchecked("", stages.OF_OTHER_PROCESSES)


@pytest.mark.parametrize(
    ("faults", "unchecked", "words"),
    [
        ([], [], "its results are right for the inputs of one call"),
        ([], [OTHERS], f"but {stages.OF_OTHER_PROCESSES} was not checked"),
        ([], [OTHERS, GraphUnchecked("1/0", "it is x")], "but 1 graph was not checked, because it is x"),
        ([WHOLE], [OTHERS], "no single graph was found to fail"),
    ],
)
def test_a_minification_says_why_it_has_nothing_to_shrink(
    faults: list[stages.Fault], unchecked: list[GraphUnchecked], words: str
) -> None:
    fault = faults[0] if faults else None
    request = MinifyRequest(1, Script("a.py"), "repro.py", "")
    assert words in minifier._nothing(faults, unchecked, fault, request)


REQUEST = RunRequest(1, Script("a.py"), "stages")
RAISED = ProgramRaised("ValueError", "no", (), "")
WRONG = Failure("accuracy", "Numbers", "x is off by 1")


def program_runs(
    monkeypatch: pytest.MonkeyPatch, *raised: Fact, reaches_others: bool, wraps: bool = False
) -> list[Fact]:
    """Have the first two runs of a program end at once; return the list that ``climb`` reports to."""

    def start(*_: object) -> ForkedChild:
        end = RunFinished("finished", 1.0, reaches_others=reaches_others)
        return ForkedChild(lambda: (*raised, end), None)

    monkeypatch.setattr(stages, "has_gpu", lambda: True)  # nothing to warm up
    monkeypatch.setattr(wrappers, "places", lambda _: [()] if wraps else [])
    monkeypatch.setattr(programs, "start_uncompiled", start)
    monkeypatch.setattr(programs, "start_eager", start)
    return []


def climbed(facts: list[Fact]) -> list[stages.Fault]:
    oracle = FailureOracle(1.0, AnswerCache())
    return stages.climb(REQUEST, oracle, facts.extend, lambda: None, seeks_causes=True)[0]


@pytest.mark.parametrize("reaches_others", [False, True])
def test_a_program_that_reaches_others_does_not_run_again_without_wrapped_modules(
    reaches_others: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = program_runs(monkeypatch, RAISED, reaches_others=reaches_others, wraps=True)
    monkeypatch.setattr(programs, "start_unwrapped", lambda *_: ForkedChild(lambda: (RAISED,), None))
    climbed(facts)
    ran = any(isinstance(fact, StageChecked) and fact.stage == "unwrapped" for fact in facts)
    assert (ran, RerunsSkipped() in facts) == (not reaches_others, reaches_others)


def test_a_run_without_wrapped_modules_that_takes_too_long_tells_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    facts = program_runs(monkeypatch, RAISED, reaches_others=False, wraps=True)
    monkeypatch.setattr(programs, "start_unwrapped", lambda *_: ForkedChild(lambda: time.sleep(60), 0.1))
    (fault,) = climbed(facts)
    assert fault.located.stage == "uncompiled"
    checked = [fact.stage for fact in facts if isinstance(fact, StageChecked)]
    assert checked == ["uncompiled", "eager"]


@pytest.mark.parametrize("reaches_others", [False, True])
def test_a_program_that_reaches_others_does_not_run_again_for_the_cause_of_a_wrong_call(
    reaches_others: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = program_runs(monkeypatch, reaches_others=reaches_others)
    sought: list[object] = []
    monkeypatch.setattr(stages, "_difference", lambda _: (WRONG, 1))
    monkeypatch.setattr(stages, "find_cause", lambda *_, **__: sought.append(1))
    monkeypatch.setattr(programs, "record", lambda *_: None)
    (fault,) = climbed(facts)
    assert fault.located.failure == WRONG
    assert (bool(sought), RerunsSkipped() in facts) == (not reaches_others, reaches_others)


@pytest.mark.parametrize("reaches_others", [False, True])
@pytest.mark.parametrize(
    ("prints", "runs"), [(["a"], ["compiled", "fused"]), (["b"], ["compiled", "aligned", "fused"])]
)
def test_a_program_that_reaches_others_is_compiled_once(
    reaches_others: bool, prints: list[str], runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = program_runs(monkeypatch, reaches_others=reaches_others)
    ran: list[str] = []

    def run_compiled(
        _: RunRequest, folder: Path, settings: dict[str, object], *, keeps_results: str = ""
    ) -> programs.ProgramResult:
        ran.append(keeps_results or ("aligned" if settings else "compiled"))
        for stage, lines in (("uncompiled", ["a"]), ("eager", ["a"]), ("compiled", prints)):
            programs.printed(folder, stage).write_text("\n".join(lines), "utf-8")
        return programs.ProgramResult(None, 1.0)

    case = FailureCase("dynamo", "inductor", CaseGraph(("x",), (), ()), ("bfloat16",), compile_id="0/0")  # type: ignore[arg-type]
    for name, value in {
        "_difference": (None, 0),
        "saved": [case],
        "_distinct": [case],
        "_climb_with": None,
        "_may_draw": True,
        "noise_in": None,
        "find_cause": None,
        "drawn_in": (),
        "half_difference": "",
    }.items():
        monkeypatch.setattr(stages, name, lambda *_, _value=value, **__: _value)
    monkeypatch.setattr(programs, "run_compiled", run_compiled)
    assert climbed(facts) == []
    assert ran == (runs[:1] if reaches_others else runs)
    assert (RerunsSkipped() in facts) == reaches_others
