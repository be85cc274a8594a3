"""Dynamo: its steps, the functions that it compiled, and its compilation cache.

Each docstring says where torch keeps a name, and in which of the supported versions (2.11 to 2.15) that was
checked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from types import FrameType, SimpleNamespace
from typing import Any, TypeAlias

import torch

from . import backend_compat

_Counts: TypeAlias = Callable[[Any], bool]
"""A predicate on backends: whether the cache keeps only the newest compilation by the backend."""

_ENTRIES = ("cache_entries_for_reasons", "cache_entries", "cache_entry")
"""The names of the local variable in ``_compile`` (``convert_frame.py``) that holds the compilations of the
frame, from the newest torch back to 2.11."""
_OPERATORS = ("torch._higher_order_ops.", "torch.nn.attention.flex_attention")
_RETIRED = "Fullgraph keeps the newest compilation only"
_kept: list[_Counts] = []


def place_frames() -> None:
    """Add columns, shown as carets, to the stacks that Dynamo writes into graphs.

    ``InstructionTranslatorBase.frame_summary`` (``symbolic_convert.py``) leaves out columns until 2.13, and
    the end line until 2.15. Without the end line, Python (since 3.11) prints no carets.
    """
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase

    summarize = InstructionTranslatorBase.frame_summary

    def summarize_with_place(self: Any) -> Any:
        summary = summarize(self)
        place = place_of(self)
        if place is not None and hasattr(summary, "colno"):
            summary.end_lineno = place.end_lineno
            summary.colno, summary.end_colno = place.col_offset, place.end_col_offset
        return summary

    InstructionTranslatorBase.frame_summary = summarize_with_place


def forget_counts() -> None:
    """Reset Dynamo's counts of graphs and graph breaks.

    ``counters`` (``utils.py``) (torch 2.13, 2.15).
    """
    from torch._dynamo.utils import counters

    counters.clear()


def in_pieces() -> str:
    """Return why there is not exactly one graph; empty if there is one.

    Graphs are counted since :func:`forget_counts`. ``unique_graphs`` counts the graphs that reached a backend
    (``output_graph.py``), ``graph_break`` has the reasons of graph breaks (``exc.py``) (torch 2.13, 2.15).
    """
    from torch._dynamo.utils import counters

    reason = next(iter(counters["graph_break"]), "")
    return reason.partition("\n")[0] or ("" if counters["stats"]["unique_graphs"] else "it captures no graph")


def place_of(tracer: Any) -> Any:
    """Return ``positions`` of a tracer's instruction; ``None`` before Python 3.11.

    Python gives the jump after the last operand of ``and`` and ``or`` the position of the first operand. For
    such a jump, return the position where the tested value was computed. ``instructions`` and
    ``instruction_pointer``, which is one ahead, are attributes of ``InstructionTranslatorBase``
    (``symbolic_convert.py``) (torch 2.11 to 2.15).
    """
    instruction = tracer.current_instruction
    at = (tracer.instruction_pointer or 0) - 1
    if {"JUMP", "IF"} <= {*instruction.opname.split("_")} and tracer.instructions[at] is instruction:
        computed = (item for item in tracer.instructions[:at][::-1] if item.opname not in _OF_TESTS)
        instruction = next(computed, instruction)
    return getattr(instruction, "positions", None)


_OF_TESTS = ("COPY", "TO_BOOL", "NOP")
"""Instructions between the computation of a value and the jump that tests the value."""


def import_dynamo() -> None:
    """Import Dynamo, which ``import torch`` does not import before a compilation."""
    import torch._dynamo  # noqa: F401


def skip_guard_profiling() -> None:
    """Turn off torch's measurement of how long guards take.

    Fullgraph does not show the measured time. ``CheckFunctionManager.__init__`` (``guards.py``) calls
    ``profile_guard_manager``, which flushes the CPU's caches and takes 24 ms for each compilation: 2.11 to
    2.15.
    """
    import torch._dynamo.guards as guards

    guards.profile_guard_manager = lambda *_: 0.0


def skip_log_headers() -> None:
    """Turn off the lookup of function names for log lines that nobody reads.

    For each node, ``OutputGraph.create_proxy`` (``output_graph.py``) builds the header of a ``trace_call``
    log line, even if nothing is logged. For the header, ``get_funcname`` (``funcname_cache.py``, imported by
    ``symbolic_convert.py``) parses each source file (torch 2.11 to 2.15).
    """
    from torch._dynamo import symbolic_convert

    symbolic_convert.get_funcname = lambda *_: None


def warm_up(backend: Callable[..., Any]) -> None:
    """Compile a trivial function for two shapes, and forget the compilations.

    The function has no backward pass: if this process ran a backward pass, no process forked from it could
    run one (``csrc/autograd``).

    The first compilation of a process fills tables (``trace_rules.py``, ``torch/overrides.py``) that every
    later compilation needs; ``torch._dynamo.reset`` also restarts the compile ids (torch 2.11 to 2.15).
    """
    import torch._dynamo

    def function(x: torch.Tensor) -> torch.Tensor:
        y = torch.abs(x) + 1
        torch._dynamo.graph_break()
        return y.sum()

    compiled = torch.compile(function, backend=backend)
    with _no_progress_thread():
        for size in (2, 3):
            compiled(torch.ones(size))
    torch._dynamo.reset()


def forget_progress_lock() -> None:
    """Drop tqdm's lock, so that each process forked from this process makes its own.

    Otherwise all these processes would share one lock, and a process killed while it holds the lock would
    block the rest. ``tqdm/std.py``: ``get_lock``, ``TqdmDefaultWriteLock``.
    """
    std: Any = sys.modules.get("tqdm.std")
    if std is None:
        return
    with suppress(AttributeError):
        del std.TqdmDefaultWriteLock.mp_lock
    for cls in (std.tqdm, *std.tqdm.__subclasses__()):
        if "_lock" in vars(cls):
            del cls._lock


@contextmanager
def _no_progress_thread() -> Iterator[None]:
    """Keep tqdm from starting a thread within the context.

    The thread would exist before the program's first line. ``Interpreter.run`` (``torch/fx/interpreter.py``)
    creates a progress bar, shown or not, with the ``tqdm`` of ``torch/hub.py`` (torch 2.11 to 2.15).
    """
    from torch.hub import tqdm

    interval = getattr(tqdm, "monitor_interval", 0)
    tqdm.monitor_interval = 0
    try:
        yield
    finally:
        tqdm.monitor_interval = interval


def is_compiled(thing: object) -> bool:
    """Return whether ``torch.compile`` made a callable or module (``eval_frame.py``)."""
    from torch._dynamo.eval_frame import OptimizedModule

    return isinstance(thing, OptimizedModule) or hasattr(thing, "_torchdynamo_orig_callable")


def intercept_compiled_calls(
    wrap: Callable[[Callable[..., Any], Callable[..., Any], dict[str, Any]], Any],
) -> None:
    """Let ``torch.compile`` return ``wrap(function, compiled, options)``.

    torch also calls ``OptimizeContext.__call__`` (``eval_frame.py``) with the ``__call__`` of modules: 2.11
    to 2.15. Functions that torch itself compiles to run operators such as ``torch.cond`` are not wrapped.
    """
    from torch._dynamo.eval_frame import OptimizeContext, innermost_fn

    call = OptimizeContext.__call__

    def call_intercepted(self: Any, function: Any) -> Any:
        compiled = call(self, function)
        if isinstance(function, (torch.nn.Module, type)):
            return compiled  # torch calls this again for a module, with its __call__
        if _is_of_operator(innermost_fn(function)):
            return compiled
        options = {"fullgraph": self.fullgraph, "dynamic": self._dynamic}
        return wrap(innermost_fn(function), compiled, options)

    OptimizeContext.__call__ = call_intercepted


def intercept_compiled_modules(note: Callable[[], None], *, returned: bool) -> None:
    """Call ``note`` whenever a module is passed to ``torch.compile``.

    If ``returned``, ``torch.compile`` returns the module unchanged, otherwise an ``OptimizedModule``, which
    ``OptimizeContext.__call__`` creates (``eval_frame.py``) (torch 2.11 to 2.15).
    """
    from torch._dynamo.eval_frame import OptimizeContext

    call = OptimizeContext.__call__

    def call_intercepted(self: Any, function: Any) -> Any:
        if not isinstance(function, torch.nn.Module):
            return call(self, function)
        note()
        return function if returned else call(self, function)

    OptimizeContext.__call__ = call_intercepted


def _is_of_operator(function: Any) -> bool:
    """Return whether a function is torch's wrapper of a higher-order operator.

    In eager code, torch runs such an operator by compiling the wrapper. An example is ``_cond_op_wrapper`` in
    ``cond`` (``torch/_higher_order_ops/cond.py``) (torch 2.13, 2.15).
    """
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    return str(module).startswith(_OPERATORS) and "<locals>" in name


def inlined_module(function: Callable[..., Any]) -> torch.nn.Module | None:
    """Return the module that Dynamo wrapped in a function; ``None`` if there is none.

    ``OptimizedModule`` wraps modules whose ``forward`` is torch's own, so that there is a frame to compile:
    the function is ``inner`` of ``wrap_inline`` (``external_utils.py``), with the module as ``fn``: 2.11 to
    2.15.
    """
    if getattr(function, "__qualname__", "") != "wrap_inline.<locals>.inner":
        return None
    module = getattr(function, "__wrapped__", None)
    return module if isinstance(module, torch.nn.Module) else None


MARKS_OF_MODULES = frozenset({"_is_torch_compile", "_compiled_call_impl"})
"""The attributes that ``OptimizeContext.__call__`` (``eval_frame.py``) and ``Module.compile`` set on a
module: 2.11 to 2.15."""


def leave_alone(function: Callable[..., Any]) -> None:
    """Keep Dynamo from compiling one of Fullgraph's functions between two graphs.

    Functions that ``function`` calls are still compiled: ``skip_code`` (``eval_frame.py``), 2.11 to 2.15.
    """
    from torch._dynamo.eval_frame import skip_code

    skip_code(function.__code__)


def marked_dimensions(tensor: torch.Tensor) -> list[int]:
    """Return the dimensions of a tensor that are marked as dynamic or unbacked.

    ``mark_dynamic``, ``maybe_mark_dynamic`` and ``mark_unbacked`` (``decorators.py``) set these attributes:
    2.11 to 2.15.
    """
    names = "_dynamo_dynamic_indices", "_dynamo_weak_dynamic_indices", "_dynamo_unbacked_indices"
    return sorted(set().union(*(getattr(tensor, name, ()) for name in names)))


def copy_marks(tensor: torch.Tensor, other: torch.Tensor) -> None:
    """Copy the dynamic-dimension attributes of a tensor to another tensor.

    ``decorators.py`` (torch 2.11 to 2.15).
    """
    for name, value in vars(tensor).items():
        if name.startswith("_dynamo_"):
            setattr(other, name, copy(value))


def skips_guards() -> bool:
    """Return whether the program set a stance that skips guards.

    ``_stance`` (``eval_frame.py``) (torch 2.11 to 2.15).
    """
    from torch._dynamo.eval_frame import _stance

    return bool(_stance.skip_guard_eval_unsafe)


def why_compiled(error: Exception) -> str | None:
    """Return the failed guard from an error of ``fail_on_recompile``.

    Return ``None`` for another error, and an empty string if the error names no guard. When the stance
    forbids compilation, ``fail_callback`` (``_callback_from_stance`` in ``eval_frame.py``) raises a
    ``RuntimeError`` whose message names the stance and lists the guards of each compilation: 2.11 to 2.15.
    """
    if not isinstance(error, RuntimeError) or "fail_on_recompile" not in str(error):
        return None
    reasons = str(error).partition("guard failure(s):")[2].split("\n")
    first = reasons[1].strip().removeprefix("- ") if len(reasons) > 1 else ""
    return first.partition("  # ")[0].partition(": ")[2].strip()


def keep_one_entry() -> None:
    """Keep only the newest compilation of each frame, until the process ends.

    The recompile limit then has no effect.
    """
    _replace_cache_rules()
    _kept.append(lambda _: True)


@contextmanager
def keeping_one_entry(backend: Callable[..., Any]) -> Iterator[None]:
    """Apply :func:`keep_one_entry` within the context, for one backend only."""

    def is_of_backend(entry_backend: Any) -> bool:
        return backend_compat.is_backend(entry_backend, backend)

    _replace_cache_rules()
    _kept.append(is_of_backend)
    try:
        yield
    finally:
        _kept.remove(is_of_backend)


def _replace_cache_rules() -> None:
    """Replace the functions with which ``_compile`` queries the compilation cache.

    ``_compile`` is in ``convert_frame.py``. If there are earlier compilations, ``_compile`` calls
    ``get_and_maybe_log_recompilation_reasons`` (``guards.py``) to learn why they do not fit. Then it calls
    ``exceeds_recompile_limit`` (``cache_size.py``), which checks all limits: the setting, the option of
    ``torch.compile``, and the accumulated limit. 2.11 to 2.15. After both calls, the earlier compilations are
    not needed and can be retired.
    """
    import torch._dynamo.convert_frame as convert_frame

    if getattr(convert_frame.exceeds_recompile_limit, "__module__", "") == __name__:
        return
    reasons, exceeds = (
        convert_frame.get_and_maybe_log_recompilation_reasons,
        convert_frame.exceeds_recompile_limit,
    )

    def reasons_of_kept(entries: Any, frame: Any, *rest: Any, **options: Any) -> Any:
        counts = _rule(sys._getframe(1))
        if counts is not None:
            kept = [entry for entry in _walk(entries) if _is_kept(entry) and counts(entry.backend)]
            entries = kept if isinstance(entries, list) else _linked(kept)
        return reasons(entries, frame, *rest, **options)

    def exceeds_unless_one_is_kept(cache_size: Any, compile_id: Any) -> Any:
        compiling = sys._getframe(1)
        counts = _rule(compiling)
        if counts is None:
            return exceeds(cache_size, compile_id)
        entries = next(compiling.f_locals[name] for name in _ENTRIES if name in compiling.f_locals)
        for entry in list(_walk(entries)):
            if _is_kept(entry) and counts(entry.backend):
                _retire(entry)
        return False, ""

    convert_frame.get_and_maybe_log_recompilation_reasons = reasons_of_kept
    convert_frame.exceeds_recompile_limit = exceeds_unless_one_is_kept


def _rule(compiling: FrameType) -> _Counts | None:
    backend = compiling.f_locals["compiler_fn"]
    return next((counts for counts in _kept if counts(backend)), None)


def _walk(entries: Any) -> Iterator[Any]:
    """Yield the compilations of a frame from a list or, for torch 2.11, a linked list."""
    if isinstance(entries, list):
        yield from entries
        return
    while entries is not None:
        yield entries
        entries = entries.next


def _linked(entries: Iterable[Any]) -> Any:
    """Return a linked list of compilations with only the attributes that torch reads."""
    first = None
    for entry in reversed(list(entries)):
        first = SimpleNamespace(
            guard_manager=entry.guard_manager, code=entry.code, compile_id=entry.compile_id, next=first
        )
    return first


def _is_kept(entry: Any) -> bool:
    return getattr(entry.guard_manager, "invalidation_reason", "") != _RETIRED


def _retire(entry: Any) -> None:
    """Invalidate a compilation, so that it fits no later call.

    ``CheckFunctionManager.invalidate`` (``guards.py``) does the same when a guarded object is deleted: 2.11
    to 2.15. ``reset_code`` is unsuitable: it would free objects that the running compilation still uses.
    """
    from torch._dynamo.guards import DeletedGuardManagerWrapper

    guards = entry.guard_manager
    if guards.extra_state is not None:
        guards.extra_state.invalidate(entry, DeletedGuardManagerWrapper(_RETIRED))


def numpy_translations() -> dict[str, Callable[..., Any]]:
    """Return torch's translations of NumPy's functions, by the function's name.

    The translations are in ``torch/_numpy/__init__.py``: 2.11 to 2.15. Dynamo traces them instead of NumPy's
    functions, and finds them by name (``NumpyVariable.call_function`` in ``variables/misc.py``).
    """
    import torch._numpy

    names = (name for name in vars(torch._numpy) if not name.startswith("_"))
    values = {name: getattr(torch._numpy, name) for name in names}
    return {name: value for name, value in values.items() if callable(value) and not isinstance(value, type)}


def as_translated_numpy(value: Any) -> Any:
    """Convert a NumPy value to an argument of torch's translation.

    Arrays become ``torch._numpy.ndarray`` (``_ndarray.py``).
    """
    import torch._numpy

    numpy: Any = sys.modules["numpy"]
    if isinstance(value, (list, tuple)):
        return type(value)(map(as_translated_numpy, value))
    if isinstance(value, numpy.ndarray):
        return torch._numpy.ndarray(torch.from_numpy(value.copy()))
    if isinstance(value, numpy.generic):
        return torch._numpy.ndarray(torch.as_tensor(value))
    if isinstance(value, type) and issubclass(value, numpy.generic):
        return getattr(torch._numpy, value.__name__)
    return value


def as_numpy_array(value: Any) -> Any:
    """Convert a result of torch's translation to a NumPy array."""
    import torch._numpy

    return value.tensor.numpy() if isinstance(value, torch._numpy.ndarray) else value
