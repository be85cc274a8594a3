"""Calls in a program, observed: what they get, give back and change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .registry import Fact, Value

ValueKind: TypeAlias = Literal[
    "tensor", "tensors", "int", "ints", "float", "floats", "bool", "bools", "str", "dtype", "device", "none",
    "array", "other",
]  # fmt: skip
"""What an operator of torch tells apart of its arguments: none is ``other`` or an ``array`` of NumPy."""


@dataclass(frozen=True, slots=True)
class TensorSeen(Value):
    """A tensor of an observed call.

    Of an argument, ``changed`` says that the call changes it. Of a result, ``aliases`` says that it is in the
    memory of an argument or of an earlier result.
    """

    dtype: str
    shape: tuple[int, ...]
    device: str
    contiguous: bool
    requires_grad: bool
    changed: bool = False
    aliases: bool = False


@dataclass(frozen=True, slots=True)
class ValueSeen(Value):
    """An argument or a result of an observed call.

    ``tensors`` and ``numbers`` (integers) are in it, in order. ``is_tuple`` says that several stand in a
    tuple, not in a list. ``text`` names the type of what is ``other``.
    """

    kind: ValueKind
    tensors: tuple[TensorSeen, ...] = ()
    numbers: tuple[int, ...] = ()
    is_tuple: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class CallSeen(Value):
    """One observed call: its arguments in the order in which they are written, and its result.

    ``made`` says that its arguments were made of those of another call: other sizes, numbers or values;
    ``draws`` that it draws random numbers.
    """

    arguments: tuple[ValueSeen, ...]
    result: ValueSeen
    made: bool = False
    draws: bool = False


@dataclass(frozen=True, slots=True)
class CallsSeen(Fact):
    """The calls at a place. ``calls`` have different types and sizes.

    ``problem`` is why they cannot be observed, or what they do that an operator must not, as the end of a
    sentence whose subject is the function. ``is_python`` says that the function is written in Python. Of an
    operator of torch, ``failure`` is the check that fails, with its reason, and ``checked`` the number of
    calls that were checked.
    """

    number: int
    calls: tuple[CallSeen, ...] = ()
    problem: str = ""
    is_python: bool = False
    checked: int = 0
    failure: str = ""
