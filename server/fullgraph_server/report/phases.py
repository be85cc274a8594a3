"""The steps of the compiler as a tree, with the compiler part of each step."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from fullgraph_compiler.facts import CompilePhase

Part: TypeAlias = Literal["dynamo", "aot", "inductor", "build"]

_BEGINS: Final[tuple[tuple[re.Pattern[str], Part], ...]] = (
    (
        re.compile(
            r"^(compile_file|async_compile|PyCodeCache|CppCodeCache|CachingAutotuner|AotCodeCompiler|Static)"
        ),
        "build",
    ),
    (re.compile(r"^(aot_|AOTAutograd|create_aot|min_cut|entire_backward_compile)"), "aot"),
    (re.compile(r"(compile_fx|inductor|_passes$|^GraphLowering|^Scheduler)"), "inductor"),
)
"""Patterns for the names of steps with which a part begins (uses of ``dynamo_timed``, 2.11 to 2.15)."""


@dataclass(slots=True)
class PhaseStep:
    """A step of the compiler, nested in ``depth`` other steps.

    ``own`` are the seconds of the step without the steps nested in it.
    """

    phase: CompilePhase
    depth: int
    part: Part
    own: float


def steps_of(phases: Iterable[CompilePhase]) -> list[PhaseStep]:
    """List the steps in order, each with the part of the compiler.

    A step that does not begin a part belongs to the part of the step that contains it.
    """
    steps: list[PhaseStep] = []
    around: list[PhaseStep] = []
    for phase in phases:
        while around and around[-1].phase.start + around[-1].phase.seconds <= phase.start:
            around.pop()
        begun = next((part for pattern, part in _BEGINS if pattern.search(phase.name)), None)
        step = PhaseStep(
            phase, len(around), begun or (around[-1].part if around else "dynamo"), phase.seconds
        )
        if around:
            around[-1].own -= phase.seconds
        steps.append(step)
        around.append(step)
    return steps


def seconds_of_parts(steps: Sequence[PhaseStep]) -> dict[Part, float]:
    """Return the seconds that each part of the compiler took, the longest first."""
    seconds: dict[Part, float] = defaultdict(float)
    for step in steps:
        seconds[step.part] += max(step.own, 0.0)
    return {part: seconds[part] for part in sorted(seconds, key=lambda part: -seconds[part])}
