"""The structured trace: listening to it, and Dynamo's state at each record.

Each docstring says where torch keeps a name, and in which of the supported versions (2.11 to 2.15) that was
checked.
"""

from __future__ import annotations

import logging
import os
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ..trace.guards import METADATA_OF
from .backend_compat import is_backend
from .dynamo_compat import place_of

_TRACE_LOGGER = "torch.__trace"  # torch/_logging/_internal.py, trace_log (torch 2.11 to 2.15)


TAKEN = -1
"""The level of records that a listener has handled: lower than the level of every other handler."""


_BREAK_LOGGER = "torch._dynamo.symbolic_convert.__graph_breaks"  # graph_break_log (torch 2.11 to 2.15)


_OF_INTERPRETER = re.compile(
    r"/(?:Python|Objects|Include|Modules)/|, in (?:_?Py|py|method_vec|vectorcall|wrap_)"
)


_REASON = re.compile(r"^(?=\d+/\d+: )", re.MULTILINE)


def _is_asked_for(_: logging.LogRecord) -> bool:
    """Return whether the program itself turned the graph-break log on.

    Reads ``log_state`` of ``torch._logging`` (torch 2.11 to 2.15).
    """
    from torch._logging import _internal

    return bool(_internal.log_state.is_artifact_enabled("graph_breaks"))


class _EnabledLogger(logging.Logger):
    """A logger that cannot be disabled.

    ``logging.config`` disables all loggers that it does not configure.
    """

    disabled = property(lambda _: False, lambda *_: None)


def listen(handler: logging.Handler) -> None:
    """Send every record of the structured trace to ``handler`` from now on.

    torch builds a record only while the trace's logger has a handler. Graph breaks that Dynamo finds outside
    its tracer are recorded only while the graph-break log is enabled (``convert_frame.py``,
    ``ConvertFrame.__call__``), so this function enables the log and suppresses its output.
    """
    from torch._logging import _internal

    reset = _internal._reset_logs

    def attach() -> None:
        trace = logging.getLogger(_TRACE_LOGGER)
        trace.__class__ = _EnabledLogger
        trace.setLevel(logging.DEBUG)
        trace.propagate = False
        for idle in [other for other in trace.handlers if getattr(other, "root_dir", "") is None]:
            # Without a folder to write to, a LazyTraceHandler removes itself at the first record, which then
            # does not reach the next handler.
            trace.removeHandler(idle)
        if handler not in trace.handlers:
            trace.addHandler(handler)
        breaks = logging.getLogger(_BREAK_LOGGER)
        breaks.__class__ = _EnabledLogger
        if not breaks.isEnabledFor(logging.DEBUG):
            breaks.setLevel(logging.DEBUG)
            breaks.propagate = False
            breaks.addFilter(_is_asked_for)  # pytest adds handlers to loggers that do not propagate

    def reset_and_attach() -> None:
        # torch._logging.set_logs, which user code calls, removes all handlers.
        reset()
        attach()

    _internal._reset_logs = reset_and_attach
    attach()


def write_log(
    folder: str,
    completed: Callable[[logging.LogRecord], logging.LogRecord],
    give_up: Callable[[Exception], None],
) -> None:
    """Let torch write the log of its structured trace into ``folder``.

    Each record is written as ``completed`` returns it. An error of ``completed`` or of writing is passed to
    ``give_up``, and ends the log. ``LOG_TRACE_HANDLER`` writes the logs for ``TORCH_TRACE``
    (``torch/_logging/_internal.py``), and ``LazyTraceHandler`` opens a file at the first record, with the
    rank in its name: 2.11 to 2.15. Before 2.13, a forked process would continue to write to the file of its
    parent.
    """
    from torch._logging import _internal

    class ProcessTraceHandler(_internal.LazyTraceHandler):  # type: ignore[misc]
        is_off = False
        owner = os.getpid()

        def emit(self, record: logging.LogRecord) -> None:
            if self.is_off:
                return
            if self.owner != os.getpid():
                self.stream, self.owner = None, os.getpid()
            try:
                super().emit(completed(record))
            except Exception as error:
                self.is_off = True
                give_up(error)

        def handleError(self, _: logging.LogRecord) -> None:  # noqa: N802
            raise

    log = ProcessTraceHandler(folder)
    log.setFormatter(_internal.TorchLogsFormatter(trace=True))
    if _internal.LOG_TRACE_HANDLER is not None:
        logging.getLogger(_TRACE_LOGGER).removeHandler(_internal.LOG_TRACE_HANDLER)
    _internal.LOG_TRACE_HANDLER = _internal._track_handler(log)
    listen(log)


def pending_exception(frame: FrameType | None) -> BaseException | None:
    """Return the exception that the current record reports; ``None`` if there is none.

    ``frame`` and its callers emit the record. ``log_graph_break`` (``symbolic_convert.py``) holds the
    exception in ``exc``, ``_compile`` and ``ConvertFrame.__call__`` (``convert_frame.py``) hold it in ``e``:
    2.11 to 2.15. The exception has ``real_stack``, the user's stack with columns, which the written record
    lacks before 2.15.
    """
    for call in _nearest(frame):
        for name in ("exc", "e"):
            value = call.f_locals.get(name)
            if isinstance(value, BaseException) and hasattr(value, "real_stack"):
                return value
    return None


