"""Every private name of torch that this package touches, with what stands in for it elsewhere.

Each entry says where torch keeps it and in which of the supported versions (2.11 to 2.15) it was
read. Nothing else in the package may name a ``torch._*`` module or attribute.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch

SUPPORTED = ((2, 11), (2, 15))
"""The oldest and the newest torch that this package was tested with."""


def version() -> str:
    """Torch's version as it names itself: ``2.13.0+cpu``."""
    return str(torch.__version__)


def release() -> tuple[int, int]:
    """Torch's major and minor version."""
    major, minor = version().split(".")[:2]
    return int(major), int(minor)


def is_supported() -> bool:
    """Whether this torch lies in the tested range."""
    return SUPPORTED[0] <= release() <= SUPPORTED[1]


def folder() -> str:
    """Where torch's own files are."""
    return str(os.path.dirname(torch.__file__))


def redirect_files(to_write: Callable[[Any], Any], to_read: Callable[[Any], Any]) -> None:
    """Have torch's native code write and read files where these say.

    ``PyTorchFileWriter`` and ``PyTorchFileReader`` of ``torch._C``, for ``torch.save`` and ``torch.package``
    to use, mapped files (``UntypedStorage.from_file``), and ``save`` of scripted modules and functions:
    2.11 to 2.15.
    """
    writer, reader = torch._C.PyTorchFileWriter, torch._C.PyTorchFileReader

    class RedirectedFileWriter(writer):  # type: ignore[misc, valid-type]
        def __init__(self, file: Any, *args: Any, **kwargs: Any) -> None:
            super().__init__(to_write(file), *args, **kwargs)

    class RedirectedFileReader(reader):  # type: ignore[misc, valid-type]
        def __init__(self, file: Any) -> None:
            super().__init__(to_read(file))

    torch._C.PyTorchFileWriter, torch._C.PyTorchFileReader = RedirectedFileWriter, RedirectedFileReader
    map_file = torch.UntypedStorage.from_file

    def map_elsewhere(filename: Any, shared: bool = False, nbytes: int = 0, **named: Any) -> Any:
        return map_file(to_write(filename) if shared else filename, shared, named.get("size", nbytes))

    torch.UntypedStorage.from_file = staticmethod(map_elsewhere)
    for cls in (torch.jit.RecursiveScriptModule, torch.jit.ScriptFunction):
        cls.save = _writing_elsewhere(cls.save, to_write)


