"""``fullgraph fix``: what it says, writes and leaves alone."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from json_schemas import check_schema

CLI = "from fullgraph_server.cli import main; main()"
PROGRAM = """\
import os, time, torch


@torch.compile
def f(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y


"""
FIXED = PROGRAM.replace(
    """\
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
""",
    "    y = torch.where(x.sum() > 0, x * 2, x - 1)\n",
)


def fix(path: Path, *options: str) -> tuple[int, dict[str, Any]]:
    words = ["fix", path.name, "--format", "json", "--python", sys.executable, *options]
    run = subprocess.run(
        [sys.executable, "-c", CLI, *words],
        cwd=path.parent,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert run.stdout, run.stderr
    told = json.loads(run.stdout)
    check_schema("fix", told)
    return run.returncode, told


def program(tmp_path: Path, call: str) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + call + "\n")
    return path


def test_what_was_verified_is_written_and_nothing_else(tmp_path: Path) -> None:
    path = program(tmp_path, "print(f(torch.ones(3)))")
    before = path.read_text()
    code, told = fix(path)
    assert (code, path.read_text()) == (0, before)
    [step] = told["plan"]
    assert (step["rule"], step["verified"], step["safety"]) == ("where", True, "safe")
    assert told["findings"][0]["removes"] == {"breaks": 1, "recompiles": 0}
    assert (told["before"], told["after"]) == (
        {"breaks": 1, "graphs": 2, "recompiles": 0},
        {"breaks": 0, "graphs": 1, "recompiles": 0},
    )

    code, told = fix(path, "--apply")
    assert (code, told["applied"]) == (0, True)
    assert path.read_text() == before.replace(PROGRAM, FIXED) == told["files"][str(path)]


@pytest.mark.parametrize(
    ("call", "verified"),
    [
        ("f(torch.ones(3) * int.from_bytes(os.urandom(2), 'big'))", False),
        *(
            pytest.param(f"f(torch.ones(3)); {end}", True, marks=pytest.mark.slow)
            for end in ("print('took', time.time())", "raise SystemExit(3)")
        ),
    ],
    ids=["other results each time", "other text each time", "exits"],
)
def test_a_program_is_compared_with_itself_first(tmp_path: Path, call: str, verified: bool) -> None:
    path = program(tmp_path, call)
    before = path.read_text()
    code, told = fix(path, "--apply")
    assert [step["verified"] for step in told["plan"]] == [True] * verified
    assert told["applied"] is verified
    assert (code == 0) is verified
    assert (path.read_text() == before) is not verified
    if not verified:
        assert "two runs of the unmodified program differ" in told["nondeterminism"]


@pytest.mark.slow
def test_selected_rules_alone_are_tried(tmp_path: Path) -> None:
    path = program(tmp_path, "f(torch.ones(3))")
    code, told = fix(path, "--select", "no-such-rule")
    assert (code, told["plan"], told["findings"][0]["tries"]) == (1, [], [])


def test_a_program_that_fails_is_not_one_without_anything_to_fix(tmp_path: Path) -> None:
    path = program(tmp_path, "x = torch.ones(3)\ntorch._dynamo.mark_dynamic(x, 0)\ng(x)")
    path.write_text(path.read_text().replace(PROGRAM, MARKED))
    words = [sys.executable, "-c", CLI, "fix", path.name, "--python", sys.executable, "--apply"]
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert run.returncode == 1
    assert run.stdout.strip().startswith(
        "no graph breaks, no recompilations, but the program fails: torch rejects a mark"
    )


def test_a_terminal_shows_what_is_tried(tmp_path: Path) -> None:
    path = program(tmp_path, "f(torch.ones(3))")
    ours, theirs = os.openpty()
    words = [sys.executable, "-c", CLI, "fix", path.name, "--python", sys.executable]
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=theirs, env=env) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while chunk := os.read(ours, 1 << 16):
                shown += chunk
    os.close(ours)
    assert process.returncode == 0
    assert b"program.py:6:8: Choose with `torch.where` (0 of 1 finding done)" in shown


def test_a_run_that_does_not_start_says_why(tmp_path: Path) -> None:
    path = program(tmp_path, "f(torch.ones(3))")
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    words = [sys.executable, "-c", CLI, "fix", path.name, "--python", str(broken)]
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert run.returncode == 2
    assert run.stdout.startswith(f"could not start: {broken} ended before it could run anything")


MARKED = """\
import torch


@torch.compile
def g(x):
    return x + torch.ones(3)


"""
MODES = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x)
        if y.sum() > 0:
            y = y * 2
        if self.training and y.sum() > 0:
            y = y + 1
        return y


model = torch.compile(Model().eval())
model(torch.ones(2, 4))
"""


@pytest.mark.slow
def test_a_fix_has_to_hold_in_training_and_evaluation(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODES)
    _, told = fix(path)
    [step] = told["plan"]
    assert (step["rule"], step["verified"]) == ("where", True)
    assert step["basis"].endswith("in training mode, too, which has 1 break")


STEP = """\
import torch

history = []


@torch.compile
def train_step(model, x, y):
    pred = model(x)
    loss = (pred - y).square().mean()
    # for the plot
    history.append(loss.item())
    return loss


model = torch.nn.Linear(4, 1)
for _ in range(3):
    train_step(model, torch.randn(8, 4), torch.randn(8, 1)).backward()
"""


def test_a_record_moves_out_of_the_compiled_function(tmp_path: Path) -> None:
    path = tmp_path / "step.py"
    path.write_text(STEP)
    code, answer = fix(path, "--apply")
    [step] = answer["plan"]
    assert (code, step["rule"], step["safety"]) == (0, "split-function", "safe")
    assert answer["after"] == {"breaks": 0, "graphs": 1, "recompiles": 0}
    calls = (
        "    loss = compiled_train_step(model, x, y)\n    # for the plot\n    history.append(loss.item())\n"
    )
    assert calls in path.read_text()


ALONE = """\
import torch


@torch.compile
def mask(x):
    x = x.clone()
    n = torch.randint(0, 5, (1,)).item()
    x[: n + 1] = 0
    return x.sum()


for _ in range(2):
    mask(torch.randn(8))
"""


@pytest.mark.slow
def test_a_setting_is_verified_only_if_torchinductor_takes_it(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(ALONE)
    _, told = fix(path)
    tries = [item for found in told["findings"] for item in found["tries"] if "capture" in item["rule"]]
    assert tries
    for item in tries:
        assert item["verified"] is item["basis"].endswith("one run with TorchInductor")
        assert item["verified"] or "TorchInductor" in item["reason"] or "results" in item["reason"]
