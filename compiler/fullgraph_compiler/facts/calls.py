"""Observed calls in a program: arguments, results, and changes of arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .registry import Fact, Value

ValueKind: TypeAlias = Literal[
    "tensor", "tensors", "int", "ints", "float", "floats", "bool", "bools", "str", "dtype", "device", "none",
    "array", "other",
]  # fmt: skip
"""The kind of an argument or result. torch's operators accept all kinds but ``array`` (NumPy) and
``other``."""


@dataclass(frozen=True, slots=True)
class TensorSeen(Value):
    """A tensor of an observed call.

    For an argument, ``changed`` says that the call changes the tensor. For a result, ``aliases`` says that
    the tensor shares memory with an argument or with an earlier result.
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

    ``tensors`` and ``numbers`` (integers) are its contents, in order. ``is_tuple`` says that the container is
    a tuple or a size, not a list. ``text`` names the type if ``kind`` is ``other``.
    """

    kind: ValueKind
    tensors: tuple[TensorSeen, ...] = ()
    numbers: tuple[int, ...] = ()
    is_tuple: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class CallSeen(Value):
    """An observed call: its arguments in the order of the source text, and its result.

    ``made`` says that Fullgraph derived the arguments from another call, with other sizes, numbers or values;
    ``draws`` says that the call draws random numbers.
    """

    arguments: tuple[ValueSeen, ...]
    result: ValueSeen
    made: bool = False
    draws: bool = False


@dataclass(frozen=True, slots=True)
class CallsSeen(Fact):
    """The calls observed at the :class:`CallPlace` with the same number.

    ``calls`` differ in types or sizes. ``problem`` says why the calls cannot be observed, or what they do
    that an operator must not do: it is the end of a sentence whose subject is the function. ``is_python``
    says that the function is written in Python. For an operator of torch, ``failure`` is the check that
    fails, with its reason, and ``checked`` is the number of calls that were checked.
    """

    number: int
    calls: tuple[CallSeen, ...] = ()
    problem: str = ""
    is_python: bool = False
    checked: int = 0
    failure: str = ""
