"""The comparison of two reports, before and after a change of program or torch.

Findings are matched by fingerprint, functions by file and name: moved lines are not differences, and the
reports may be of different folders.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from fullgraph_compiler.facts import CacheLookup, Depth, StackFrame

from ..report.caches.keys import differences, nearest_key
from ..report.caches.model import CacheUse, CacheUses
from ..report.model import FrameReport, KernelLaunch, Report
from ..report.phases import PhaseStep, seconds_of_parts, steps_of
from ..text.caches import listed
from ..workspace.positions import Span
from .fingerprint import Fingerprint, FingerprintedFinding, fingerprinted, relative_path

_NUMBER = re.compile(r"_\d+$")
"""Matches the number at the end of a TorchInductor kernel's name: ``triton_poi_fused_add_0``."""

_Name = TypeVar("_Name", bound=str)


@dataclass(frozen=True, slots=True)
class AmountChange:
    """A count, or a time in seconds, in the report before and the report after."""

    name: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        """The increase."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class FunctionChange:
    """A function with its amounts in both reports.

    ``compiled`` says whether each report contains the function. ``causes`` counts its recompilations by what
    changed, ``kernels`` its kernel launches by kernel name without number.
    """

    path: str
    name: str
    compiled: tuple[bool, bool]
    counts: tuple[AmountChange, ...]
    seconds: AmountChange
    causes: tuple[AmountChange, ...]
    kernels: tuple[AmountChange, ...]

    @property
    def differs(self) -> bool:
        """Whether anything but the time differs."""
        amounts = (*self.counts, *self.causes, *self.kernels)
        return not all(self.compiled) or any(amount.difference for amount in amounts)


@dataclass(frozen=True, slots=True)
class ReportComparison:
    """The differences between two reports.

    ``phases`` are steps of the compiler without their inner steps. Equal amounts are included; ``parts`` and
    ``phases`` begin with the largest change. If the runs differ in depth, kernels and times are left out.
    """

    torch: tuple[str, str]
    depth: tuple[Depth, Depth]
    new: tuple[FingerprintedFinding, ...]
    gone: tuple[FingerprintedFinding, ...]
    both: tuple[tuple[FingerprintedFinding, FingerprintedFinding], ...]
    functions: tuple[FunctionChange, ...]
    counts: tuple[AmountChange, ...]
    seconds: AmountChange
    parts: tuple[AmountChange, ...]
    phases: tuple[AmountChange, ...]
    keys: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Differences between cache keys, each with the graphs that missed a cache in the later run."""

    @property
    def worse(self) -> bool:
        """Whether there is a new warning, error or recompilation."""
        findings = (item.finding for item in self.new)
        return any(item.severity != "information" or item.kind == "recompile" for item in findings)

    @property
    def recounted(self) -> list[tuple[FingerprintedFinding, FingerprintedFinding]]:
        """The findings of both reports whose counts differ."""
        return [(old, now) for old, now in self.both if old.finding.count != now.finding.count]

    @property
    def differs(self) -> bool:
        """Whether anything other than times and the version of torch differs."""
        return bool(
            self.new
            or self.gone
            or self.recounted
            or any(amount.difference for amount in self.counts)
            or any(function.differs for function in self.functions)
            or self.keys
        )


def compare(before: Report, after: Report, before_root: Path, after_root: Path) -> ReportComparison:
    """Compare two reports; each root is the folder of that report's workspace."""
    depth = before.depth, after.depth
    if before.depth != after.depth:
        before, after = _captured(before), _captured(after)
    old, now = fingerprinted(before, before_root), fingerprinted(after, after_root)
    new, gone, both = _paired(old, now)
    functions = _functions(before, old, before_root), _functions(after, now, after_root)
    steps = steps_of(before.phases), steps_of(after.phases)
    return ReportComparison(
        torch=(before.torch, after.torch),
        depth=depth,
        new=new,
        gone=gone,
        both=both,
        functions=tuple(_changes(*functions)),
        counts=_amounts(_totals(before, functions[0]), _totals(after, functions[1])),
        seconds=AmountChange("compile time", _compiling(before, steps[0]), _compiling(after, steps[1])),
        parts=_by_change(_amounts(seconds_of_parts(steps[0]), seconds_of_parts(steps[1]))),
        phases=_by_change(_amounts(_own_seconds(steps[0]), _own_seconds(steps[1]))),
        keys=_keys(before, before_root, after, after_root),
    )


def _captured(report: Report) -> Report:
    """Return a report without the parts that depend on the depth of the run."""
    frames = tuple(replace(frame, kernels=0, seconds=0.0) for frame in report.frames)
    return replace(report, frames=frames, codes=(), phases=(), compilations=(), caches=CacheUses())


# -- findings ----------------------------------------------------------------------------------


def _paired(
    before: Iterable[FingerprintedFinding], after: Iterable[FingerprintedFinding]
) -> tuple[
    tuple[FingerprintedFinding, ...],
    tuple[FingerprintedFinding, ...],
    tuple[tuple[FingerprintedFinding, FingerprintedFinding], ...],
]:
    """Return new findings, findings that are gone, and pairs of matching findings.

    Findings with equal fingerprints are paired in their order.
    """
    left: dict[Fingerprint, list[FingerprintedFinding]] = defaultdict(list)
    for item in before:
        left[item.fingerprint].append(item)
    new, both = [], []
    for item in after:
        if left[item.fingerprint]:
            both.append((left[item.fingerprint].pop(0), item))
        else:
            new.append(item)
    return tuple(new), tuple(itertools.chain.from_iterable(left.values())), tuple(both)


