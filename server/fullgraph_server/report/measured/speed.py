"""The measured speed of compiled calls: a verdict, and the parts of the time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from fullgraph_compiler.facts import MachineMeasured, MemoryMeasured, SpeedMeasured

from ...text.durations import duration, percent, size
from ..facts_by_type import FactsByType
from ..recompiles import RecompileIndex
from ..source_locator import FactLocator
from .causes import LibraryUse, SpeedCauses
from .memory import held_memory
from .model import MeasuredSpeed, SpeedCause, SpeedPart, TimeKind

LABELS: Final[dict[TimeKind, str]] = {
    "recompile": "compiling again",
    "guards": "checking guards",
    "between": "between graphs, uncompiled",
    "entry": "entering and leaving graphs",
    "launch": "calling kernels",
    "kernel": "kernels",
    "copy": "copies to and from the GPU",
    "autograd": "autograd, outside of graphs",
    "release": "freeing results",
}
"""Names of the parts of the time, in the order in which they occur in a call."""
_WAITING: Final = "the GPU waits for launches"
_NOISY: Final = 0.25
"""The width of a confidence interval, as a fraction of the ratio, above which the ratio is unreliable."""
_LITTLE: Final = 0.15
"""The fraction of a call's time below which the verdict does not name a cause."""
_LITTLE_MEMORY: Final = 1 << 20
"""Bytes below which memory is not reported."""
_ENOUGH: Final = 0.6
"""The fraction of a call's time that kernels must take for the verdict to be about kernels."""


def measured_speed(
    facts: FactsByType, places: FactLocator, recompilations: RecompileIndex
) -> MeasuredSpeed | None:
    """Return the speed that a run measured; ``None`` if the run measured no speed."""
    measured = facts.last(SpeedMeasured)
    if measured is None:
        return None
    machine, memory = facts.last(MachineMeasured), facts.last(MemoryMeasured)
    causes_of = SpeedCauses(measured, facts, places, recompilations)
    causes = causes_of.all()
    parts = _parts(measured, causes_of)
    gravest = _gravest(causes, measured)
    if gravest:
        gain = sum(cause.gain for cause in gravest)
        why = _cause_words(gravest[0], gain, measured, parts)
    else:
        why = _at_its_limit(measured, parts, causes_of)
    why = " ".join(filter(None, (why, _more_often(causes_of.library(), measured))))
    first = gravest[0] if gravest and measured.samples else None
    held = tuple(held_memory(memory, facts, places)) if memory else ()
    return MeasuredSpeed(measured, parts, causes, first, _verdict(measured, why), machine, memory, held)


def _parts(measured: SpeedMeasured, causes: SpeedCauses) -> tuple[SpeedPart, ...]:
    times: dict[TimeKind, float] = defaultdict(float)
    for part in measured.parts:
        kind: TimeKind = (
            part.kind if part.kind != "frame" else "between" if causes.is_between(part) else "entry"
        )
        times[kind] += part.seconds
    labels = {**LABELS, "launch": _WAITING} if measured.device else LABELS
    total = sum(times.values())
    return tuple(
        SpeedPart(kind, labels[kind], times[kind], times[kind] / total) for kind in LABELS if times.get(kind)
    )


def speed_words(measured: SpeedMeasured) -> str:
    """Describe how much faster or slower compiled calls are, without a full stop."""
    if measured.low <= 1.0 <= measured.high:
        return "As fast as uncompiled"
    if measured.faster > 1.0:
        return f"{measured.faster:.2f} × faster than uncompiled"
    return f"{1 / measured.faster:.2f} × slower than uncompiled"


def _gravest(causes: Sequence[SpeedCause], measured: SpeedMeasured) -> list[SpeedCause]:
    """Return the causes of the kind with the largest gain; empty if the gain is small."""
    kinds: dict[str, list[SpeedCause]] = defaultdict(list)
    for cause in causes:
        kinds[cause.kind].append(cause)
    most = max(kinds.values(), key=lambda alike: sum(cause.gain for cause in alike), default=[])
    return most if sum(cause.gain for cause in most) >= _LITTLE * measured.compiled else []


