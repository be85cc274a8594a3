"""The interpreter of the structured trace, which converts records to facts.

The compilation of a frame has these records: ``dynamo_start``, any number of attempts (each can end in a
``dynamo_graph_break_reason``), ``dynamo_output_graph``, ``dynamo_cpp_guards_str``, perhaps a
``dynamo_error``, and ``compilation_metrics``. They are emitted by ``torch/_dynamo/convert_frame.py``,
``symbolic_convert.py``, ``output_graph.py`` and ``guards.py``; the record names and keys used here are
the same from torch 2.11 to 2.15. Other records are skipped.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from ..facts import (
    CompileFailure,
    CudagraphSkip,
    Fact,
    FrameCompiled,
    FrameSkipped,
    FrameStarted,
    GraphBreak,
    GraphCaptured,
    GraphPart,
    GuardFailure,
    GuardInstalled,
    LateCompilation,
    LightningCompiled,
    PerformanceHint,
    Recompile,
    RecompileLimit,
    Stack,
    StackFrame,
    TensorsNamed,
)
from .causes import guard_behind, guard_on, stack_around
from .compilation import CompileState, as_break, graph_of, read_graph
from .export.reader import EXPORT_RECORDS, ExportReader
from .export.texts import parse_violations
from .guards import METADATA, parse_tree, with_value
from .inductor.caches import CACHE_RECORDS, LOWERED_RECORDS, CacheReader
from .inductor.code import CODE_RECORDS, CodeReader
from .inputs import TENSOR_RECORDS, InputReader
from .messages import (
    Source,
    error_message,
    no_source,
    parse_frames,
    parse_message,
    parse_user_stack,
    skips_rest,
)
from .phases import PHASE, PhaseReader
from .ranks import read_estimate, read_execution, read_schedule, read_traced_graph
from .reasons import FREED, RecompileReason, parse_reasons
from .record import UNKNOWN_FILE, TraceRecord, frame_number, frame_of, later_id
from .shapes import SHAPE_RECORDS, ShapeReader
from .stacks import StackReader, join_stacks, resumed_row
from .texts import record_text
from .vllm import VLLM_RECORDS, is_of_vllm, read_vllm

_RECOMPILE_LIMIT_CODE = "GB0039"
"""torch's id of "Dynamo recompile limit exceeded", in every supported version."""
_LIMIT = re.compile(r"exceeding the (?P<setting>\w+) cache size limit \(currently set to (?P<limit>\d+)\)")
_BACKEND_ERRORS = ("BackendCompilerFailed", "InductorError")
"""Errors of a backend. Dynamo does not wrap TorchInductor's own errors in ``BackendCompilerFailed``."""
_SOFT = ("Unsupported", "UserError")
"""Errors that Dynamo catches to run the frame eagerly, unless ``fullgraph=True`` is set."""
PERFORMANCE_HINT: Final = "perf_hint"
CUDAGRAPH_SKIP: Final = "cudagraph_skip"
"""Records that Fullgraph adds, because torch only logs these messages (:mod:`..compat.kernel_compat`)."""
_MOST_READ = 16
"""The most compilations whose decoded guards stay in memory; other guards are decoded again when needed."""
_OF_BACKEND = "WON'T CONVERT "
"""The beginning of the text of a graph break caused by a failed backend; the failure has a record of its
own."""
_WRITTEN: Final = CODE_RECORDS - LOWERED_RECORDS
"""The records of AOTAutograd and TorchInductor about a graph, except the graphs that caches look up."""
_REFUSED_MARK = "ConstraintViolationError"
_NOTHING_TO_COMPILE = "SkipFrame"
"""The error with which Dynamo skips a frame without operations."""


