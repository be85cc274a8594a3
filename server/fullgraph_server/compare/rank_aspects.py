"""Properties of a function that should be equal on all ranks, and their sentences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from fullgraph_compiler.facts import Collective, GraphTraced, Severity

from ..report.model import FrameReport
from ..text.caches import cached_words
from ..text.durations import duration
from ..text.markdown import code_span
from ..text.messages import counted
from ..workspace.positions import Span
from ..workspace.source import SourceFile
from .rank_places import collective_span, operation_span

Items: TypeAlias = tuple[Hashable, ...]
Sources: TypeAlias = Mapping[str, SourceFile | None]
_Call: TypeAlias = tuple[GraphTraced, Collective, Hashable]
_WORLD: Final = "'0'"
"""torch's name for the group of all ranks (``_process_group_name`` in ``distributed_c10d.py``)."""
_UNEVEN: Final = "all_to_all"
"""The prefix of operators whose tensors may differ in size between ranks."""
_NOTABLE: Final = 1.1
"""The ratio above which estimates count as different. torch estimates from the device's rates. These vary by
some percent with the clocks of equal devices, and by much more between models."""


def _everywhere(_frame: FrameReport, _index: int, _sources: Sources) -> Span | None:
    """Return ``None``: the aspect concerns a whole function, not a line."""
    return None


@dataclass(frozen=True, slots=True)
class RankAspect:
    """A property of a function that should be equal on all ranks.

    ``items`` returns the parts of the property in order, or ``None`` if it is unknown for a rank. ``words``
    describes what the function does at the part with an index; the rank may lack this part. ``place`` returns
    the line of this part.
    """

    items: Callable[[FrameReport | None], Items | None]
    words: Callable[[FrameReport | None, int], str]
    severity: Severity
    why: str
    place: Callable[[FrameReport, int, Sources], Span | None] = _everywhere
    counts: bool = False
    """Whether the property is a count: for a rank whose log ends early, it is only a lower bound."""
    classes: Callable[[Collection[Items]], Mapping[Items, Items]] | None = None
    """Maps each value to a common representative of all near values; ``None`` to compare values exactly."""


# -- collective operations ---------------------------------------------------------------------


def _calls(frame: FrameReport | None) -> list[_Call]:
    """List the collective operations of all graphs.

    Of graphs with equal collective operations, only the first is listed. Only the group of all ranks is
    compared by name. Ranks can call an operation in other groups that differ in name and size, so these
    groups are numbered by their first use.
    """
    groups: dict[str, int] = {}
    graphs: dict[Items, list[_Call]] = {}
    for graph in frame.traced if frame else ():
        calls: list[_Call] = []
        for call in graph.collectives:
            named, group = _group(call)
            if group == _WORLD:
                calls.append((graph, call, (call.operator, named)))
            else:
                words = tuple(word for word in named if not word.isdecimal())
                number = groups.setdefault(group, len(groups))
                calls.append((graph, call, (call.operator, words, number)))
        graphs.setdefault(tuple(key for *_, key in calls), calls)
    return list(itertools.chain.from_iterable(graphs.values()))


def _group(call: Collective) -> tuple[tuple[str, ...], str]:
    """Split the arguments of a call into the arguments before the group and the group."""
    *named, group = call.arguments or ("",)
    return (tuple(named), group) if group.startswith("'") else (call.arguments, "")


def _collectives(frame: FrameReport | None) -> Items:
    return tuple(key for *_, key in _calls(frame))


def _collective_words(frame: FrameReport | None, index: int) -> str:
    if frame is None:
        return compiled_words(0)
    calls = _calls(frame)
    if index >= len(calls):
        return f"calls only {counted(len(calls), 'collective operation')}" if calls else _NO_COLLECTIVE
    call = calls[index][1]
    named, group = _group(call)
    arguments = f"({', '.join(named)})" if named else ""
    within = f" in group {code_span(group.strip(chr(39)))}" if group else ""
    return f"calls {code_span(call.operator + arguments)}{within} as collective operation {index + 1}"


