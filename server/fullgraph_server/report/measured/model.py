"""The measured speed of compiled calls: a part of a report."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fullgraph_compiler.facts import MachineMeasured, MemoryMeasured, SpeedMeasured

from ...workspace.positions import Span

TimeKind: TypeAlias = Literal[
    "recompile", "guards", "between", "entry", "launch", "kernel", "copy", "autograd", "release"
]
"""The kinds of parts of a call's time; ``between``: uncompiled code between graphs."""


@dataclass(frozen=True, slots=True)
class SpeedPart:
    """A part of the time of a compiled call, in seconds and as a share of the call."""

    kind: TimeKind
    label: str
    seconds: float
    share: float


CauseKind: TypeAlias = Literal[
    "recompile", "break", "guards", "entry", "launch", "cudagraph", "kernel", "copy"
]
"""The kinds of causes of a call's time."""


@dataclass(frozen=True, slots=True)
class SpeedCause:
    """A cause of a call's time: it takes ``seconds``, and can save ``gain`` seconds.

    ``gain`` is the most that removing the cause saves. ``message`` describes the cause, ``hint`` advises what
    to do; ``span`` is the user code with the cause.
    """

    kind: CauseKind
    seconds: float
    gain: float
    message: str
    hint: str = ""
    span: Span | None = None

    @property
    def at(self) -> str:
        """The file and row, as a prefix of the message; empty without a span."""
        return f"{os.path.basename(self.span.filename)}:{self.span.row}: " if self.span else ""


@dataclass(frozen=True, slots=True)
class HeldMemory:
    """Bytes that results of the code at ``span`` use at the peak of a compiled call."""

    size: int
    span: Span

    @property
    def at(self) -> str:
        """The file and row: ``model.py:12``."""
        return f"{os.path.basename(self.span.filename)}:{self.span.row}"


@dataclass(frozen=True, slots=True)
class MeasuredSpeed:
    """The measured speed of compiled calls, with the parts and causes of the time.

    The causes with the largest gain come first.
    """

    measured: SpeedMeasured
    parts: tuple[SpeedPart, ...]
    causes: tuple[SpeedCause, ...]
    first: SpeedCause | None
    """The cause that the verdict names, if one takes much of the time."""
    verdict: str
    machine: MachineMeasured | None = None
    memory: MemoryMeasured | None = None
    held: tuple[HeldMemory, ...] = ()
    """The memory in use at the peak, by place in user code, the largest first."""

    @property
    def telling_causes(self) -> list[SpeedCause]:
        """The causes whose removal could save at least a hundredth of a call's time."""
        return [cause for cause in self.causes if cause.gain >= 0.01 * self.measured.compiled]
