"""Times of the compiler's steps, from pairs of ``chromium_event`` records.

The payload of each record is a JSON object in Chromium's trace event format, with times in microseconds
(``ChromiumEventLogger`` in ``torch/_dynamo/utils.py``, 2.11 to 2.15).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ..facts import CompilePhase, PhasesTimed
from .decoding import read_object
from .record import TraceRecord

PHASE: Final = "chromium_event"
_SHORTEST = 1e-4
"""The shortest step to report, in seconds: there are hundreds of shorter ones."""


@dataclass
class _OpenPhase:
    """A step that has begun; ``within`` are the steps inside it that have ended."""

    name: str
    start: float
    compile_id: str
    within: list[CompilePhase] = field(default_factory=list)


class PhaseReader:
    """A reader that pairs the records of the beginning and the end of each step."""

    def __init__(self) -> None:
        self._steps: list[_OpenPhase] = []

    def feed(self, record: TraceRecord) -> Iterator[PhasesTimed]:
        """Yield an outermost step with all steps inside it when the step has ended."""
        event = read_object(record.payload)
        kind, name, time = event.get("ph"), str(event["name"]), event["ts"] / 1e6
        if kind == "B":
            self._steps.append(_OpenPhase(name, time, record.compile_id))
        elif kind == "E" and name in (names := [step.name for step in self._steps]):
            # End the innermost step of this name: threads that build kernels begin and end steps in between.
            place = len(names) - 1 - names[::-1].index(name)
            step = self._steps.pop(place)
            phases = [CompilePhase(name, step.start, time - step.start, step.compile_id), *step.within]
            if place == 0:
                self._steps.clear()  # an exception ended the remaining steps, which torch does not log
                yield PhasesTimed(tuple(sorted(phases, key=lambda phase: (phase.start, -phase.seconds))))
            elif phases[0].seconds >= _SHORTEST:
                self._steps[place - 1].within += phases
