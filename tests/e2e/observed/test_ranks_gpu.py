"""Jobs of two ranks as torchrun starts them with TORCH_TRACE, on two GPUs: what differs is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CLI = [sys.executable, "-c", "from fullgraph_server.cli import main; main()"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
PROGRAMS = Path(__file__).parents[2] / "cases" / "ranks_gpu"
FUNCTIONS = {
    "ddp": {"Net.forward"},
    "fsdp2": {"Layer.forward"},
    "tensor_parallel": {"Net.forward"},
    "order_differs": {"encode", "decode"},
    "cache_differs": {"normalized", "same"},
}
"""The functions of each program that every rank compiles."""


def told(program: str, device: str, folder: Path) -> Any:
    """Run a program on two ranks; return what ``fullgraph trace`` tells of it."""
    trace = folder / "trace"
    if program == "cache_differs":
        torchrun(program, device, "shared", CACHES=str(folder))
        torchrun(program, device, "own", CACHES=str(folder), TORCH_TRACE=str(trace))
    else:
        torchrun(program, device, TORCH_TRACE=str(trace))
    command = [*CLI, "trace", str(trace), "--format", "json"]
    done = subprocess.run(command, cwd=PROGRAMS, capture_output=True, text=True, timeout=240, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def torchrun(program: str, *arguments: str, **variables: str) -> None:
    """Run a program to its end, which it reaches on all ranks."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
    command = [*TORCHRUN, f"{program}.py", *arguments]
    done = subprocess.run(
        command, cwd=PROGRAMS, env=env, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def differences(report: Any) -> list[Any]:
    """The findings about what ranks do otherwise."""
    return [item for item in report["findings"] if item["kind"] == "rank-difference"]


def check(program: str, device: str, folder: Path) -> Any:
    """Check that both ranks and all functions are told."""
    report = told(program, device, folder)
    assert [item["rank"] for item in report["ranks"]] == [0, 1]
    assert FUNCTIONS[program] <= {item["qualname"] for item in report["frames"]}
    return report


SAME = ["ddp", "fsdp2", "tensor_parallel"]
DIFFERENT = ["cache_differs", "order_differs"]


@pytest.mark.slow
@pytest.mark.parametrize("program", SAME)
def test_ranks_that_do_the_same(program: str, tmp_path: Path) -> None:
    assert differences(check(program, "cpu", tmp_path)) == []


@pytest.mark.gpu
@pytest.mark.parametrize("program", SAME)
def test_ranks_that_do_the_same_on_gpus(program: str, tmp_path: Path) -> None:
    assert differences(check(program, "cuda", tmp_path)) == []


@pytest.mark.parametrize(
    "device", [pytest.param("cpu", marks=pytest.mark.slow), pytest.param("cuda", marks=pytest.mark.gpu)]
)
@pytest.mark.parametrize("program", DIFFERENT)
def test_what_differs_is_told(program: str, device: str, tmp_path: Path) -> None:
    found = differences(check(program, device, tmp_path))
    lines = (PROGRAMS / f"{program}.py").read_text().splitlines()
    planted = {row for row, line in enumerate(lines, 1) if "# differs" in line}
    assert found
    for difference in found:
        assert Path(difference["filename"]).stem == program
        assert difference["location"]["row"] in planted
        assert "rank 1" in difference["message"]
