"""On a machine with a CUDA device: the same findings, and guards that name it. Run with ``-m gpu``."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler import facts as f
from worker_client import TOY, run_forked, run_worker

pytestmark = pytest.mark.gpu

PROGRAM = TOY.format(device="cuda")


def test_toy_on_a_gpu(tmp_path: Path) -> None:
    path = tmp_path / "toy.py"
    path.write_text(PROGRAM)
    result = run_worker(f.Script(str(path)), tmp_path)
    assert {(fact.code, fact.stack[-1].row) for fact in result.of(f.GraphBreak)} == {
        ("GB0059", 7),
        ("GB0170", 8),
    }
    guard = next(g for g in result.of(f.GuardInstalled) if g.source == "L['a']" and g.kind == "TENSOR_MATCH")
    assert guard.expected == "torch.float32, shape [10], device cuda:0, requires_grad=False, stride [1]"
    first = result.of(f.Recompile)[0].failures[0]
    assert (first.source, first.dimension, first.expected, first.actual) == ("L['a']", 0, "10", "12")


def test_a_fork_can_use_the_gpu(tmp_path: Path) -> None:
    path = tmp_path / "toy.py"
    path.write_text(PROGRAM)
    ready, facts = run_forked(f.Script(str(path)), tmp_path)
    assert ready == {"problem": "", "unsafe": ""}
    assert {fact.code for fact in facts if isinstance(fact, f.GraphBreak)} == {"GB0059", "GB0170"}
    assert isinstance(facts[-1], f.RunFinished)
    assert facts[-1].status == "finished"


CLOSED = """import torch

@torch.compile
def toy(a):
    return a / (torch.abs(a) + 1)

toy(torch.ones(3))
toy(torch.ones(4))
assert not torch.cuda.is_initialized()
"""
ASKS = """import torch

@torch.compile(fullgraph=True)
def on_stream(a):
    torch.cuda.current_stream().wait_stream(torch.cuda.current_stream())
    return a + 1

@torch.compile(fullgraph=True)
def moved(a):
    return a.cuda() + 1

torch.cuda.manual_seed(7)
assert not torch.cuda.is_initialized()
{call}
assert torch.cuda.is_initialized()
first, state = torch.rand(3, device="cuda"), torch.cuda.get_rng_state()
torch.cuda.manual_seed(7)
assert torch.equal(first, torch.rand(3, device="cuda"))
assert torch.equal(state, torch.cuda.get_rng_state())
"""


def test_a_gpu_that_the_program_does_not_open_stays_closed(tmp_path: Path) -> None:
    assert raised(CLOSED, tmp_path) == []


@pytest.mark.parametrize("call", ["on_stream(torch.ones(3))", "moved(torch.ones(3))"])
def test_a_frame_opens_the_gpu_that_it_asks_for(call: str, tmp_path: Path) -> None:
    assert raised(ASKS.format(call=call), tmp_path) == []


def raised(program: str, folder: Path) -> list[f.ProgramRaised]:
    path = folder / "program.py"
    path.write_text(program)
    _, facts = run_forked(f.Script(str(path)), folder)
    assert [fact for fact in facts if isinstance(fact, f.FrameCompiled)]
    return [fact for fact in facts if isinstance(fact, f.ProgramRaised)]