def _collective_place(frame: FrameReport, index: int, sources: Sources) -> Span | None:
    calls = _calls(frame)
    return collective_span(*calls[index][:2], sources) if index < len(calls) else None


def _even(frame: FrameReport | None) -> list[tuple[GraphTraced, Collective]]:
    """List the collectives that need tensors of equal size on all ranks."""
    return [
        (graph, call)
        for graph in (frame.traced if frame else ())
        for call in graph.collectives
        if _group(call)[1] == _WORLD and not call.operator.startswith(_UNEVEN)
    ]


def _result(graph: GraphTraced, call: Collective) -> str:
    """Return the dtype and sizes of a collective's result."""
    tensor = graph.operations[call.operation].partition(": ")[2]
    return "".join(tensor.partition("]")[:2])


def _collective_tensors(frame: FrameReport | None) -> Items:
    return tuple(_result(graph, call) for graph, call in _even(frame))


def _collective_tensor_words(frame: FrameReport | None, index: int) -> str:
    calls = _even(frame)
    if index >= len(calls):
        return f"calls only {counted(len(calls), 'collective operation')} with tensors of equal size"
    graph, call = calls[index]
    return f"gets {code_span(_result(graph, call))} from {code_span(call.operator)}"


def _collective_tensor_place(frame: FrameReport, index: int, sources: Sources) -> Span | None:
    calls = _even(frame)
    return collective_span(*calls[index], sources) if index < len(calls) else None


# -- the code of TorchInductor -----------------------------------------------------------------


def _is_loaded(frame: FrameReport) -> bool:
    """Tell whether any code of a function came from a cache.

    For such code, torch logs neither a schedule nor an estimate of the run time.
    """
    return "hit" in frame.cached


def _schedule(frame: FrameReport | None) -> Items | None:
    if frame is None or _is_loaded(frame):
        return () if frame is None else None
    return tuple(name for schedule in frame.schedules for name in schedule.operations)


def _schedule_words(frame: FrameReport | None, index: int) -> str:
    names = _schedule(frame) or ()
    if index < len(names):
        return f"runs {code_span(str(names[index]))} as collective operation {index + 1} of its code"
    return f"runs only {counted(len(names), 'collective operation')} in its code" if names else _NONE_IN_CODE


def _schedule_place(frame: FrameReport, index: int, sources: Sources) -> Span | None:
    """Return the line of a scheduled operation, if it is the only one of its kind."""
    names = _schedule(frame) or ()
    same = [call for call in _calls(frame) if call[1].operator in names[index : index + 1]]
    return collective_span(*same[0][:2], sources) if len(same) == 1 else None


def _buffers(frame: FrameReport | None) -> Items | None:
    if frame is None or _is_loaded(frame) or not frame.estimates:
        return () if frame is None else None
    return tuple(buffer for estimate in frame.estimates for buffer in estimate.buffers)


def _buffer_words(frame: FrameReport | None, index: int) -> str:
    buffers = _buffers(frame) or ()
    if index < len(buffers):
        return f"computes {code_span(str(buffers[index]).removesuffix(': '))} in its code"
    return "computes no more in its code"


def _estimate(frame: FrameReport | None) -> Items | None:
    if frame is None or _is_loaded(frame) or not frame.estimates:
        return () if frame is None else None
    return (sum(estimate.seconds for estimate in frame.estimates),)


def _estimate_words(frame: FrameReport | None, _index: int) -> str:
    seconds = sum(estimate.seconds for estimate in frame.estimates) if frame else 0.0
    return f"is estimated to run about {duration(seconds)}"


def _near(estimates: Collection[Items]) -> Mapping[Items, Items]:
    """Map each estimate to the smallest estimate near it."""
    near: dict[Items, Items] = {}
    least: Items = ()
    for seconds in sorted(item[0] for item in estimates if item and isinstance(item[0], float)):
        if not least or seconds > _NOTABLE * least[0]:  # type: ignore[operator]
            least = (seconds,)
        near[seconds,] = least
    return near


# -- graphs ------------------------------------------------------------------------------------