def stops_program(frame: FrameType | None, exception: BaseException) -> bool:
    """Return whether a graph break is raised as an error in the program.

    This happens with ``fullgraph=True`` or ``error_on_graph_break``. ``_compile`` (``convert_frame.py``)
    holds the first setting in ``one_graph``, and stores the second on the exception (torch 2.11 to 2.15).
    """
    if any(call.f_locals.get("one_graph") for call in _nearest(frame)):
        return True
    output = getattr(exception, "_torch_dynamo_tracer_output", None)
    return bool(getattr(output, "error_on_graph_break", False))


def raises_breaks(frame: FrameType | None) -> bool:
    """Return whether exceeding the recompile limit raises an error.

    This happens with ``error_on_graph_break``, which ``ConvertFrame.__call__`` (``convert_frame.py``) reads
    from ``convert_frame_box`` of ``_compile`` (torch 2.13, 2.15).
    """
    box = _local_of_compilation(frame, "convert_frame_box", None)
    return bool(getattr(box, "error_on_graph_break", False))


def pending_guards(frame: FrameType | None) -> Iterable[Any]:
    """Return the guards of the guard tree in the current record.

    ``CheckFunctionManager.__init__`` (``guards.py``) holds them in ``sorted_guards``: 2.11 to 2.15. Without
    that variable, the result is empty, and callers use the places in the text of the tree.
    """
    found = (call.f_locals.get("sorted_guards") for call in _nearest(frame))
    return list(next((guards for guards in found if guards is not None), ()))


