"""Causes of the time of compiled calls: lines of user code and possible gains."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fullgraph_compiler.facts import (
    CodeGenerated,
    Cost,
    CudagraphSkip,
    FrameCompiled,
    FrameStarted,
    GraphBreak,
    Kernel,
    MachineMeasured,
    OperatorCounted,
    Recompile,
    RecompileLimit,
    SpeedMeasured,
    TimePart,
)

from ...text import messages
from ...text.durations import duration, percent
from ...text.hints import cudagraph_hints
from ...text.remedies import sentences
from ...workspace.positions import Span
from ..facts_by_type import FactsByType
from ..recompiles import RecompileIndex
from ..source_locator import FactLocator
from .model import SpeedCause

_WELL_USED = 0.5
"""The share of the machine's limit above which a kernel has little to gain."""

_RETURNED = 32 << 20
"""Bytes from which an allocation is always new memory (``M_MMAP_THRESHOLD``, mallopt(3))."""
_SMALL = 1 << 20
"""Bytes that a kernel moves; with fewer, most of its time is for starting and distributing it to threads."""

_FUNCTION = re.compile(
    r"aten\.(?:a?(?:sin|cos|tan)h?|atan2|exp(?:2|m1)?|log(?:2|10|1p)?|erf(?:c|inv)?|sigmoid|silu|softplus|mish"
    r"|gelu|lgamma|digamma|(?:_log)?_softmax|logsumexp)"
)
"""Operators of lowered graphs that take many instructions for each number, for example a sine."""
_NUMBER_BYTES = 4

_MEMORY, _COMPUTING = "memory bandwidth", "computing speed"
"""Names of the limits that can bound a kernel."""

_COPYING = ("prims.device_put", "aten._to_copy", "aten.copy")
"""Operators of lowered graphs that may copy to another device."""

_FEWER_GUARDS = (
    "If the values that they check do not change after the warm-up, skip the checks: call "
    '`torch.compiler.set_stance("default", skip_guard_eval_unsafe=True)` after it.'
)
_MORE_IN_A_CALL = "Compile the caller of this function, so that each call of a graph computes more."
_FIX = "`fullgraph fix` looks for an edit that removes it."
_CPP_WRAPPER = "Try torch._inductor.config.cpp_wrapper = True: the code around kernels is C++ then."
_CUDA_GRAPHS = 'Try mode="reduce-overhead": CUDA graphs launch all kernels at once.'
_READ_KERNEL = (
    "Look at how it reads its tensors (`fullgraph kernels` shows its code): reads across strides (as after a "
    "transpose), and reads that gather by an index, do not reach the full memory bandwidth."
)
_ON_THE_DEVICE = "Avoid the copy: create tensors on the GPU, and read results less often."


