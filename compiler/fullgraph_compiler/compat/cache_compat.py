"""The private names of torch behind Dynamo's cache: the compilations of a frame, and their limit.

As :mod:`.torch_compat`: each entry says where torch keeps it and in which of the supported versions (2.11 to
2.15) it was read.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType, SimpleNamespace
from typing import Any, TypeAlias

from . import backend_compat

_Counts: TypeAlias = Callable[[Any], bool]
"""A predicate: whether only one compilation by this backend is kept."""

_ENTRIES = ("cache_entries_for_reasons", "cache_entries", "cache_entry")
"""The local variable of ``_compile`` (``convert_frame.py``) with the compilations of the frame: the name in
the newest torch first, that of 2.11 last."""
_RETIRED = "Fullgraph keeps the newest compilation only"
_kept: list[_Counts] = []


def keep_one_entry() -> None:
    """Make each frame keep its newest compilation only, without a recompile limit, permanently."""
    _replace_cache_rules()
    _kept.append(lambda _: True)


@contextmanager
def keeping_one_entry(backend: Callable[..., Any]) -> Iterator[None]:
    """Do the same within the context, for compilations with this backend only."""

    def is_of_backend(entry_backend: Any) -> bool:
        return backend_compat.is_backend(entry_backend, backend)

    _replace_cache_rules()
    _kept.append(is_of_backend)
    try:
        yield
    finally:
        _kept.remove(is_of_backend)


def _replace_cache_rules() -> None:
    """Replace the functions with which ``_compile`` (``convert_frame.py``) queries the cache.

    For each compilation it calls ``get_and_maybe_log_recompilation_reasons`` (``guards.py``), if there are
    other compilations, to learn why they do not fit, then ``exceeds_recompile_limit`` (``cache_size.py``),
    which checks all limits: the setting, that of ``torch.compile``, and the accumulated one. 2.11 to 2.15.
    After that the other compilations are not needed any more, and can be retired.
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
    """Yield the compilations of a frame from a list or, in 2.11, from a linked list."""
    if isinstance(entries, list):
        yield from entries
        return
    while entries is not None:
        yield entries
        entries = entries.next


def _linked(entries: Iterable[Any]) -> Any:
    """Return a linked list of compilations with the attributes that torch reads."""
    first = None
    for entry in reversed(list(entries)):
        first = SimpleNamespace(
            guard_manager=entry.guard_manager, code=entry.code, compile_id=entry.compile_id, next=first
        )
    return first


def _is_kept(entry: Any) -> bool:
    return getattr(entry.guard_manager, "invalidation_reason", "") != _RETIRED


def _retire(entry: Any) -> None:
    """Invalidate a compilation, so that it fits no call any more.

    ``CheckFunctionManager.invalidate`` (``guards.py``) does the same when a guarded object is deleted: 2.11
    to 2.15. ``reset_code`` would free objects that the current compilation still uses.
    """
    from torch._dynamo.guards import DeletedGuardManagerWrapper

    guards = entry.guard_manager
    if guards.extra_state is not None:
        guards.extra_state.invalidate(entry, DeletedGuardManagerWrapper(_RETIRED))
