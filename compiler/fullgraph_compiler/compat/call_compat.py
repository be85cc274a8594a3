"""The private names of torch that decide whether a call of a compiled function compiles or runs eagerly.

As :mod:`.torch_compat`: each entry says where torch keeps it and in which of the supported versions (2.11 to
2.15) it was read.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from types import CodeType
from typing import Any

import torch


class _Conversion(threading.local):
    """The conversion of a frame that goes on in a thread: whether it is of a late call."""

    late = False


_conversion = _Conversion()


def watch_calls(warm_up: int) -> None:
    """Have :func:`is_late` tell the compilations of later calls than the first ``warm_up`` of a function.

    ``_callback_from_stance`` (``eval_frame.py``), which every call of a compiled function uses, returns what
    converts its frames, those of callees and resume functions too: 2.11 to 2.15.
    """
    from torch._dynamo import eval_frame

    choose = eval_frame._callback_from_stance
    calls: Counter[Any] = Counter()

    def choose_and_count(callback: Any) -> Any:
        chosen = choose(callback)
        if chosen is None or chosen is False:
            return chosen
        function = getattr(callback, _FUNCTION, callback)
        calls[function] += 1
        return chosen if calls[function] <= warm_up else _convert_late(chosen)

    eval_frame._callback_from_stance = choose_and_count
    _mark_callbacks()


def is_late() -> bool:
    """Whether the frame that is being compiled here is of a call after the warm-up."""
    return _conversion.late


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


def _convert_late(convert: Callable[..., Any]) -> Callable[..., Any]:
    def convert_late(*arguments: Any, **options: Any) -> Any:
        before, _conversion.late = _conversion.late, True
        try:
            return convert(*arguments, **options)
        finally:
            _conversion.late = before

    # Otherwise torch would ignore existing compilations as those of another backend.
    convert_late._torchdynamo_orig_backend = convert  # type: ignore[attr-defined]
    return convert_late
