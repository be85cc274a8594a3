"""What the compiler takes for granted of sizes that are symbols: shape guards and specializations."""

from __future__ import annotations

from dataclasses import dataclass

from .capture import Symbol
from .stacks import Stack


@dataclass(frozen=True, slots=True)
class ShapeGuard:
    """A condition on symbolic sizes (``s77 <= 4096``), as the trace needed it.

    ``stack`` is the user's code that asked, ``torch_stack`` torch's own below it, which added the guard, and
    ``cpp_stack`` the text of the C++ one, where that was asked for. ``symbols`` say what gives each size;
    none are known from a log.
    """

    compile_id: str
    expression: str
    symbols: tuple[Symbol, ...]
    stack: Stack
    torch_stack: Stack = ()
    cpp_stack: str = ""


@dataclass(frozen=True, slots=True)
class Specialization:
    """A symbolic size became a number: ``sources`` (``L['x'].size()[0]``) now have that size in every call.

    ``reason`` is torch's; the stacks are those of a :class:`ShapeGuard`.
    """

    compile_id: str
    symbol: str
    sources: tuple[str, ...]
    value: str
    reason: str
    stack: Stack
    torch_stack: Stack = ()
