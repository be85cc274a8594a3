"""The compiler's steps on all ranks over time, in Chromium's trace event format.

torch logs the steps of a compilation in this format (``chromium_event``), with the process number 0 in each
log. The timeline has the rank as the process number, and shows findings at the start of their compilations.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from fullgraph_compiler.facts import FrameStarted
from fullgraph_compiler.trace import TraceInterpreter, TraceLog
from fullgraph_compiler.trace.decoding import read_object
from fullgraph_compiler.trace.phases import PHASE

from ..report.model import Finding
from .logs import LogFile
from .reading import DAMAGE

Event: TypeAlias = dict[str, Any]

_RECORDS: Final = frozenset({PHASE, "str", "dynamo_start"})
_PATIENCE: Final = 600
"""NCCL's default timeout of a collective operation, in seconds."""
_LATEST: Final = 1e17
"""The limit on times, in microseconds since 1970: more than a thousand years from now."""
_DEEPEST: Final = 200
"""The limit on nested steps; torch nests about twenty."""


@dataclass(frozen=True, slots=True)
class TimelineMoment:
    """A time on a thread, in microseconds of the rank's clock."""

    time: float
    thread: int


class Timeline:
    """A collection of the events of ranks, added one rank after another.

    ``starts`` maps each rank to its start time in seconds.
    """

    def __init__(self) -> None:
        self.starts: dict[int, float] = {}

    def events(self, log: LogFile, findings: Sequence[Finding], name: str) -> Iterator[Event]:
        """Yield the events of a log, with the findings of the log's compilations.

        Raises ``OSError`` if the log cannot be read.
        """
        rank = log.rank or 0
        yield _named("process_name", rank, name=name)
        yield _named("process_sort_index", rank, sort_index=rank)
        compilations: dict[str, TimelineMoment] = {}
        for event in _steps(log, compilations):
            self.starts.setdefault(rank, event["ts"] / 1e6)
            yield {**event, "pid": rank}
        for finding in findings:
            for compile_id in finding.compile_ids:
                if moment := compilations.get(compile_id):
                    yield {**_flag(finding, compile_id), "ts": moment.time, "pid": rank, "tid": moment.thread}

    @property
    def doubt(self) -> str:
        """A warning if the trace has no times, or ranks began far apart; else empty."""
        if not self.starts:
            return "The trace has no times: torch did not log the steps of the compiler."
        first, last = (choose(self.starts, key=self.starts.__getitem__) for choose in (min, max))
        apart = self.starts[last] - self.starts[first]
        if apart <= _PATIENCE:
            return ""
        return (
            f"Rank {last} begins {apart / 60:,.0f} minutes after rank {first}: "
            "the clocks of their machines differ, or the logs are from several jobs."
        )


def _steps(log: LogFile, compilations: dict[str, TimelineMoment]) -> Iterator[Event]:
    """Yield the steps of a log; record each compilation's start in ``compilations``."""
    opened: defaultdict[int, list[str]] = defaultdict(list)
    interpreter = TraceInterpreter(findings_only=True)
    last: TimelineMoment | None = None
    with TraceLog(log.path) as records:
        for record in records.records(_RECORDS):
            with contextlib.suppress(*DAMAGE):  # the report of the trace counts damaged records
                if record.name == PHASE:
                    event = _step(read_object(record.payload))
                    last = TimelineMoment(event["ts"], event["tid"])
                    yield from _in_order(event, opened[event["tid"]])
                    continue
                for fact in interpreter.feed(record):
                    if isinstance(fact, FrameStarted) and last:
                        compilations[fact.compile_id] = last


def _step(event: Mapping[str, Any]) -> Event:
    """Return the valid fields of an event that torch logged.

    Raises ``ValueError`` if the event is not a step of the compiler.
    """
    time, kind, thread = event["ts"], event["ph"], event.get("tid", 0)
    if not 0 <= time < _LATEST or kind not in ("B", "E", "i") or not isinstance(thread, int):
        raise ValueError("no step")
    step = {
        "name": str(event["name"]),
        "cat": str(event.get("cat", "")),
        "ph": kind,
        "ts": time,
        "tid": thread,
        "args": {str(name): _plain(value) for name, value in (event.get("args") or {}).items()},
    }
    return {**step, "s": "t"} if kind == "i" else step


def _plain(value: Any) -> Any:
    is_plain = isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value))
    return value if is_plain else json.dumps(value)


def _in_order(event: Event, opened: list[str]) -> Iterator[Event]:
    """Yield an event.

    Before the end event of a step, yield the end events of nested steps that are missing because of an
    exception in the compiler. ``opened`` are the names of the steps that have not ended.
    """
    if event["ph"] == "B":
        if len(opened) == _DEEPEST:
            return
        opened.append(event["name"])
    elif event["ph"] == "E":
        if event["name"] not in opened:
            return
        while (name := opened.pop()) != event["name"]:
            yield {**event, "name": name, "args": {}}
    yield event


def _flag(finding: Finding, compile_id: str) -> Event:
    span = finding.span
    arguments = {"kind": finding.kind, "code": finding.code, "compile_id": compile_id}
    return {
        "name": f"{finding.message} ({span.filename}:{span.row})",
        "cat": "fullgraph",
        "ph": "i",
        "s": "t",
        "args": {**arguments, "file": span.filename, "line": span.row},
    }


def _named(what: str, rank: int, **arguments: str | int) -> Event:
    return {"name": what, "ph": "M", "pid": rank, "tid": 0, "args": arguments}
