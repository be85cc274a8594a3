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
"""What a part of the time of compiled calls is spent for; ``between`` graphs, code runs uncompiled."""


@dataclass(frozen=True, slots=True)
class SpeedPart:
    """A part of the time of a compiled call: its seconds, and its share of the whole."""

    kind: TimeKind
    label: str
    seconds: float
    share: float


CauseKind: TypeAlias = Literal[
    "recompile", "break", "guards", "entry", "launch", "cudagraph", "kernel", "copy"
]
"""What a cause of the time of compiled calls is."""


@dataclass(frozen=True, slots=True)
class SpeedCause:
    """Something that takes ``seconds`` of a compiled call, of which ``gain`` could go without it.

    ``message`` says so, ``hint`` what to do; ``span`` is the user's code that it is about.
    """

    kind: CauseKind
    seconds: float
    gain: float
    message: str
    hint: str = ""
    span: Span | None = None

    @property
    def at(self) -> str:
        """Where it is, as the beginning of its message."""
        return f"{os.path.basename(self.span.filename)}:{self.span.row}: " if self.span else ""


@dataclass(frozen=True, slots=True)
class HeldMemory:
    """Bytes that are in use at the peak of a compiled call, for what the user's code at ``span`` computes."""

    size: int
    span: Span

    @property
    def at(self) -> str:
        """Where it is."""
        return f"{os.path.basename(self.span.filename)}:{self.span.row}"


@dataclass(frozen=True, slots=True)
class Speed:
    """The measured speed of compiled calls: the parts of their time, and its causes, the gravest first."""

    measured: SpeedMeasured
    parts: tuple[SpeedPart, ...]
    causes: tuple[SpeedCause, ...]
    first: SpeedCause | None
    """The cause that the verdict names, if one takes much of the time."""
    verdict: str
    machine: MachineMeasured | None = None
    memory: MemoryMeasured | None = None
    held: tuple[HeldMemory, ...] = ()
    """The largest parts of the memory at the peak, the largest first."""

    @property
    def telling_causes(self) -> list[SpeedCause]:
        """The causes without which at least a hundredth of the time of a call could go."""
        return [cause for cause in self.causes if cause.gain >= 0.01 * self.measured.compiled]