class SpeedCauses:
    """The causes of the time of a measured call, from the facts of its run."""

    def __init__(
        self,
        measured: SpeedMeasured,
        facts: FactsByType,
        places: FactLocator,
        recompilations: RecompileIndex,
    ) -> None:
        self._measured = measured
        self._facts = facts
        self._places = places
        self._recompilations = recompilations
        self._breaks: dict[str, GraphBreak] = {}
        for fact in facts.of(GraphBreak):
            self._breaks.setdefault(fact.compile_id, fact)
        self._resumed = self._frames_after_breaks()
        self._machine = facts.first(MachineMeasured)
        self._codes = {fact.filename: fact for fact in facts.of(CodeGenerated)}
        self._uses = [self._use(part) for part in measured.parts if part.kind == "kernel"]

    def all(self) -> tuple[SpeedCause, ...]:
        """Return the causes, those with the largest possible gain first."""
        measured, parts = self._measured, self._measured.parts
        causes = [
            *self._compiling(measured),
            *self._between_graphs(parts),
            *self._guards(parts),
            *self._around_graphs(parts),
            *self._launching(measured),
            *self._kernels(),
            *self._copies(parts),
        ]
        return tuple(sorted(causes, key=lambda cause: -cause.gain))

    def bounds(self) -> dict[str, float]:
        """Return the least seconds of a call's kernels, by the limit that bounds them."""
        times: dict[str, float] = defaultdict(float)
        for use in self._uses:
            if use.least is not None:
                times[use.limit] += min(use.seconds, use.least)
        return times

    def library(self) -> tuple[LibraryUse, ...]:
        """Return the library functions of a call, the slowest first."""
        times: dict[tuple[str, str], float] = defaultdict(float)
        for use in self._uses:
            if use.is_library:
                name = use.name.removeprefix("extern_kernels.").removeprefix("aten::")
                times[name, use.operator] += use.seconds
        counts = {counted.name: counted for counted in self._measured.operators}
        uses = (LibraryUse(name, time, counts.get(operator)) for (name, operator), time in times.items())
        return tuple(sorted(uses, key=lambda use: -use.seconds))

    def is_between(self, part: TimePart) -> bool:
        """Return whether a part is time of code that is uncompiled due to a graph break.

        Code that is uncompiled due to a recompile limit counts, too.
        """
        return part.kind == "frame" and (
            part.compile_id in self._breaks or (not part.compile_id and bool(self._eager()))
        )

    def _compiling(self, measured: SpeedMeasured) -> Iterator[SpeedCause]:
        seconds = sum(part.seconds for part in measured.parts if part.kind == "recompile")
        if not seconds:
            return
        last = self._facts.last(Recompile)
        function = self._places.name_of(last.compile_id) if last else ""
        why, span, hint = "", None, ""
        if last is not None:
            cause = self._recompilations.cause(last.failures, last.compile_id)
            why = f": {messages.change([cause])}"
            span = self._places.place((), last.compile_id).span
            hint = next(iter(sentences(self._recompilations.advise(cause))), "")
        share = f"{measured.recompiled} of {measured.calls} calls"
        subject = f"`{function}` is compiled again in {share}" if function else f"{share} compile again"
        yield SpeedCause(
            "recompile", seconds, seconds, f"{subject}, {duration(seconds)} a call{why}", hint, span
        )

    def _between_graphs(self, parts: Sequence[TimePart]) -> Iterator[SpeedCause]:
        times: dict[Span, float] = defaultdict(float)
        of_break: dict[Span, GraphBreak | RecompileLimit] = {}
        kernels: dict[str, float] = defaultdict(float)
        for part in parts:
            kernels[part.compile_id] += part.count if part.kind == "kernel" else 0.0
        for part in parts:
            found = self._break_of(part)
            if found is None:
                continue
            span = self._places.place(found.stack, found.compile_id).span
            # Without the break, these kernels would be in the previous graph, which saves about one launch.
            is_launch = part.kind == "launch"
            times[span] += part.seconds / max(kernels[part.compile_id], 1.0) if is_launch else part.seconds
            of_break.setdefault(span, found)
        for span, seconds in times.items():
            found = of_break[span]
            name, hint = self._places.name_of(found.compile_id), _FIX
            if isinstance(found, RecompileLimit):
                words = f"`{name}` runs uncompiled since its recompile limit, {duration(seconds)} a call"
                again = self._recompilations.causes(found)
                advice = messages.limit_advice(again, self._recompilations.advise, found.setting, name)
                hint = next(iter(sentences(advice)), "")
            elif found.skips_frame:
                words = f"this break makes all of `{name}` run uncompiled, {duration(seconds)} a call"
            else:
                words = f"the graph break costs {duration(seconds)} a call"
            yield SpeedCause("break", seconds, seconds, words, hint, span)

    def _break_of(self, part: TimePart) -> GraphBreak | RecompileLimit | None:
        """Return the graph break or recompile limit that causes a part of the time.

        Return ``None`` if the part has another cause.
        """
        if part.kind == "frame":
            eager = self._eager()
            return self._breaks.get(part.compile_id) if part.compile_id else next(iter(eager), None)
        return self._resumed.get(part.compile_id) if part.kind in ("guards", "entry", "launch") else None

    def _eager(self) -> list[GraphBreak | RecompileLimit]:
        """Return the breaks and limits that make whole frames run uncompiled."""
        return [
            *self._facts.of(RecompileLimit),
            *(fact for fact in self._breaks.values() if fact.skips_frame),
        ]

    def _guards(self, parts: Sequence[TimePart]) -> Iterator[SpeedCause]:
        times = _by_compile_id(part for part in parts if part.kind == "guards")
        if not times:
            return
        most = max(times, key=lambda compile_id: times[compile_id])
        counts = {fact.compile_id: fact.guards for fact in self._facts.of(FrameCompiled)}
        seconds, name = sum(times.values()), self._name(most)
        number = messages.counted(counts[most], "guard") if most in counts else "guards"
        words = f"checking {number}{f' of `{name}`' if name else ''} takes {duration(seconds)} a call"
        span = self._places.place((), most).span if most else None
        yield SpeedCause("guards", seconds, seconds, words, _FEWER_GUARDS, span)

    def _around_graphs(self, parts: Sequence[TimePart]) -> Iterator[SpeedCause]:
        around = [part for part in parts if part.kind in ("entry", "frame") and not self._break_of(part)]
        times = _by_compile_id(around)
        if not times:
            return
        most = max(times, key=lambda compile_id: (bool(compile_id), times[compile_id]))
        seconds, name = sum(times.values()), self._name(most)
        around_ids = {part.compile_id for part in around}
        graphs = sum(part.count for part in parts if part.kind == "launch" and part.compile_id in around_ids)
        number = f"{messages.counted(round(graphs), 'graph')} a call" if graphs >= 2 else "its graph"
        where = f", most of it in `{name}`" if name else ""
        words = f"entering and leaving {number} takes {duration(seconds)}{where}"
        span = self._places.place((), most).span if most else None
        yield SpeedCause("entry", seconds, seconds, words, _MORE_IN_A_CALL, span)

    def _launching(self, measured: SpeedMeasured) -> Iterator[SpeedCause]:
        launches = [part for part in measured.parts if part.kind == "launch"]
        seconds = sum(part.seconds for part in launches)
        if not seconds:
            return
        number = round(sum(part.count for part in measured.parts if part.kind == "kernel"))
        most = max(launches, key=lambda part: part.seconds)
        span = self._places.place((), most.compile_id).span if most.compile_id else None
        skips = self._facts.of(CudagraphSkip)
        if skips:
            skip = skips[0]
            reason = messages.first_line(skip.reason.removeprefix("skipping cudagraphs due to "))
            graphs = messages.counted(len(skips), "graph runs", "graphs run")
            words = f"{graphs} without CUDA graphs ({reason}), {duration(seconds)} a call"
            place = self._places.place(skip.stack, skip.compile_id).span
            yield SpeedCause(
                "cudagraph", seconds, seconds, words, next(iter(cudagraph_hints(skip.reason)), ""), place
            )
            return
        what = "the GPU waits for launches of" if measured.device else "calling"
        words = f"{what} {messages.counted(number, 'kernel')} takes {duration(seconds)} a call"
        hint = _CUDA_GRAPHS if measured.device else _CPP_WRAPPER
        yield SpeedCause("launch", seconds, seconds, words, hint, span)

    def _kernels(self) -> Iterator[SpeedCause]:
        for use in self._uses:
            if use.least is None or use.is_library or use.least / use.seconds >= _WELL_USED:
                continue
            words = f"`{use.name}` takes {duration(use.seconds)} a call, at {use.share} of the {use.limit}"
            hint = _READ_KERNEL if use.moved >= _SMALL else ""
            yield SpeedCause("kernel", use.seconds, use.seconds - use.least, words, hint, use.span)

    def _use(self, part: TimePart) -> _KernelUse:
        """Return the time of a kernel, with the least time on this machine if known."""
        code = self._codes.get(part.filename)
        kernels = [kernel for kernel in code.kernels if _is(kernel, part.name)] if code else []
        span = next(filter(None, (self._places.own_span(stack) for k in kernels for stack in k.stacks)), None)
        name = kernels[0].name if kernels else part.name
        machine, costs = self._machine, [kernel.cost for kernel in kernels]
        is_library = not kernels or kernels[0].language == "extern"
        if machine is None or not machine.bandwidth or not costs or any(cost is None for cost in costs):
            return _KernelUse(name, part.seconds, None, "", 0.0, span, is_library, part.name)
        moved = sum(_memory_seconds(cost, machine) for cost in costs if cost)
        computed = sum(_computing_seconds(kernel, machine) for kernel in kernels)
        known = [cost.seconds for cost in costs if cost and cost.seconds]
        least = sum(known) if len(known) == len(costs) else max(moved, computed)
        # A part covers all launches of a kernel in one call, and a call can run a graph more than once.
        runs = part.count / len(kernels) if kernels else 1.0
        limit = _MEMORY if least <= moved * 1.01 else _COMPUTING
        moved_bytes = sum(cost.read + cost.written for cost in costs if cost) * runs
        return _KernelUse(name, part.seconds, least * runs, limit, moved_bytes, span, is_library, part.name)

    def _copies(self, parts: Sequence[TimePart]) -> Iterator[SpeedCause]:
        for part in parts:
            if part.kind != "copy":
                continue
            found = self._breaks.get(part.compile_id)
            stack = found.stack if found else ()
            span = self._copied_at(part)
            if span is None and part.compile_id:
                span = self._places.place(stack, part.compile_id).span
            words = f"copying ({part.name}) takes {duration(part.seconds)} a call"
            yield SpeedCause("copy", part.seconds, part.seconds, words, _ON_THE_DEVICE, span)

    def _copied_at(self, part: TimePart) -> Span | None:
        """Return the user code of the first operation that copies between devices.

        Return ``None`` if the graph of the part has no such operation.
        """
        code = self._codes.get(part.filename)
        nodes = (node for node in code.nodes if node.operator in _COPYING) if code else iter(())
        stacks = (node.stack or ((node.frame,) if node.frame else ()) for node in nodes)
        return next(filter(None, map(self._places.own_span, stacks)), None)

    def _name(self, compile_id: str) -> str:
        """Return the name of a compiled function of the user.

        Return an empty string for the frame in which Dynamo wraps a library's module.
        """
        is_own = self._places.own_span(self._places.own_frame(compile_id)) is not None
        return self._places.name_of(compile_id) if is_own else ""

    def _frames_after_breaks(self) -> dict[str, GraphBreak]:
        """Map each frame that is compiled separately due to a graph break to the break.

        Such frames are resume functions, and functions called by code that a break leaves uncompiled.
        """
        started = self._facts.by_compile_id(FrameStarted)
        calls = {
            (frame.filename, frame.function, frame.row): fact
            for fact in self._breaks.values()
            for frame in fact.stack
        }
        skipped = {
            (started[broken].filename, started[broken].function): fact
            for broken, fact in self._breaks.items()
            if fact.skips_frame and broken in started
        }
        found = {}
        for compile_id, frame in started.items():
            if frame.resumes_at is None:
                around = (
                    calls.get((call.filename, call.function, call.row))
                    or skipped.get((call.filename, call.function))
                    for call in reversed(frame.stack)
                )
                if (broken := next(filter(None, around), None)) is not None:
                    found[compile_id] = broken
                continue
            function = (frame.filename, frame.function)
            rows: dict[int, GraphBreak] = {}
            for name, fact in self._breaks.items():
                other = started.get(name)
                if other and (other.filename, other.function, other.row) == (*function, frame.row):
                    of_function = (item for item in fact.stack if (item.filename, item.function) == function)
                    rows.setdefault(next((item.row for item in of_function), 0), fact)
            before = [row for row in rows if row <= frame.resumes_at]
            if before:
                found[compile_id] = rows[max(before)]
        return found


