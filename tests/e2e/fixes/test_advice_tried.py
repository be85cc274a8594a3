"""The advice of a short run is tried with the real compiler: what helped is told so, what did not is gone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fullgraph_server.cli import main
from fullgraph_server.fixes.trying import advising

SIZES = """
import torch

@torch.compile(backend="eager")
def f(x):
    return x * 2

for size in (3, 5, 7):
    f(torch.ones(size, 2))
"""
MARKED = (
    "Call `torch._dynamo.mark_dynamic(x, 0)` before the compiled call, or compile with `dynamic=True`, to "
    "keep one graph for every size."
)
TILED = """
import torch

@torch.compile(backend="eager")
def tiled(x):
    return torch.full((3,), x.shape[0]) + len(str(x.shape[0]))

for size in (2, 3, 4):
    tiled(torch.ones(size))
"""
"""The size is made a string, so that the code behind the graph break is compiled for each all the same."""
TYPES = """
import torch

@torch.compile(backend="eager")
def f(x, y):
    return x.sum() + y.sum()

for dtype in (torch.float32, torch.float64, torch.float32):
    x, y = torch.ones(3, dtype=dtype), torch.ones(4, dtype=dtype)
    f(x, y)
"""
CONVERT = "Convert it before the compiled call, if results may have another dtype and precision:"
LIMIT = """
import torch

class Pairs(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.updates = 0

    def forward(self, x):
        return x + self.updates

pairs = Pairs()
compiled = torch.compile(pairs, backend="eager", fullgraph=True)
for _ in range(12):
    compiled(torch.ones(2))
    pairs.updates += 1
"""
"""The limit ends it, so that the advice lets it go on."""
UNSPECIALIZED = "allow_unspec_int_on_nn_module = True` and compile with `dynamic=True`."
BRANCH = """
import torch

@torch.compile(backend="eager"{})
def f(x):
    x = x + 1
    if x.sum() > 0:
        x = x * 2
    return x

f(torch.ones(3))
"""
WHERE = "Choose with `torch.where`: with `x = torch.where(x.sum() > 0, x * 2, x)` (line 7)"
CAUGHT = """
import torch

def rows(x, axis):
    try:
        return x.select(axis, 0)
    except IndexError:
        return x

@torch.compile(backend="eager")
def f(x):
    return rows(x, 7) + 1

f(torch.ones(3))
"""
"""The error of a call with fake tensors is not caught by the ``except`` that Dynamo traces."""
BY_CLASS = """
import torch

class Head(torch.nn.Module):
    def forward(self, x):
        return x + 1

head = Head()
head = torch.compile(head, backend="eager")
head(torch.ones(2))
if type(head) is not Head:
    raise ValueError("no head")
"""
RATE = """
import torch

net = torch.nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters(), lr=0.1)

@torch.compile(backend="eager")
def step():
    opt.step()

for rate in (0.1, 0.2, 0.3):
    net(torch.ones(2)).sum().backward()
    opt.param_groups[0]["lr"] = rate
    step()
print(round(opt.param_groups[0]["lr"], 3))
"""
LOCKED = """
import threading, torch

lock = threading.Lock()

def scaled(x, factor):
    return x * len(factor)

@torch.compile(backend="eager")
def f(x, factors):
    with lock:
        for factor in factors:
            x = scaled(x, factor)
        return x

f(torch.ones(3), ("a", "bc", "def"))
"""
"""The break leaves the function in the loop to be compiled by itself, for each text."""
LOST = """
import torch

def shown(x):
    print("x", x)
    return x + 1

@torch.compile(backend="eager")
def f(x):
    return shown(x) * 2

f(torch.ones(2))
"""
"""In a function that Dynamo traces within another, torch drops what it should print after the graph."""
SHAPED = """
import torch

@torch.compile(backend="eager")
def f(x):
    if x.sum() > 2:
        return x.sum()
    return x

f(torch.ones(3))
"""
"""By ``torch.where`` the result would have another shape."""
WRONG = """
import torch

@torch.compile(backend="eager")
def f(x):
    return x * 2

f(torch.ones(3))
raise ValueError("of the program")
"""
HALVED = """
import torch
from torch.export import Dim, export

