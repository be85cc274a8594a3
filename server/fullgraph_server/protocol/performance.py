"""Messages of a report's part about speed: compile time, kernels, caches, calls."""

from __future__ import annotations

import attrs
from lsprotocol import types

from ..report.measured.model import TimeKind
from ..report.phases import Part
from .report import DryItem, FindingItem


@attrs.frozen
class PhaseItem:
    """A step of the compiler, with torch's name."""

    name: str
    start: float
    """Seconds since the first step began."""
    seconds: float
    compile_id: str
    depth: int
    """The number of steps around it."""
    part: Part
    """The part of the compiler that it belongs to."""


@attrs.frozen
class CompilationItem:
    """One compilation of a function, or of a part of it after a graph break."""

    compile_id: str
    function: str
    location: types.Location
    start: float
    """Seconds since the first step of the compiler began."""
    seconds: float
    reason: str
    """A sentence about the guard that failed before it; empty for a first compilation."""


@attrs.frozen
class KernelRow:
    """A kernel or library function, with the total cost of its launches in one piece of code."""

    uri: str
    """The URI of its document; for a library function that of the whole code."""
    name: str
    language: str
    compile_id: str
    phase: str
    operators: str
    locations: list[types.Location]
    launches: int
    arguments: str
    """The arguments of its first launch."""
    grid: str
    read: int | None = None
    """Bytes, computed from the shapes."""
    written: int | None = None
    flops: int | None = None
    seconds: float | None = None
    """The least time on this GPU (the roofline)."""
    config: str | None = None
    """The configuration that autotuning chose, or one of its candidates."""
    registers: int | None = None
    spills: int | None = None
    shared: int | None = None
    """Shared memory of a block, in bytes."""
    problem: str | None = None
    """Why it was not compiled."""


@attrs.frozen
class OperationItem:
    """An operation of a lowered graph."""

    name: str
    operator: str
    """``aten.mm``."""
    inputs: list[str]
    """Names of operations, and of inputs of the graph."""
    kernel: int | None = None
    """The launch that computes it, counted from 0 in the graph; absent for an operation without cost."""
    location: types.Location | None = None


@attrs.frozen
class PictureItem:
    """A lowered graph to draw: operations in their order, grouped by the launch that computes them."""

    name: str
    """Its compile id and pass."""
    operations: list[OperationItem]
    kernels: list[str]
    """The names of the launches."""
    documents: list[str]
    """The URI of each launch's kernel; empty for a library function."""


@attrs.frozen
class TimesItem:
    """The times in seconds of the program in a process of its own, with cold or warm compiler caches."""

    cache: str
    seconds: float
    compiling: float


@attrs.frozen
class CacheCountItem:
    """A cache of the compiler, and the number of graphs by what came of them in it."""

    name: str
    hits: int
    misses: int
    bypasses: int


@attrs.frozen
class CacheUseItem:
    """What is known of why a cache did not have some graphs; ``source`` is the first line that differs."""

    label: str
    sentences: str
    location: types.Location
    source: types.Location | None = None


@attrs.frozen
class CachesItem:
    """What came of graphs in the compiler's caches; ``warm`` says that the program had run just before."""

    warm: bool
    counts: list[CacheCountItem]
    uses: list[CacheUseItem]
    notes: list[str]
    """What was read of earlier runs beside graphs, as sentences."""


@attrs.frozen
class SpeedPartItem:
    """A part of the time of a compiled call, in seconds."""

    kind: TimeKind
    label: str
    seconds: float


@attrs.frozen
class SpeedCauseItem:
    """Something that takes time of a compiled call, with the seconds that could go without it."""

    message: str
    hint: str
    """What to do; empty if nothing is known."""
    gain: float
    location: types.Location | None = None


@attrs.frozen
class SpeedItem:
    """The measured speed of compiled calls, beside uncompiled ones, in seconds of one call."""

    verdict: str
    compiled: float
    """0 if nothing could be measured."""
    eager: float
    low: float
    """Compiled calls are so many times as fast as uncompiled ones at least, ``high`` times at most (95 %)."""
    high: float
    samples: int
    parts: list[SpeedPartItem]
    """In the order of a call."""
    causes: list[SpeedCauseItem]
    """What would bring most comes first."""
    notes: list[str]
    """Sentences about memory, and about the time between calls."""


@attrs.frozen
class PerformanceItem:
    """The part of a report about speed: compile time by step, and the kernels of the compiled code."""

    target: str
    label: str
    generation: int
    torch: str
    seconds: float
    complete: bool
    """Whether kernels were built: otherwise the times are without that."""
    phases: list[PhaseItem]
    """In the order of their start: inner steps follow the step around them."""
    compilations: list[CompilationItem]
    kernels: list[KernelRow]
    pictures: list[PictureItem]
    times: list[TimesItem]
    findings: list[FindingItem]
    """The findings about speed."""
    dry: DryItem | None = None
    """Absent if the run had its data."""
    layer: str | None = None
    """The layer that it is of; absent for the target's own result."""
    speed: SpeedItem | None = None
    """Absent if it was not measured."""
    caches: CachesItem | None = None
    """Absent if no cache was used."""
