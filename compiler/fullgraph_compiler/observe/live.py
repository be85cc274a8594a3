"""A listener to the structured trace of this process.

It gets the same records as a log file. It adds data that only the process has: the calls that led to a frame,
columns, the full stack of each guard, the tensors bound to names, and the node at which a backend failed.
"""

from __future__ import annotations

import contextlib
import linecache
import logging
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import FrameType
from typing import Any

from ..compat import export_compat, graph_compat, kernel_compat, names_compat, torch_compat, trace_compat
from ..facts import Fact, FailingKernel, GuardFailure, Stack, StackFrame, TargetProblem
from ..trace import KNOWN_RECORDS, TraceInterpreter, from_metadata
from ..trace.export.reader import CREATED, EXPORT_ERROR, EXPORT_RECORDS
from ..trace.guards import METADATA
from ..trace.inductor.code import KERNEL_STACKS
from ..trace.interpreter import PERFORMANCE_HINT
from ..trace.messages import parse_frames
from ..trace.shapes import SHAPE_RECORDS
from ..trace.stacks import join_stacks
from .calls import CompiledCalls, compiled_module
from .lightning import lightning_of
from .names import take_names
from .stacks import calling_stack
from .values import written_value

Sink = Callable[[list[Fact]], None]
_LONGEST = 2000
"""The maximum number of characters of an error's text in a fact."""


class TraceListener(logging.Handler):
    """A log handler that passes the facts of each record to ``sink``.

    ``sink`` is called in the thread that compiles.
    """

    def __init__(self, sink: Sink, *, cpp_stacks: bool = False, calls: CompiledCalls | None = None) -> None:
        super().__init__(trace_compat.TAKEN)
        self._sink = sink
        self._calls = calls
        self._cpp_stacks = cpp_stacks
        self._interpreter = TraceInterpreter(linecache.getline)
        self._failed = False

    def emit(self, record: logging.LogRecord) -> None:
        """Interpret one record.

        Never raises, because the caller is the user's program.
        """
        # pytest adds its own handlers after this one, and would print the whole trace of a failing test:
        # with this level, only another listener accepts the record.
        record.levelno = trace_compat.TAKEN
        metadata: Mapping[str, Any] | None = getattr(record, "metadata", None)
        if metadata is None or not is_relevant(metadata):
            return
        try:
            seen = look(metadata, sys._getframe())
            if self._cpp_stacks and "guard_added_fast" in metadata:
                seen["cpp_stack"] = trace_compat.cpp_stack()
            if self._calls is not None:
                seen.update(self._calls.look(metadata))
            parsed = from_metadata(metadata, str(getattr(record, "payload", None) or ""), seen)
            if parsed is not None:
                self._send(self._interpreter.feed(parsed))
        except Exception as error:
            self._report(error)

    def refused(self, error: BaseException) -> tuple[GuardFailure, ...]:
        """Return the guards that failed, from an error of ``error_on_recompile``."""
        return self.failures(trace_compat.refused_reasons(error))

    def failures(self, reasons: Iterable[str]) -> tuple[GuardFailure, ...]:
        """Return the failed guards, from the reasons that torch gives for a recompilation.

        There is one failed guard for each earlier compilation that does not fit.
        """
        return self._interpreter.failures(reasons)

    def finish(self) -> None:
        """Send the facts that were still incomplete and waited for further records."""
        self._send(self._interpreter.finish())

    def _send(self, facts: Iterable[Fact]) -> None:
        batch = list(facts)
        if batch:
            self._sink(batch)

    def _report(self, error: Exception) -> None:
        with contextlib.suppress(Exception):  # the program may have replaced its stderr
            traceback.print_exc()
        if not self._failed:
            self._failed = True
            description = traceback.format_exception_only(type(error), error)[-1].strip()
            message = f"a record of torch's trace could not be read ({description}): findings may be missing"
            hints = ("Please report this with the output log.",)
            self._sink([TargetProblem("warning", message, hints, of_run=True)])


