"""Recipes for programs that crash or take too much, tried on programs that do."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("each try is forked, on Linux only", allow_module_level=True)

from fullgraph_compiler.analyses.recipes import try_recipes
from fullgraph_compiler.facts import Fact, RecipeTried, RunFinished, RunRequest, Script, TargetProblem
from fullgraph_compiler.processes.children import run_child

_SECONDS = 300
_PROGRAM = """\
import faulthandler, os, signal, sys
import torch

def backend(graph, inputs):
    if sys.argv[1] == "crash":
        faulthandler.disable()  # else pytest's dumps the stack into the output of the tests
        os.kill(os.getpid(), signal.SIGSEGV)
    while sys.argv[1] == "hang":
        signal.pause()
    hoard = []
    while sys.argv[1] == "hoard":
        hoard.append(b"1" * 10_000_000)
    if any(isinstance(item, torch.SymInt) for item in inputs):
        raise MemoryError("too dynamic")
    return graph

@torch.compile(backend=backend)
def f(x):
    return x.sin()

f(torch.ones(3))
f(torch.ones(4))
"""


def _tried(
    folder: Path,
    argument: str = "",
    patience: float = 120.0,
    memory: int | None = None,
    program: str = _PROGRAM,
) -> list[Fact]:
    path = folder / "program.py"
    path.write_text(program)
    script = Script(str(path), (argument,))
    request = RunRequest(1, script, "recipes", cache=str(folder), patience=patience, memory=memory)

    def work() -> list[Fact]:
        os.chdir(folder)
        facts: list[Fact] = []
        try_recipes(request, facts.extend, lambda: None)
        return facts

    ended = run_child(work, _SECONDS)
    assert ended.answered, ended
    facts: list[Fact] = ended.answer
    assert isinstance(facts[-1], RunFinished)
    return facts


def _errors(facts: list[Fact]) -> dict[str, str]:
    return {
        fact.recipe: fact.failure.error if fact.failure else ""
        for fact in facts
        if isinstance(fact, RecipeTried)
    }


def _told(facts: list[Fact]) -> list[tuple[str, str]]:
    return [(fact.severity, fact.message) for fact in facts if isinstance(fact, TargetProblem)]


def test_a_recipe_that_helps_is_told_with_its_advice(tmp_path: Path) -> None:
    facts = _tried(tmp_path, "dynamic")
    assert _errors(facts) == {
        "unmodified": "BackendCompilerFailed",
        "dynamic shapes off": "",
        "CUDA graphs off": "BackendCompilerFailed",
        "uncompiled": "",
    }
    (problem,) = (fact for fact in facts if isinstance(fact, TargetProblem))
    assert problem.message == "The program gets through with dynamic shapes off."
    assert "dynamic=False" in problem.hints[0]
    assert all(fact.memory > 0 for fact in facts if isinstance(fact, RecipeTried))


@pytest.mark.parametrize(
    ("argument", "limits", "error", "message"),
    [
        ("crash", {}, "SIGSEGV", "The program crashes: the process is ended by SIGSEGV."),
        ("hang", {"patience": 2.0}, "Hang", "The program hangs: it takes longer than 2 s."),
        (
            "hoard",
            {"memory": 2 << 30},
            "OutOfMemory",
            "The program uses too much memory: it uses more than 2 GiB.",
        ),
    ],
)
def test_each_try_ends_by_itself(
    tmp_path: Path, argument: str, limits: dict[str, float], error: str, message: str
) -> None:
    facts = _tried(tmp_path, argument, **limits)  # type: ignore[arg-type]
    assert list(_errors(facts).values()) == [error, error, error, ""]
    assert _told(facts) == [("error", message)]


_GRAPHS = """
import torch

@torch.compile(mode="reduce-overhead")
def f(x):
    return x.sin()

first = f(torch.ones(4, device="cuda"))
for _ in range(3):
    f(torch.ones(4, device="cuda"))
print(first + 1)
"""


@pytest.mark.gpu
def test_cuda_graphs_are_off_whatever_the_mode_says(tmp_path: Path) -> None:
    facts = _tried(tmp_path, program=_GRAPHS)
    assert _errors(facts) == {
        "unmodified": "RuntimeError",
        "dynamic shapes off": "RuntimeError",
        "CUDA graphs off": "",
        "uncompiled": "",
    }
    assert _told(facts) == [("warning", "The program gets through with CUDA graphs off.")]