class TraceInterpreter:
    """An interpreter of records, fed in order; a record yields the facts it completes.

    ``source`` returns a line of the user's code, if available: some columns depend on it. With
    ``findings_only``, the interpreter yields no graphs, and yields guards only for frames that were compiled
    again. Without ``code``, it yields nothing about the code generated from graphs. With ``all_texts``, it
    also yields the texts of records other than the forms of a graph.
    """

    def __init__(
        self,
        source: Source = no_source,
        *,
        findings_only: bool = False,
        code: bool = True,
        all_texts: bool = False,
    ) -> None:
        self._source = source
        self._code_wanted = code and not findings_only
        self._all_texts = all_texts
        self._caches = CacheReader(held=findings_only)
        self._findings_only = findings_only
        self._stacks = StackReader()
        self._compilations: dict[str, CompileState] = {}
        self._frames: defaultdict[str, dict[str, CompileState]] = defaultdict(dict)
        self._failures: dict[str, tuple[GuardFailure, ...]] = {}
        # A soft failure is fatal only under fullgraph=True. If torch reports a graph break after it, Dynamo
        # has caught it; without such a report, it counts as fatal.
        self._undecided: CompileFailure | None = None
        self._undecided_is_fatal = True
        self._phases = PhaseReader()
        self._read: dict[str, list[GuardInstalled]] = {}
        # After torch._dynamo.reset(), torch counts frames from 0 again. This offset makes their ids unique.
        self._frames_before_reset = 0
        self._exports = ExportReader(source, self._stacks.structured)

    def feed(self, record: TraceRecord) -> Iterator[Fact]:
        """Yield the facts that ``record`` completes."""
        if record.name == "str":
            self._stacks.intern(record.body)
            return
        record = self._numbered(record)
        if self._all_texts:
            yield from record_text(record, has_graph=record.compile_id in self._compilations)
        if record.name == PHASE:
            yield from self._phases.feed(record)  # phases come between other records, and are independent
            return
        if record.name in CACHE_RECORDS:
            yield from self._caches.feed(record)
            return
        if record.name not in KNOWN_RECORDS:
            return
        if is_of_vllm(record):
            yield from read_vllm(record)
            return
        if record.name in _WRITTEN and not self._code_wanted:
            return
        if self._exports.takes(record, self._compilations):
            yield from self._exports.feed(record, self._compilations)
            return
        compilation = self._compilations.get(record.compile_id)
        if record.name in TENSOR_RECORDS:
            if compilation:
                compilation.inputs.feed(record)
            return
        if compilation and compilation.pending_break:
            pending, compilation.pending_break = compilation.pending_break, None
            yield replace(pending, skips_frame=record.name == "dynamo_error")
        if compilation and record.name not in CODE_RECORDS and self._code_wanted:
            yield from compilation.code.finish(graph_of(compilation))
        yield from _HANDLERS[record.name](self, record)

    def _numbered(self, record: TraceRecord) -> TraceRecord:
        """Return a record with a compile id that is unique in the trace.

        torch reuses ids after ``torch._dynamo.reset()``.
        """
        compile_id = later_id(record.compile_id, self._frames_before_reset)
        if record.name == "dynamo_start" and compile_id in self._compilations:
            self._frames_before_reset = 1 + max(map(frame_number, self._compilations))
            compile_id = later_id(record.compile_id, self._frames_before_reset)
        return record if compile_id == record.compile_id else replace(record, compile_id=compile_id)

    def finish(self) -> Iterator[Fact]:
        """Yield the facts that still wait for a record, at the end of the trace."""
        for compilation in self._compilations.values():
            if compilation.pending_break:
                yield compilation.pending_break
                compilation.pending_break = None
            if self._code_wanted:
                yield from compilation.code.finish(graph_of(compilation))
        yield from self._exports.finish()
        yield from self._decide()
        yield from self._caches.finish()

    def failures(self, reasons: Iterable[str]) -> tuple[GuardFailure, ...]:
        """Return the failed guards that torch's reasons name, one for each reason.

        Each reason refers to a compilation that does not fit.
        """
        return tuple(self._failure(reason) for text in reasons for reason in parse_reasons(text))

    # -- records, in the order of a compilation ------------------------------------------------

    def _recompile_reasons(self, record: TraceRecord) -> Iterator[Fact]:
        # The next records show whether torch compiles the frame again, or stops at the limit.
        self._failures[record.compile_id] = self.failures([record.payload])
        yield from ()

    def _dynamo_start(self, record: TraceRecord) -> Iterator[Fact]:
        yield from self._decide()
        frames = self._stacks.structured(record.body.get("stack"))
        if not frames:
            return
        frame = frames[-1]
        if frame.filename == UNKNOWN_FILE:
            frame = replace(frame, filename=record.seen.get("filename") or UNKNOWN_FILE)
        *stack, joined = join_stacks(record.seen.get("stack", frames[:-1]), (frame,))
        row = self._stacks.first_row(joined, resumes=joined.function != frame.function)
        started = FrameStarted(
            record.compile_id,
            joined.function,
            joined.filename,
            row,
            tuple(stack),
            resumed_row(frame.function),
        )
        code, shapes = CodeReader(self._source), ShapeReader(self._stacks.joined)
        compilation = CompileState(started, frame.function, code, shapes, InputReader())
        self._compilations[record.compile_id] = compilation
        self._frames[frame_of(record.compile_id)][record.compile_id] = compilation
        failures = self._failures.pop(record.compile_id, ())
        if failures:
            yield from self._request_guards(record.compile_id)
            yield Recompile(record.compile_id, failures)
        if record.seen.get("late"):
            yield LateCompilation(record.compile_id, failures)
        if lightning := record.seen.get("lightning"):
            yield LightningCompiled(record.compile_id, *lightning)
        yield started

    def _graph_break(self, record: TraceRecord) -> Iterator[Fact]:
        if record.payload.startswith(_OF_BACKEND):
            return
        message = parse_message(record.payload)
        compilation = self._compilations.get(record.compile_id)
        undecided = self._undecided
        if undecided and undecided.compile_id == record.compile_id:
            # This record only has the frame; the message is in the error before it.
            self._undecided = None
            yield as_break(undecided)
            return
        yield from self._decide()
        stack = self._full_stack(record, parse_user_stack(record.payload, self._source))
        graph_break = GraphBreak(
            compile_id=record.compile_id,
            code=message.code,
            reason=message.reason,
            explanation=message.whole_explanation,
            hints=message.hints,
            context=message.context,
            url=message.url,
            stack=stack,
            skips_frame=False,
            text=record.payload.split("\nTraceback (most recent call last):")[0].strip(),
            skips_rest=skips_rest(record.payload),
            kernel=record.seen.get("kernel"),
        )
        if compilation is None:
            yield graph_break
        else:
            # The next record of this compilation shows whether the frame is skipped.
            compilation.pending_break = graph_break
            compilation.broke = True

    def _output_graph(self, record: TraceRecord) -> Iterator[Fact]:
        compilation = self._compilations.get(record.compile_id)
        graph = record if self._findings_only else read_graph(record)
        if compilation:
            compilation.graph, compilation.filenames = graph, None
            started = compilation.started
            yield read_traced_graph(record, StackFrame(started.filename, started.row, started.function))
        if isinstance(graph, GraphCaptured):
            yield graph
        if names := record.seen.get("names"):
            yield TensorsNamed(record.compile_id, *names)

    def _execution(self, record: TraceRecord) -> Iterator[Fact]:
        if not self._frames_before_reset:  # after a reset, an id can mean two compilations
            yield read_execution(record)

    def _code(self, record: TraceRecord) -> Iterator[Fact]:
        if record.name in LOWERED_RECORDS:
            yield from self._caches.feed(record)
        compilation = self._compilations.get(record.compile_id)
        if compilation and self._code_wanted:
            yield from compilation.code.feed(record, graph_of(compilation))

    def _performance_hint(self, record: TraceRecord) -> Iterator[Fact]:
        yield PerformanceHint(record.compile_id, record.payload, self._place_of_graph(record))

    def _cudagraph_skip(self, record: TraceRecord) -> Iterator[Fact]:
        compilation = self._compilations.get(record.compile_id)
        if compilation:
            compilation.skips_cudagraph = True
        yield from self._skipped_cudagraph(record, record.payload)

    def _skipped_cudagraph(self, record: TraceRecord, text: str) -> Iterator[Fact]:
        """Read torch's reason for skipping CUDA graphs, and the stack of an operation.

        The text is ``skipping cudagraphs due to REASON. Found from :``, followed by the stack.
        """
        reason, _, frames = text.partition(". Found from")
        stack = parse_frames(frames.splitlines()) or self._place_of_graph(record)
        yield CudagraphSkip(record.compile_id, reason, stack)

    def _place_of_graph(self, record: TraceRecord) -> Stack:
        """Return a record's stack, or else the place of its graph's first operation."""
        compilation = self._compilations.get(record.compile_id)
        graph = graph_of(compilation)
        nodes = graph.nodes if graph else ()
        return record.seen.get("stack") or tuple(node.frame for node in nodes[:1])

    def _guards(self, record: TraceRecord) -> Iterator[Fact]:
        compilation = self._compilations.get(record.compile_id)
        # The guards of a later attempt replace those of an earlier attempt.
        self._read.pop(record.compile_id, None)
        if compilation is None:
            yield from self._read_guards(record, None)
        elif self._findings_only:
            compilation.guards = record
            yield from self._wanted_guards(compilation)
        else:
            compilation.guards = self._read_guards(record, compilation)
            yield from compilation.shapes.take()
            yield from compilation.guards

    def _request_guards(self, compile_id: str) -> Iterator[Fact]:
        """With ``findings_only``, yield a recompiled frame's guards, now and later."""
        for compilation in self._of_same_frame(compile_id) if self._findings_only else ():
            compilation.wants_guards = True
            yield from self._wanted_guards(compilation)

    def _wanted_guards(self, compilation: CompileState) -> Iterator[Fact]:
        if compilation.wants_guards and not compilation.yielded_guards and compilation.guards:
            compilation.yielded_guards = True
            yield from self._guards_of(compilation)

    def _guards_of(self, compilation: CompileState | None) -> list[GuardInstalled]:
        """Return a compilation's guards; decode them again if no longer in memory."""
        guards = compilation.guards if compilation else []
        if not isinstance(guards, TraceRecord):
            return guards
        decoded = self._read.pop(guards.compile_id, None) or self._read_guards(guards, compilation)
        self._read[guards.compile_id] = decoded
        if len(self._read) > _MOST_READ:
            del self._read[next(iter(self._read))]
        return decoded

    def _read_guards(self, record: TraceRecord, compilation: CompileState | None) -> list[GuardInstalled]:
        stacks: Mapping[str, Stack] = record.seen.get("guard_stacks", {})
        values: Mapping[str, str] = record.seen.get("guard_values", {})
        guards = []
        for leaf in parse_tree(record.payload):
            leaf = with_value(leaf, values)
            stack = stacks.get(leaf.source, ()) or self._stacks.at(leaf.place, compilation)
            # Most guards of a recompilation are equal to those of the compilation before it.
            source, kind, expected, code = map(sys.intern, (leaf.source, leaf.kind, leaf.expected, leaf.code))
            guards.append(GuardInstalled(record.compile_id, source, kind, expected, code, stack))
        return guards

    def _shape(self, record: TraceRecord) -> Iterator[Fact]:
        if compilation := self._compilations.get(record.compile_id):
            compilation.inputs.feed(record)
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
        yield from compilation.shapes.take()  # these are left only if the compilation has failed
        if not self._findings_only:
            yield from compilation.inputs.take(record.compile_id)
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
            # Without the total, torch wrote only the time of the parts.
            seconds=body.get("entire_frame_compile_time_s")
            or (body.get("dynamo_cumulative_compile_time_us") or 0) / 1e6,
        )

    # -- failures --------------------------------------------------------------------------------

    def _failed(self, record: TraceRecord) -> Iterator[Fact]:
        kind, reason = str(record.body["fail_type"]), str(record.body.get("fail_reason") or "")
        compilation = self._compilations.get(record.compile_id)
        if kind == _NOTHING_TO_COMPILE:
            return
        message = parse_message(reason)
        if message.code == _RECOMPILE_LIMIT_CODE or kind == "FailOnRecompileLimitHit":
            fatal = kind == "FailOnRecompileLimitHit" or record.seen.get("fatal", False)
            yield from self._limit(record, reason, fatal=fatal)
            return
        if compilation is None:
            return
        error = compilation.error
        if error and error.seen.get("operator"):
            message = replace(message, operator=error.seen["operator"])
        elif not (message.code or message.whole):
            message = error_message(kind, reason, error.payload if error else "")
        if kind in _SOFT and compilation.broke:
            started = compilation.started
            yield FrameSkipped(
                record.compile_id, started.function, started.filename, started.row, message.reason
            )
            return
        failure = CompileFailure(
            compile_id=record.compile_id,
            phase="backend" if kind in _BACKEND_ERRORS else "capture",
            error=kind,
            message=message.reason,
            stack=self._failure_stack(record, error, compilation),
            code=message.code,
            explanation=message.whole_explanation,
            hints=message.hints,
            url=message.url,
            text=reason.strip(),
            violations=tuple(parse_violations(reason, self._source)) if kind == _REFUSED_MARK else (),
            kernel=error.seen.get("kernel") if error else None,
        )
        if kind in _SOFT:
            self._undecided = failure
            self._undecided_is_fatal = error is None or error.seen.get("fatal", True)
        else:
            yield failure

    def _failure_stack(
        self, record: TraceRecord, error: TraceRecord | None, compilation: CompileState
    ) -> Stack:
        seen: Stack = error.seen.get("stack", ()) if error else ()
        stack = seen or (parse_user_stack(error.payload, self._source) if error else ())
        filename, row = record.body.get("fail_user_frame_filename"), record.body.get("fail_user_frame_lineno")
        if not stack and filename and row:
            stack = (StackFrame(filename, row, compilation.started.function),)
        if not stack and (graph := graph_of(compilation)) and graph.nodes:
            # A backend's failure has no line of the user's code: the graph's first line is the best guess.
            stack = (graph.nodes[0].frame,)
        return join_stacks(compilation.started.stack, stack) if stack else ()

    def _limit(self, record: TraceRecord, reason: str, *, fatal: bool) -> Iterator[Fact]:
        compile_id = record.compile_id
        failures = self._failures.pop(compile_id, ())
        yield from self._request_guards(compile_id)
        last = next(reversed(self._of_same_frame(compile_id)), None)
        frame = last.started if last else None
        found = _LIMIT.search(reason)
        yield RecompileLimit(
            compile_id=compile_id,
            function=frame.function if frame else "",
            filename=frame.filename if frame else "",
            row=frame.row if frame else 1,
            limit=int(found["limit"]) if found else len(self._of_same_frame(compile_id)),
            setting=found["setting"] if found else "recompile_limit",
            fatal=fatal,
            failures=failures,
            stack=self._calls(record, last) if last else (),
            called=int(record.seen.get("called", 0)),
        )

    def _calls(self, record: TraceRecord, last: CompileState) -> Stack:
        """Return the calls that led to a frame that torch did not compile.

        A log lacks these calls; the result is then the calls that led to ``last``, the frame's last
        compilation.
        """
        started = last.started
        frame = StackFrame(started.filename, started.row, last.name)
        return join_stacks(record.seen.get("stack", started.stack), (frame,))[:-1]

    def _decide(self) -> Iterator[Fact]:
        failure, self._undecided = self._undecided, None
        if failure:
            yield failure if self._undecided_is_fatal else as_break(failure)

    # -- guards that failed ----------------------------------------------------------------------

    def _failure(self, reason: RecompileReason) -> GuardFailure:
        compile_id = later_id(reason.compile_id, self._frames_before_reset)
        change, compilation = reason.change, self._compilations.get(compile_id)
        guards = self._guards_of(compilation)
        guard = guard_behind(reason, guards)
        if change.kind == FREED:
            guard = guard_on(change.name, guards, kind="ID_MATCH")
        named = guard_on(change.name, guards) or guard
        stack = guard.stack if guard else stack_around(change.name, guards)
        return GuardFailure(
            compile_id=compile_id,
            source=named.source if named else change.name,
            kind=change.kind or (guard.kind if guard else ""),
            reason=reason.text,
            changed=change.changed,
            expected=change.expected
            or (guard.expected if guard and change.kind in ("", FREED, METADATA) else ""),
            actual=change.actual,
            dimension=change.dimension,
            stack=stack or reason.stack or self._stacks.at(reason.place, compilation),
        )

    # -- stacks ----------------------------------------------------------------------------------

    def _full_stack(self, record: TraceRecord, written: Stack) -> Stack:
        """Return the listener's stack, with the calls that led to the frame.

        If the listener has no stack, return the stack written in the record's text.
        """
        compilation = self._compilations.get(record.compile_id)
        seen: Stack = record.seen.get("stack", ())
        if seen and compilation:
            return join_stacks(compilation.started.stack, seen)
        return join_stacks((), written)

    def _of_same_frame(self, compile_id: str) -> list[CompileState]:
        return [*self._frames[frame_of(compile_id)].values()]