def pending_values(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    """Yield source and expected value of guards whose code does not show the value.

    These guards are on the identity of an object (``ID_MATCH``), or on the metadata that a tensor subclass
    returns with its tensors (:data:`METADATA_OF`). ``GuardBuilder.get`` (``guards.py``) returns the value for
    which the guard was built; ``CheckFunctionManager.__init__`` holds the builder in ``builder``: 2.11 to
    2.15.
    """
    builder = _local_of_compilation(frame, "builder", None)
    for guard in pending_guards(frame) if builder is not None else ():
        kind = guard.create_fn_name()
        if kind == "ID_MATCH":
            yield guard.name, builder.get(guard)
        elif kind == "TENSOR_SUBCLASS_METADATA_MATCH":
            yield METADATA_OF.format(guard.name), builder.get(guard).__tensor_flatten__()[1]


def operator_of(exception: BaseException) -> str:
    """Return the higher-order operator during which an exception was raised.

    Return an empty string if there is none, and before 2.13. ``add_hop_context``
    (``variables/higher_order_ops.py``) stores the name in ``_hop_name`` (torch 2.13 to 2.15).
    """
    return str(getattr(exception, "_hop_name", ""))


def refused_reasons(error: BaseException) -> list[str]:
    """Return why torch would have recompiled, if ``error`` says it must not.

    The result has one text for each compilation, and is empty for any other error.
    ``get_and_maybe_log_recompilation_reasons`` (``guards.py``) raises a ``RecompileError`` with the lines
    that it would otherwise log and record; ``_callback_from_stance`` (``eval_frame.py``) raises an error with
    the same lines (torch 2.11 to 2.15).
    """
    from torch._dynamo.exc import RecompileError

    said = error.args[0] if type(error) in (RecompileError, RuntimeError) and error.args else ""
    # Not ``str(error)``, which may run code of the program.
    if type(said) is not str or (type(error) is RuntimeError and _BY_STANCE not in said):
        return []
    _, _, reasons = said.partition("guard failure(s):\n")
    lines = [line.removeprefix("- ") for line in textwrap.dedent(reasons).splitlines()]
    return [part.strip() for part in _REASON.split("\n".join(lines)) if part.strip()]


def watch_refusals(refused: Callable[[str, Sequence[str]], None]) -> None:
    """Call ``refused(error, reasons)`` whenever torch refuses to recompile.

    ``error`` is the name of the exception. torch creates a ``RecompileError`` (``exc.py``) or, for a stance
    (``eval_frame.py``), calls ``get_and_maybe_log_recompilation_reasons`` (``guards.py``) with
    ``skip_logging`` (torch 2.11 to 2.15).
    """
    from torch._dynamo import guards
    from torch._dynamo.exc import RecompileError

    ask = guards.get_and_maybe_log_recompilation_reasons

    def make_and_tell(error: Any, *arguments: Any) -> None:
        super(RecompileError, error).__init__(*arguments)
        refused("RecompileError", refused_reasons(error))

    def ask_and_tell(*arguments: Any, skip_logging: bool = False, **options: Any) -> list[str]:
        reasons: list[str] = ask(*arguments, skip_logging=skip_logging, **options)
        if skip_logging:
            refused("RuntimeError", reasons)
        return reasons

    RecompileError.__init__ = make_and_tell
    guards.get_and_maybe_log_recompilation_reasons = ask_and_tell


_BY_STANCE = "torch.compile stance is 'fail_on_recompile'"


def user_frames(exception: BaseException) -> Iterable[Any]:
    """Return the user's stack that led to an exception, outermost frame first.

    The items are ``traceback.FrameSummary`` (``exc.py``).
    """
    return getattr(exception, "real_stack", None) or ()


def traced_stack() -> Iterable[Any]:
    """Return the user's stack at the code that Dynamo is tracing, outermost first.

    The items are ``traceback.FrameSummary``. ``TracingContext.extract_stack`` (``torch/_guards.py``): 2.11 to
    2.15.
    """
    from torch._guards import TracingContext

    frames: Iterable[Any] = TracingContext.extract_stack()
    return frames


def cpp_stack() -> str:
    """Return the C++ and Python calls that led to a guard, as the text of a traceback.

    The innermost call is last. ``CapturedTraceback`` (``torch/utils/_traceback.py``) provides the calls;
    those of the Python interpreter and of ``ShapeEnv._log_guard``
    (``torch/fx/experimental/symbolic_shapes.py``) are left out (torch 2.11 to 2.15).
    """
    from torch.utils._traceback import CapturedTraceback

    calls: list[str] = []
    for call in CapturedTraceback.extract(cpp=True).format():
        if " in _log_guard" in call:
            break
        if not _OF_INTERPRETER.search(call):
            calls.append(call)
    return "".join(calls)


def traced_positions(exception: BaseException) -> dict[tuple[str, int], Any]:
    """Return the ``positions`` that Dynamo traced when it raised, by file and row.

    The positions come from ``InstructionTranslatorBase.current_instruction`` (``symbolic_convert.py``) of the
    tracers in the traceback (torch 2.11 to 2.15). ``real_stack`` has columns only from 2.13 on.
    """
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase

    positions: dict[tuple[str, int], Any] = {}
    trace = exception.__traceback__
    while trace is not None:
        tracer = trace.tb_frame.f_locals.get("self")
        if isinstance(tracer, InstructionTranslatorBase):
            place = place_of(tracer)
            if place is not None and place.lineno is not None:
                positions[tracer.f_code.co_filename, place.lineno] = place
        trace = trace.tb_next
    return positions


def current_compile_id() -> str:
    """Return the id of the current compilation, such as ``0/1``; empty if none runs.

    ``CompileContext`` (``torch/_guards.py``) (torch 2.11 to 2.15).
    """
    from torch._guards import CompileContext

    return str(CompileContext.current_compile_id() or "")


def is_compiled_by(frame: FrameType | None, backend: Callable[..., Any]) -> bool:
    """Return whether the compilation around ``frame`` uses ``backend``.

    Return true if the backend is unknown. ``_compile`` (``convert_frame.py``) holds it in ``compiler_fn``:
    2.11 to 2.15.
    """
    return is_backend(_local_of_compilation(frame, "compiler_fn", backend), backend)


def compiled_filename(frame: FrameType | None) -> str:
    """Return the file of the code that is being compiled.

    ``_compile`` (``convert_frame.py``) holds the code in ``code``: 2.11 to 2.15. A process writes the name of
    each file into the trace only once, so a listener that starts later does not get it.
    """
    return str(getattr(_local_of_compilation(frame, "code", None), "co_filename", ""))


@contextmanager
def listening(handler: logging.Handler) -> Iterator[None]:
    """Send the structured trace to ``handler`` within the context."""
    from torch._logging import _internal

    loggers = [logging.getLogger(name) for name in (_TRACE_LOGGER, _BREAK_LOGGER)]
    before = [(type(item), item.level, item.propagate, item.filters.copy()) for item in loggers]
    reset = _internal._reset_logs
    listen(handler)
    attaching = _internal._reset_logs
    try:
        yield
    finally:
        loggers[0].removeHandler(handler)
        for logger, (kind, level, propagate, filters) in zip(loggers, before, strict=True):
            logger.__class__ = kind
            logger.filters[:] = filters
            logger.setLevel(level)
            logger.propagate = propagate
        # Another listener may have replaced the function that listen() installed.
        if _internal._reset_logs is attaching:
            _internal._reset_logs = reset


def is_fullgraph(frame: FrameType | None) -> bool:
    """Return whether the compilation around ``frame`` must not have a graph break.

    ``_compile`` (``convert_frame.py``) holds this setting in ``one_graph`` (torch 2.11 to 2.15).
    """
    return bool(_local_of_compilation(frame, "one_graph", False))


def _nearest(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield a frame and its nearest callers, among which is the emitter of a record."""
    for _ in range(12):
        if frame is not None:
            yield frame
            frame = frame.f_back


def _local_of_compilation(frame: FrameType | None, name: str, otherwise: Any) -> Any:
    """Return a local variable from the innermost frame that has it, or ``otherwise``."""
    while frame is not None and name not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals[name] if frame else otherwise