def _compilations(frame: FrameReport | None) -> Items:
    return (frame.compilations if frame else 0,)


def _graphs(frame: FrameReport | None) -> Items:
    return (frame.graphs if frame else 0,)


def _operations(frame: FrameReport | None) -> Items:
    """Return each graph's operations followed by its inputs; inputs have no line."""
    graphs = frame.traced if frame else ()
    return tuple(item for graph in graphs for item in (*graph.operations, *graph.inputs))


def _operation_at(frame: FrameReport, index: int) -> tuple[GraphTraced, int] | None:
    for graph in frame.traced:
        if index < len(graph.operations) + len(graph.inputs):
            return graph, index
        index -= len(graph.operations) + len(graph.inputs)
    return None


def _operation_words(frame: FrameReport | None, index: int) -> str:
    found = _operation_at(frame, index) if frame else None
    if found is None:
        return "has no further operation"
    graph, at = found
    of_input = at >= len(graph.operations)
    name, _, tensor = (*graph.operations, *graph.inputs)[at].partition(": ")
    what = f"{code_span(tensor)} as {code_span(name)}" if tensor else code_span(name)
    return f"takes {what}" if of_input else f"computes {what}"


def _operation_place(frame: FrameReport, index: int, sources: Sources) -> Span | None:
    found = _operation_at(frame, index)
    return operation_span(*found, sources) if found and found[1] < len(found[0].operations) else None


def compiled_words(times: int) -> str:
    """Describe how often a function was compiled."""
    often = {1: "once", 2: "twice"}.get(times, f"{times} times")
    return f"is compiled {often}" if times else "is not compiled"


_NO_COLLECTIVE: Final = "calls no collective operation"
_NONE_IN_CODE: Final = "runs no collective operation in its code"
_HANGS: Final = (
    "Each collective operation needs all ranks of its group: if ranks call them in different orders, the "
    "job hangs."
)
_WAITING: Final = (
    "While one rank compiles, the others wait for it in their next collective operation: the job stalls, "
    "and ends with a timeout if that takes too long."
)
ASPECTS: Final[Sequence[RankAspect]] = (
    RankAspect(_collectives, _collective_words, "warning", _HANGS, _collective_place),
    RankAspect(
        _compilations,
        lambda frame, _: compiled_words(frame.compilations if frame else 0),
        "warning",
        _WAITING,
        counts=True,
    ),
    RankAspect(
        _graphs,
        lambda frame, _: f"becomes {counted(frame.graphs if frame else 0, 'graph')}",
        "warning",
        "Ranks that break a function at different places run different graphs, and compile at different "
        "times.",
        counts=True,
    ),
    RankAspect(
        _collective_tensors,
        _collective_tensor_words,
        "warning",
        "A collective operation needs tensors of equal size and dtype on all ranks: otherwise the job hangs, "
        "fails, or computes wrong values.",
        _collective_tensor_place,
    ),
    RankAspect(_schedule, _schedule_words, "warning", _HANGS, _schedule_place),
    RankAspect(
        _operations,
        _operation_words,
        "information",
        "The ranks run different operations or sizes. If that is intended, nothing is wrong.",
        _operation_place,
    ),
    RankAspect(
        lambda frame: frame.cached if frame else (),
        lambda frame, _: cached_words(frame.cached if frame else ()),
        "information",
        "A rank that misses its cache compiles the graph. Ranks with a cache hit wait for it in their next "
        "collective operation, unless they found what it has just stored: the job ends with a timeout if "
        "that takes too long.",
    ),
    RankAspect(
        _buffers,
        _buffer_words,
        "information",
        "TorchInductor generated different code for the same operations: the ranks differ in settings, "
        "devices or autotuning results, or not all of them run the backward pass.",
    ),
    RankAspect(
        _estimate,
        _estimate_words,
        "information",
        "These are TorchInductor's estimates, from the rates of each rank's device. At its next collective "
        "operation a faster rank waits for the slower ones.",
        classes=_near,
    ),
)
"""All aspects, the most important first: for each function and rank, only the first aspect that differs is
reported."""
