"""Private names of torch that decide whether a call compiles or runs eagerly.

Each docstring says where torch keeps a name, and in which of the supported versions (2.11 to 2.15) that was
checked.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import sys
import weakref
from collections.abc import Callable, Hashable, Iterator
from inspect import getattr_static
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

import torch

_DISABLE = "TORCHDYNAMO_DISABLE"


def watch_calls(called: Callable[[Hashable], None]) -> None:
    """Call ``called`` with the identity of each compiled function that is called.

    Every call of a compiled function goes through ``compile_wrapper`` (``_TorchDynamoContext.__call__`` in
    ``eval_frame.py``), which calls ``_callback_from_stance`` once, while nothing is traced: 2.11 to 2.15. The
    callback returned by ``_callback_from_stance`` is not wrapped, because Dynamo reads the stack of its
    caller (``ConvertFrameAssert.__call__`` in ``convert_frame.py``). ``torch.compile`` is not wrapped either,
    because Dynamo may trace a call of ``torch.compile``.
    """
    from torch._dynamo import eval_frame

    choose = eval_frame._callback_from_stance

    def choose_and_watch(callback: Any) -> Any:
        if callback is not None and callback is not False:
            function = _function_called(sys._getframe(1))
            if function is not None:
                called(function)
        return choose(callback)

    setattr(choose_and_watch, _UNWATCHED, choose)
    eval_frame._callback_from_stance = choose_and_watch


def watch_uncompiled(uncompiled: Callable[[str], None]) -> None:
    """Call ``uncompiled`` with the reason when ``torch.compile`` compiles nothing.

    ``_optimize`` (``eval_frame.py``) then returns a ``_NullDecorator``: 2.11 to 2.15. Dynamo skips functions
    by their file, so the replacement of torch's function names the same file.
    """
    from torch._dynamo import eval_frame

    leave = eval_frame._NullDecorator.__call__

    def leave_and_tell(self: Any, function: Any) -> Any:
        by_variable = os.environ.get(_DISABLE) == "1"
        uncompiled("TORCHDYNAMO_DISABLE=1" if by_variable else "disable=True")
        return leave(self, function)

    functools.update_wrapper(leave_and_tell, leave)
    leave_and_tell.__code__ = leave_and_tell.__code__.replace(co_filename=eval_frame.__file__)
    eval_frame._NullDecorator.__call__ = leave_and_tell


def compile_nothing_elsewhere() -> None:
    """Turn compilation off in all processes that this process starts from now on.

    ``_optimize`` (``eval_frame.py``) reads the environment variable, and returns a ``_NullDecorator``: 2.11
    to 2.15. ``TORCH_COMPILE_DISABLE`` is unsuitable: with it, a function compiled with ``fullgraph=True``
    raises.
    """
    from torch._dynamo import eval_frame

    optimize, value = eval_frame._optimize, os.environ.get(_DISABLE)

    def optimize_here(*args: Any, **kwargs: Any) -> Any:
        _set_variable(value)
        try:
            return optimize(*args, **kwargs)
        finally:
            _set_variable("1")

    eval_frame._optimize = optimize_here
    _set_variable("1")


def _set_variable(value: str | None) -> None:
    os.environ.pop(_DISABLE, None)
    if value is not None:
        os.environ[_DISABLE] = value


def turned_off() -> str:
    """Return the setting that turns compilation off, as a user writes it.

    Return an empty string if no setting does. ``_stance`` is in ``eval_frame.py``; ``disable``, whose default
    is the environment variable, is in ``config.py`` (torch 2.11 to 2.15).
    """
    from torch._dynamo import config, eval_frame

    if eval_frame._stance.stance == "force_eager":
        return 'torch.compiler.set_stance("force_eager")'
    if not config.disable:
        return ""
    variable = "TORCH_COMPILE_DISABLE=1"
    return (
        variable if os.environ.get("TORCH_COMPILE_DISABLE") == "1" else "torch._dynamo.config.disable = True"
    )


@contextlib.contextmanager
def unwatched_calls() -> Iterator[None]:
    """Suspend :func:`watch_calls` in a context, to make each call 1 µs faster."""
    from torch._dynamo import eval_frame

    watching = eval_frame._callback_from_stance
    eval_frame._callback_from_stance = getattr(watching, _UNWATCHED, watching)
    try:
        yield
    finally:
        eval_frame._callback_from_stance = watching


def current_function() -> Hashable:
    """Return the identity of the function whose call this thread is compiling.

    Return ``None`` if nothing is being compiled.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if (function := _function_called(frame)) is not None:
            return function
        frame = frame.f_back
    return None


def code_of(function: Any) -> tuple[CodeType, str] | None:
    """Return code and name of a function by its identity; ``forward`` for modules.

    ``function`` is an identity from :func:`watch_calls`. Return ``None`` for an object without code.
    """
    if isinstance(function, CodeType):
        return function, getattr(function, "co_qualname", function.co_name)
    module = module_of(function)
    code = getattr(getattr(module, "forward", None), "__code__", None)
    return (code, f"{type(module).__name__}.forward") if code is not None else None


