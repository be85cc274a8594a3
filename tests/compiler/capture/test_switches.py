"""What a run does otherwise than the program says, and a run that is frozen after its warm-up."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from forked import observe
from fullgraph_compiler import facts as f

SIZES = """
import torch
import torch._dynamo.config

@torch.compile(backend="eager"{options})
def f(x):
    return x + 1

torch._dynamo.config.recompile_limit = 4
for size in (3, 4, 5, 6, 7, 8, 3):
    f(torch.ones(size))
"""
NAMES = """
import torch

class Block(torch.nn.Module):
    def forward(self, x):
        torch._dynamo.graph_break()
        return helper(x)

def helper(x):
    return x.cos()

block = torch.compile(Block(), backend="eager", fullgraph={fullgraph})
block(torch.ones(3))
"""
WARM = """
import torch

@torch.compile(backend="eager", fullgraph=True)
def whole(x, flag=False):
    return x + 1 if flag else x - 1

@torch.compile(backend="eager")
def broken(x):
    x = x.sin()
    print("here")
    return later(x)

def later(x):
    return x * 2

results = []
for size, flag in ((3, False), (3, False), (4, False), (3, True), (4, False)):
    results.append(whole(torch.ones(size), flag))  # row 19
    broken(torch.ones(size))
assert [result.sum().item() for result in results] == [0, 0, 0, 6, 0]
"""


def run(
    text: str, folder: Path, switches: f.Switches | None = None, depth: f.Depth = "graph", **words: Any
) -> list[f.Fact]:
    path = folder / "program.py"
    path.write_text(textwrap.dedent(text.format(**words)) if words else textwrap.dedent(text))
    facts = observe(f.Script(str(path)), folder, depth=depth, switches=switches)
    assert isinstance(facts[-1], f.RunFinished)
    assert facts[-1].status == "finished", facts[-2]
    return list(facts)


def compiled(facts: list[f.Fact]) -> list[str]:
    return [fact.function for fact in facts if isinstance(fact, f.FrameStarted)]


@pytest.mark.parametrize("options", ["", ", dynamic=True", ", dynamic=False"])
@pytest.mark.parametrize(
    ("switches", "compilations"),
    [
        (f.Switches(dynamic="on"), 1),
        (f.Switches(dynamic="automatic"), 2),
        (f.Switches(dynamic="off"), 4),
        (f.Switches(dynamic="off", recompile_limit=2), 2),
        (f.Switches(dynamic="off", recompile_limit=16), 6),
    ],
)
def test_sizes_and_limits_are_as_the_switches_say(
    tmp_path: Path, options: str, switches: f.Switches, compilations: int
) -> None:
    facts = run(SIZES, tmp_path, switches, options=options)
    assert len(compiled(facts)) == compilations
    limits = [fact.limit for fact in facts if isinstance(fact, f.RecompileLimit)]
    assert limits == {4: [4], 2: [2]}.get(compilations if switches.dynamic == "off" else 0, [])


@pytest.mark.parametrize(
    ("only", "functions"),
    [
        ("", ["forward", "forward"]),
        ("forward", ["forward", "forward"]),
        (r"Block\..*" if sys.version_info >= (3, 11) else "forward", ["forward", "forward"]),
        ("helper", ["helper"]),
        ("help", []),
    ],
)
def test_only_functions_of_a_name_are_compiled(tmp_path: Path, only: str, functions: list[str]) -> None:
    # Where the rest of `forward` is compiled, it takes what it calls with it.
    assert compiled(run(NAMES, tmp_path, f.Switches(only=only), fullgraph=False)) == functions


def test_a_function_that_is_left_out_may_ask_for_a_whole_graph(tmp_path: Path) -> None:
    assert compiled(run(NAMES, tmp_path, f.Switches(only="nothing"), fullgraph=True)) == []


def missed(facts: list[f.Fact]) -> list[tuple[str, int, str]]:
    """Function, row of the call, and what changed."""
    started = {fact.compile_id: fact for fact in facts if isinstance(fact, f.FrameStarted)}
    return [
        (
            started[fact.compile_id].function,
            started[fact.compile_id].stack[0].row,
            fact.failures[0].reason.partition(" mismatch")[0] if fact.failures else "",
        )
        for fact in facts
        if isinstance(fact, f.LateCompilation)
    ]


def test_compilations_after_the_warm_up_are_told_once(tmp_path: Path) -> None:
    facts = run(WARM, tmp_path, depth="late-compile")
    assert compiled(facts) == compiled(run(WARM, tmp_path)), "the program compiles as by itself"
    size, flag = "tensor 'x' size", "flag == False"
    assert missed(facts) == [
        ("whole", 19, size),
        ("broken", 20, size),
        ("broken", 20, size),  # what follows the break
        ("whole", 19, flag),
    ], "the last calls use what is compiled by then"
    failure = next(fact for fact in facts if isinstance(fact, f.LateCompilation)).failures[-1]
    assert (failure.source, failure.dimension, failure.expected, failure.actual) == ("L['x']", 0, "3", "4")
    assert failure.stack[-1].row == 6


def test_a_function_that_is_compiled_anew_in_each_call_is_one(tmp_path: Path) -> None:
    text = """
        import torch

        def f(x):
            return x + 1

        for size in (2, 3, 2):
            torch.compile(f, backend="eager")(torch.ones(size))
        """
    facts = run(text, tmp_path, depth="late-compile")
    assert compiled(facts) == ["f", "f"]
    assert [name for name, _, _ in missed(facts)] == ["f"]


def test_models_of_one_class_warm_up_by_themselves(tmp_path: Path) -> None:
    text = """
        import torch

        for size in (2, 3):
            torch.compile(torch.nn.Linear(size, size), backend="eager")(torch.ones(size))
        """
    facts = run(text, tmp_path, depth="late-compile")
    assert missed(facts) == []
    assert len(compiled(facts)) == 2


def test_a_longer_warm_up(tmp_path: Path) -> None:
    facts = run(WARM, tmp_path, f.Switches(warm_up=3), depth="late-compile")
    assert [name for name, _, _ in missed(facts)] == ["whole"]
    assert missed(run(WARM, tmp_path, f.Switches(warm_up=4), depth="late-compile")) == []
