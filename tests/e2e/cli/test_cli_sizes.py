"""``fullgraph sizes``: what it says, writes and leaves alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from json_schemas import check_schema

CLI = "from fullgraph_server.cli import main; main()"
PROGRAM = """\
import torch


@torch.compile
def f(x, n):
    return x * n


for size in (8, 12):
    x = torch.ones(size)
    f(x, 2)
"""
MARKED = PROGRAM.replace("    f(x, 2)", "    torch._dynamo.mark_dynamic(x, 0)\n    f(x, 2)")


def sizes(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = ["sizes", path.name, "--python", sys.executable, *options]
    return subprocess.run(
        [sys.executable, "-c", CLI, *words],
        cwd=path.parent,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "program.py"
    path.write_text(text)
    return path


def test_the_plan_is_told_with_what_other_sizes_show_and_written_if_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, PROGRAM)
    run = sizes(path, "--format", "json", "--sizes", "x.0=5", "--apply")
    told: dict[str, Any] = json.loads(run.stdout)
    check_schema("sizes", told)
    assert (run.returncode, told["applied"], path.read_text()) == (0, True, MARKED)
    assert [item["compilations"] for item in told["functions"]] == [2]
    assert [item["compilations"] for item in told["functions_after"]] == [1]
    assert told["dynamic_sources"] == "L['x']:0"
    outcomes = {item["size"]: item["outcome"] for item in told["sizes"]}
    assert outcomes == {5: "equal", 1: "compiles-again", 2: "equal", 3: "equal", 7: "equal", 49: "equal"}


def test_sizes_of_nothing_are_refused_in_one_sentence(tmp_path: Path) -> None:
    path = written(tmp_path, PROGRAM)
    run = sizes(path, "--sizes", "y.0=3", "--apply")
    assert (run.returncode, run.stdout, path.read_text()) == (2, "", PROGRAM)
    assert (
        run.stderr.splitlines()[-1] == "Error: --sizes: no compiled function has a tensor `y`: there are `x`."
    )


@pytest.mark.slow
def test_a_mark_that_torch_refuses_is_told_and_nothing_is_planned(tmp_path: Path) -> None:
    text = MARKED.replace("x * n", "x + torch.ones(8)").replace("(8, 12)", "(8,)")
    path = written(tmp_path, text)
    run = sizes(path, "--apply")
    assert (run.returncode, path.read_text()) == (1, text)
    refused = "torch rejects a mark (ConstraintViolationError): You marked L['x'].size()[0] as dynamic but"
    assert refused in run.stdout
    assert run.stdout.splitlines()[-1] == "no plan: the unmodified program does not finish"


@pytest.mark.slow
def test_a_mark_that_torch_would_refuse_says_why_it_is_not_in_the_plan(tmp_path: Path) -> None:
    path = written(tmp_path, PROGRAM.replace("x * n", "x * {8: 1, 12: n}[x.shape[0]]"))
    run = sizes(path, "--apply")
    assert (run.returncode, "mark_dynamic" in path.read_text()) == (1, False)
    assert "before the call: torch rejects a mark (ConstraintViolationError): You marked L['x']" in run.stdout


@pytest.mark.slow
def test_a_plan_is_not_written_for_a_size_that_the_program_refuses(tmp_path: Path) -> None:
    text = PROGRAM.replace("x * n", "x.view(-1, 4) * n")
    path = written(tmp_path, text)
    run = sizes(path, "--sizes", "x.0=6", "--apply")
    assert (run.returncode, path.read_text()) == (1, text)
    assert run.stdout.endswith("nothing was written: the program itself refuses x.0 = 6\n")


@pytest.mark.slow
def test_sizes_that_the_program_refuses_are_no_difference(tmp_path: Path) -> None:
    path = written(tmp_path, PROGRAM.replace("x * n", "x.view(-1, 4) * n").replace("(8, 12)", "(8,)"))
    run = sizes(path, "--sizes", "x.0=6")
    assert run.returncode == 0, run.stdout
    assert "`f` at x.0 = 6: refused by the program itself, uncompiled: RuntimeError: shape" in run.stdout