def stack_of_summary(frames: Iterable[Any]) -> Stack:
    """Convert ``traceback.FrameSummary`` items to a stack.

    The stack has columns on Python 3.11 and newer.
    """
    return tuple(
        StackFrame(
            filename=frame.filename,
            row=frame.lineno or 1,
            function=frame.name,
            column=getattr(frame, "colno", None),
            end_row=getattr(frame, "end_lineno", None),
            end_column=getattr(frame, "end_colno", None),
        )
        for frame in frames
    )


def is_relevant(metadata: Mapping[str, Any]) -> bool:
    """Return whether the interpreter of the trace reads this kind of record."""
    # Most records are not used here, and should cost little.
    artifact = metadata.get("artifact")
    return artifact["name"] in KNOWN_RECORDS if artifact else not KNOWN_RECORDS.isdisjoint(metadata)


def look(metadata: Mapping[str, Any], frame: FrameType) -> dict[str, Any]:
    """Return the data about the current record that only this process has.

    ``frame`` and its callers are emitting the record.
    """
    if "dynamo_start" in metadata:
        return {
            "stack": calling_stack(frame),
            "filename": trace_compat.compiled_filename(frame),
            "lightning": lightning_of(compiled_module()),
        }
    if "dynamo_cpp_guards_str" in metadata:
        return {
            "guard_stacks": _guard_stacks(trace_compat.pending_guards(frame)),
            "guard_values": _guard_values(frame),
        }
    if "dynamo_output_graph" in metadata:
        graph = names_compat.pending_graph(frame)
        return {"names": take_names(graph), "calls": _calls(graph)} if graph is not None else {}
    if not EXPORT_RECORDS.isdisjoint(metadata):
        return _look_at_export(metadata, frame)
    if not SHAPE_RECORDS.isdisjoint(metadata):
        return {"stack": _traced(frame)}
    if metadata.get("compilation_metrics", {}).get("fail_type"):
        return {"stack": calling_stack(frame), "fatal": trace_compat.raises_breaks(frame)}
    artifact = metadata.get("artifact")
    if artifact and artifact["name"] == KERNEL_STACKS:
        return _look_at_launches()
    if artifact and artifact["name"] == PERFORMANCE_HINT:
        node = kernel_compat.lowered_node()
        return {"stack": _stack_of_node(node)} if node is not None else {}
    exception = trace_compat.pending_exception(frame) if artifact else None
    if exception is None:
        return {}
    fatal = trace_compat.stops_program(frame, exception)
    operator = trace_compat.operator_of(exception)
    kernel = _failing_kernel(exception)
    return {"stack": _failure_stack(exception), "fatal": fatal, "operator": operator, "kernel": kernel}


def _look_at_export(metadata: Mapping[str, Any], frame: FrameType) -> dict[str, Any]:
    error = export_compat.pending_export_error() if EXPORT_ERROR in metadata else None
    if error is not None:
        stack = stack_of_summary(trace_compat.user_frames(error)) or stack_of_error(error)
        return {"stack": stack, "draft": export_compat.is_draft_export()}
    if "export" in metadata:
        function = export_compat.exported_function(frame)
        name, code = function or ("", None)
        place = StackFrame(code.co_filename, code.co_firstlineno, name) if code else None
        return {"frame": place, "stack": calling_stack(frame), "draft": export_compat.is_draft_export()}
    if "exported_program" in metadata:
        return {"seconds": export_compat.export_seconds()}
    return {} if CREATED in metadata else {"stack": _traced(frame)}


def _traced(frame: FrameType) -> Stack:
    """Return the stack of the user's code that Dynamo is tracing.

    In an export without Dynamo, return the stack of the program's calls, which run with fake tensors.
    """
    traced = join_stacks((), stack_of_summary(trace_compat.traced_stack()))
    return calling_stack(frame) if not traced and export_compat.is_exporting() else traced


def stack_of_error(error: BaseException) -> Stack:
    """Return the calls from the program's start to where an exception was raised.

    The stack of this call contains the outer calls, the exception's traceback the calls below.
    """
    return (*calling_stack(sys._getframe()), *stack_of_summary(traceback.extract_tb(error.__traceback__)))


