"""Jobs observed as launchers start them: every rank leaves its log, and all become one report."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CLI = [sys.executable, "-c", "from fullgraph_server.cli import main; main()"]
OBSERVE = ["-m", "fullgraph_compiler.observe", "--trace", "trace", "train.py"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]
JOB = "RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_", "TORCH", "OMP_NUM_THREADS"
VARIABLES = {key: value for key, value in os.environ.items() if not key.startswith(JOB)}

PROGRAM = """\
import os
import sys

import torch
import torch.distributed as dist


@torch.compile(backend="eager")
def scaled(x):
    y = x * 2
    print("scaled")
    return y + 1


@torch.compile(backend="eager")
def first(x):
    torch._dynamo.graph_break()
    return x


dist.init_process_group("gloo")
rank, attempt = dist.get_rank(), os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
if "fails" in sys.argv and attempt == "0":
    first(torch.ones(2))
    dist.barrier()
    if rank == 1:
        sys.exit("rank 1 is ill")
    dist.barrier()
scaled(torch.ones(4))
if rank == dist.get_world_size() - 1:
    scaled(torch.ones(4, dtype=torch.float64))
dist.barrier()
dist.destroy_process_group()
"""
PRINT = PROGRAM.splitlines().index('    print("scaled")') + 1
DEFINED = PROGRAM.splitlines().index("def scaled(x):") + 1


def start(folder: Path, command: list[str], **variables: str) -> subprocess.Popen[str]:
    """Start a part of a job."""
    (folder / "train.py").write_text(PROGRAM)
    (folder / "pyproject.toml").touch()
    return subprocess.Popen(
        command,
        cwd=folder,
        env={**VARIABLES, "OMP_NUM_THREADS": "1", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def free_port() -> str:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def end(*parts: subprocess.Popen[str]) -> None:
    """Wait for all parts of a job, which succeed."""
    for part in parts:
        try:
            output, _ = part.communicate(timeout=240)
        finally:
            part.kill()
        assert part.returncode == 0, output


def told(folder: Path) -> Any:
    """What ``fullgraph trace`` tells of the job."""
    command = [*CLI, "trace", "trace", "--format", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def check(folder: Path, ranks: int) -> None:
    """Check that all ranks are told, and that the last one compiled once more than the others."""
    report = told(folder)
    last = ranks - 1
    assert [item["rank"] for item in report["ranks"]] == list(range(ranks))
    found = {
        (item["kind"], item["location"]["row"], item["location"]["column"]) for item in report["findings"]
    }
    assert ("graph-break", PRINT, 5) in found
    assert ("rank-difference", DEFINED, 5) in found
    assert not [item for item in report["findings"] if item["code"] == "GB0025"], "of the first attempt"
    (difference,) = (item for item in report["findings"] if item["kind"] == "rank-difference")
    assert f"is compiled 4 times on rank {last}" in difference["message"]


def test_processes_that_a_scheduler_starts(tmp_path: Path) -> None:
    """As srun and mpirun do; a script of the job tells each its place."""
    port = free_port()
    command = [sys.executable, *OBSERVE]
    end(
        *(
            start(
                tmp_path, command, RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port
            )
            for rank in range(2)
        )
    )
    check(tmp_path, 2)


@pytest.mark.slow
def test_a_job_that_torchrun_starts_again(tmp_path: Path) -> None:
    restarting = ["--standalone", "--nproc-per-node", "2", "--max-restarts", "1"]
    # With a store that outlives the attempt, gloo looks for the processes of the first one, observed or not.
    variables = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    end(start(tmp_path, [*TORCHRUN, *restarting, *OBSERVE, "fails"], **variables))
    assert len(list((tmp_path / "trace").iterdir())) == 4
    check(tmp_path, 2)


@pytest.mark.slow
def test_a_job_on_two_machines(tmp_path: Path) -> None:
    where = ["--nnodes", "2", "--nproc-per-node", "2", "--rdzv-backend", "c10d", "--rdzv-id", "job"]
    where += ["--rdzv-endpoint", f"127.0.0.1:{free_port()}"]
    end(*(start(tmp_path, [*TORCHRUN, *where, *OBSERVE]) for _ in range(2)))
    check(tmp_path, 4)


ENVIRONMENT = """\
import json
import os

names = ("RANK", "LOCAL_", "ROLE_", "GROUP_", "WORLD_SIZE", "MASTER_", "TORCHELASTIC_", "OMP_", "NCCL_")
found = {key: value for key, value in os.environ.items() if key.startswith(names)}
with open(os.path.join(os.environ["FOUND"], os.environ["RANK"]), "w") as file:
    json.dump(found, file)
"""
OF_THE_AGENT = {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_USE_AGENT_STORE"}
"""How ranks find each other: a run has no agent that keeps a store for them."""
OF_ERRORS_AND_SIGNALS = {"TORCHELASTIC_ERROR_FILE", "TORCHELASTIC_SIGNALS_TO_HANDLE"}
"""What only an agent needs, which collects the errors of its processes and passes on signals."""


@pytest.mark.slow
def test_ranks_see_what_torchrun_gives_them(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "seen.py").write_text(ENVIRONMENT)
    commands = {
        "torchrun": [*TORCHRUN, "--standalone", "--nproc-per-node", "2", "seen.py"],
        "check": [*CLI, "check", "seen.py", "--ranks", "2"],
    }
    for name, command in commands.items():
        (tmp_path / name).mkdir()
        env = {**VARIABLES, "FOUND": str(tmp_path / name)}
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stdout + done.stderr
    for rank in ("0", "1"):
        ours, torchs = (json.loads((tmp_path / name / rank).read_text()) for name in ("check", "torchrun"))
        assert ours.keys() == torchs.keys() - OF_ERRORS_AND_SIGNALS
        differing = {key for key in ours if ours[key] != torchs[key]}
        assert differing <= OF_THE_AGENT