_HANDLERS: Final[dict[str, Any]] = {
    **dict.fromkeys(CODE_RECORDS, TraceInterpreter._code),
    **dict.fromkeys(SHAPE_RECORDS, TraceInterpreter._shape),
    PERFORMANCE_HINT: TraceInterpreter._performance_hint,
    CUDAGRAPH_SKIP: TraceInterpreter._cudagraph_skip,
    "optimize_ddp_split_child": lambda _, record: [GraphPart(record.compile_id, record.body["name"])],
    "inductor_collective_schedule": lambda _, record: [read_schedule(record)],
    "inductor_runtime_and_tensor_meta": lambda _, record: [read_estimate(record)],
    "graph_execution": TraceInterpreter._execution,
    "recompile_reasons": TraceInterpreter._recompile_reasons,
    "dynamo_start": TraceInterpreter._dynamo_start,
    "dynamo_graph_break_reason": TraceInterpreter._graph_break,
    "dynamo_output_graph": TraceInterpreter._output_graph,
    "dynamo_cpp_guards_str": TraceInterpreter._guards,
    "dynamo_error": TraceInterpreter._dynamo_error,
    "compilation_metrics": TraceInterpreter._metrics,
}

KNOWN_RECORDS = frozenset(
    (*_HANDLERS, *TENSOR_RECORDS, *CACHE_RECORDS, *EXPORT_RECORDS, *VLLM_RECORDS, PHASE, "str")
)
"""The records that the interpreter reads; all other records can be left out."""

GRAPH_RECORDS = KNOWN_RECORDS - (_WRITTEN - VLLM_RECORDS) - {PHASE}
"""The records of Dynamo and of caches, without AOTAutograd's and TorchInductor's records about code."""

FINDING_RECORDS = GRAPH_RECORDS - SHAPE_RECORDS - TENSOR_RECORDS
"""The records from which findings are made."""
