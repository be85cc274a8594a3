"""Turn records of the structured trace into facts: the only code that knows what they mean.

A compilation of a frame shows as ``dynamo_start``, any number of attempts (each can end in a
``dynamo_graph_break_reason``), ``dynamo_output_graph``, ``dynamo_cpp_guards_str``, perhaps a
``dynamo_error``, and ``compilation_metrics``. Emitted from ``torch/_dynamo/convert_frame.py``,
``symbolic_convert.py``, ``output_graph.py`` and ``guards.py``; the record names and keys used here are
the same from torch 2.11 to 2.15. A record that is not known here is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..facts import (
    CallMissed,
    CompileFailure,
    CudagraphSkip,
    Fact,
    FrameCompiled,
    FrameSkipped,
    FrameStarted,
    GraphBreak,
    GraphCaptured,
    GuardFailure,
    GuardInstalled,
    PerformanceHint,
    Recompile,
    RecompileLimit,
    Stack,
    StackFrame,
    TensorsNamed,
)
from .code import CODE_RECORDS, CodeReader
from .graphs import parse_nodes
from .guards import Place, Reason, parse_reasons, parse_tree, strip_locals
from .messages import Source, no_source, parse_frames, parse_message, parse_user_stack
from .phases import PHASE, PhaseReader
from .record import TraceRecord
from .shapes import SHAPE_RECORDS, ShapeReader

_RECOMPILE_LIMIT_CODE = "GB0039"
"""torch's id of "Dynamo recompile limit exceeded", in every supported version."""
_LIMIT = re.compile(r"exceeding the (?P<setting>\w+) cache size limit \(currently set to (?P<limit>\d+)\)")
_SOFT = ("Unsupported", "UserError")
"""Errors that Dynamo swallows, running the frame eagerly, unless the whole graph is asked for."""
PERFORMANCE_HINT: Final = "perf_hint"
CUDAGRAPH_SKIP: Final = "cudagraph_skip"
"""Records of ours: torch writes both to logs only (:mod:`..kernel_compat`)."""
_UNKNOWN = "?"
"""The name of a file that the trace names by a number which it has not explained."""
_NOTHING_TO_COMPILE = "SkipFrame"
"""How Dynamo passes over a frame without operations."""
_RESUME = re.compile(r"^torch_dynamo_resume_in_(?P<function>.+)_at_\d+$")


@dataclass
class _Compilation:
    """What is known of one compile id so far."""

    started: FrameStarted
    code: CodeReader
    shapes: ShapeReader
    graph: GraphCaptured | None = None
    pending_break: GraphBreak | None = None
    broke: bool = False
    error: TraceRecord | None = None
    skips_cudagraph: bool = False
    guards: list[GuardInstalled] = field(default_factory=list)