def _writing_elsewhere(save: Callable[..., Any], to_write: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda saved, file, *args, **kwargs: save(saved, to_write(file), *args, **kwargs)


# -- the structured trace ----------------------------------------------------------------------

_TRACE_LOGGER = "torch.__trace"  # torch/_logging/_internal.py, trace_log: 2.11 to 2.15
_BREAK_LOGGER = "torch._dynamo.symbolic_convert.__graph_breaks"  # graph_break_log: 2.11 to 2.15


class _KeptOn(logging.Logger):
    """A logger that stays on: ``logging.config`` turns all those off that it is not told of."""

    disabled = property(lambda _: False, lambda *_: None)


def listen(handler: logging.Handler) -> None:
    """Send every record of the structured trace to ``handler``, for good.

    torch builds a record only while its logger has a handler. Breaks that Dynamo meets outside of its
    tracer are recorded only while the graph-break log is on (``convert_frame.py``,
    ``ConvertFrame.__call__``), so that log is turned on, and kept quiet.
    """
    from torch._logging import _internal

    reset = _internal._reset_logs

    def attach() -> None:
        trace = logging.getLogger(_TRACE_LOGGER)
        trace.__class__ = _KeptOn
        trace.setLevel(logging.DEBUG)
        trace.propagate = False
        if handler not in trace.handlers:
            trace.addHandler(handler)
        breaks = logging.getLogger(_BREAK_LOGGER)
        breaks.__class__ = _KeptOn
        if not breaks.isEnabledFor(logging.DEBUG):
            breaks.setLevel(logging.DEBUG)
            breaks.propagate = False

    def reset_and_attach() -> None:
        # torch._logging.set_logs, which user code calls, throws all handlers away.
        reset()
        attach()

    _internal._reset_logs = reset_and_attach
    attach()


def pending_exception(frame: FrameType | None) -> BaseException | None:
    """The exception that torch speaks of in the record which ``frame`` and its callers emit.

    ``log_graph_break`` (``symbolic_convert.py``) holds it in ``exc``, ``_compile`` and
    ``ConvertFrame.__call__`` (``convert_frame.py``) in ``e``: 2.11 to 2.15. It carries ``real_stack``, the
    user's stack with columns, which the written record lacks before 2.15.
    """
    for _ in range(12):
        if frame is None:
            return None
        for name in ("exc", "e"):
            value = frame.f_locals.get(name)
            if isinstance(value, BaseException) and hasattr(value, "real_stack"):
                return value
        frame = frame.f_back
    return None


def stops_program(frame: FrameType | None, exception: BaseException) -> bool:
    """Whether a graph break is raised to the program: ``fullgraph=True``, or ``error_on_graph_break``.

    ``_compile`` (``convert_frame.py``) holds the first in ``one_graph``, and leaves the second on the
    exception: 2.11 to 2.15.
    """
    for _ in range(12):
        if frame is None or frame.f_locals.get("one_graph"):
            return frame is not None
        frame = frame.f_back
    output = getattr(exception, "_torch_dynamo_tracer_output", None)
    return bool(getattr(output, "error_on_graph_break", False))


def pending_guards(frame: FrameType | None) -> Iterable[Any]:
    """The guards of the tree that is being recorded.

    ``CheckFunctionManager.__init__`` (``guards.py``) holds them in ``sorted_guards``: 2.11 to 2.15.
    Elsewhere none are found, and the places written in the tree serve.
    """
    for _ in range(12):
        if frame is None:
            break
        guards = frame.f_locals.get("sorted_guards")
        if guards is not None:
            return list(guards)
        frame = frame.f_back
    return ()


def user_frames(exception: BaseException) -> Iterable[Any]:
    """The ``traceback.FrameSummary`` list of the user's code, outermost first (``exc.py``)."""
    return getattr(exception, "real_stack", None) or ()


def traced_stack() -> Iterable[Any]:
    """Where in the user's code Dynamo is, as ``traceback.FrameSummary`` items, outermost first.

    ``TracingContext.extract_stack`` (``torch/_guards.py``): 2.11 to 2.15.
    """
    from torch._guards import TracingContext

    frames: Iterable[Any] = TracingContext.extract_stack()
    return frames


def cpp_stack() -> str:
    """The C++ and Python calls that led to a guard, as the lines of a traceback, the innermost last.

    ``CapturedTraceback`` (``torch/utils/_traceback.py``), without the Python interpreter's own calls and
    what ``ShapeEnv._log_guard`` (``torch/fx/experimental/symbolic_shapes.py``) does: 2.11 to 2.15.
    """
    from torch.utils._traceback import CapturedTraceback

    calls: list[str] = []
    for call in CapturedTraceback.extract(cpp=True).format():
        if " in _log_guard" in call:
            break
        if not _OF_INTERPRETER.search(call):
            calls.append(call)
    return "".join(calls)


_OF_INTERPRETER = re.compile(
    r"/(?:Python|Objects|Include|Modules)/|, in (?:_?Py|py|method_vec|vectorcall|wrap_)"
)


def traced_positions(exception: BaseException) -> dict[tuple[str, int], Any]:
    """Where in each line Dynamo was when it raised: ``positions`` by file and row.

    ``InstructionTranslatorBase.current_instruction`` (``symbolic_convert.py``) of the tracers on the
    exception's way: 2.11 to 2.15. ``real_stack`` has columns only from 2.13 on.
    """
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase

    positions: dict[tuple[str, int], Any] = {}
    trace = exception.__traceback__
    while trace is not None:
        tracer = trace.tb_frame.f_locals.get("self")
        if isinstance(tracer, InstructionTranslatorBase):
            place = getattr(tracer.current_instruction, "positions", None)
            if place is not None and place.lineno is not None:
                positions[tracer.f_code.co_filename, place.lineno] = place
        trace = trace.tb_next
    return positions


def place_frames() -> None:
    """Have the stacks that Dynamo writes into graphs tell where in each line, as carets below it.

    ``InstructionTranslatorBase.frame_summary`` (``symbolic_convert.py``) leaves out columns until 2.13, and
    the last line until 2.15, without which Python (since 3.11) writes no carets.
    """
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase

    summarize = InstructionTranslatorBase.frame_summary

    def summarize_with_place(self: Any) -> Any:
        summary = summarize(self)
        place = getattr(self.current_instruction, "positions", None)
        if place is not None and hasattr(summary, "colno"):
            summary.end_lineno = place.end_lineno
            summary.colno, summary.end_colno = place.col_offset, place.end_col_offset
        return summary

    InstructionTranslatorBase.frame_summary = summarize_with_place


def failing_node(exception: BaseException) -> Any | None:
    """The ``torch.fx.Node`` that a backend worked on when it raised, if it kept one at hand.

    Compilers walk graphs node by node: the innermost call of the traceback with a node among its
    locals was busy with it.
    """
    calls = []
    trace = exception.__traceback__
    while trace is not None:
        calls.append(trace.tb_frame)
        trace = trace.tb_next
    for frame in reversed(calls):
        for value in frame.f_locals.values():
            if isinstance(value, torch.fx.Node) and value.meta.get("stack_trace"):
                return value
    return None


def import_dynamo() -> None:
    """Import Dynamo, which ``import torch`` leaves for the first compilation."""
    import torch._dynamo  # noqa: F401


def asks_for_gpu(module: str) -> bool:
    """Whether the import of a torch module of this name opens the GPU, if there is one.

    ``torch/_inductor/runtime/benchmarking.py`` does: 2.11 to 2.15.
    """
    return module.startswith("torch._inductor")


# -- compiling ---------------------------------------------------------------------------------


def stop_after_dynamo() -> None:
    """Run captured graphs as they are where TorchInductor would compile them.

    ``set_stance(force_backend="eager")`` would do so for every backend, also the user's own ones whose
    failures are facts, and ends as soon as user code sets a stance of its own. So Inductor's two
    entries are replaced: ``torch._TorchCompileInductorWrapper`` (``torch/__init__.py``) and the
    registry's "inductor" (``torch/_dynamo/backends``): 2.11 to 2.15.
    """
    import torch._dynamo.backends.inductor
    from torch._dynamo.backends import registry

    def run_graph(_: Any, graph: Any, __: Any, **___: Any) -> Any:
        return graph.forward

    def no_config(_: Any) -> dict[str, Any]:
        # The real one imports all of Inductor, seconds of it, to describe options that do not count.
        return {}

    wrapper = torch._TorchCompileInductorWrapper
    wrapper.__call__ = run_graph
    wrapper.get_compiler_config = no_config
    registry._COMPILER_FNS["inductor"] = lambda graph, _, **__: graph.forward


def skip_guard_profiling() -> None:
    """Do not measure how long the guards of a compilation take, which nothing here shows.

    For it ``CheckFunctionManager.__init__`` (``guards.py``) flushes the CPU's caches through
    ``profile_guard_manager``, 24 ms a compilation: 2.11 to 2.15.
    """
    import torch._dynamo.guards as guards

    guards.profile_guard_manager = lambda *_: 0.0


def skip_log_headers() -> None:
    """Do not look up function names for log lines that nobody reads.

    ``OutputGraph.create_proxy`` (``output_graph.py``) builds the header of a ``trace_call`` log line for
    each node, logged or not, and ``get_funcname`` (``funcname_cache.py``, named in
    ``symbolic_convert.py``) takes each source file apart for it: 2.11 to 2.15.
    """
    from torch._dynamo import symbolic_convert

    symbolic_convert.get_funcname = lambda *_: None


def warm_up() -> None:
    """Compile a trivial function, for two shapes, and forget it.

    The first compilation of a process fills tables (``trace_rules.py``, ``torch/overrides.py``) that every
    later one needs; ``torch._dynamo.reset`` also starts the compile ids anew: 2.11 to 2.15.
    """
    import torch._dynamo

    def function(x: torch.Tensor) -> torch.Tensor:
        y = torch.abs(x) + 1
        torch._dynamo.graph_break()
        return y.sum()

    compiled = torch.compile(function, backend="eager")
    for size in (2, 3):
        compiled(torch.ones(size))
    torch._dynamo.reset()


def forget_between_runs() -> None:
    """Keep what earlier runs learned of shapes from hiding recompilations (``config.py``)."""
    import torch._dynamo.config as config

    config.automatic_dynamic_local_pgo = False
    config.automatic_dynamic_remote_pgo = False


def is_compiled(thing: object) -> bool:
    """Whether ``torch.compile`` made this callable or module (``eval_frame.py``)."""
    from torch._dynamo.eval_frame import OptimizedModule

    return isinstance(thing, OptimizedModule) or hasattr(thing, "_torchdynamo_orig_callable")


def is_internal(module: str) -> bool:
    """Whether a module of this name runs the compiler rather than anything a person called."""
    return module.startswith(("torch._dynamo", "torch._logging", "torch._utils_internal", "torch._compile"))


# -- backends ----------------------------------------------------------------------------------


def lookup_backend(backend: str | Callable[..., Any]) -> Callable[..., Any]:
    """The function behind a backend's name, torch's or an entry point's (``backends/registry.py``)."""
    from torch._dynamo.backends import registry

    found: Callable[..., Any] = registry.lookup_backend(backend)
    return found


def register_backend(name: str, place: str) -> None:
    """Make ``module:function`` known under a name, as an entry point would; it is imported when used.

    ``_BACKENDS`` (``backends/registry.py``) holds the entry points that torch found: 2.11 to 2.15.
    """
    from importlib.metadata import EntryPoint

    from torch._dynamo.backends import registry

    registry._BACKENDS.setdefault(name, EntryPoint(name, place, "torch_dynamo_backends"))


def compile_ahead_of_time(
    graph: torch.fx.GraphModule,
    inputs: Sequence[Any],
    forward: Callable[..., Any],
    backward: Callable[..., Any],
) -> Callable[..., Any]:
    """Trace one of Dynamo's graphs with AOTAutograd, and have its two graphs compiled.

    ``aot_autograd`` (``backends/common.py``) with the plain partitioner, which recomputes nothing of the
    forward graph in the backward one: 2.11 to 2.15.
    """
    from torch._dynamo.backends.common import aot_autograd

    compiled: Callable[..., Any] = aot_autograd(fw_compiler=forward, bw_compiler=backward)(graph, inputs)
    return compiled


def run_graph(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """Compile a graph of AOTAutograd to itself: ``boxed_nop`` (``backends/debugging.py``), 2.11 to 2.15."""
    from torch._dynamo.backends.debugging import boxed_nop

    run: Callable[..., Any] = boxed_nop(graph, inputs)
    return run


def compile_with_torchscript(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """``ts_compile`` (``torch/_functorch/compilers.py``), for graphs of ATen operators: 2.13 to 2.15."""
    from torch._functorch.compilers import ts_compile

    compiled: Callable[..., Any] = ts_compile(graph, inputs)
    return compiled


def operator_mode(run: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]) -> Any:
    """A mode in which each operator is called by way of ``run(operator, args, kwargs)``.

    ``TorchDispatchMode`` (``torch/utils/_python_dispatch.py``): 2.11 to 2.15.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    class OperatorMode(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, operator: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
            return run(operator, args, kwargs or {})

    return OperatorMode()


def current_compile_id() -> str:
    """The compilation that is going on here, as ``0/1``; empty if there is none (``torch/_guards.py``)."""
    from torch._guards import CompileContext

    return str(CompileContext.current_compile_id() or "")


def is_compiled_by(frame: FrameType | None, backend: Callable[..., Any]) -> bool:
    """Whether the compilation that ``frame`` is part of is for this backend; true where that is unknown.

    ``_compile`` (``convert_frame.py``) holds it in ``compiler_fn``, behind wrappers that keep what they wrap
    in ``_torchdynamo_orig_backend`` or, ``torch._TorchCompileWrapper``, in ``compiler_fn``: 2.11 to 2.15.
    """
    return is_backend(_local_of_compilation(frame, "compiler_fn", backend), backend)


def compiled_filename(frame: FrameType | None) -> str:
    """The file of the code that is being compiled: ``code`` in ``_compile`` (``convert_frame.py``).

    2.11 to 2.15. A process writes each file's name into the trace once, before some began to listen.
    """
    return str(getattr(_local_of_compilation(frame, "code", None), "co_filename", ""))


def is_backend(found: Any, backend: Callable[..., Any]) -> bool:
    """Whether what torch holds as a backend is this one, behind those wrappers."""
    while found is not None and found is not backend:
        found = getattr(found, "_torchdynamo_orig_backend", None) or getattr(found, "compiler_fn", None)
    return found is backend


@contextmanager
def listening(handler: logging.Handler) -> Iterator[None]:
    """Send the structured trace to ``handler`` for a while: what :func:`listen` does, undone."""
    from torch._logging import _internal

    loggers = [logging.getLogger(name) for name in (_TRACE_LOGGER, _BREAK_LOGGER)]
    before = [(type(logger), logger.level, logger.propagate) for logger in loggers]
    reset = _internal._reset_logs
    listen(handler)
    attaching = _internal._reset_logs
    try:
        yield
    finally:
        loggers[0].removeHandler(handler)
        for logger, (kind, level, propagate) in zip(loggers, before, strict=True):
            logger.__class__ = kind
            logger.setLevel(level)
            logger.propagate = propagate
        # Someone else may have begun to listen since, by way of the function that listen() put there.
        if _internal._reset_logs is attaching:
            _internal._reset_logs = reset


# -- graphs ------------------------------------------------------------------------------------


def qualified_name(function: Any) -> str:
    """How Python names a function that a graph calls: ``torch.relu``, ``torch.ops.aten.relu.default``.

    ``_get_qualified_name`` (``torch/fx/node.py``): 2.11 to 2.15.
    """
    from torch.fx.node import _get_qualified_name

    return str(_get_qualified_name(function))


def size_hint(size: Any) -> Any:
    """The number behind a symbolic one, as it was when it was traced; 1 where nobody knows it.

    ``SymNode.hint`` (``torch/fx/experimental/sym_node.py``): 2.11 to 2.15.
    """
    if not isinstance(size, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return size
    hint = size.node.hint
    return 1 if hint is None else hint


def intercept_backends(
    compile_graph: Callable[[Any, torch.fx.GraphModule, Sequence[Any]], Callable[..., Any]],
) -> None:
    """Have each graph compiled by ``compile_graph(backend, graph, inputs)``, whatever its backend is.

    ``OutputGraph._call_user_compiler`` (``output_graph.py``) calls what is in ``compiler_fn``: 2.11 to 2.15.
    """
    from torch._dynamo.output_graph import OutputGraph

    call = OutputGraph._call_user_compiler

    def call_intercepted(self: Any, graph: Any, inputs: Any) -> Any:
        backend = self.compiler_fn
        self.compiler_fn = lambda graph, inputs: compile_graph(backend, graph, inputs)
        try:
            return call(self, graph, inputs)
        finally:
            self.compiler_fn = backend

    OutputGraph._call_user_compiler = call_intercepted


def is_fullgraph(frame: FrameType | None) -> bool:
    """Whether the compilation that ``frame`` is part of may not break its graph.

    ``_compile`` (``convert_frame.py``) holds that in ``one_graph``: 2.11 to 2.15.
    """
    return bool(_local_of_compilation(frame, "one_graph", False))


def _local_of_compilation(frame: FrameType | None, name: str, otherwise: Any) -> Any:
    """A variable of the innermost call of torch that has one of this name."""
    while frame is not None and name not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals[name] if frame else otherwise


def unwrapped_backend(backend: Any) -> tuple[Any, dict[str, Any]]:
    """What a program gave as a backend, by name if torch knows it by one, and the options given with it.

    ``torch._TorchCompileInductorWrapper`` has them in ``config``, ``torch._TorchCompileWrapper`` in
    ``kwargs`` beside ``compiler_fn``; the registry's names are in ``_COMPILER_FNS``: 2.11 to 2.15.
    """
    from torch._dynamo.backends import registry

    options: dict[str, Any] = {}
    while True:
        if isinstance(backend, torch._TorchCompileInductorWrapper):
            return "inductor", dict(backend.config)
        inner = getattr(backend, "_torchdynamo_orig_backend", None)
        if isinstance(backend, torch._TorchCompileWrapper):
            options = dict(backend.kwargs)
            inner = backend.compiler_fn
        if inner is None or inner is backend:
            break
        backend = inner
    names = [name for name, known in registry._COMPILER_FNS.items() if known is backend]
    return (names[0] if names else backend), options


def changed_settings() -> tuple[str, ...]:
    """Assignments that make torch's configuration what it is here, where that is not the default.

    ``codegen_config`` of the configuration modules (``torch/utils/_config_module.py``), which also names what
    was changed and changed back; ``_config`` has the defaults: 2.11 to 2.15.
    """
    import torch._dynamo.config
    import torch._functorch.config
    import torch._inductor.config

    def is_changed(module: Any, line: str) -> bool:
        name = line.partition(" = ")[0].removeprefix(f"{module.__name__}.")
        return name in module._config and getattr(module, name) != module._config[name].default

    modules = (torch._dynamo.config, torch._functorch.config, torch._inductor.config)
    lines = ((module, line) for module in modules for line in module.codegen_config().splitlines())
    return tuple(line for module, line in lines if is_changed(module, line))


def force_dynamo_settings(settings: dict[str, Any]) -> None:
    """Give settings of Dynamo a value, whatever the program or ``torch.compile`` sets.

    As the environment variables of some do: ``env_value_force`` (``torch/utils/_config_module.py``), which is
    what is read first: 2.11 to 2.15.
    """
    import torch._dynamo.config as config

    for name, value in settings.items():
        config._config[name].env_value_force = value


def pin_settings(settings: dict[str, Any]) -> None:
    """Give settings of torch's configuration a value, also where ``torch.compile(mode=...)`` has another.

    They are named as ``torch._inductor.config.triton.cudagraphs``. What mode and options say is in ``config``
    of ``torch._TorchCompileInductorWrapper``, put there by ``apply_options``: 2.11 to 2.15.
    """
    import importlib

    for name, value in settings.items():
        place, _, path = name.partition(".config.")
        *outer, last = path.split(".")
        owner: Any = importlib.import_module(f"{place}.config")
        for part in outer:
            owner = getattr(owner, part)
        setattr(owner, last, value)
    wrapper = torch._TorchCompileInductorWrapper
    apply = wrapper.apply_options

    def apply_others(self: Any, options: Any) -> None:
        apply(self, options)
        for name in settings:
            self.config.pop(name.removeprefix("torch._inductor.config."), None)

    wrapper.apply_options = apply_others


def intercept_compiled_calls(
    wrap: Callable[[Callable[..., Any], Callable[..., Any], dict[str, Any]], Any],
) -> None:
    """Put ``wrap(function, compiled, options)`` in the place of each function that ``torch.compile`` makes.

    ``OptimizeContext.__call__`` (``eval_frame.py``) also gets the ``__call__`` of modules: 2.11 to 2.15.
    """
    from torch._dynamo.eval_frame import OptimizeContext, innermost_fn

    call = OptimizeContext.__call__

    def call_intercepted(self: Any, function: Any) -> Any:
        compiled = call(self, function)
        if isinstance(function, (torch.nn.Module, type)):
            return compiled  # a module comes here once more, with its __call__
        options = {"fullgraph": self.fullgraph, "dynamic": self._dynamic}
        return wrap(innermost_fn(function), compiled, options)

    OptimizeContext.__call__ = call_intercepted
