"""Get stacks of the program's own calls."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from types import FrameType

from ..compat import torch_compat
from ..facts import Stack, StackFrame

_BETWEEN = ("fullgraph_compiler.verify.calls", "fullgraph_compiler.compat.trace_compat")
"""Modules whose wrapper functions stand between a program and the functions that the program calls."""


def calling_stack(frame: FrameType | None) -> Stack:
    """Return the calls that led to ``frame``, outermost first.

    Calls of functions of torch and Fullgraph are left out.
    """
    while frame is not None and _is_machinery(frame):
        frame = frame.f_back
    calls = []
    while frame is not None and (
        _module(frame) in _BETWEEN or not _module(frame).startswith("fullgraph_compiler")
    ):
        if not torch_compat.is_internal(_module(frame)) and _module(frame) not in _BETWEEN:
            calls.append(_stack_frame(frame))
        frame = frame.f_back
    return tuple(reversed(calls))


def _is_machinery(frame: FrameType) -> bool:
    module = _module(frame)
    return (
        torch_compat.is_internal(module)
        or module == "contextlib"
        or module.partition(".")[0] in ("logging", "fullgraph_compiler")
    )


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _stack_frame(frame: FrameType) -> StackFrame:
    row, end_row, column, end_column = next(_positions(frame), (None, None, None, None))
    return StackFrame(
        frame.f_code.co_filename,
        frame.f_lineno or row or 1,
        frame.f_code.co_name,
        column,
        end_row,
        end_column,
    )


def _positions(frame: FrameType) -> Iterator[tuple[int | None, int | None, int | None, int | None]]:
    positions = getattr(frame.f_code, "co_positions", None)  # since Python 3.11
    if positions is None or frame.f_lasti < 0:
        return iter(())
    return itertools.islice(positions(), frame.f_lasti // 2, None)
