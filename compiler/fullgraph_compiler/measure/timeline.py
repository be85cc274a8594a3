"""Divide the time of profiled calls by what the hardware does.

The functions are pure functions of events; times are in nanoseconds. Each instant belongs to exactly one
part, so that the parts add up to the whole: to the GPU's kernel or copy if one runs at this instant,
otherwise to the innermost event of the processor.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..compat.profiler_compat import EventKind, ProfilerEvent
from ..facts import PartKind


@dataclass(frozen=True, slots=True)
class PartKey:
    """The identity of a part of the time; see :class:`..facts.TimePart`."""

    kind: PartKind
    compile_id: str = ""
    filename: str = ""
    name: str = ""


@dataclass(slots=True)
class PartTime:
    """The time of a part in nanoseconds, and how often the part began.

    The profiler takes time to record an event, some of it inside the event, the rest around the event.
    ``within`` and ``around`` are the numbers of events whose recording adds such time to this part.
    """

    time: float = 0.0
    count: int = 0
    within: float = 0.0
    around: float = 0.0


@dataclass(frozen=True, slots=True)
class EventCost:
    """The nanoseconds that it takes to record an event from Python.

    ``within`` is the part that adds to the time of the event, ``around`` the part that adds to the time
    outside of it.
    """

    within: float
    around: float


_RECORDED_IN_CPP: Final = frozenset(("guards", "operator"))
_COST_IN_CPP: Final = 0.25
"""The time to record an event in C++, relative to the time from Python (measured with 2.13)."""


class _EventStack:
    """The stack of the processor's active events, the innermost last."""

    def __init__(self) -> None:
        self.active: list[ProfilerEvent] = []

    def part(self) -> PartKey | None:
        """Return the part to which the current instant belongs; ``None`` outside of calls."""
        if not any(event.kind == "call" for event in self.active):
            return None
        region = self._innermost("region")
        at = max((n for n, event in enumerate(self.active) if event.kind == "graph"), default=None)
        if at is not None:
            graph, inner = self.active[at], self.active[at + 1 :]
            named = next((event for event in inner if event.kind in ("kernel", "operator")), None)
            if named is not None:
                return PartKey("kernel", region, graph.key, named.key)
            return PartKey("launch", region, graph.key)
        for event in reversed(self.active):
            if event.kind == "guards":
                return PartKey("guards", event.key)
            if event.kind == "entry":
                return PartKey("entry", region)
            if event.kind in ("region", "call"):
                break
        if any(event.kind == "release" for event in self.active):
            return PartKey("release")
        is_backward = any(event.kind == "backward" for event in self.active)
        return PartKey("autograd") if is_backward else PartKey("frame", region)

    def _innermost(self, kind: EventKind) -> str:
        return next((event.key for event in reversed(self.active) if event.kind == kind), "")


def parts_of(events: Sequence[ProfilerEvent]) -> Mapping[PartKey, PartTime]:
    """Return the time of each part of the profiled calls.

    The parts add up to the whole time of these calls.
    """
    device = [event for event in events if event.kind is None]
    events = _with_regions_of_guards([event for event in events if event.kind is not None])
    bounds = sorted(
        [(event.start, 1, -event.end, event) for event in events]
        + [(event.end, 0, -event.start, event) for event in events],
        key=lambda bound: bound[:3],
    )
    shares: dict[PartKey, PartTime] = defaultdict(PartTime)
    state, busy = _EventStack(), _GpuIntervals(device, events)
    before, part = 0, None
    for instant, is_start, _, event in bounds:
        if part is not None and instant > before:
            for key, time in busy.split(before, instant, part):
                shares[key].time += time
        if is_start:
            state.active.append(event)
            state.active.sort(key=lambda item: (item.start, -item.end))
        else:
            state.active.remove(event)
        before, changed = instant, state.part()
        if is_start and event.kind != "call" and changed is not None and part is not None:
            weight = _COST_IN_CPP if event.kind in _RECORDED_IN_CPP else 1.0
            shares[changed].within += weight
            shares[part].around += weight
        if changed is not None and is_start and changed != part:
            shares[changed].count += 1
        part = changed
    for key, count in busy.counts.items():
        shares[key].count = count
    return shares


