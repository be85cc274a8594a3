"""The answers of the agent tools: bounded in size, and the same in every protocol.

Places are written as ``model.py:12:5``. In each answer, ``left_out`` says how many items are missing and how
to get them, and ``next`` says what to do now.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FindingEntry:
    """A finding in short; ``finding`` is its id, which other tools accept."""

    finding: str
    kind: str
    severity: str
    message: str
    line: str
    """The source line of the finding."""
    count: int
    hint: str
    fixable: bool
    """Whether `list_fixes` looks for an edit that removes the finding."""


@dataclass(frozen=True)
class CountsEntry:
    """The numbers of graphs, graph breaks and recompilations of a run."""

    graphs: int
    breaks: int
    recompilations: int


@dataclass(frozen=True)
class CheckAnswer:
    """The findings and counts of one run of a target."""

    target: str
    status: str
    seconds: float
    torch: str
    counts: CountsEntry
    findings: tuple[FindingEntry, ...]
    left_out: str
    next: str


@dataclass(frozen=True)
class ExplainAnswer:
    """Everything that is known about one finding."""

    finding: str
    kind: str
    message: str
    meaning: str
    explanation: str
    hints: tuple[str, ...]
    url: str
    source: str
    """The source lines around the finding, with their numbers."""
    called_from: tuple[str, ...]
    compiler: str
    """The compiler's own text, if there is no explanation."""
    edits: tuple[str, ...]
    """The titles of known edits for the finding; these edits have not been tried."""
    next: str


@dataclass(frozen=True)
class FixEntry:
    """An edit for a finding, and the verdict from runs of the program with the edit."""

    finding: str
    title: str
    change: str
    """How the edit changes the program's behaviour."""
    safe: bool
    """Whether the edit preserves the program's behaviour."""
    verified: bool
    verdict: str
    basis: str
    """What was compared for the verdict."""
    diff: str


@dataclass(frozen=True)
class FixAnswer:
    """The best edit for each finding, and the safe edits that were verified together."""

    target: str
    fixes: tuple[FixEntry, ...]
    without: tuple[str, ...]
    """The findings for which no edit is known."""
    together: str
    """One diff of the safe edits that were verified together."""
    gain: str
    left_out: str
    next: str


@dataclass(frozen=True)
class TryAnswer:
    """The verdict on an edit; nothing was written."""

    target: str
    verified: bool
    verdict: str
    basis: str
    gone: tuple[str, ...]
    """The findings that the edit removes."""
    left: tuple[str, ...]
    """The findings of the program with the edit."""
    before: CountsEntry
    after: CountsEntry
    left_out: str
    next: str


@dataclass(frozen=True)
class CauseEntry:
    """A change that caused recompilations, and what to do about it."""

    count: int
    place: str
    changed: str
    hints: tuple[str, ...]


@dataclass(frozen=True)
class FunctionEntry:
    """A function that was compiled again."""

    function: str
    place: str
    cost: str
    causes: tuple[CauseEntry, ...]
    called_from: tuple[str, ...]


@dataclass(frozen=True)
class RecompileAnswer:
    """The recompiled functions, the most often recompiled first."""

    target: str
    status: str
    summary: str
    functions: tuple[FunctionEntry, ...]
    left_out: str
    next: str


@dataclass(frozen=True)
class KernelEntry:
    """A kernel or a library call in the code that TorchInductor wrote for a graph."""

    kernel: str
    graph: str
    launches: int
    computes: str
    lines: tuple[str, ...]
    cost: str


@dataclass(frozen=True)
class KernelAnswer:
    """The kernels of a target, the most expensive first.

    ``source`` is the source of the requested kernel, if any.
    """

    target: str
    status: str
    summary: str
    kernels: tuple[KernelEntry, ...]
    source: str
    left_out: str
    next: str


@dataclass(frozen=True)
class AmountEntry:
    """A count, in the run before and in the run after."""

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class CompareAnswer:
    """The differences between two runs."""

    summary: str
    worse: bool
    """Whether there is a new graph break, recompilation or failure."""
    new: tuple[FindingEntry, ...]
    gone: tuple[FindingEntry, ...]
    counts: tuple[AmountEntry, ...]
    left_out: str
    next: str
