"""The private names of torch that decide whether a call of a compiled function compiles or runs eagerly.

As :mod:`.torch_compat`: each entry says where torch keeps it and in which of the supported versions (2.11 to
2.15) it was read.
"""

from __future__ import annotations

import contextlib
import inspect
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, TypeAlias

import torch

_Missed: TypeAlias = Callable[[Any, Callable[[], Sequence[str]]], None]


def freeze(warm_up: int, missed: _Missed) -> None:
    """Let each compiled function compile in its first ``warm_up`` calls only; later it runs eagerly instead.

    ``missed(frame, reasons)`` is called for each late compilation, and must not raise: ``reasons()`` returns
    for each existing compilation why it does not fit. The stance ``fail_on_recompile`` does the same for a
    whole program, but raises: see ``_callback_from_stance`` (``eval_frame.py``), which every call of a
    compiled function uses; 2.11 to 2.15.
    """
    from torch._dynamo import eval_frame

    choose = eval_frame._callback_from_stance
    calls: Counter[Any] = Counter()

    def choose_or_freeze(callback: Any) -> Any:
        chosen = choose(callback)
        if chosen is None or chosen is False:
            return chosen
        function = getattr(callback, _FUNCTION, callback)
        calls[function] += 1
        return chosen if calls[function] <= warm_up else _frozen(chosen, missed)

    eval_frame._callback_from_stance = choose_or_freeze
    _mark_callbacks()
    _allow_eager_calls()


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


def _frozen(callback: Any, missed: _Missed) -> Any:
    from torch._dynamo import convert_frame, trace_rules
    from torch._dynamo.types import ConvertFrameReturn, FrameAction, FrameExecStrategy

    def run_eagerly(frame: Any, *_: Any, **__: Any) -> ConvertFrameReturn:
        if trace_rules.check(frame.f_code) or not convert_frame.has_tensor_in_frame(frame):
            return ConvertFrameReturn()
        missed(frame, lambda: _reasons(frame, callback))
        # Only this time, and with all callees, which would be compiled as parts of it.
        skip = FrameExecStrategy(FrameAction.SKIP, FrameAction.SKIP)
        return ConvertFrameReturn(frame_exec_strategy=skip, apply_to_code=False)

    # Otherwise torch would ignore existing compilations as those of another backend.
    run_eagerly._torchdynamo_orig_backend = callback  # type: ignore[attr-defined]
    return run_eagerly


def _reasons(frame: Any, callback: Any) -> Sequence[str]:
    """Return the reasons why no compilation of a frame fits.

    ``get_and_maybe_log_recompilation_reasons`` (``guards.py``) takes a list of compilations; in 2.11, the
    first one of a linked list.
    """
    from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list
    from torch._dynamo.eval_frame import innermost_backend
    from torch._dynamo.guards import get_and_maybe_log_recompilation_reasons as reasons_of

    entries = _debug_get_cache_entry_list(frame.f_code)
    if not entries:
        return ()
    takes_list = "cache_entries" in inspect.signature(reasons_of).parameters
    reasons: Sequence[str] = reasons_of(
        entries if takes_list else entries[0], frame, innermost_backend(callback), skip_logging=True
    )
    return reasons
