"""The outcome of a program: its status, and its uncaught exceptions as facts."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TypeVar

from ..facts import ProgramRaised, Stack, StackFrame, Status, TargetProblem
from .live import stack_of_summary

_T = TypeVar("_T")

_NOWHERE: Stack = ()

_MACHINERY = ("fullgraph_compiler", "fullgraph_pytest", "importlib", "_frozen_importlib", "_pytest", "pluggy")
"""Modules that start a program and are not part of the program."""


@dataclass(frozen=True)
class ProgramOutcome:
    """The outcome of a program.

    ``raised`` contains the uncaught exceptions in order, ``hints`` the advice for them.
    """

    status: Status
    exit_code: int | None = None
    raised: tuple[BaseException, ...] = ()
    problems: tuple[TargetProblem, ...] = ()
    hints: tuple[str, ...] = ()


def not_started(message: str, *hints: str, stack: Stack = ()) -> ProgramOutcome:
    """Return the outcome of a target that could not start, with an error message."""
    return ProgramOutcome("not-started", problems=(TargetProblem("error", message, hints, stack),))


def outcome_of(error: BaseException) -> ProgramOutcome:
    """Return the outcome of a program that ended with ``error``."""
    if not isinstance(error, SystemExit):
        return ProgramOutcome("raised", 1, (error,))
    code = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
    if not -(1 << 31) <= code < 1 << 31:
        code = 255  # the exit code of Python for numbers out of range
    return ProgramOutcome("exited", code, (error,) if code else ())


def describe(error: BaseException) -> ProgramRaised:
    """Convert an uncaught exception to a fact.

    The stack of the fact begins with the user's first call.
    """
    trace = _skip_machinery(error.__traceback__)
    return ProgramRaised(
        error=type(error).__qualname__,
        message=words_of(error),
        stack=(
            *_asked(lambda: stack_of_summary(traceback.extract_tb(trace)), _NOWHERE),
            *_asked(lambda: _syntax_error_place(error), _NOWHERE),
        ),
        text=_asked(lambda: "".join(traceback.format_exception(type(error), error, trace)), ""),
    )


def words_of(error: BaseException) -> str:
    """Return the message of an exception, or a replacement if ``__str__`` raises."""
    if isinstance(error, SystemExit) and (error.code is None or isinstance(error.code, int)):
        return _asked(lambda: f"the program ended with exit code {error.code}", "")
    return _asked(lambda: str(error), "(its message cannot be shown: its __str__ raises)")


def _asked(ask: Callable[[], _T], otherwise: _T) -> _T:
    """Return ``ask()``, or ``otherwise`` if ``ask`` raises.

    ``ask`` may raise anything, because an exception of a program may override any method.
    """
    try:
        return ask()
    except BaseException:
        return otherwise


def _skip_machinery(trace: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback from the user's first call on.

    The calls before it belong to the modules that start programs.
    """
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if not module.startswith(_MACHINERY):
            return trace
        trace = trace.tb_next
    return None


def _syntax_error_place(error: BaseException) -> Stack:
    if not isinstance(error, SyntaxError) or not error.filename or not error.lineno:
        return ()
    # Offsets count characters from 1; an unknown end is missing or equals the start.
    line, start = error.text or "", max((error.offset or 1) - 1, 0)
    end = (error.end_offset or 0) - 1 if error.end_lineno == error.lineno else 0
    column, end_column = (len(line[:offset].encode()) for offset in (start, max(end, start + 1)))
    row = error.lineno
    return (StackFrame(error.filename, row, "<module>", column, row, end_column),)