def _calls(graph: Any) -> Stack:
    """Return the calls that led to the operations of a graph, without duplicates."""
    stacks = map(parse_frames, map(str.splitlines, names_compat.stacks_of(graph)))
    return tuple(dict.fromkeys(call for stack in stacks for call in stack[:-1]))


def _look_at_launches() -> dict[str, Any]:
    notes = kernel_compat.take_launch_notes()
    stacks = {name: parse_frames(text.splitlines(), linecache.getline) for name, text in notes.stacks.items()}
    return {"nodes": kernel_compat.nodes_of_launches(), "costs": notes.costs, "node_stacks": stacks}


def _failure_stack(exception: BaseException) -> Stack:
    stack = stack_of_summary(trace_compat.user_frames(exception))
    if stack:
        return (*_with_columns(stack, exception), *_refused_result(exception))
    node = graph_compat.failing_node(exception)
    return _stack_of_node(node) if node is not None else ()


def _failing_kernel(exception: BaseException) -> FailingKernel | None:
    """Return the function that raised when an operator ran with fake tensors.

    torch's error names only the operator.
    """
    with contextlib.suppress(Exception):  # ``str(error)`` may run code of the program
        found = graph_compat.failing_kernel(exception)
        if found is None:
            return None
        stack = stack_of_summary(traceback.extract_tb(found.trace))
        own = tuple(frame for frame in stack if not frame.filename.startswith(torch_compat.folders()))
        error = found.error
        return FailingKernel(found.operator, found.kind, type(error).__name__, str(error)[:_LONGEST], own)
    return None


def _refused_result(exception: BaseException) -> Stack:
    """Return the line of the result that a higher-order operator refuses.

    torch's error names only the operator. The stack is empty if the line is unknown.
    """
    code, place = None, None
    with contextlib.suppress(Exception):  # Dynamo's own state may be half made; the operator is named anyway
        code, place = graph_compat.refused_result(exception) or (None, None)
    if code is None or place is None or place.lineno is None:
        return ()
    return (_placed(StackFrame(code.co_filename, place.lineno, code.co_name), place),)


def _stack_of_node(node: Any) -> Stack:
    return parse_frames(str(node.meta.get("stack_trace") or "").splitlines(), linecache.getline)


def _with_columns(stack: Stack, exception: BaseException) -> Stack:
    """Return the stack with the columns of the instructions that Dynamo traced.

    Older versions of torch leave columns out. For a condition with ``and`` or ``or``, all versions give the
    columns of the first operand.
    """
    positions = trace_compat.traced_positions(exception)
    return tuple(_placed(frame, positions.get((frame.filename, frame.row))) for frame in stack)


def _placed(frame: StackFrame, place: Any) -> StackFrame:
    if place is None:
        return frame
    return replace(frame, column=place.col_offset, end_row=place.end_lineno, end_column=place.end_col_offset)


def _guard_values(frame: FrameType) -> dict[str, str]:
    """Return the expected values that the code of guards does not show, by expression.

    These are enum members and metadata of tensors.
    """
    values: dict[str, str] = {}
    with contextlib.suppress(Exception):  # the program's own ``__tensor_flatten__`` may raise
        for source, value in trace_compat.pending_values(frame):
            if text := written_value(value, is_metadata=source.endswith(METADATA)):
                values[source] = text
    return values


def _guard_stacks(guards: Iterable[Any]) -> dict[str, Stack]:
    """Return the stack of the first use of each guarded expression, by expression."""
    converted: dict[int, Stack] = {}
    stacks: dict[str, Stack] = {}
    for guard in guards:
        summary = guard.user_stack
        if not summary or guard.name in stacks:
            continue
        # Guards created at one line share the frames of their summary, not the summary: convert each once.
        key = hash(tuple((f.filename, f.lineno, getattr(f, "colno", None)) for f in summary))
        if key not in converted:
            converted[key] = join_stacks((), stack_of_summary(summary))
        stacks[guard.name] = converted[key]
    return stacks
