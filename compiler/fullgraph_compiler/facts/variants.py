"""Facts about variants: other ways to compile the same program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .registry import Result, Value

VariantName: TypeAlias = Literal[
    "as-is", "whole", "block", "reduce-overhead", "max-autotune-no-cudagraphs", "dynamic"
]
"""A way to compile a program:

- ``as-is``: as the program does.
- ``whole``: the module around those that the program compiles, at once.
- ``block``: each of the modules of one class that a compiled module repeats (regional compilation).
- ``reduce-overhead``, ``max-autotune-no-cudagraphs``: with this ``mode``.
- ``dynamic``: with ``dynamic=True``.
"""


@dataclass(frozen=True, slots=True)
class CallsTimed(Value):
    """Calls of compiled functions: seconds for each, beside ``eager``, those of the same calls uncompiled.

    They are measured in two processes, one early and one late: ``low`` and ``high`` are the medians there,
    which show how much the machine changes, and ``seconds`` is their mean.
    """

    seconds: float
    low: float
    high: float
    eager: float


@dataclass(frozen=True, slots=True)
class VariantMeasured(Result):
    """A program compiled in one way.

    ``cold`` and ``warm`` are the seconds that the compiler takes at a start with such caches. ``in_row`` are
    calls in a row, waited for at the end; ``single`` are calls that are each waited for, which is the same
    without a GPU. ``memory`` is the peak of a process with warm caches, in bytes: on a GPU what torch has
    allocated, else the resident set above what it is before the program. ``modules`` names the classes that
    are compiled instead of what the program compiles, and ``count`` says how many modules they are.
    ``problem`` says in one sentence why nothing was measured; ``applies`` is false if that is since the
    program gives no cause to try it. ``device`` is the name of the GPU, empty if there is none.
    """

    variant: VariantName
    cold: float = 0.0
    warm: float = 0.0
    in_row: CallsTimed | None = None
    single: CallsTimed | None = None
    memory: int = 0
    modules: tuple[str, ...] = ()
    count: int = 0
    device: str = ""
    problem: str = ""
    applies: bool = True
