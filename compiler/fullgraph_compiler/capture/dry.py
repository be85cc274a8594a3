"""A dry run: the program runs with tensors that have no data, and so with models of any size.

What it compiles is captured as ever. It comes to its end where the program needs a value.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Final

from .. import torch_compat
from ..facts import Depth, StackFrame, TargetProblem
from ..fake_compat import needed_data, without_data
from .outcome import Outcome, describe

_DEPTHS: Final[tuple[Depth, ...]] = ("graph", "recompiles", "frozen", "kernels")
"""How far a dry run goes: what is compiled further is there to be run."""
_OPERATIONS: Final = {
    "aten._local_scalar_dense": "the value of a tensor (`item()`, `if`, `float()`)",
    "aten.nonzero": "which elements of a tensor are not zero (`nonzero()`, a mask as an index)",
    "aten.masked_select": "which elements of a tensor are wanted (`masked_select()`)",
}


def unsuited(depth: Depth) -> str:
    """Why there is no dry run of a depth, in one sentence; empty if there is."""
    if depth in _DEPTHS:
        return ""
    return "A dry run has no data, and this runs what was compiled: leave dry-run out for it."


def run_dry(run: Callable[[], Outcome]) -> Outcome:
    """Run a program without data."""
    with without_data():
        outcome = run()
    ends = [error for error in outcome.raised if needed_data(error)]
    others = tuple(error for error in outcome.raised if error not in ends)
    problems = (*outcome.problems, *map(_end, ends))
    status = outcome.status if others or not ends else "exited"
    return Outcome(status, outcome.exit_code if others else 0, others, problems)


def _end(error: BaseException) -> TargetProblem:
    operator = needed_data(error).removesuffix(".default")
    what = _OPERATIONS.get(operator, f"what is in a tensor ({operator})")
    return TargetProblem(
        "warning",
        f"the dry run ends here: the program needs {what}, and there is no data",
        ("What follows was not seen. Keep values out of what the model computes, or run it with its data.",),
        tuple(itertools.dropwhile(_is_torch, reversed(describe(error).stack)))[::-1],
    )


def _is_torch(frame: StackFrame) -> bool:
    return frame.filename.startswith(torch_compat.folder())