class Interpreter:
    """Feeds on records in their order and gives the facts that each one completes.

    ``source`` gives the text of a line of the user's, where it is at hand: some columns need it.
    """

    def __init__(self, source: Source = no_source) -> None:
        self._source = source
        self._strings: dict[int, str] = {}
        self._compilations: dict[str, _Compilation] = {}
        self._failures: dict[str, tuple[GuardFailure, ...]] = {}
        self._first_rows: dict[tuple[str, str], set[int]] = {}
        # A failure of the soft kind is fatal under fullgraph=True only; a graph break that torch
        # reports after it says that it was swallowed. Where nothing else tells, it is taken for fatal.
        self._undecided: CompileFailure | None = None
        self._undecided_is_fatal = True
        self._phases = PhaseReader()

    def feed(self, record: TraceRecord) -> Iterator[Fact]:
        """The facts that ``record`` makes known."""
        if record.name == "str":
            self._intern(record.body)
            return
        if record.name == PHASE:
            yield from self._phases.feed(record)  # between all others, of which none waits for it
            return
        if record.name not in KNOWN_RECORDS:
            return
        compilation = self._compilations.get(record.compile_id)
        if compilation and compilation.pending_break:
            pending, compilation.pending_break = compilation.pending_break, None
            yield replace(pending, skips_frame=record.name == "dynamo_error")
        if compilation and record.name not in CODE_RECORDS:
            yield from compilation.code.finish(compilation.graph)
        yield from _HANDLERS[record.name](self, record)

    def finish(self) -> Iterator[Fact]:
        """The facts that waited for a record which did not come."""
        for compilation in self._compilations.values():
            if compilation.pending_break:
                yield compilation.pending_break
                compilation.pending_break = None
            yield from compilation.code.finish(compilation.graph)
        yield from self._decide()

    def missed(self, frame: StackFrame, stack: Stack, reasons: Iterable[str]) -> CallMissed:
        """A call of a frame that no compilation fits, and that is not compiled.

        ``stack`` are the calls that led to it, ``reasons`` what torch says of each compilation.
        """
        *calls, joined = join_stacks(stack, (frame,))
        row = self._first_row(joined, resumes=joined.function != frame.function)
        failures = tuple(self._failure(found) for reason in reasons for found in parse_reasons(reason))
        return CallMissed(joined.function, joined.filename, row, tuple(calls), failures)

    # -- records, in the order of a compilation ------------------------------------------------

    def _intern(self, body: Any) -> None:
        if isinstance(body, (list, tuple)) and len(body) == 2 and isinstance(body[1], int):
            self._strings[body[1]] = str(body[0])

    def _recompile_reasons(self, record: TraceRecord) -> Iterator[Fact]:
        # Whether it is compiled again or stopped by the limit shows in what follows.
        self._failures[record.compile_id] = tuple(self._failure(r) for r in parse_reasons(record.payload))
        yield from ()

    def _dynamo_start(self, record: TraceRecord) -> Iterator[Fact]:
        yield from self._decide()
        frames = self._structured_stack(record.body.get("stack"))
        if not frames:
            return
        frame = frames[-1]
        if frame.filename == _UNKNOWN:
            frame = replace(frame, filename=record.seen.get("filename") or _UNKNOWN)
        *stack, joined = join_stacks(record.seen.get("stack", frames[:-1]), (frame,))
        row = self._first_row(joined, resumes=joined.function != frame.function)
        started = FrameStarted(record.compile_id, joined.function, joined.filename, row, tuple(stack))
        self._compilations[record.compile_id] = _Compilation(
            started, CodeReader(self._source), ShapeReader(self._joined_stack)
        )
        failures = self._failures.pop(record.compile_id, ())
        if failures:
            yield Recompile(record.compile_id, failures)
        yield started

    def _graph_break(self, record: TraceRecord) -> Iterator[Fact]:
        message = parse_message(record.payload)
        compilation = self._compilations.get(record.compile_id)
        undecided = self._undecided
        if undecided and undecided.compile_id == record.compile_id:
            # The record names the frame only: the words are those of the error that it follows.
            self._undecided = None
            yield _as_break(undecided)
            return
        yield from self._decide()
        stack = self._full_stack(record, parse_user_stack(record.payload))
        found = GraphBreak(
            compile_id=record.compile_id,
            code=message.code,
            reason=message.reason,
            explanation=message.explanation,
            hints=message.hints,
            context=message.context,
            url=message.url,
            stack=stack,
            skips_frame=False,
            text=record.payload.split("\nTraceback (most recent call last):")[0].strip(),
        )
        if compilation is None:
            yield found
        else:
            # Whether the frame is skipped shows in the next record of this compilation.
            compilation.pending_break = found
            compilation.broke = True

    def _output_graph(self, record: TraceRecord) -> Iterator[Fact]:
        compilation = self._compilations.get(record.compile_id)
        nodes = tuple(parse_nodes(record.payload))
        graph = GraphCaptured(record.compile_id, nodes, record.payload, record.seen.get("calls", ()))
        if compilation:
            compilation.graph = graph
        yield graph
        if names := record.seen.get("names"):
            yield TensorsNamed(record.compile_id, *names)

    def _code(self, record: TraceRecord) -> Iterator[Fact]:
        compilation = self._compilations.get(record.compile_id)
        if compilation:
            yield from compilation.code.feed(record, compilation.graph)

    def _performance_hint(self, record: TraceRecord) -> Iterator[Fact]:
        yield PerformanceHint(record.compile_id, record.payload, self._place_of_graph(record))

    def _cudagraph_skip(self, record: TraceRecord) -> Iterator[Fact]:
        compilation = self._compilations.get(record.compile_id)
        if compilation:
            compilation.skips_cudagraph = True
        yield from self._skipped_cudagraph(record, record.payload)

    def _skipped_cudagraph(self, record: TraceRecord, text: str) -> Iterator[Fact]:
        """``skipping cudagraphs due to REASON. Found from :``, and the stack of an operation."""
        reason, _, found = text.partition(". Found from")
        stack = parse_frames(found.splitlines()) or self._place_of_graph(record)
        yield CudagraphSkip(record.compile_id, reason, stack)

    def _place_of_graph(self, record: TraceRecord) -> Stack:
        """Where an operation is that the process knows, else the graph's first one."""
        compilation = self._compilations.get(record.compile_id)
        nodes = compilation.graph.nodes if compilation and compilation.graph else ()
        return record.seen.get("stack") or tuple(node.frame for node in nodes[:1])

    def _guards(self, record: TraceRecord) -> Iterator[Fact]:
        compilation = self._compilations.get(record.compile_id)
        stacks: Mapping[str, Stack] = record.seen.get("guard_stacks", {})
        guards = []
        for leaf in parse_tree(record.payload):
            stack = stacks.get(leaf.source, ()) or self._stack_of(leaf.place, compilation)
            guards.append(
                GuardInstalled(record.compile_id, leaf.source, leaf.kind, leaf.expected, leaf.code, stack)
            )
        if compilation:
            # A later attempt replaces what an earlier one installed.
            compilation.guards = guards
            yield from compilation.shapes.take()
        yield from guards

    def _shape(self, record: TraceRecord) -> Iterator[Fact]:
        if compilation := self._compilations.get(record.compile_id):
            compilation.shapes.feed(record)
        yield from ()

    def _dynamo_error(self, record: TraceRecord) -> Iterator[Fact]:
        compilation = self._compilations.get(record.compile_id)
        if compilation:
            compilation.error = record
        yield from ()

    def _metrics(self, record: TraceRecord) -> Iterator[Fact]:
        body = record.body
        if body.get("is_forward") is False:
            return
        if body.get("fail_type"):
            yield from self._failed(record)
        compilation = self._compilations.get(record.compile_id)
        if (reason := body.get("cudagraph_skip_reason")) and compilation and not compilation.skips_cudagraph:
            yield from self._skipped_cudagraph(record, str(reason))
        if compilation is None or not body.get("co_name"):
            return
        yield from compilation.shapes.take()  # of a compilation that has failed
        started = compilation.started
        ops = body.get("graph_op_count") or 0
        yield FrameCompiled(
            compile_id=record.compile_id,
            function=started.function,
            filename=started.filename,
            row=started.row,
            graphs=1 if ops else 0,
            ops=ops,
            guards=body.get("guard_count") or 0,
            seconds=body.get("entire_frame_compile_time_s") or 0.0,
        )

    # -- failures --------------------------------------------------------------------------------

    def _failed(self, record: TraceRecord) -> Iterator[Fact]:
        kind, reason = str(record.body["fail_type"]), str(record.body.get("fail_reason") or "")
        compilation = self._compilations.get(record.compile_id)
        if kind == _NOTHING_TO_COMPILE:
            return
        message = parse_message(reason)
        if message.code == _RECOMPILE_LIMIT_CODE or kind == "FailOnRecompileLimitHit":
            yield from self._limit(record.compile_id, reason, fatal=kind == "FailOnRecompileLimitHit")
            return
        if compilation is None:
            return
        error = compilation.error
        if kind in _SOFT and compilation.broke:
            started = compilation.started
            yield FrameSkipped(
                record.compile_id, started.function, started.filename, started.row, message.reason
            )
            return
        failure = CompileFailure(
            compile_id=record.compile_id,
            phase="backend" if kind == "BackendCompilerFailed" else "capture",
            error=kind,
            message=message.reason if message.code else _first_line(reason),
            stack=self._failure_stack(record, error, compilation),
            code=message.code,
            explanation=message.explanation,
            hints=message.hints,
            url=message.url,
            text=reason.strip(),
        )
        if kind in _SOFT:
            self._undecided = failure
            self._undecided_is_fatal = error is None or error.seen.get("fatal", True)
        else:
            yield failure

    def _failure_stack(
        self, record: TraceRecord, error: TraceRecord | None, compilation: _Compilation
    ) -> Stack:
        seen: Stack = error.seen.get("stack", ()) if error else ()
        stack = seen or (parse_user_stack(error.payload) if error else ())
        filename, row = record.body.get("fail_user_frame_filename"), record.body.get("fail_user_frame_lineno")
        if not stack and filename and row:
            stack = (StackFrame(filename, row, compilation.started.function),)
        if not stack and compilation.graph and compilation.graph.nodes:
            # A backend's failure names no line of the user's: the graph's first one is the best known.
            stack = (compilation.graph.nodes[0].frame,)
        return join_stacks(compilation.started.stack, stack) if stack else ()

    def _limit(self, compile_id: str, reason: str, *, fatal: bool) -> Iterator[Fact]:
        frame = next((c.started for c in self._of_same_frame(compile_id)), None)
        found = _LIMIT.search(reason)
        yield RecompileLimit(
            compile_id=compile_id,
            function=frame.function if frame else "",
            filename=frame.filename if frame else "",
            row=frame.row if frame else 1,
            limit=int(found["limit"]) if found else len(self._of_same_frame(compile_id)),
            setting=found["setting"] if found else "recompile_limit",
            fatal=fatal,
            failures=self._failures.pop(compile_id, ()),
        )

    def _decide(self) -> Iterator[Fact]:
        failure, self._undecided = self._undecided, None
        if failure:
            yield failure if self._undecided_is_fatal else _as_break(failure)

    # -- guards that failed ----------------------------------------------------------------------

    def _failure(self, reason: Reason) -> GuardFailure:
        compilation = self._compilations.get(reason.compile_id)
        guard = self._guard_behind(reason, compilation)
        named = self._guard_on(reason.name, compilation) or guard
        stack = guard.stack if guard else self._stack_around(reason.name, compilation)
        return GuardFailure(
            compile_id=reason.compile_id,
            source=named.source if named else reason.name,
            kind=reason.kind or (guard.kind if guard else ""),
            reason=reason.text,
            changed=reason.changed,
            expected=reason.expected or (guard.expected if guard and not reason.kind else ""),
            actual=reason.actual,
            dimension=reason.dimension,
            stack=stack or reason.stack or self._stack_of(reason.place, compilation),
        )

    def _guard_behind(self, reason: Reason, compilation: _Compilation | None) -> GuardInstalled | None:
        guards: Iterable[GuardInstalled] = compilation.guards if compilation else ()
        same = (g for g in guards if reason.text in (g.code, strip_locals(g.code)))
        return next(same, None) or self._guard_on(reason.name, compilation, kind="TENSOR_MATCH")

    def _guard_on(self, name: str, compilation: _Compilation | None, kind: str = "") -> GuardInstalled | None:
        """The first guard on an expression that a reason names as torch shortens it."""
        guards: Iterable[GuardInstalled] = compilation.guards if compilation and name else ()
        return next((g for g in guards if strip_locals(g.source) == name and kind in ("", g.kind)), None)

    def _stack_around(self, name: str, compilation: _Compilation | None) -> Stack:
        """Where a value without a guard was first needed: what holds it, or one of its parts."""
        guards: Iterable[GuardInstalled] = compilation.guards if compilation and name else ()
        stacks = {strip_locals(guard.source): guard.stack for guard in guards if guard.stack}
        holders = [s for s in stacks if not s.isidentifier() and name.startswith((f"{s}.", f"{s}["))]
        parts = [source for source in stacks if name in source]
        found = max(holders, key=len, default="") or next(iter(parts), "")
        return stacks.get(found, ())

    # -- stacks ----------------------------------------------------------------------------------

    def _first_row(self, frame: StackFrame, *, resumes: bool) -> int:
        """Where the function of a frame begins. A resume function says only where it goes on."""
        rows = self._first_rows.setdefault((frame.filename, frame.function), set())
        if not resumes:
            rows.add(frame.row)
        return max((row for row in rows if row <= frame.row), default=frame.row)

    def _full_stack(self, record: TraceRecord, written: Stack) -> Stack:
        """The stack seen in process, behind the calls that led to the frame; else the written one."""
        compilation = self._compilations.get(record.compile_id)
        seen: Stack = record.seen.get("stack", ())
        if seen and compilation:
            return join_stacks(compilation.started.stack, seen)
        return join_stacks((), written)

    def _stack_of(self, place: Place | None, compilation: _Compilation | None) -> Stack:
        """Find the file whose shortened name a guard carries."""
        if place is None:
            return ()
        names = [compilation.started.filename] if compilation else []
        if compilation and compilation.graph:
            names += [node.frame.filename for node in compilation.graph.nodes]
        names += self._strings.values()
        filename = next((name for name in names if name.endswith(place.file)), place.file)
        return (StackFrame(filename, place.row, original_function(place.function)),)

    def _structured_stack(self, frames: Any) -> Stack:
        if not isinstance(frames, list):
            return ()
        return tuple(
            StackFrame(self._strings.get(f["filename"], _UNKNOWN), f["line"] or 1, f["name"])
            for f in frames
            if isinstance(f, dict) and {"filename", "line", "name"} <= f.keys()
        )

    def _joined_stack(self, frames: Any) -> Stack:
        return join_stacks((), self._structured_stack(frames))

    def _of_same_frame(self, compile_id: str) -> list[_Compilation]:
        frame = compile_id.rpartition("/")[0]
        return [c for name, c in self._compilations.items() if name.rpartition("/")[0] == frame]


