"""Errors of programs that do not go with `torch.compile`, with what torch's developers answer.

The words are those of torch 2.11 to 2.15, each with its file, or of Python.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class KnownError:
    """An error by its message and, where that says too little, by the file in which it is raised."""

    message: re.Pattern[str]
    explanation: str
    hint: str
    file: re.Pattern[str] = re.compile("")


_KNOWN: Final = (
    # _functorch/_aot_autograd/runtime_wrappers.py
    KnownError(
        re.compile("aot_autograd does not currently support double backward"),
        "The gradient of compiled code cannot be differentiated itself, as `create_graph=True` asks for.",
        'Leave uncompiled what is differentiated twice, or compile it with `backend="eager"`.',
    ),
    # _functorch/_aot_autograd/runtime_wrappers.py
    KnownError(
        re.compile("compiled backward function within vmap/grad/vjp"),
        "A transform of `torch.func` cannot go through the backward of compiled code.",
        "Leave the function uncompiled where `vmap` or `torch.func` differentiates it.",
    ),
    # _functorch/_aot_autograd/subclass_codegen.py: the frame of the compiled backward
    KnownError(
        re.compile("Trying to backward through the graph a second time"),
        "All results of one compiled graph share one backward, which frees what it has saved.",
        "Call `backward()` once, on the sum of the losses.",
        re.compile(r"[/\\]_functorch[/\\]_aot_autograd[/\\]"),
    ),
    # _dynamo/eval_frame.py
    KnownError(
        re.compile(r"torch\.jit\.trace a dynamo-optimized function"),
        "`torch.jit.trace` runs the compiled module, which it cannot look into.",
        "Trace the module that was compiled: `compiled._orig_mod`.",
    ),
    # _dynamo/eval_frame.py
    KnownError(
        re.compile("FX to symbolically trace a dynamo-optimized function"),
        "`torch.fx` cannot look into a compiled function.",
        "Trace the module that was compiled: `compiled._orig_mod`.",
    ),
    # _dynamo/eval_frame.py
    KnownError(
        re.compile("already has a get_compiler_config attribute"),
        "This function has the attributes of a compiled one: `functools.wraps` has copied them.",
        "Compile the wrapper alone, and give it the function that is not compiled.",
    ),
    # optim/lr_scheduler.py
    KnownError(
        re.compile("'function' object has no attribute '__func__'"),
        "A schedule wraps the method `step` of the optimizer, which is a function once it was assigned.",
        "Make the schedule ahead of `optimizer.step = torch.compile(optimizer.step)`.",
        re.compile(r"[/\\]optim[/\\]lr_scheduler\.py$"),
    ),
    # _dynamo/trace_rules.py
    KnownError(
        re.compile("Attempt to trace forbidden callable"),
        "This function may not be called in compiled code.",
        "Call it ahead of the compiled call, on what is passed.",
    ),
)


def known_error(message: str, filename: str) -> KnownError | None:
    """Return what is known of an error that was raised in a file."""
    found = (item for item in _KNOWN if item.message.search(message) and item.file.search(filename))
    return next(found, None)
