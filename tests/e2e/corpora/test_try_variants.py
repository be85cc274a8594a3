"""Models for which another way to compile is best: `fullgraph speed --try` measures it, and recommends it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CLI = "from fullgraph_server.cli import main; main()"
CASES = Path(__file__).parents[2] / "cases" / "speed_try"


def tried(program: Path, goal: str = "latency") -> dict[str, Any]:
    """What ``fullgraph speed --try`` tells of a program."""
    options = ["--try", "--best-for", goal, "--format", "json"]
    command = [sys.executable, "-c", CLI, "speed", str(program), *options]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert run.stdout, run.stderr
    told: dict[str, Any] = json.loads(run.stdout)
    return told


def measured(told: dict[str, Any]) -> dict[str, Any]:
    """The variants that apply, by name, each of which has everything."""
    variants = {item["variant"]: item for item in told["variants"] if item["applies"]}
    for variant in variants.values():
        assert not variant["problem"]
        assert variant["cold"] > variant["warm"] > 0
        assert variant["memory"] > 0
        calls = variant["single"]
        assert calls == variant["in_row"]  # there is no GPU
        assert 0 < calls["low"] <= calls["seconds"] <= calls["high"]
    return variants


@pytest.mark.slow
@pytest.mark.xdist_group("speed")
def test_equal_blocks_start_faster_one_by_one() -> None:
    told = tried(CASES / "equal_blocks.py", "start")
    variants = measured(told)
    assert set(variants) == {"as-is", "block", "max-autotune-no-cudagraphs", "dynamic"}
    assert (variants["block"]["modules"], variants["block"]["count"]) == (["Block"], 8)
    assert told["best"] == "block" == min(variants, key=lambda name: variants[name]["cold"])
    assert told["verdict"].startswith("Best for start: the repeated block")


@pytest.mark.slow
@pytest.mark.xdist_group("speed")
def test_tiny_blocks_are_slower_one_by_one() -> None:
    told = tried(CASES / "tiny_blocks.py")
    variants = measured(told)
    calls = {name: item["single"]["seconds"] for name, item in variants.items()}
    assert variants["block"]["count"] == 100
    assert max(calls, key=lambda name: calls[name]) == "block"
    assert variants["block"]["cold"] < variants["as-is"]["cold"]
    assert "block" not in told["alike"]
    assert min(calls, key=lambda name: calls[name]) in told["alike"]
    assert told["best"] in told["alike"]


@pytest.mark.slow
@pytest.mark.xdist_group("speed")
def test_parts_of_a_network_are_faster_at_once() -> None:
    told = tried(CASES / "convolutions.py")
    variants = measured(told)
    calls = {name: item["single"]["seconds"] for name, item in variants.items()}
    assert variants["whole"]["modules"] == ["Net"]
    assert told["best"] == "whole" == min(calls, key=lambda name: calls[name])
    assert told["verdict"].startswith("Best for latency: the whole model (`Net`)")


TRAINING = """\
import torch
from torch import nn

torch.set_num_threads(1)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return torch.relu(self.linear(x))


model = nn.Sequential(*(Block() for _ in range(3)))
optimizer = torch.optim.SGD(model.parameters(), 0.1)


@torch.compile
def loss_of(x, y):
    return (model(x) - y).square().mean()


for _ in range(4):
    loss_of(torch.randn(4, 8), torch.randn(4, 8)).backward()
    optimizer.step()
"""


@pytest.mark.slow
@pytest.mark.xdist_group("speed")
def test_blocks_are_found_in_what_a_function_calls(tmp_path: Path) -> None:
    """With their backward passes."""
    program = tmp_path / "training.py"
    program.write_text(TRAINING)
    variants = measured(tried(program))
    assert (variants["block"]["modules"], variants["block"]["count"]) == (["Block"], 3)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("import torch\n", "calls no compiled function", marks=pytest.mark.slow),
        ("import torch\n\n\ndef f():\n    raise ValueError('no data')\n\n\ntorch.compile(f)()\n", "no data"),
    ],
)
def test_a_program_with_nothing_to_try_says_why(text: str, problem: str, tmp_path: Path) -> None:
    program = tmp_path / "model.py"
    program.write_text(text)
    told = tried(program)
    assert told["best"] is None
    assert not told["variants"]
    assert problem in told["problem"]
