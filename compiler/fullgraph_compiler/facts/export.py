"""Facts from ``torch.export``: exported programs, and problems of exports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .capture import SizeViolation, Symbol
from .registry import Fact, Value
from .stacks import Stack

ExportProblemKind: TypeAlias = Literal[
    "missing-fake-kernel", "mismatched-fake-kernel", "data-dependent", "assigned-attribute"
]
"""The kinds of problems of an export:

- ``missing-fake-kernel``: an operator cannot be traced, because it has no fake kernel.
- ``mismatched-fake-kernel``: the result of an operator differs from the result of its fake kernel.
- ``data-dependent``: a condition depends on the data of a tensor.
- ``assigned-attribute``: the code assigns a tensor to an attribute; the exported program does not.
"""


@dataclass(frozen=True, slots=True)
class DataSymbol(Value):
    """A number that depends on data, such as ``u0``.

    ``stack`` is the code that reads the number from a tensor.
    """

    name: str
    stack: Stack


@dataclass(frozen=True, slots=True)
class ExportProblem(Fact):
    """A problem at one place of an exported program.

    The problem stops every export except ``draft_export``. ``subject`` is the operator (``mylib::twice``),
    the condition as torch writes it (``u0 > 3``), or the attribute (``self.last``). ``detail`` is how the
    fake kernel's result differs, the state in which the attribute is left (``without data``), or the value
    that ``draft_export`` assumed for the condition (``True``). ``symbols`` are the data-dependent numbers in
    the condition, ``sizes`` its other symbols.
    """

    compile_id: str
    kind: ExportProblemKind
    subject: str
    detail: str = ""
    symbols: tuple[DataSymbol, ...] = ()
    stack: Stack = ()
    sizes: tuple[Symbol, ...] = ()


@dataclass(frozen=True, slots=True)
class SizeRange(Value):
    """The range of a symbolic size of an exported program; ``int_oo`` means no limit."""

    symbol: Symbol
    lower: str
    upper: str


@dataclass(frozen=True, slots=True)
class ProgramExported(Fact):
    """The end of an export that produced a program; a ``GraphCaptured`` has its graph.

    ``of_draft_log`` says that the fact comes from a log of ``draft_export``, which does not record whether
    every size marked with a ``Dim`` stayed dynamic.
    """

    compile_id: str
    ranges: tuple[SizeRange, ...] = ()
    of_draft_log: bool = False


@dataclass(frozen=True, slots=True)
class ExportFailed(Fact):
    """The end of an export that produced no program.

    ``error`` and ``message`` are empty in facts that are read from a log, which does not record them. With
    ``while_tracing``, the export failed at ``stack`` or later, before its conditions on sizes were checked.
    ``retried`` says that ``draft_export`` tries again with other sizes. ``violations`` are the dimensions
    that are marked dynamic but cannot be, ``suggestions`` are torch's lines of code for them (``batch = 4``).
    """

    compile_id: str
    error: str = ""
    message: str = ""
    stack: Stack = ()
    violations: tuple[SizeViolation, ...] = ()
    suggestions: tuple[str, ...] = ()
    retried: bool = False
    cause: str = ""
    """The subject of the problem that ended the export; empty if another exception ended it, or if
    unknown."""
    while_tracing: bool = False
    certain: bool = True
    """Whether this certainly was an export. A log of ``TORCH_TRACE`` does not say so: its trace just ends."""
    text: str = ""
