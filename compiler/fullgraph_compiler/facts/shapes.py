"""Facts about symbolic sizes: shape guards and specializations."""

from __future__ import annotations

from dataclasses import dataclass

from .capture import Symbol
from .registry import Fact
from .stacks import Stack


@dataclass(frozen=True, slots=True)
class ShapeGuard(Fact):
    """A condition on symbolic sizes (``s77 <= 4096``) on which the trace relies.

    ``stack`` is the user code that evaluated the condition, ``torch_stack`` the inner frames of torch, which
    added the guard, and ``cpp_stack`` the text of the C++ stack, if the run records it. ``symbols`` are the
    sizes in the condition, with their sources; empty in facts that are read from a log.
    """

    compile_id: str
    expression: str
    symbols: tuple[Symbol, ...]
    stack: Stack
    torch_stack: Stack = ()
    cpp_stack: str = ""


@dataclass(frozen=True, slots=True)
class Specialization(Fact):
    """A symbolic size that became a concrete value.

    In every call, ``sources`` (``L['x'].size()[0]``) must equal this value. ``reason`` is torch's text;
    the stacks are like those of a :class:`ShapeGuard`.
    """

    compile_id: str
    symbol: str
    sources: tuple[str, ...]
    value: str
    reason: str
    stack: Stack
    torch_stack: Stack = ()
