"""Compiled functions: counts, guards, and the number of failures of each guard."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from fullgraph_compiler.facts import (
    CodeGenerated,
    CollectivesScheduled,
    FrameCompiled,
    GraphTraced,
    GuardInstalled,
    Recompile,
    RecompileLimit,
    RuntimeEstimated,
)
from fullgraph_compiler.trace.changes import versions

from ..workspace.ranges import definition_span
from .facts_by_type import FactsByType
from .model import FrameReport, Guard
from .recompiles import RecompileIndex
from .source_locator import FactLocator, UserFunction


class FrameTable:
    """The facts about compilations, from which the reports of functions are made."""

    def __init__(self, facts: FactsByType, places: FactLocator, recompilations: RecompileIndex) -> None:
        self._places = places
        self._guards = recompilations.guards
        self._compiled = facts.by_compile_id(FrameCompiled)
        self._recompiles = facts.by_compile_id(Recompile)
        self._traced = facts.by_compile_id(GraphTraced)
        self._schedules = facts.lists_by_compile_id(CollectivesScheduled)
        self._estimates = facts.lists_by_compile_id(RuntimeEstimated)
        self._limited = {fact.compile_id for fact in facts.of(RecompileLimit)}
        self._launches: Counter[str] = Counter()
        for fact in facts.of(CodeGenerated):
            self._launches[fact.compile_id] += sum(kernel.times for kernel in fact.kernels)

    def reports(self, breaks: Sequence[AbstractSet[str]]) -> tuple[FrameReport, ...]:
        """Return a report for each compiled function, sorted by place.

        ``breaks`` are the compile ids of each graph break.
        """
        compile_ids: dict[UserFunction, list[str]] = defaultdict(list)
        for compile_id, function in self._places.functions.items():
            compile_ids[function].append(compile_id)
        last = next(reversed(self._places.functions), "")
        reports = (self._report(function, own, breaks, last) for function, own in compile_ids.items())
        return tuple(sorted(reports, key=lambda frame: (frame.filename, frame.row, frame.function)))

    def _report(
        self,
        function: UserFunction,
        compile_ids: Sequence[str],
        breaks: Sequence[AbstractSet[str]],
        last: str,
    ) -> FrameReport:
        compiled = [self._compiled[name] for name in compile_ids if name in self._compiled]
        recompiles = [self._recompiles[name] for name in compile_ids if name in self._recompiles]
        source = self._places.workspace.source(function.filename)
        return FrameReport(
            function=function.name,
            qualname=self._places.qualname(function),
            filename=function.filename,
            row=definition_span(source, function.filename, function.row, function.name).row,
            compile_ids=tuple(compile_ids),
            graphs=sum(fact.graphs for fact in compiled),
            ops=sum(fact.ops for fact in compiled),
            breaks=sum(not broken.isdisjoint(compile_ids) for broken in breaks),
            guards=self._guards_of(compile_ids, recompiles),
            recompiles=len(recompiles),
            versions=versions({fact.compile_id: self._guards[fact.compile_id] for fact in compiled}),
            kernels=sum(self._launches[name] for name in compile_ids),
            seconds=sum(fact.seconds for fact in compiled),
            compilations=len(set(compile_ids) - self._limited),
            traced=tuple(self._traced[name] for name in compile_ids if name in self._traced),
            schedules=tuple(fact for name in compile_ids for fact in self._schedules[name]),
            estimates=tuple(fact for name in compile_ids for fact in self._estimates[name]),
            unfinished=last in compile_ids and last not in self._compiled and last not in self._limited,
        )

    def _guards_of(self, compile_ids: Iterable[str], recompiles: Iterable[Recompile]) -> tuple[Guard, ...]:
        """Collect the guards of several compilations, with their failures.

        Equal guards are merged.
        """
        installed: dict[tuple[str, str, str], list[GuardInstalled]] = defaultdict(list)
        for compile_id in compile_ids:
            for guard in self._guards[compile_id]:
                installed[guard.source, guard.kind, guard.code].append(guard)
        failures: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
        for recompile in recompiles:
            for failure in recompile.failures:
                failures[failure.source, failure.compile_id].add((recompile.compile_id, failure.kind))
        return tuple(self._guard(same, failures) for same in installed.values())

    def _guard(
        self, same: Sequence[GuardInstalled], failures: dict[tuple[str, str], set[tuple[str, str]]]
    ) -> Guard:
        first = next((guard for guard in same if guard.stack), same[0])
        recompiled = {
            compile_id
            for guard in same
            for compile_id, failed_kind in failures.get((first.source, guard.compile_id), ())
            if failed_kind in ("", first.kind)
        }
        return Guard(
            first.source,
            first.kind,
            first.expected,
            first.code,
            first.compile_id,
            self._places.name_span(first.stack, first.source),
            len(recompiled),
            self._places.callers(first.stack),
        )
