"""The profile of recompilations: number, causes, callers and cost, by function.

In a profiled run, torch keeps only the newest compilation of each function, so that each recompilation has a
single cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ..text.messages import counted
from ..workspace.positions import Span
from .model import Finding, FrameCompilation, FrameReport, Report


@dataclass(frozen=True, slots=True)
class RecompileCause:
    """A finding about recompilations or a graph break, for one function.

    ``count`` is the number of compilations of this function that have the finding.
    """

    finding: Finding
    count: int


@dataclass(frozen=True, slots=True)
class RecompileProfile:
    """A recompiled function; causes, callers and breaks are ordered by frequency."""

    frame: FrameReport
    recompilations: tuple[FrameCompilation, ...]
    causes: tuple[RecompileCause, ...]
    callers: tuple[tuple[Span, int], ...]
    """The calls in user code that caused recompilations, one per line, with the number of recompilations."""
    breaks: tuple[RecompileCause, ...]

    @property
    def seconds(self) -> float:
        """The seconds that all recompilations of the function took."""
        return sum(compilation.seconds for compilation in self.recompilations)


def profiles(report: Report) -> tuple[RecompileProfile, ...]:
    """List the recompiled functions, the most frequently recompiled first."""
    unsorted = [_profile(report, frame) for frame in report.frames if frame.recompiles]
    return tuple(sorted(unsorted, key=lambda profile: -len(profile.recompilations)))


def sentence(report: Report) -> str:
    """Summarize the profile of a report in one sentence."""
    recompiled = profiles(report)
    if not report.frames:
        return "Nothing was compiled, so nothing was compiled again."
    if not recompiled and report.status != "finished":
        return "Nothing was compiled again before the program stopped."
    if not recompiled:
        return "Nothing was compiled again."
    seconds = sum(profile.seconds for profile in recompiled)
    times = counted(sum(len(profile.recompilations) for profile in recompiled), "recompilation")
    functions = counted(len(recompiled), "function")
    return f"{times} of {functions} took {seconds:.1f} s, with one compilation kept per function."


def cost(profile: RecompileProfile) -> str:
    """Describe a function's recompilations: number, seconds, and the necessary limit."""
    needed = profile.frame.versions
    taken = f"{counted(len(profile.recompilations), 'recompilation')}, {profile.seconds:.1f} s"
    return f"{taken}; a recompile_limit of {needed} would hold all variants" if needed > 1 else taken


def _profile(report: Report, frame: FrameReport) -> RecompileProfile:
    own = set(frame.compile_ids)
    recompilations = tuple(item for item in report.compilations if item.reason and item.compile_id in own)
    callers = Counter(item.caller for item in recompilations if item.caller is not None)
    lines: dict[tuple[str, int], tuple[Span, int]] = {}
    for span, count in callers.items():
        first, before = lines.get((span.filename, span.row), (span, 0))
        lines[span.filename, span.row] = (first, before + count)
    return RecompileProfile(
        frame,
        recompilations,
        _causes((item for item in report.findings if item.kind == "recompile"), own),
        tuple(sorted(lines.values(), key=lambda item: -item[1])),
        _causes((item for item in report.findings if item.kind == "graph-break"), own),
    )


def _causes(findings: Iterable[Finding], own: set[str]) -> tuple[RecompileCause, ...]:
    counted = [RecompileCause(item, len(own & item.compile_ids)) for item in findings]
    return tuple(sorted((item for item in counted if item.count), key=lambda item: -item.count))
