"""What `torch.compile` returns for a module, where a program takes it for the module."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    Cause,
    Evidence,
    Fact,
    Failure,
    FaultLocated,
    FrameStarted,
    ModulesLoaded,
    ProgramRaised,
    RunFinished,
    StackFrame,
    StageChecked,
)
from fullgraph_server.report.answers.wrapped import wrapper_answer
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

FILE = "/w/pipe.py"
PROGRAM = """\
import torch
from lib import Base

class Model(torch.nn.Module): ...

def apply(parts):
    known = [part for part in parts if {look}]
    if not known:
        raise ValueError("none")

model = Model()
pipe.model = torch.compile(pipe.model, mode="default")
apply([pipe.model])
"""
COMPILE = (StackFrame(FILE, 12, "<module>", 13, 12, 54),)
RAISE = (StackFrame(FILE, 13, "<module>"), StackFrame(FILE, 9, "apply"))
RAISED = ProgramRaised("ValueError", "none", RAISE, "Traceback")
FAILURE = Failure("error", "ValueError", "none")
IN_PLACE = "Compile in place, `pipe.model.compile(mode='default')`, and continue to use `pipe.model`"
WRAPPED = Cause("wrapped", "", 0, 0, (Evidence("", "", "", COMPILE),), RAISE)


def findings(*facts: Fact, look: str = "isinstance(part, Model)", more: str = "") -> list[Finding]:
    text = PROGRAM.format(look=look) + more
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    first = FrameStarted("0/0", "Model.forward", FILE, 4), ModulesLoaded((FILE,))
    report = fold("pipe.py", 0, "2.13.0", (*first, *facts, RunFinished("raised", 2.0)), workspace)
    return list(report.findings)


@pytest.mark.parametrize(
    ("look", "gives"),
    [
        ("isinstance(part, Model)", "`isinstance(part, Model)` (line 7) is false"),
        ("type(part) in TABLE", "`type(part)` (line 7) is `OptimizedModule`"),
        ("part.__class__ is Model", "`part.__class__` (line 7) is `OptimizedModule`"),
        (
            "'w' in dict(part.named_parameters())",
            "`part.named_parameters()` (line 7) has names with `_orig_mod.`",
        ),
    ],
)
def test_an_error_behind_a_test_that_is_false_for_the_wrapper(look: str, gives: str) -> None:
    (found,) = findings(RAISED, look=look)
    assert found.message == "ValueError: none"
    assert found.explanation.startswith(
        "`torch.compile` on line 12 returns an `OptimizedModule`, not the module itself. For it, " + gives
    )
    assert found.hints[0].startswith(IN_PLACE)
    assert found.hints[1].endswith("the module itself, `pipe.model._orig_mod`.")


def test_a_module_without_a_name_is_compiled_by_that_of_the_result() -> None:
    text = SourceFile(FILE, "net = torch.compile(Net())\n")
    failure = Failure("accuracy", "Output", "it prints `0`, but `1` without the wrapper")
    cause = Cause("wrapped", "", 0, 0, (Evidence("", "", "", (StackFrame(FILE, 1, "<module>"),)),))
    answer = wrapper_answer(cause, failure, {FILE: text}.get)
    assert answer.hints[0].startswith("Compile in place, `net.compile()`, and continue to use `net`")


def test_a_module_of_torchs_own_class_is_not_compiled_in_place() -> None:
    text = SourceFile(FILE, "net = nn.Linear(2, 2)\nmodel = torch.compile(net)\nmodel.state_dict()\n")
    failure = Failure("accuracy", "Output", "it prints `0`, but `1` without the wrapper")
    cause = Cause("wrapped", "", 0, 0, (Evidence("", "", "", (StackFrame(FILE, 2, "<module>"),)),))
    answer = wrapper_answer(cause, failure, {FILE: text}.get)
    assert answer.hints == ("Look at the class and the names of the module itself, `model._orig_mod`.",)
    assert "`model.state_dict()` (line 3)" in answer.note


@pytest.mark.parametrize(
    ("look", "more"),
    [
        ("isinstance(part, torch.nn.Module)", ""),
        ("isinstance(part, Imported)", ""),
        ("isinstance(part, Options)", "class Options: ...\n"),
        ("part.ready", ""),
        ("isinstance(part, Model)", "plain = pipe.model._orig_mod\n"),
        ("isinstance(part, Model)", "torch.compile(other)\n"),
    ],
)
def test_an_error_that_may_be_of_something_else(look: str, more: str) -> None:
    (found,) = findings(RAISED, look=look, more=more)
    assert (found.explanation, found.hints) == ("", ())


def test_a_program_that_fails_because_of_the_wrapper() -> None:
    stages = (
        StageChecked("uncompiled", "", FAILURE, 1.0),
        StageChecked("unwrapped", "", None, 1.0),
        StageChecked("eager", "", FAILURE, 1.0),
    )
    located = FaultLocated(1, "uncompiled", "unwrapped", FAILURE, "", COMPILE, cause=WRAPPED)
    raised, found = findings(RAISED, *stages, located)
    assert (raised.explanation, raised.fault) == ("", 0)
    assert (found.span.row, found.severity) == (12, "error")
    assert found.message == "`torch.compile` returns an `OptimizedModule` here, not the module itself"
    assert found.explanation.startswith(
        "Its class differs from the module's, and the names of its parameters begin with `_orig_mod.`, "
        "even where nothing is compiled. Code that looks at classes or names: `isinstance(part, Model)` "
        "(line 7). With Dynamo disabled, the program also fails (ValueError: none); with the module itself, "
        "it does not."
    )
    assert "unwrapped   passes" in found.explanation
    assert found.hints[0].startswith(IN_PLACE)


def test_a_program_that_prints_something_else_because_of_the_wrapper() -> None:
    failure = Failure("accuracy", "Output", "it prints `0`, but `1` without the wrapper")
    located = FaultLocated(1, "uncompiled", "unwrapped", failure, "", COMPILE, cause=WRAPPED)
    (found,) = findings(StageChecked("uncompiled", "", None, 1.0), located)
    assert (found.severity, found.span.row) == ("warning", 12)
    assert "even with Dynamo disabled: it prints `0`, but `1` without the wrapper." in found.explanation


@pytest.mark.parametrize(
    ("itself", "words"),
    [
        (None, "passes when `torch.compile` returns each module itself"),
        (Failure("error", "AttributeError", "_orig_mod"), "it fails in another way (AttributeError)"),
        (FAILURE, "It fails without torch.compile too: the compiler is not at fault."),
    ],
)
def test_what_fails_with_dynamo_disabled_may_not_fail_without_torch_compile(
    itself: Failure | None, words: str
) -> None:
    stages = StageChecked("uncompiled", "", FAILURE, 1.0), StageChecked("unwrapped", "", itself, 1.0)
    (found,) = findings(RAISED, *stages, FaultLocated(1, "uncompiled", "", FAILURE, "", RAISE))
    assert words in found.explanation
