"""Facts from ``torch.export``: exported programs, and what keeps a program from being exported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .capture import SizeViolation, Symbol
from .registry import Fact, Value
from .stacks import Stack

ExportProblemKind: TypeAlias = Literal[
    "missing-fake-kernel", "mismatched-fake-kernel", "data-dependent", "assigned-attribute"
]
"""What an export meets:

- ``missing-fake-kernel``: an operator that cannot be traced, as nothing says what its result looks like.
- ``mismatched-fake-kernel``: an operator whose result is not what its fake kernel says.
- ``data-dependent``: a condition that only the data of a tensor decide.
- ``assigned-attribute``: an attribute that is assigned a tensor, which the program does not do.
"""


@dataclass(frozen=True, slots=True)
class DataSymbol(Value):
    """A number that only the data decide, such as ``u0``; ``stack`` is where the program reads it."""

    name: str
    stack: Stack


@dataclass(frozen=True, slots=True)
class ExportProblem(Fact):
    """A problem at one place of an exported program, which stops an export, but for ``draft_export``.

    ``subject`` is the operator (``mylib::twice``), the condition as torch writes it (``u0 > 3``), or the
    attribute (``self.last``).
    ``detail`` is how the fake kernel differs, what the attribute is left as (``without data``), or what
    ``draft_export`` took the condition for (``True``).
    ``symbols`` are the numbers in the condition that data decide, ``sizes`` the others.
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
    """The values that a symbolic size of an exported program may have: ``int_oo`` is without a limit."""

    symbol: Symbol
    lower: str
    upper: str


@dataclass(frozen=True, slots=True)
class ProgramExported(Fact):
    """The end of an export that has a program; its graph is a ``GraphCaptured``.

    ``of_draft_log`` says that it is read from the log of ``draft_export``, which does not say whether all
    sizes have kept their ``Dim``.
    """

    compile_id: str
    ranges: tuple[SizeRange, ...] = ()
    of_draft_log: bool = False


@dataclass(frozen=True, slots=True)
class ExportFailed(Fact):
    """The end of an export that has no program.

    ``error`` and ``message`` are empty in facts that are read from a log, which does not say; with
    ``while_tracing`` it fails at ``stack`` or later, before its conditions on sizes are checked. ``retried``
    says that ``draft_export`` goes on with other sizes. ``violations`` are the dimensions that were marked
    dynamic but cannot be, ``suggestions`` torch's lines for them (``batch = 4``).
    """

    compile_id: str
    error: str = ""
    message: str = ""
    stack: Stack = ()
    violations: tuple[SizeViolation, ...] = ()
    suggestions: tuple[str, ...] = ()
    retried: bool = False
    cause: str = ""
    """The subject of the problem that ended it; empty if another exception did, or an unknown one."""
    while_tracing: bool = False
    certain: bool = True
    """Whether it is an export at all: a log of ``TORCH_TRACE`` only has a trace that ends."""
    text: str = ""
