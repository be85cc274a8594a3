"""A dry run: the program runs with tensors that have no data, and so with models of any size.

What it compiles is captured as ever. It comes to its end where the program needs a value that no example call
gives.
"""

from __future__ import annotations

import itertools
import os
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from itertools import starmap
from typing import Final

import torch

from ..compat import torch_compat
from ..compat.fake_compat import (
    copy_tensors,
    needed_data,
    operation,
    patch_tensors,
    tell_storages_apart,
    without_data,
)
from ..facts import (
    Depth,
    ExampleCall,
    Examples,
    GivenValue,
    Program,
    RunRequest,
    Stack,
    StackFrame,
    TargetProblem,
)
from ..observe.outcome import Outcome, describe
from . import array_files, checkpoints, idioms
from .given import of_graph, row_in, unused, value_of
from .unknown import UnknownArray, UnknownNumber, is_unknown

_DEPTHS: Final[tuple[Depth, ...]] = ("graph", "recompiles", "late-compile", "kernels")
"""How far a dry run goes: what is compiled further is there to be run."""
_OURS: Final = os.path.dirname(os.path.dirname(__file__))
_OPERATIONS: Final = {
    "item": "the value of a tensor (`item()`, `if`, `float()`)",
    "numpy": "what is in a tensor (`numpy()`)",
    "nonzero": "which elements of a tensor are not zero (`nonzero()`, a mask as an index)",
    "masked_select": "which elements of a tensor are wanted (`masked_select()`)",
}


def unsuited(request: RunRequest) -> str:
    """Why something cannot run without data, in one sentence; empty if it can."""
    if not request.switches.without_data:
        return ""
    if request.depth not in _DEPTHS:
        return "A dry run has no data, and this runs what was compiled: leave dry-run and device out for it."
    if request.variables:
        return "A dry run has no data that ranks could exchange: leave dry-run and device out, or ranks."
    return ""


def run_dry(run: Callable[[], Outcome], program: Program) -> Outcome:
    """Run a program without data."""
    checkpoints.stand_in()
    array_files.stand_in()
    idioms.leave_values_out()
    patch_tensors(UnknownNumber, UnknownArray)
    tell_storages_apart()
    copy_tensors()
    with without_data(value_of):
        outcome = run()
    causes = [next(filter(_needs, _chain(error)), None) for error in outcome.raised]
    ends = [(error, cause) for error, cause in zip(outcome.raised, causes, strict=True) if cause]
    others = tuple(error for error, cause in zip(outcome.raised, causes, strict=True) if not cause)
    told = (
        *(_end(error, cause, program) for error, cause in ends),
        *starmap(_unused, unused()),
        *checkpoints.told(),
    )
    status = outcome.status if others or not ends else "exited"
    return Outcome(status, outcome.exit_code if others else 0, others, (*outcome.problems, *told))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that it was raised for."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _needs(error: BaseException) -> str:
    """What a dry run does not have, because of which it ends with an error; empty for any other error."""
    if isinstance(error, torch.AcceleratorError):
        return "the GPU itself (a stream, an event, a layer of cuDNN), and nothing runs on one"
    if not needed_data(error) and not is_unknown(error):
        return ""
    name = operation(error) or needed_data(error).removesuffix(".default") or "item"
    return f"{_OPERATIONS.get(name, f'what is in a tensor ({name})')}, and there is no data"


def _end(error: BaseException, cause: BaseException, program: Program) -> TargetProblem:
    """The end of a run by an error that was raised for another one, or is that one."""
    stack = _stack(cause) or _stack(error)
    hints = ["What follows was not seen. Keep that out of what the model computes, or run it with its data."]
    if isinstance(program, Examples) and (name := operation(cause)):
        row = row_in(os.path.abspath(program.filename), reversed(stack))
        hints.append(f"Or give it one in the example call: `where {name}@{row} = ...`.")
    message = f"the dry run ends here: the program needs {_needs(cause)}"
    return TargetProblem("warning", message, tuple(hints), stack)


def _unused(filename: str, call: ExampleCall, given: GivenValue) -> TargetProblem:
    place = f"{given.operation}@{given.row}"
    return TargetProblem(
        "warning",
        f"nothing needed the value that is given for {place}",
        ("The number is that of a line of this file where a dry run needs a value.",),
        (StackFrame(filename, call.row, "<module>"),),
    )


def _stack(error: BaseException) -> Stack:
    """Where it was raised, as far as that is not torch's: in a graph, the lines that it is of."""
    stack = describe(error).stack
    frames = deque(traceback.walk_tb(error.__traceback__), maxlen=len(stack))
    joined: Stack = ()
    for place, (frame, row) in zip(stack, frames, strict=True):
        if inner := of_graph(frame, row):
            # The compiled function calls its graph at no line of its own.
            called = next((item for item in reversed(joined) if not _is_torch(item)), None)
            joined = joined[: joined.index(called)] if called else ()
        joined += inner or (place,)
    return tuple(itertools.dropwhile(_is_torch, reversed(joined)))[::-1]


def _is_torch(frame: StackFrame) -> bool:
    return frame.filename.startswith((torch_compat.folder(), _OURS))
