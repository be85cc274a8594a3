"""The private names of torch that decide whether a call of a compiled function compiles or runs eagerly.

As :mod:`.torch_compat`: each entry says where torch keeps it and in which of the supported versions (2.11 to
2.15) it was read.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator
from types import CodeType, MethodType
from typing import Any, TypeAlias

import torch

_Called: TypeAlias = Callable[[Any], object]


class _Conversion(threading.local):
    """The conversion of a frame that goes on in a thread: the call of a compiled function that it is of."""

    call: object = None


_conversion = _Conversion()


def watch_calls(called: _Called) -> None:
    """Call ``called`` in each call of a compiled function; it gets what :func:`_mark_callbacks` notes of it.

    Whatever it returns is what :func:`current_call` returns while frames of that call are compiled, those of
    callees and resume functions too. ``_callback_from_stance`` (``eval_frame.py``), which every call uses,
    returns what converts these frames: 2.11 to 2.15.
    """
    from torch._dynamo import eval_frame

    choose = eval_frame._callback_from_stance

    def choose_and_watch(callback: Any) -> Any:
        chosen = choose(callback)
        function = getattr(callback, _FUNCTION, None)
        if function is None:
            return chosen
        call = called(function)
        return chosen if chosen is None or chosen is False else _converting(chosen, call)

    setattr(choose_and_watch, _UNWATCHED, choose)
    eval_frame._callback_from_stance = choose_and_watch
    _mark_callbacks()


@contextlib.contextmanager
def unwatched_calls() -> Iterator[None]:
    """Have calls run as they do unwatched, which takes a microsecond less."""
    from torch._dynamo import eval_frame

    watching = eval_frame._callback_from_stance
    eval_frame._callback_from_stance = getattr(watching, _UNWATCHED, watching)
    try:
        yield
    finally:
        eval_frame._callback_from_stance = watching


def current_call() -> object:
    """Return what ``called`` has returned for the call whose frame is being compiled here; else ``None``."""
    return _conversion.call


def code_of(function: Any) -> tuple[CodeType, str] | None:
    """Return the code and the name of what :func:`watch_calls` watches, ``forward`` of modules."""
    if isinstance(function, CodeType):
        return function, getattr(function, "co_qualname", function.co_name)
    module = module_of(function)
    code = getattr(getattr(module, "forward", None), "__code__", None)
    return (code, f"{type(module).__name__}.forward") if code is not None else None


def module_of(function: Any) -> torch.nn.Module | None:
    """Return the module that :func:`watch_calls` watches; ``None`` for a function, and for what is gone."""
    return function() if isinstance(function, weakref.ref) else None


def is_compiled(module: torch.nn.Module) -> bool:
    """Tell whether a module has been compiled by itself.

    ``torch.compile`` makes an ``OptimizedModule`` (``eval_frame.py``), and ``Module.compile`` sets
    ``_compiled_call_impl`` (``torch/nn/modules/module.py``): 2.11 to 2.15.
    """
    from torch._dynamo import OptimizedModule

    return isinstance(module, OptimizedModule) or getattr(module, "_compiled_call_impl", None) is not None


def is_torchs_own(module: torch.nn.Module) -> bool:
    """Tell whether a module's ``forward`` is one that Dynamo skips unless the user's code calls it.

    ``OptimizedModule._initialize`` (``eval_frame.py``) asks ``trace_rules.check`` the same: 2.11 to 2.15.
    """
    from torch._dynamo import trace_rules

    return isinstance(module.forward, MethodType) and bool(trace_rules.check(module.forward))


def compiles_in_place(module: torch.nn.Module) -> bool:
    """Tell whether ``Module.compile`` compiles a module.

    It compiles ``_call_impl``, which leaves torch's own modules as they are until ``OptimizeContext``
    (``eval_frame.py``) asks ``OptimizedModule._should_wrap_module_call_impl``: not in 2.13, in 2.15.
    """
    from torch._dynamo import OptimizedModule

    return hasattr(OptimizedModule, "_should_wrap_module_call_impl") or not is_torchs_own(module)


_UNWATCHED = "_fullgraph_unwatched"
_FUNCTION = "_fullgraph_function"
"""The attribute of a callback that identifies the function that it compiles."""


def _mark_callbacks() -> None:
    """Record the function of each ``torch.compile``, so that repeated compiling counts as one function.

    ``OptimizeContext.__call__`` (``eval_frame.py``) gets the function, and its calls use ``callback``: 2.11
    to 2.15. Each module counts separately, as torch compiles it.
    """
    from torch._dynamo.eval_frame import OptimizeContext, innermost_fn

    call = OptimizeContext.__call__

    def call_and_mark(self: Any, function: Any) -> Any:
        inner = innermost_fn(function)
        owner = getattr(inner, "__self__", inner)
        identity = (
            weakref.ref(owner) if isinstance(owner, torch.nn.Module) else getattr(owner, "__code__", None)
        )
        if identity is not None and not hasattr(self.callback, _FUNCTION):
            with contextlib.suppress(AttributeError):  # None, where compiling is off
                setattr(self.callback, _FUNCTION, identity)
        return call(self, function)

    OptimizeContext.__call__ = call_and_mark


def compile_only(is_meant: Callable[[CodeType], bool]) -> None:
    """Compile only frames for which ``is_meant`` is true; other frames run eagerly, but not their callees.

    The variable ``TORCHDYNAMO_DEBUG_FUNCTION`` does this for one name: ``ConvertFrameAssert.__call__``
    (``convert_frame.py``), 2.11 to 2.15.
    """
    from torch._dynamo.convert_frame import ConvertFrameAssert
    from torch._dynamo.types import ConvertFrameReturn

    convert = ConvertFrameAssert.__call__

    def convert_if_meant(self: Any, frame: Any, *arguments: Any, **options: Any) -> ConvertFrameReturn:
        if not is_meant(frame.f_code):
            return ConvertFrameReturn()
        return convert(self, frame, *arguments, **options)

    ConvertFrameAssert.__call__ = convert_if_meant
    _allow_eager_calls()


def _allow_eager_calls() -> None:
    """Allow calls under ``fullgraph=True`` that run no compiled code, for which torch would raise.

    ``compile_wrapper`` (``eval_frame.py``) only counts compiled frames if this setter returns a negative
    number: 2.13 to 2.15.
    """
    from torch._dynamo import eval_frame

    eval_frame.set_fullgraph_compiled_frame_count = lambda _: 0


def _converting(convert: Callable[..., Any], call: object) -> Callable[..., Any]:
    def convert_for(*arguments: Any, **options: Any) -> Any:
        before, _conversion.call = _conversion.call, call
        try:
            return convert(*arguments, **options)
        finally:
            _conversion.call = before

    # Otherwise torch would ignore existing compilations as those of another backend.
    convert_for._torchdynamo_orig_backend = convert  # type: ignore[attr-defined]
    return convert_for
