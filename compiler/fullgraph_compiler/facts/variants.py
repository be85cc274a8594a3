"""Facts about variants: other ways to compile the same program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .registry import Result, Value

VariantName: TypeAlias = Literal[
    "as-is", "whole", "block", "reduce-overhead", "max-autotune-no-cudagraphs", "dynamic"
]
"""A way to compile a program:

- ``as-is``: the unmodified program.
- ``whole``: one compilation of the module that contains all modules that the program compiles.
- ``block``: a compilation of each module of a class that a compiled module repeats (regional compilation).
- ``reduce-overhead``, ``max-autotune-no-cudagraphs``: with this ``mode``.
- ``dynamic``: with ``dynamic=True``.
"""


@dataclass(frozen=True, slots=True)
class CallsTimed(Value):
    """The time of calls of compiled functions in seconds per call.

    ``eager`` is the time of the same calls uncompiled. The calls are measured in two processes, one early and
    one late: ``low`` and ``high`` are the two medians, whose distance shows how steady the machine is, and
    ``seconds`` is their mean.
    """

    seconds: float
    low: float
    high: float
    eager: float


@dataclass(frozen=True, slots=True)
class VariantMeasured(Result):
    """The measurements of a program that was compiled in one way.

    ``cold`` and ``warm`` are the seconds that the compiler takes at a start with cold and with warm caches.
    ``in_row`` are calls in a row that are synchronized with the GPU only at the end; ``single`` are calls
    that are each synchronized, which is the same without a GPU. ``memory`` is the peak of a process with warm
    caches, in bytes: on a GPU torch's allocations, otherwise the growth of the resident set since the program
    started. ``modules`` names the classes that are compiled instead of the program's choice, and ``count`` is
    the number of modules of these classes. ``problem`` says in one sentence why nothing was measured;
    ``applies`` is false if the reason is that this way does not apply to the program. ``device`` is the name
    of the GPU, empty if there is none.
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
