"""The function that an operator runs with fake tensors, where it raises: torch names the operator only."""

from __future__ import annotations

from pathlib import Path

from forked import observe
from fullgraph_compiler.facts import CompileFailure, FailingKernel, GraphBreak, Script

PROGRAM = """
import torch

@torch.library.custom_op("kernels::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    return x * 2

@scale.register_fake
def _(x):
    return x.new_empty(sizes(x))

def sizes(x):
    raise ValueError("no sizes")

library = torch.library.Library("kernels", "FRAGMENT")
library.define("inner(Tensor! out, Tensor x) -> ()")
library.define("outer(Tensor x) -> Tensor")

def outer(x):
    torch.ops.kernels.inner(x, x)
    return x.clone()

library.impl("outer", outer, "CompositeExplicitAutograd")

@torch.compile(backend="eager")
def f(x, operator):
    return operator(x) + 1

for operator in (scale, torch.ops.kernels.outer):
    try:
        f(torch.ones(3), operator)
    except Exception:
        pass
"""


def test_the_function_of_an_operator_is_found(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    scale, outer = failing(Script(str(path)), tmp_path)
    assert (scale.operator, scale.kind) == ("kernels::scale", "fake")
    assert [(frame.row, frame.function) for frame in scale.stack] == [(10, "_"), (13, "sizes")]
    assert "no sizes" in scale.message
    assert (outer.operator, outer.kind) == ("kernels::outer", "real")
    assert [(frame.row, frame.function) for frame in outer.stack] == [(20, "outer")]
    assert outer.message.startswith("kernels::inner: attempted to run this operator with Meta tensors")


def failing(script: Script, cwd: Path) -> list[FailingKernel]:
    facts = [fact for fact in observe(script, cwd) if isinstance(fact, (CompileFailure, GraphBreak))]
    return list(dict.fromkeys(fact.kernel for fact in facts if fact.kernel is not None))