class Halves(torch.nn.Module):
    def forward(self, x):
        return x.reshape(x.shape[0] // 2, 2, 3)

export(Halves(), (torch.ones(4, 3),), dynamic_shapes=({0: Dim("n")},))
"""
EXPORTED = """
import torch

class Head(torch.nn.Module):
    def forward(self, x):
        return x + 1

program = torch.export.export(Head(), (torch.ones(1, 2),))
program.module()(torch.ones(4, 2))
"""
REACHING = SIZES + "\nimport subprocess, sys\nsubprocess.run([sys.executable, '-c', ''])\n"


@pytest.fixture(autouse=True)
def _on_any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advising, "_LONGEST", 1e6)
    monkeypatch.setattr(advising, "_LONGEST_OF_BREAKS", 1e6)


def findings(folder: Path, program: str) -> list[Any]:
    """The findings of a check in JSON."""
    file = folder / "a.py"
    file.write_text(program)
    result = CliRunner().invoke(main, ["check", str(file), "--format", "json", "--python", sys.executable])
    assert result.exit_code in (0, 1), result.output
    assert file.read_text() == program
    return json.loads(result.stdout)["findings"]  # type: ignore[no-any-return]


def hints(folder: Path, program: str, code: str = "recompile") -> list[str]:
    return [hint for item in findings(folder, program) if item["code"] == code for hint in item["hints"]]


def test_what_helps_is_told_without_a_doubt(tmp_path: Path) -> None:
    assert hints(tmp_path, SIZES) == [MARKED]


def test_what_does_not_help_is_not_told(tmp_path: Path) -> None:
    first, *_ = [item for item in findings(tmp_path, TILED) if item["code"] == "recompile"]
    assert first["message"] == "recompiled: size of `x` at dimension 0 was 2, is now 3"
    assert first["hints"] == []


def test_what_changes_together_is_tried_together(tmp_path: Path) -> None:
    assert hints(tmp_path, TYPES) == [
        f"{CONVERT} `x.to(torch.float32)`.",
        f"For `y`, too: {CONVERT} `y.to(torch.float32)`.",
    ]


def test_what_lets_a_program_go_on_helps(tmp_path: Path) -> None:
    first, last = hints(tmp_path, LIMIT, "recompile-limit")
    assert first.endswith(UNSPECIALIZED)
    assert last.endswith(" are meant to exist. (Not tried.)")


def test_what_others_can_tell_does_not_run_again(tmp_path: Path) -> None:
    assert hints(tmp_path, REACHING) == [f"{MARKED} (Not tried.)"]


def test_a_break_comes_with_the_line_that_removes_it(tmp_path: Path) -> None:
    assert hints(tmp_path, BRANCH.format(""), "GB0170") == [f"{WHERE}, this break is gone."]


def test_an_error_comes_with_what_ends_it(tmp_path: Path) -> None:
    assert hints(tmp_path, BRANCH.format(", fullgraph=True"), "GB0170") == [
        f"{WHERE}, the program finishes.",
        "Without `fullgraph=True` (line 4), the program finishes, with 1 graph break.",
    ]


def test_a_function_that_dynamo_fails_at_is_kept_out_of_graphs(tmp_path: Path) -> None:
    way = "With `@torch.compiler.disable` above `rows` (line 4), the program finishes"
    assert f"{way}, with 1 graph break." in hints(tmp_path, CAUGHT, "capture-error")


def test_a_module_is_compiled_in_place_where_its_class_is_asked_for(tmp_path: Path) -> None:
    way = "With `head.compile(backend='eager')` instead of line 9"
    assert f"{way}, the program finishes." in hints(tmp_path, BY_CLASS, "target-error")


def test_an_error_of_the_program_is_told_to_be_one(tmp_path: Path) -> None:
    assert hints(tmp_path, WRONG, "target-error") == ["Uncompiled, the program fails in the same way."]


def test_an_error_that_an_edit_brings_is_told_with_it(tmp_path: Path) -> None:
    (told,) = hints(tmp_path, RATE)
    assert told.startswith("Pass the learning rate to the optimizer as a tensor")
    assert "With it, line 15 raises TypeError: type Tensor doesn't define __round__ method." in told


def test_what_changes_results_is_not_told(tmp_path: Path) -> None:
    assert not any("this break is gone" in hint for hint in hints(tmp_path, SHAPED, "GB0170"))


def test_what_torch_would_not_print_is_not_reordered(tmp_path: Path) -> None:
    assert not any("reorderable_logging_functions.add" in hint for hint in hints(tmp_path, LOST, "GB0059"))


def test_recompilations_that_go_with_a_break_are_told(tmp_path: Path) -> None:
    (told,) = [hint for hint in hints(tmp_path, LOCKED, "GB0142") if "this break is gone" in hint]
    assert "this break is gone, and 2 recompilations with it." in told


def test_an_error_of_an_exported_program_is_not_said_to_be_the_programs(tmp_path: Path) -> None:
    (found,) = [item for item in findings(tmp_path, EXPORTED) if item["code"] == "target-error"]
    assert not any("Uncompiled" in hint for hint in found["hints"])


def test_an_export_is_tried_with_other_sizes(tmp_path: Path) -> None:
    way = "With `Dim.AUTO` instead of the `Dim` of line 9, the program finishes."
    cost = "A size that the code needs as a number then becomes a constant."
    assert f"{way} {cost}" in hints(tmp_path, HALVED, "size-constraint")
