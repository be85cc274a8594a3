"""A dry run: the program runs with tensors that have no data.

Models can have any size. Compilations are captured as in any run. The run ends when the program needs a value
that no example call provides.
"""

from __future__ import annotations

import itertools
import os
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
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
    ExampleCall,
    Examples,
    GivenValue,
    Program,
    Stack,
    StackFrame,
    TargetProblem,
)
from ..observe.outcome import ProgramOutcome, describe
from . import array_files, checkpoints, idioms
from .given import of_graph, row_in, unused, value_of
from .unknown import UnknownArray, UnknownNumber, is_unknown

_OURS: Final = os.path.dirname(os.path.dirname(__file__))
_OPERATIONS: Final = {
    "item": "the value of a tensor (`item()`, `if`, `float()`)",
    "numpy": "the elements of a tensor (`numpy()`)",
    "nonzero": "the nonzero elements of a tensor (`nonzero()`, a mask as an index)",
    "masked_select": "the selected elements of a tensor (`masked_select()`)",
}


def run_dry(run: Callable[[], ProgramOutcome], program: Program) -> ProgramOutcome:
    """Run a program without data.

    In the outcome, an error for lack of data becomes a warning.
    """
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
    problems = (
        *(_end(error, cause, program) for error, cause in ends),
        *starmap(_unused, unused()),
        *checkpoints.problems(),
    )
    status = outcome.status if others or not ends else "exited"
    return replace(
        outcome,
        status=status,
        exit_code=outcome.exit_code if others else 0,
        raised=others,
        problems=(*outcome.problems, *problems),
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, then its chain of causes and contexts."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _needs(error: BaseException) -> str:
    """Return what the program needed, if an error is due to the lack of data or a GPU.

    Empty for all other errors.
    """
    if isinstance(error, torch.AcceleratorError):
        return "a real GPU (a stream, an event, a cuDNN module), which a dry run does not use"
    if not needed_data(error) and not is_unknown(error):
        return ""
    name = operation(error) or needed_data(error).removesuffix(".default") or "item"
    return f"{_OPERATIONS.get(name, f'the elements of a tensor ({name})')}, and there is no data"


def _end(error: BaseException, cause: BaseException, program: Program) -> TargetProblem:
    """Return the warning for a run that ended with ``error``.

    ``cause`` is the exception in the chain of ``error`` that reports the lack of data.
    """
    stack = _stack(cause) or _stack(error)
    hints = ["The rest of the program did not run. Keep this out of the model's code, or run it with data."]
    if isinstance(program, Examples) and (name := operation(cause)):
        row = row_in(os.path.abspath(program.filename), reversed(stack))
        hints.append(f"Or provide the value in the example call: `where {name}@{row} = ...`.")
    message = f"the dry run ends here: the program needs {_needs(cause)}"
    return TargetProblem("warning", message, tuple(hints), stack)


def _unused(filename: str, call: ExampleCall, given: GivenValue) -> TargetProblem:
    place = f"{given.operation}@{given.row}"
    return TargetProblem(
        "warning",
        f"the value provided for {place} was not used",
        ("The number after `@` must be a line of this file at which a dry run needs a value.",),
        (StackFrame(filename, call.row, "<module>"),),
    )


def _stack(error: BaseException) -> Stack:
    """Return the user stack of an error.

    Frames in the code of a graph are replaced by the user's lines.
    """
    stack = describe(error).stack
    frames = deque(traceback.walk_tb(error.__traceback__), maxlen=len(stack))
    joined: Stack = ()
    for place, (frame, row) in zip(stack, frames, strict=True):
        if inner := of_graph(frame, row):
            # The frame in which the compiled function calls the graph has no line of user code.
            called = next((item for item in reversed(joined) if not _is_torch(item)), None)
            joined = joined[: joined.index(called)] if called else ()
        joined += inner or (place,)
    return tuple(itertools.dropwhile(_is_torch, reversed(joined)))[::-1]


def _is_torch(frame: StackFrame) -> bool:
    return frame.filename.startswith((torch_compat.folder(), _OURS))
