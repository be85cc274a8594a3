"""Divide the time of repeated calls into parts, with torch's profiler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType

from ..compat import profiler_compat
from ..facts import OperatorCounted, TimePart
from .repeating import Repetition
from .timeline import EventCost, parts_of, without_overhead

_SECONDS = 1.0
_MOST_PASSES = 50
_FEWEST_PASSES = 3
_MOST_EVENTS = 100_000
_CALIBRATING = 1000
_ATEN = "aten::"
_AROUND = ("entry", "frame", "launch", "release")


def time_parts(repetition: Repetition, seconds: float, modules: Sequence[ModuleType]) -> tuple[TimePart, ...]:
    """Return the parts of a call's time.

    ``seconds`` is the time of one pass over all calls without a profiler. ``modules`` are the modules of the
    generated code.
    """
    first = profiler_compat.profiled(
        lambda: repetition.observe(1), modules
    )  # the first pass is slow, so it does not count
    most = min(_MOST_PASSES, _MOST_EVENTS // max(len(first), 1), int(_SECONDS / max(seconds, 1e-9)))
    passes = max(_FEWEST_PASSES, most)
    events = profiler_compat.profiled(lambda: repetition.observe(passes), modules)
    shares = parts_of(events)
    times = without_overhead(shares, _event_cost(), seconds * passes * 1e9)
    made = passes * len(repetition.calls)
    return tuple(
        TimePart(
            key.kind, time / 1e9 / made, shares[key].count / made, key.compile_id, key.filename, key.name
        )
        for key, time in sorted(times.items(), key=lambda item: -item[1])
        if time > 0
    )


def count_operators(repetition: Repetition, parts: Sequence[TimePart]) -> tuple[OperatorCounted, ...]:
    """Count how often a call runs the operators that are kernels in ``parts``.

    Each operator is counted in compiled and in uncompiled calls.
    """
    names = dict.fromkeys(
        part.name for part in parts if part.kind == "kernel" and part.name.startswith(_ATEN)
    )
    if not names:
        return ()
    compiled, eager = (_operators(repetition, compiled=compiled) for compiled in (True, False))
    calls = len(repetition.calls)
    return tuple(OperatorCounted(name, compiled[name] / calls, eager[name] / calls) for name in names)


def _operators(repetition: Repetition, *, compiled: bool) -> Counter[str]:
    events = profiler_compat.profiled(lambda: repetition.observe(1, compiled=compiled), ())
    return Counter(event.key for event in events if event.kind == "operator")


def with_guards(parts: Sequence[TimePart], share: float) -> tuple[TimePart, ...]:
    """Return the parts with the share of guards raised to ``share``, if it is lower.

    The additional time is taken from the parts around graphs. The reason: many guards displace other data
    from the processor's caches, and the profiler attributes the time to read this data again to the parts
    after the guards.
    """
    guards = sum(part.seconds for part in parts if part.kind == "guards")
    around = sum(part.seconds for part in parts if part.kind in _AROUND)
    more = min(share * sum(part.seconds for part in parts) - guards, around)
    if not guards or more <= 0:
        return tuple(parts)
    factors = {"guards": 1 + more / guards, **dict.fromkeys(_AROUND, 1 - more / around)}
    return tuple(replace(part, seconds=part.seconds * factors.get(part.kind, 1.0)) for part in parts)


def _event_cost() -> EventCost:
    """Measure how long the profiler takes to record an event on this machine."""
    events = profiler_compat.profiled(lambda: profiler_compat.record_nothing(_CALIBRATING), ())
    (call,) = (event for event in events if event.kind == "call")
    durations = sorted(event.end - event.start for event in events if event.kind == "kernel")
    within = durations[len(durations) // 2]
    return EventCost(within, max((call.end - call.start - sum(durations)) / len(durations), 0.0))
