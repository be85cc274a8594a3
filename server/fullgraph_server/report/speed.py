"""Findings about slow code and slow compilation; the list of a run's compilations.

Findings about generated code exist only in runs that generated code.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from fullgraph_compiler.facts import (
    CodeGenerated,
    CompilePhase,
    CudagraphSkip,
    FrameCompiled,
    FrameStarted,
    GraphBreak,
    GraphCaptured,
    GraphPart,
    PerformanceHint,
    PhasesTimed,
    Recompile,
    RunFinished,
    StackFrame,
    TimesMeasured,
)

from ..text import messages
from ..text.hints import cudagraph_hints
from ..text.remedies import NOT_TRIED
from .answers.recompiling.recurrent import unrolled_nodes
from .facts_by_type import FactsByType
from .finding_builder import FindingBuilder
from .model import FrameCompilation
from .phases import Part, seconds_of_parts, steps_of
from .recompiles import RecompileIndex
from .source_locator import FactLocator

_FEW = 2
"""The number of operations up to which a graph is hardly worth the call of its compiled code."""
_WARM_ENOUGH = 0.5
"""The ratio of warm to cold compile time below which caches are worth keeping between jobs."""
_SHORT = 1.0
"""Seconds of compile time below which no advice is given."""


_KEEP_CACHES = (
    "Keep the caches from one job to the next: set TORCHINDUCTOR_CACHE_DIR to a persistent folder, "
    "or use `torch.compiler.save_cache_artifacts()`."
)
_PARTS: Final[dict[Part, str]] = {
    "dynamo": "Dynamo, which traces the Python code",
    "aot": "AOTAutograd, which traces forward and backward",
    "inductor": "TorchInductor, which lowers graphs and writes code",
    "build": "building kernels",
}
_OFTEN: Final = 8
"""The number of times a line must be traced into a graph to be reported as slow to compile."""
_TRACED_OFTEN: Final = (
    "If it is in a loop, each iteration is traced, lowered and built again. Compile the code of one "
    "iteration separately (for a module: `block.compile()`), or compute on a whole tensor without a loop. "
    f"{NOT_TRIED}"
)
_LEAVE_RNN: Final = (
    "Leave `torch._dynamo.config.allow_rnn` off: the graph then breaks at the layer, which runs as one "
    f"operator, and the code around it is compiled. {NOT_TRIED}"
)
_COMPLEX: Final = re.compile(r"c(?:32|64|128)\[")
_MOST_ROWS: Final = 6
_REAL_PARTS: Final = (
    "Compute with real and imaginary parts as real tensors, `torch.view_as_real(z)`, or call these "
    f"operations outside of compiled code. {NOT_TRIED}"
)
_NUMBERED: Final = re.compile(r"_\d+$")
_INSTALLED: Final = re.compile(r"[/\\](?:site|dist)-packages[/\\]")

_BUCKETS: Final = (
    "The gradients of a bucket are sent as soon as the backward of its part of the graph has run, while the "
    "rest continues: each bucket needs its own graph. `bucket_cap_mb` of `DistributedDataParallel` sets the "
    "bucket size."
)


def speed_builders(facts: FactsByType, places: FactLocator) -> Iterable[FindingBuilder]:
    """Build findings for code that is slow when compiled, and for slow compilation.

    Equal findings in several compilations are merged.
    """
    builders: dict[tuple[object, ...], FindingBuilder] = {}
    for builder in _builders(facts, places):
        made = builder.finding
        key = (made.kind, made.message, made.span, made.explanation, made.hints)
        builders.setdefault(key, builder).compile_ids |= builder.compile_ids
    return builders.values()


def _builders(facts: FactsByType, places: FactLocator) -> Iterator[FindingBuilder]:
    for fact in facts.all:
        if isinstance(fact, PerformanceHint):
            yield places.finding("perf-hint", "information", fact.message, fact.stack, fact.compile_id)
        elif isinstance(fact, CudagraphSkip):
            reason = fact.reason.removeprefix("skipping cudagraphs due to ")
            message = f"this graph does not run as a CUDA graph: {messages.first_line(reason)}"
            yield places.finding(
                "cudagraph-skip",
                "warning",
                message,
                fact.stack,
                fact.compile_id,
                hints=cudagraph_hints(reason),
                text=fact.reason,
            )
    if facts.of(CodeGenerated):
        yield from _small_graphs(facts, places)
    yield from _cut_graphs(facts, places)
    yield from _complex_graphs(facts, places)
    yield from _compile_times(facts, places)


def compilations(
    facts: FactsByType, places: FactLocator, recompilations: RecompileIndex
) -> tuple[FrameCompilation, ...]:
    """List all compilations of frames, in order."""
    reasons = {
        fact.compile_id: messages.change([recompilations.cause(fact.failures, fact.compile_id)])
        for fact in facts.of(Recompile)
    }
    seconds = {fact.compile_id: fact.seconds for fact in facts.of(FrameCompiled)}
    steps: dict[str, CompilePhase] = {}
    for phase in _phases(facts):
        steps.setdefault(phase.compile_id, phase)
    return tuple(
        FrameCompilation(
            compile_id=compile_id,
            function=places.name_of(compile_id),
            span=places.place((), compile_id).span,
            start=steps[compile_id].start if compile_id in steps else 0.0,
            # A compilation that failed has no ``FrameCompiled``.
            seconds=seconds.get(compile_id) or (steps[compile_id].seconds if compile_id in steps else 0.0),
            reason=reasons.get(compile_id, ""),
            caller=places.own_span(fact.stack),
        )
        for compile_id, fact in facts.by_compile_id(FrameStarted).items()
    )


def _cut_graphs(facts: FactsByType, places: FactLocator) -> Iterator[FindingBuilder]:
    """Build a finding for each graph that ``DistributedDataParallel`` cuts at buckets.

    See ``DDPOptimizer`` in ``torch/_dynamo/backends/distributed.py``.
    """
    parts: dict[str, set[str]] = {}
    for fact in facts.of(GraphPart):
        parts.setdefault(fact.compile_id, set()).add(fact.name)
    for compile_id, names in parts.items():
        message = (
            f"DistributedDataParallel cuts this graph into {len(names)}, one for each bucket of gradients"
        )
        yield places.finding("perf-hint", "information", message, (), compile_id, explanation=_BUCKETS)


def _small_graphs(facts: FactsByType, places: FactLocator) -> Iterator[FindingBuilder]:
    """Build a finding for each graph that is small because of graph breaks."""
    if not facts.of(GraphBreak):
        return
    for fact in facts.of(GraphCaptured):
        if 0 < len(fact.nodes) <= _FEW:
            count = messages.counted(len(fact.nodes), "operation")
            message = f"a graph of {count}: calling its compiled code costs about as much as it saves"
            hints = ("Remove the graph breaks around it, so that it becomes part of a larger graph.",)
            stack = (fact.nodes[0].frame,)
            yield places.finding("perf-hint", "information", message, stack, fact.compile_id, hints=hints)


def _complex_graphs(facts: FactsByType, places: FactLocator) -> Iterator[FindingBuilder]:
    """Build a finding for each graph for TorchInductor that has complex numbers.

    TorchInductor itself warns about complex numbers only once in a process, and only in runs in which it
    generates code (``_warn_complex_not_supported`` in ``torch/_inductor/lowering.py``, 2.11 to 2.15).
    """
    is_left_out = any("TorchInductor" in fact.left_out for fact in facts.of(RunFinished))
    compiled = {fact.compile_id for fact in facts.of(CodeGenerated)}
    for fact in facts.of(GraphCaptured):
        if not (is_left_out or fact.compile_id in compiled):
            continue
        if nodes := [node for node in fact.nodes if _COMPLEX.match(node.tensor)]:
            rows = sorted(
                {node.frame.row for node in nodes if node.frame.filename == nodes[0].frame.filename}
            )
            message = "TorchInductor generates no code for most operations on complex numbers"
            yield places.finding(
                "perf-hint",
                "information",
                message,
                (nodes[0].frame,),
                fact.compile_id,
                explanation=(
                    f"{len(nodes)} of the {len(fact.nodes)} operations of the graph have complex results "
                    f"({_lines(rows)}). Operations without generated code run one by one, as in eager mode."
                ),
                hints=(_REAL_PARTS,),
            )


def _lines(rows: Sequence[int]) -> str:
    more = f" and {len(rows) - _MOST_ROWS} more" if len(rows) > _MOST_ROWS else ""
    return f"line{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows[:_MOST_ROWS]))}{more}"


def _compile_times(facts: FactsByType, places: FactLocator) -> Iterator[FindingBuilder]:
    """Build findings on compile times with cold and warm caches, and on slow lines."""
    times = {fact.cache: fact for fact in facts.of(TimesMeasured) if fact.failure is None}
    cold, warm = times.get("cold"), times.get("warm")
    if cold is None or not cold.compiling:
        return
    longest = max(facts.of(FrameCompiled), key=lambda fact: fact.seconds, default=None)
    slowest = longest.compile_id if longest else None
    message = f"compiling takes {cold.compiling:.1f} s with cold caches"
    if warm is not None:
        message += f", {warm.compiling:.1f} s with warm ones"
    seconds = seconds_of_parts(steps_of(_phases(facts)))
    is_kept = warm is not None and warm.compiling < cold.compiling * _WARM_ENOUGH
    total = sum(seconds.values())
    yield places.finding(
        "perf-hint",
        "information",
        message,
        (),
        slowest,
        explanation="\n".join(f"{seconds[part] / total:4.0%}  {_PARTS[part]}" for part in seconds),
        hints=(_KEEP_CACHES,) if is_kept and cold.compiling > _SHORT else (),
    )
    for fact in facts.of(GraphCaptured) if cold.compiling > _SHORT else ():
        if fact.compile_id == slowest:
            for node, layer in unrolled_nodes(fact):
                message = (
                    f"`nn.{layer}` is unrolled here: each step of its sequence is lowered and built alone"
                )
                hints = (_LEAVE_RNN,)
                yield places.finding("perf-hint", "information", message, (node.frame,), slowest, hints=hints)
            yield from _traced_often(fact, places)


def _traced_often(graph: GraphCaptured, places: FactLocator) -> Iterator[FindingBuilder]:
    """Build a finding on the line with most operations, if the line is traced often."""
    lines: dict[StackFrame, Counter[str]] = defaultdict(Counter)
    for node in graph.nodes:
        if not _INSTALLED.search(node.frame.filename):
            lines[replace(node.frame, column=None, end_row=None, end_column=None)][
                _NUMBERED.sub("", node.name)
            ] += 1
    frame, operations = max(lines.items(), key=lambda item: item[1].total(), default=(None, Counter[str]()))
    times = min(operations.values(), default=0)
    if frame is None or times < _OFTEN:
        return
    message = (
        f"this line puts {operations.total()} of the {len(graph.nodes)} operations into the graph, "
        f"each at least {times} times"
    )
    hints = (_TRACED_OFTEN,)
    yield places.finding("perf-hint", "information", message, (frame,), graph.compile_id, hints=hints)


def _phases(facts: FactsByType) -> list[CompilePhase]:
    return [phase for fact in facts.of(PhasesTimed) for phase in fact.phases]
