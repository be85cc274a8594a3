"""A GPU that the program does not open stays closed. It is pretended: the build of torch has none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

GPU = """
import torch._dynamo

opened = []
torch.version.cuda = "13.0"
torch.cuda._is_compiled = lambda: True
torch.cuda._device_count_nvml = lambda: 1
torch.cuda._lazy_init = torch.cuda.random._lazy_init = lambda: opened.append("init")
torch.cuda.init = lambda: opened.append("init")
torch._C._cuda_getDeviceCount = lambda: opened.append("count") or 1
torch._C._cuda_getDevice = lambda: 0
torch.accelerator.is_available = lambda: opened.append("accelerator") or False

from fullgraph_compiler.compat import gpu_compat

gpu_compat._compute_capability = lambda: (9, 0)
gpu_compat.wait_for_program()
"""
TOY = """
@torch.compile(backend="aot_eager")
def toy(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b

toy(torch.randn(10), torch.randn(10, requires_grad=True)).sum().backward()
"""


def printed(program: str, folder: Path) -> str:
    path = folder / "program.py"
    path.write_text(GPU + program)
    done = subprocess.run(
        [sys.executable, str(path)], check=False, capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_program_that_uses_no_gpu_opens_none(tmp_path: Path) -> None:
    assert printed(TOY + "print(opened)", tmp_path) == "[]"


def test_without_that_torch_opens_it(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(GPU.replace("gpu_compat.wait_for_program()", "") + TOY)
    done = subprocess.run([sys.executable, str(path)], check=False, capture_output=True, text=True)
    assert "tuple index out of range" in done.stderr  # no GPU has a generator here


def test_what_the_program_asks_is_torchs_answer(tmp_path: Path) -> None:
    asked = "\ntorch.compile(lambda x: x + torch.cuda.is_available(), backend='eager', fullgraph=True)"
    assert printed(f"{TOY}{asked}(torch.ones(2))\nprint(opened)", tmp_path) == "['count']"


def test_a_frame_that_asks_for_a_stream_opens_it(tmp_path: Path) -> None:
    program = """
from torch._dynamo import symbolic_convert
from torch._dynamo.exc import RestartAnalysis

state = symbolic_convert.SymbolicStreamState()
print(state.in_stream_context(), opened)
for ask, *args in ((state.cur_stream,), (state.enter_stream, None), (state.cur_stream, torch.device("cuda"))):
    try:
        ask(*args)
    except RestartAnalysis:
        print(opened.pop())
torch.cuda.is_initialized = lambda: True
print(symbolic_convert.SymbolicStreamState().in_stream_context(), opened)
"""
    told = printed(program, tmp_path).splitlines()
    assert told == ["False []", "init", "init", "init", "False ['accelerator']"]


def test_the_state_of_a_closed_gpu_is_nothing_to_restore(tmp_path: Path) -> None:
    program = """
from torch._dynamo.utils import preserve_rng_state

with preserve_rng_state():
    torch.cuda.is_initialized = lambda: True
print(opened)
torch.cuda.is_initialized = lambda: False
try:
    torch.cuda.get_rng_state()
except IndexError:
    print("init" in opened)
"""
    assert printed(program, tmp_path).splitlines() == ["['count']", "True"]