def without_overhead(
    shares: Mapping[PartKey, PartTime], cost: EventCost, total: float
) -> dict[PartKey, float]:
    """Return how long each part would take without a profiler.

    ``total`` is the time of all these calls without a profiler. The parts are reduced by the cost of events,
    and then scaled so that they add up to ``total``.
    """
    times = {
        key: max(share.time - cost.within * share.within - cost.around * share.around, 0.0)
        for key, share in shares.items()
    }
    left = sum(times.values())
    return {key: time * total / left for key, time in times.items()} if left else {}


def _with_regions_of_guards(events: Sequence[ProfilerEvent]) -> list[ProfilerEvent]:
    """Give each check of guards the compile id of the frame that runs next."""
    known: list[ProfilerEvent] = []
    after = ""
    for event in sorted(events, key=lambda event: -event.start):
        if event.kind == "region":
            after = event.key
        elif event.kind == "guards":
            event = ProfilerEvent("guards", event.start, event.end, after)
            after = ""
        known.append(event)
    return known


class _GpuIntervals:
    """The intervals in which a GPU works, without overlaps, each with its part."""

    def __init__(self, device: Iterable[ProfilerEvent], events: Sequence[ProfilerEvent]) -> None:
        self.counts: dict[PartKey, int] = defaultdict(int)
        self._intervals: list[tuple[int, int, PartKey]] = []
        self._next = 0
        until = 0
        in_order = sorted(device, key=lambda item: item.start)
        for item, key in zip(in_order, _launched_in(in_order, events), strict=True):
            self.counts[key] += 1
            if item.end > until:
                self._intervals.append((max(item.start, until), item.end, key))
                until = item.end

    def split(self, start: int, end: int, part: PartKey) -> Iterable[tuple[PartKey, int]]:
        """Divide the time from ``start`` to ``end``, in which the processor does ``part``.

        Yield the parts of the GPU with their times, and ``part`` with the time in which the GPU is idle.
        """
        while self._next < len(self._intervals) and self._intervals[self._next][1] <= start:
            self._next += 1
        at = start
        for number in range(self._next, len(self._intervals)):
            busy_start, busy_end, key = self._intervals[number]
            if busy_start >= end:
                break
            if busy_start > at:
                yield part, busy_start - at
            yield key, min(busy_end, end) - max(busy_start, at)
            at = min(busy_end, end)
        if at < end:
            yield part, end - at


def _launched_in(device: Sequence[ProfilerEvent], events: Sequence[ProfilerEvent]) -> Iterator[PartKey]:
    """Yield, for each kernel or copy, the part in which the processor launched it."""
    wanted = (event for event in events if event.kind in ("region", "graph", "operator"))
    waiting = sorted(wanted, key=lambda event: (event.start, -event.end), reverse=True)
    active: list[ProfilerEvent] = []
    keys: dict[int, PartKey] = {}
    for item in sorted(device, key=lambda item: item.launched):
        while waiting and waiting[-1].start <= item.launched:
            active.append(waiting.pop())
        active = [event for event in active if event.end > item.launched]
        keys[id(item)] = _part_in(item, active)
    return (keys[id(item)] for item in device)


def _part_in(item: ProfilerEvent, around: Sequence[ProfilerEvent]) -> PartKey:
    region = next((event.key for event in reversed(around) if event.kind == "region"), "")
    graph = next((event for event in reversed(around) if event.kind == "graph"), None)
    if item.is_copy:
        return PartKey("copy", region, graph.key if graph else "", item.key)
    if graph is None:
        return PartKey("frame", region)
    inner = around[around.index(graph) + 1 :]
    operator = next((event.key for event in inner if event.kind == "operator"), item.key)
    return PartKey("kernel", region, graph.key, item.key if item.key.startswith("triton_") else operator)