def compiled_functions() -> Iterator[Hashable]:
    """Yield the identities of compiled functions that the program still references.

    ``torch.compile`` adds the code objects of functions to ``always_optimize_code_objects``
    (``eval_frame.py``), an ``ExactWeakKeyDictionary`` (``utils.py``): 2.11 to 2.15. Compiled modules are
    searched among all objects.
    """
    from torch._dynamo import OptimizedModule, eval_frame

    codes = [reference() for reference in eval_frame.always_optimize_code_objects.refs.values()]
    own = (code for code in codes if code is not None and not code.co_filename.startswith(_NOT_OF_PROGRAM))
    yield from own
    for thing in gc.get_objects():
        if not issubclass(type(thing), torch.nn.Module):
            continue
        if issubclass(type(thing), OptimizedModule):
            yield weakref.ref(thing._orig_mod)
        elif vars(thing).get("_compiled_call_impl") is not None:
            yield weakref.ref(thing)


def module_of(function: Any) -> torch.nn.Module | None:
    """Return the module with an identity; ``None`` for functions and deleted modules.

    ``function`` is an identity from :func:`watch_calls`.
    """
    return function() if isinstance(function, weakref.ref) else None


def is_compiled(module: torch.nn.Module) -> bool:
    """Return whether a module itself is compiled, not only a module that contains it.

    ``torch.compile`` makes an ``OptimizedModule`` (``eval_frame.py``), and ``Module.compile`` sets
    ``_compiled_call_impl`` (``torch/nn/modules/module.py``) (torch 2.11 to 2.15).
    """
    from torch._dynamo import OptimizedModule

    return isinstance(module, OptimizedModule) or getattr(module, "_compiled_call_impl", None) is not None


def is_torchs_own(module: torch.nn.Module) -> bool:
    """Return whether Dynamo skips a module's ``forward`` unless user code calls it.

    ``OptimizedModule._initialize`` (``eval_frame.py``) calls ``trace_rules.check`` in the same way: 2.11 to
    2.15.
    """
    from torch._dynamo import trace_rules

    return isinstance(module.forward, MethodType) and bool(trace_rules.check(module.forward))


def compiles_in_place(module: torch.nn.Module) -> bool:
    """Return whether ``Module.compile`` really compiles a module.

    ``Module.compile`` compiles ``_call_impl``, which Dynamo skips for torch's own modules unless
    ``OptimizeContext`` (``eval_frame.py``) checks ``OptimizedModule._should_wrap_module_call_impl``: in 2.15,
    but not in 2.13.
    """
    from torch._dynamo import OptimizedModule

    return hasattr(OptimizedModule, "_should_wrap_module_call_impl") or not is_torchs_own(module)


_NOT_OF_PROGRAM = os.path.dirname(torch.__file__), os.path.dirname(os.path.dirname(__file__))
_UNWATCHED = "_fullgraph_unwatched"
_FORWARD = ("forward", "_call_impl", "_wrapped_call_impl", "__call__")
"""The methods that run when a module is called."""


def _function_called(frame: FrameType) -> Hashable:
    """Return the identity of the function that a frame of ``compile_wrapper`` calls.

    Return ``None`` for any other frame.
    """
    from torch._dynamo import eval_frame

    code = frame.f_code
    if code.co_name != "compile_wrapper" or code.co_filename != eval_frame.__file__:
        return None
    return _identity(frame.f_locals["fn"])


def _identity(function: Any) -> Hashable:
    """Return an identity for a function: its code, its module, or its name.

    Modules have a weak reference as identity, other callables without code their name. So a function that is
    compiled repeatedly counts once, and each module counts separately, as in torch. torch wraps callables
    without a frame with ``wrap_inline`` (``external_utils.py``) (torch 2.11 to 2.15).
    """
    from torch._dynamo import external_utils

    while True:
        if isinstance(function, torch.nn.Module):
            return weakref.ref(function)
        if isinstance(function, MethodType):
            owner, function = function.__self__, function.__func__
            if isinstance(owner, torch.nn.Module) and function.__name__ in _FORWARD:
                return weakref.ref(owner)
        elif isinstance(function, functools.partial):
            function = function.func
        elif not isinstance(function, FunctionType):
            call = getattr_static(type(function), "__call__", None)
            if not isinstance(call, FunctionType):
                return getattr(function, "__qualname__", type(function).__qualname__)
            function = call
        elif function.__code__.co_filename == external_utils.__file__ and hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            return function.__code__


def compile_only(is_meant: Callable[[CodeType], bool]) -> None:
    """Compile only frames for whose code ``is_meant`` returns true.

    Other frames run eagerly, but the functions that they call may be compiled. torch treats frames without a
    tensor in this way: ``ConvertFrameAssert.__call__`` (``convert_frame.py``) calls ``has_tensor_in_frame``
    for each frame (torch 2.11 to 2.15).
    """
    from torch._dynamo import convert_frame

    has_tensor = convert_frame.has_tensor_in_frame
    convert_frame.has_tensor_in_frame = lambda frame: is_meant(frame.f_code) and has_tensor(frame)
    _allow_eager_calls()


def _allow_eager_calls() -> None:
    """Allow calls under ``fullgraph=True`` that run no compiled code.

    torch would raise an error. ``compile_wrapper`` (``eval_frame.py``) counts compiled frames only if the
    replaced setter returns a negative number (torch 2.13 to 2.15).
    """
    from torch._dynamo import eval_frame

    eval_frame.set_fullgraph_compiled_frame_count = lambda _: 0