@dataclass(frozen=True, slots=True)
class LibraryUse:
    """A library function: its seconds in a call, and the number of runs if known."""

    name: str
    seconds: float
    counted: OperatorCounted | None


@dataclass(frozen=True, slots=True)
class _KernelUse:
    """The ``seconds`` of a kernel in a call, and the ``least`` possible seconds.

    ``least`` is ``None`` if unknown; ``limit`` names what bounds it. ``moved`` are the bytes that the kernel
    reads and writes, ``operator`` is the kernel's name in the profiler.
    """

    name: str
    seconds: float
    least: float | None
    limit: str
    moved: float
    span: Span | None
    is_library: bool
    operator: str

    @property
    def share(self) -> str:
        """The share of the machine's limit that the kernel reaches: ``40 %``."""
        share = (self.least or 0.0) / self.seconds
        return "less than 1 %" if share < 0.01 else percent(share)


def _by_compile_id(parts: Iterable[TimePart]) -> dict[str, float]:
    times: dict[str, float] = defaultdict(float)
    for part in parts:
        times[part.compile_id] += part.seconds
    return times


def _memory_seconds(cost: Cost, machine: MachineMeasured) -> float:
    """Return the least seconds for reading and writing the memory of a launch."""
    is_fresh = machine.fresh and cost.written >= _RETURNED
    return cost.read / machine.bandwidth + cost.written / (machine.fresh if is_fresh else machine.bandwidth)


def _computing_seconds(kernel: Kernel, machine: MachineMeasured) -> float:
    """Return the least seconds for a launch's matrix products and slow functions."""
    cost = kernel.cost
    if cost is None:
        return 0.0
    numbers = max(cost.read, cost.written) / _NUMBER_BYTES
    functions = numbers * sum(bool(_FUNCTION.fullmatch(node.operator)) for node in kernel.nodes)
    multiplying = (cost.flops or 0) / machine.flops if machine.flops else 0.0
    return multiplying + (functions / machine.sines if machine.sines else 0.0)


def _is(kernel: Kernel, name: str) -> bool:
    """Return whether a name in the profiler is a kernel, or the operator it calls."""
    if not name.startswith("aten::"):
        return kernel.name == name
    words = kernel.name.removeprefix("torch.ops.").removeprefix("extern_kernels.").split(".")
    return kernel.language == "extern" and name.removeprefix("aten::") in words
