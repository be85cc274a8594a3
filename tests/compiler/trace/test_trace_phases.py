"""Pairs of records that begin and end a step of the compiler."""

from __future__ import annotations

import json

from fullgraph_compiler.facts import CompilePhase, PhasesTimed
from fullgraph_compiler.trace import TraceInterpreter, TraceRecord


def told(*events: tuple[str, str, float]) -> list[PhasesTimed]:
    """The facts of events ``(B, E or i; name; seconds)``."""
    interpreter = TraceInterpreter()
    records = (
        TraceRecord("chromium_event", {}, "0/0", 0, json.dumps({"ph": kind, "name": name, "ts": time * 1e6}))
        for kind, name, time in events
    )
    return [fact for record in records for fact in interpreter.feed(record) if isinstance(fact, PhasesTimed)]


def test_steps_are_told_once_the_outermost_has_ended() -> None:
    events = (("B", "a", 1.0), ("B", "b", 2.0), ("E", "b", 4.0), ("i", "moment", 4.5))
    assert told(*events) == []
    a, b = CompilePhase("a", 1.0, 4.0, "0/0"), CompilePhase("b", 2.0, 2.0, "0/0")
    assert told(*events, ("E", "a", 5.0)) == [PhasesTimed((a, b))]


def test_a_step_that_an_exception_ended_is_left_out() -> None:
    (found,) = told(("B", "a", 1.0), ("B", "b", 2.0), ("B", "c", 2.5), ("E", "b", 3.0), ("E", "a", 4.0))
    assert [phase.name for phase in found.phases] == ["a", "b"]


def test_threads_that_build_kernels_begin_and_end_steps_in_between() -> None:
    (found,) = told(
        *(("B", "compile", 1.0), ("B", "build", 2.0), ("B", "wait", 2.1)),
        *(("E", "build", 8.0), ("E", "wait", 8.5), ("E", "compile", 9.0)),
    )
    steps = {phase.name: round(phase.seconds, 1) for phase in found.phases}
    assert steps == {"compile": 8.0, "build": 6.0, "wait": 6.4}
    assert [phase.name for phase in found.phases] == ["compile", "build", "wait"]


def test_an_end_without_a_beginning_is_nothing() -> None:
    assert told(("E", "a", 1.0)) == []
    (found,) = told(("E", "a", 1.0), ("B", "b", 2.0), ("E", "b", 3.0))
    assert [phase.name for phase in found.phases] == ["b"]


def test_short_steps_are_left_out_with_what_is_within() -> None:
    (found,) = told(
        ("B", "a", 1.0),
        ("B", "b", 2.0),
        ("B", "c", 2.00001),
        ("E", "c", 2.00002),
        ("E", "b", 2.00003),
        ("E", "a", 4.0),
    )
    assert [phase.name for phase in found.phases] == ["a"]