def original_function(name: str) -> str:
    """The function that a resume function continues; ``name`` itself when it is none."""
    found = _RESUME.match(name)
    return original_function(found["function"]) if found else name


def join_stacks(outer: Stack, inner: Stack) -> Stack:
    """One stack of the calls that led to a frame and those inside it.

    A resume function is called by the function that it continues: the two are one call to a person.
    """
    joined: list[StackFrame] = []
    for frame in (*outer, *inner):
        function = original_function(frame.function)
        if function != frame.function:
            frame = replace(frame, function=function)
            if joined and (joined[-1].function, joined[-1].filename) == (function, frame.filename):
                joined.pop()
        joined.append(frame)
    return tuple(joined)


def _as_break(failure: CompileFailure) -> GraphBreak:
    """A failure that Dynamo swallowed: the frame runs eagerly."""
    return GraphBreak(
        compile_id=failure.compile_id,
        code=failure.code,
        reason=failure.message,
        explanation=failure.explanation,
        hints=failure.hints,
        context="",
        url=failure.url,
        stack=failure.stack,
        skips_frame=True,
        text=failure.text,
    )


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # "backend='x' raised:" introduces the error itself.
    if len(lines) > 1 and lines[0].endswith("raised:"):
        return f"{lines[0]} {lines[1]}".removesuffix(":")
    return lines[0] if lines else ""


_HANDLERS: Final[dict[str, Any]] = {
    **dict.fromkeys(CODE_RECORDS, Interpreter._code),
    **dict.fromkeys(SHAPE_RECORDS, Interpreter._shape),
    PERFORMANCE_HINT: Interpreter._performance_hint,
    CUDAGRAPH_SKIP: Interpreter._cudagraph_skip,
    "recompile_reasons": Interpreter._recompile_reasons,
    "dynamo_start": Interpreter._dynamo_start,
    "dynamo_graph_break_reason": Interpreter._graph_break,
    "dynamo_output_graph": Interpreter._output_graph,
    "dynamo_cpp_guards_str": Interpreter._guards,
    "dynamo_error": Interpreter._dynamo_error,
    "compilation_metrics": Interpreter._metrics,
}

KNOWN_RECORDS = frozenset((*_HANDLERS, PHASE, "str"))
"""The records that mean something here; all others can be left out."""