def _verdict(measured: SpeedMeasured, why: str) -> str:
    if not measured.samples:
        return measured.problem
    is_clear = bool(measured.recompiled)  # compiling takes so long that noise does not matter
    if measured.high - measured.low > _NOISY * measured.faster and not is_clear:
        between = f"{measured.low:.2f} and {measured.high:.2f}"
        return (
            f"This machine is too noisy for an answer: between {between} times as fast as uncompiled. "
            "Measure again when nothing else runs."
        )
    return " ".join(filter(None, (f"{speed_words(measured)}.", why, measured.problem)))


def _cause_words(cause: SpeedCause, gain: float, measured: SpeedMeasured, parts: Sequence[SpeedPart]) -> str:
    """Describe a cause.

    ``gain`` are the seconds that removing all causes of the same kind would save.
    """
    shares = {part.kind: part.share for part in parts}
    kind: TimeKind = {"break": "between", "cudagraph": "launch"}.get(cause.kind, cause.kind)  # type: ignore[assignment]
    share, label = shares.get(kind, 0.0), LABELS[kind]
    where = (
        f"{percent(share)} of the time is {'' if kind == 'between' else 'for '}{label.partition(',')[0]}: "
    )
    most = measured.compiled / (measured.compiled - gain) if gain < measured.compiled else 0.0
    such = "it" if gain == cause.gain else "all of these"
    without = f" Without {such}, a call would be up to {most:.1f} × as fast."
    # Without a break, two graphs become one, whose time is unknown since kernels can be fused.
    is_told = cause.kind != "break" and 0 < most < 100
    return f"{where}{cause.at}{cause.message}.{without if is_told else ''}"


def _at_its_limit(measured: SpeedMeasured, parts: Sequence[SpeedPart], causes: SpeedCauses) -> str:
    """Describe where the time goes if no single cause takes much of it."""
    kernels = sum(part.seconds for part in parts if part.kind == "kernel")
    if not kernels or kernels < _ENOUGH * measured.compiled:
        return "No single cause takes much of the time."
    share = f"{percent(kernels / measured.compiled)} of the time is for kernels"
    library = causes.library()
    if sum(use.seconds for use in library) > kernels / 2:
        return f"{share}, most of it for library functions such as {_library_words(library)}."
    bounds = causes.bounds()
    if not any(bounds.values()):
        return f"{share}, which compiling cannot make faster."
    used = percent(min(sum(bounds.values()) / kernels, 1.0))
    limits = " and ".join(limit for limit, seconds in bounds.items() if seconds)
    return f"{share}, which use {used} of this machine's {limits}: compiling has little left to gain."


def _library_words(library: Sequence[LibraryUse]) -> str:
    """Name the slowest library function, and say if compiling changes no such call.

    That is so if compiled calls run each library function as often as eager calls.
    """
    name = f"`{library[0].name}`"
    is_equal = all(use.counted and use.counted.compiled == use.counted.eager for use in library)
    return f"{name}, which compiling does not change" if is_equal else name


def _more_often(library: Sequence[LibraryUse], measured: SpeedMeasured) -> str:
    """Name a library function that takes long and that compiled calls run more often.

    The text is empty if there is no such function.
    """
    for use in library:
        counted = use.counted
        # A function that uncompiled calls never run may replace another function, and does not count.
        if counted is not None and counted.compiled > counted.eager > 0:
            if use.seconds < _LITTLE * measured.compiled:
                continue
            compiled, eager = _times(counted.compiled), _times(counted.eager)
            return f"A compiled call runs `{use.name}` {compiled}, an uncompiled one {eager}."
    return ""


def _times(count: float) -> str:
    return "once" if count == 1 else f"{count:.3g} times"


def memory_words(speed: MeasuredSpeed) -> str:
    """Describe the memory of compiled and uncompiled calls, and which line holds most.

    The text is empty if the memory is small or unknown.
    """
    memory = speed.memory
    if memory is None or memory.compiled < _LITTLE_MEMORY:
        return ""
    held = f" {speed.held[0].at} holds {size(speed.held[0].size)} of it." if speed.held else ""
    return (
        f"At their peak, compiled calls use {size(memory.compiled)} of memory, "
        f"uncompiled ones {size(memory.eager)}.{held}"
    )


def outside_words(measured: SpeedMeasured) -> str:
    """Describe the time between calls; empty if a call takes more time."""
    if measured.outside < measured.compiled:
        return ""
    of_optimizer = f", {duration(measured.optimizer)} of it in optimizer steps" if measured.optimizer else ""
    return f"Between two calls, the program does other things for {duration(measured.outside)}{of_optimizer}."