# -- functions ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _FunctionAmounts:
    """The amounts of a function in one report; empty if it was not compiled."""

    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    causes: Mapping[str, int] = field(default_factory=dict)
    kernels: Mapping[str, int] = field(default_factory=dict)


_Functions = Mapping[tuple[str, str], Sequence[_FunctionAmounts]]
"""Functions by file and name; functions of the same name are in the order of their lines."""


def _functions(report: Report, findings: Sequence[FingerprintedFinding], root: Path) -> _Functions:
    launches: dict[str, list[KernelLaunch]] = defaultdict(list)
    for code in report.codes:
        launches[code.compile_id] += code.launches
    functions: dict[tuple[str, str], list[_FunctionAmounts]] = defaultdict(list)
    for frame in report.frames:
        own = (launch for compile_id in frame.compile_ids for launch in launches[compile_id])
        function = _FunctionAmounts(
            {
                "graphs": frame.graphs,
                "operations": frame.ops,
                "graph breaks": frame.breaks,
                "guards": len(frame.guards),
                "recompilations": frame.recompiles,
                "kernel launches": frame.kernels,
            },
            frame.seconds,
            _causes(frame, findings),
            _kernels(own),
        )
        functions[relative_path(report, frame.filename, root), frame.qualname].append(function)
    return functions


def _causes(frame: FrameReport, findings: Iterable[FingerprintedFinding]) -> Mapping[str, int]:
    """Count the recompilations of a function by what changed."""
    own = set(frame.compile_ids)
    causes: Counter[str] = Counter()
    for item in findings:
        if item.finding.kind == "recompile":
            causes[item.fingerprint.message] += len(own & item.finding.compile_ids)
    return +causes


def _kernels(launches: Iterable[KernelLaunch]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for launch in launches:
        counts[_kernel(launch)] += launch.times
    return counts


def _kernel(launch: KernelLaunch) -> str:
    return launch.name if launch.language == "extern" else _NUMBER.sub("", launch.name)


def _changes(before: _Functions, after: _Functions) -> Iterator[FunctionChange]:
    for path, name in sorted({*before, *after}):
        pairs = itertools.zip_longest(before.get((path, name), ()), after.get((path, name), ()))
        for old, now in pairs:
            one, other = old or _FunctionAmounts(), now or _FunctionAmounts()
            yield FunctionChange(
                path,
                name,
                (old is not None, now is not None),
                _amounts(one.counts, other.counts),
                AmountChange("compile time", one.seconds, other.seconds),
                _amounts(one.causes, other.causes),
                _amounts(one.kernels, other.kernels),
            )


# -- keys of caches ----------------------------------------------------------------------------


def _keys(
    before: Report, before_root: Path, after: Report, after_root: Path
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Compare the key of each graph that missed a cache with the nearest earlier key.

    Only keys of the same function and cache in the report ``before`` are candidates.
    """
    parts = {**before.caches.parts, **after.caches.parts}
    earlier: dict[tuple[object, ...], list[CacheLookup]] = defaultdict(list)
    for use in before.caches.uses:
        earlier[_graph(before, use, before_root)].append(use.lookup)
    apart: dict[str, list[str]] = defaultdict(list)
    for use in after.caches.lacking:
        same = [lookup for lookup in earlier[_graph(after, use, after_root)] if lookup.parts]
        if use.state == "miss" and use.lookup.parts and same:
            found = differences(nearest_key(use.lookup, same, parts), use.lookup, parts, _span)
            if found:
                apart[listed([item.words for item in found])].append(use.label)
    return tuple((words, tuple(labels)) for words, labels in apart.items())


def _graph(report: Report, use: CacheUse, root: Path) -> tuple[object, ...]:
    return relative_path(report, use.span.filename, root), use.function, use.cache, use.lookup.backward


def _span(frame: StackFrame) -> Span:
    return Span(frame.filename, frame.row, 1, frame.row, 1)


# -- amounts -----------------------------------------------------------------------------------


def _totals(report: Report, functions: _Functions) -> Mapping[str, int]:
    members = [function for same in functions.values() for function in same]
    totals: Counter[str] = Counter(functions=len(members))
    for function in members:
        totals.update(function.counts)
    # A break in an inlined function counts for that function and for its caller, so findings are counted.
    totals["graph breaks"] = sum(finding.kind == "graph-break" for finding in report.findings)
    for count in report.caches.counts:
        for what, number in (("hits", count.hits), ("misses", count.misses), ("bypasses", count.bypasses)):
            totals[f"{count.name} {what}"] = number
    return totals


def _by_change(amounts: Iterable[AmountChange]) -> tuple[AmountChange, ...]:
    return tuple(sorted(amounts, key=lambda amount: -abs(amount.difference)))


def _compiling(report: Report, steps: Iterable[PhaseStep]) -> float:
    """Return the seconds of all steps, or of all compilations if no steps are known."""
    seconds = sum(step.phase.seconds for step in steps if not step.depth)
    return seconds or sum(item.seconds for item in report.compilations)


def _own_seconds(steps: Iterable[PhaseStep]) -> Mapping[str, float]:
    seconds: dict[str, float] = defaultdict(float)
    for step in steps:
        seconds[step.phase.name] += max(step.own, 0.0)
    return seconds


def _amounts(before: Mapping[_Name, float], after: Mapping[_Name, float]) -> tuple[AmountChange, ...]:
    names = dict.fromkeys((*before, *after))
    return tuple(AmountChange(name, before.get(name, 0), after.get(name, 0)) for name in names)
