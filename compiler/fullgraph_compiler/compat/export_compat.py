"""Exports: their records in the structured trace, and the current export.

Each docstring says where torch keeps a name, and in which of the supported versions (2.11 to 2.15) that was
checked.
"""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import torch

from ..trace.export.reader import EXPORT_ERROR, EXPORT_WARNING
from .trace_compat import TAKEN


@dataclass
class _ObservedExport:
    """The current export, if any: whether it runs, its exception, and its start time."""

    going_on: bool = False
    error: BaseException | None = None
    began: float = 0.0
    draft: bool = False


_observed = _ObservedExport()


def observe_exports() -> None:
    """Let exports record themselves in the structured trace from now on.

    ``torch.export.export`` and ``draft_export`` import their implementation, which takes long, at their first
    call. The implementation is patched only then.
    """
    for name, draft in (("export", False), ("draft_export", True)):
        setattr(torch.export, name, _observing(getattr(torch.export, name), draft))


def _observing(export: Callable[..., Any], draft: bool) -> Callable[..., Any]:
    @functools.wraps(export)
    def observing(*args: Any, **kwargs: Any) -> Any:
        with suppress(ImportError, AttributeError):  # in a torch with different names
            _record_exports()
        before, _observed.draft = _observed.draft, draft
        try:
            return export(*args, **kwargs)
        finally:
            _observed.draft = before

    return observing


@functools.cache
def _record_exports() -> None:
    """Record the start, program, warnings and exception of exports in the trace.

    ``_export`` (``torch/export/_trace.py``, imported by ``_draft_export.py``) records start and program with
    ``dtrace_structured``, which works only if ``TORCH_DTRACE`` is set; that variable would make all of torch
    record far more. torch records neither warnings nor exceptions. 2.11 to 2.15.
    """
    from torch._functorch._aot_autograd import frontend_utils
    from torch._logging import trace_structured
    from torch.export import _draft_export, _trace

    export = _trace._export

    @functools.wraps(export)
    def recording(*args: Any, **kwargs: Any) -> Any:
        module = args[0] if args else kwargs.get("mod")
        before = _fakes(module)
        _observed.began, _observed.going_on = time.monotonic(), True
        try:
            program = export(*args, **kwargs)
            if left := [name for name in _fakes(module) if name not in before]:
                trace_structured(EXPORT_WARNING, metadata_fn=lambda: {"left": left}, payload_fn=str)
            return program
        except Exception as raised:
            _observed.error = error = raised
            with suppress(AttributeError):  # its class may allow no new attributes
                raised._fullgraph_recorded = True  # type: ignore[attr-defined]
            with suppress(Exception):  # its __str__ may raise
                trace_structured(
                    EXPORT_ERROR,
                    metadata_fn=lambda: {"error": type(error).__qualname__},
                    payload_fn=lambda: str(error),
                )
            raise
        finally:
            _observed.error, _observed.going_on = None, False

    class TracedWarnings:
        """A replacement of the ``warnings`` module that also records warnings of exports.

        ``_detect_attribute_assignment`` (``frontend_utils.py``) uses the module (torch 2.13 and 2.15).
        """

        def __getattr__(self, name: str) -> Any:
            return getattr(warnings, name)

        def warn(self, message: Any, category: Any = None, stacklevel: int = 1) -> None:
            if _observed.going_on:
                trace_structured(EXPORT_WARNING, metadata_fn=dict, payload_fn=lambda: str(message))
            warnings.warn(message, category, stacklevel + 1)

    def enter(self: Any) -> Any:
        self.setLevel(TAKEN)
        return enter_capture(self)

    # draft_export makes its report from the trace, whose records a listener has already taken.
    enter_capture = _draft_export.CaptureStructuredTrace.__enter__
    _draft_export.CaptureStructuredTrace.__enter__ = enter
    frontend_utils.warnings = TracedWarnings()
    _trace.dtrace_structured = trace_structured
    _trace._export = _draft_export._export = recording


def _fakes(module: Any) -> list[str]:
    """Return the names of a module's parameters and buffers that have no data."""
    from torch._subclasses import FakeTensor

    if not isinstance(module, torch.nn.Module):
        return []
    with suppress(Exception):  # its methods may raise
        tensors = (*module.named_parameters(), *module.named_buffers())
        return [f"self.{name}" for name, tensor in tensors if isinstance(tensor, FakeTensor)]
    return []


def pending_export_error() -> BaseException | None:
    """Return the exception to which the current ``export_error`` record belongs."""
    return _observed.error


def is_recorded_export(error: BaseException) -> bool:
    """Return whether an exception has an ``export_error`` record."""
    return hasattr(error, "_fullgraph_recorded")


def is_exporting() -> bool:
    """Return whether an export is running."""
    return _observed.going_on


def export_seconds() -> float:
    """Return the seconds since the current export began."""
    return time.monotonic() - _observed.began


def is_draft_export() -> bool:
    """Return whether the current export is a ``draft_export``.

    A draft export continues after errors that would end an export.
    """
    return _observed.draft


def exported_function(frame: FrameType | None) -> tuple[str, CodeType] | None:
    """Return name and code of the exported function; ``None`` if they are unknown.

    For a module, the function is its ``forward``. torch has it as ``mod`` in ``_export``
    (``torch/export/_trace.py``) (torch 2.11 to 2.15).
    """
    while frame is not None and frame.f_code.co_name != "_export":
        frame = frame.f_back
    module = frame.f_locals.get("mod") if frame else None
    function = getattr(type(module), "forward", None) if isinstance(module, torch.nn.Module) else module
    code = getattr(function, "__code__", None)
    return (str(getattr(function, "__name__", "")), code) if isinstance(code, CodeType) else None
