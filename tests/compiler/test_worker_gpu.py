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
