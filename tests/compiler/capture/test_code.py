"""Generated code of programs that compile in an unusual way, in a worker of their own."""

from __future__ import annotations

from pathlib import Path

from fullgraph_compiler import facts as f
from worker_client import Result, run_worker

THREAD = """
import threading, torch

@torch.compile
def f(x):
    return x.sin() + 1

thread = threading.Thread(target=f, args=(torch.ones(8),))
thread.start()
thread.join()
"""
TANGENTS = """
import torch

@torch.compile
def f(x, tangents_in):
    return x.sin() + tangents_in

f(torch.ones(8), torch.ones(8))
"""


def run(program: str, folder: Path) -> Result:
    path = folder / "program.py"
    path.write_text(program)
    return run_worker(f.Script(str(path)), folder, depth="kernels")


def test_what_is_compiled_in_a_thread_has_its_lines(tmp_path: Path) -> None:
    (code,) = run(THREAD, tmp_path).of(f.CodeGenerated)
    (kernel,) = code.kernels
    assert {node.operator for node in kernel.nodes} == {"aten.sin", "aten.add"}
    assert {stack[-1].row for stack in kernel.stacks} == {6}
    assert kernel.cost == f.Cost(read=8 * 4, written=8 * 4)


def test_only_gradients_make_a_backward_pass(tmp_path: Path) -> None:
    result = run(TANGENTS, tmp_path)
    assert {fact.phase for fact in result.of(f.Artifact)} == {None, "inference"}
    assert [fact.phase for fact in result.of(f.CodeGenerated)] == ["inference"]
