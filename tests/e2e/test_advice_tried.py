"""The advice of a short run is tried with the real compiler: what helped is told so, what did not is gone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fullgraph_server.cli import main
from fullgraph_server.fixes import advising

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
CONVERT = "Convert it before the compiled call, if results may have another type and precision:"
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
REACHING = SIZES + "\nimport subprocess, sys\nsubprocess.run([sys.executable, '-c', ''])\n"


@pytest.fixture(autouse=True)
def _on_any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advising, "_LONGEST", 1e6)


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
