"""Logs that this torch writes, one of each kind that tlparse reads.

A log is made when a test requests it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

_BREAKS: Final = """
import contextlib, torch

@torch.compile(backend="eager")
def breaks(x):
    y = x.sin()
    print("woo")
    if y.sum() > 0:
        y = y + 1
    return y * 2

@torch.compile(backend="eager", fullgraph=True)
def fails(x):
    print("hi")
    return x

@torch.compile(backend="relu_compile_error_TESTING_ONLY")
def backend_fails(x):
    return torch.relu(x + 1)

@torch.compile(backend="eager")
def limit(x, word):
    return x + len(word)

breaks(torch.ones(3))
for function in (fails, backend_fails):
    with contextlib.suppress(Exception):
        function(torch.ones(3))
for size in (3, 4, 5):
    breaks(torch.ones(size))
for number in range(12):
    limit(torch.ones(3), "x" * number)
"""

# Matrix products are calls of a library: no C++ has to be built.
_TRAINING: Final = """
import torch

@torch.compile(dynamic=False)
def train(x, w):
    y = x @ w
    torch._dynamo.graph_break()
    return y @ w

w = torch.ones(4, 4, requires_grad=True)
for rows in (4, 8):
    train(torch.ones(rows, 4), w).sum().backward()
"""

_BYPASS: Final = """
import torch

torch._inductor.config.post_grad_custom_post_pass = lambda graph: None  # which has no key for a cache
torch.compile(lambda x: x @ x)(torch.ones(4, 4))
"""

_COMPILED_AUTOGRAD: Final = """
import torch

torch._dynamo.config.compiled_autograd = True
w = torch.ones(4, 4, requires_grad=True)

@torch.compile(backend="aot_eager")
def train(x):
    (x @ w).relu().sum().backward()

train(torch.ones(4, 4))
"""

_RANKS: Final = """
import sys, torch, torch.distributed as dist
from torch.distributed._functional_collectives import all_reduce

store, rank = sys.argv[1], int(sys.argv[2])
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)

@torch.compile(backend="aot_eager")
def reduced(x):
    return all_reduce(x * 2, "sum", dist.group.WORLD) + 1

reduced(torch.ones(4))
if rank == 1:
    torch.compile(torch.sin, backend="eager")(torch.ones(2))
dist.destroy_process_group()
"""

_PROGRAMS: Final = {
    "breaks": _BREAKS,
    "training": _TRAINING,
    "again": _TRAINING,
    "bypass": _BYPASS,
    "compiled autograd": _COMPILED_AUTOGRAD,
    "ranks": _RANKS,
}
KINDS: Final = tuple(_PROGRAMS)


@cache
def _made() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="fullgraph-logs-")


@cache
def logs(kind: str) -> tuple[Path, ...]:
    """Return the logs of a program, by rank.

    "again" finds in the caches what "training" has left there.
    """
    if kind == "again":
        logs("training")
    folder = Path(_made().name) / kind
    folder.mkdir()
    program = folder / "program.py"
    program.write_text(_PROGRAMS[kind])
    caches = Path(_made().name) / "caches" / ("training" if kind == "again" else kind)
    environment = {**os.environ, "TORCH_TRACE": str(folder), "TORCHINDUCTOR_CACHE_DIR": str(caches)}
    running = [
        subprocess.Popen(
            [sys.executable, str(program), str(folder / "store"), str(rank)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2 if kind == "ranks" else 1)
    ]
    for process in running:
        told, _ = process.communicate(timeout=240)
        assert process.returncode == 0, told
    return tuple(sorted(folder.glob("*.log")))
