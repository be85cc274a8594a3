"""Fixes of findings, and the verdicts on them from runs of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

from fullgraph_compiler.facts import CallsSeen

from ..report.model import Finding, Report
from ..workspace.positions import Span
from ..workspace.source import SourceFile

Safety: TypeAlias = Literal["safe", "moves-output", "unsafe"]
"""Whether a fix preserves the behavior of the program (``safe``), only prints or logs at another time
(``moves-output``), or changes the behavior (``unsafe``). The first and the last are ruff's terms."""
SAFETY: Final[tuple[Safety, ...]] = get_args(Safety)
"""The levels of safety, the best first."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of a range of a file; with an empty range, an insertion there."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class OperatorDefinition:
    """A definition that an edit adds to the module, usually of a custom operator.

    A custom operator is checked after the edit. ``name`` is the operator's name, empty if the definition is
    not an operator; ``definition`` is the source of the definition. ``seen`` says which calls the operator's
    sizes were derived from. ``in_place`` says that the operator changes tensors in place, and that none of
    them has a gradient in the run.
    """

    name: str
    definition: str
    seen: str = ""
    in_place: bool = False


_REGISTRY: Final = "torch/_dynamo/graph_break_registry.json"
_OF_COMPILER: Final = ("torch._", "torch.compile", "torch.cond", "dynamic", "device", "dtype", ".to(")
"""Strings that occur in edits that set options, mark sizes as dynamic, or change dtypes and devices."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A candidate edit for a finding.

    ``rule`` is the id of the rule that made the fix (``where``), ``title`` a short imperative (``Choose with
    `torch.where```). ``change`` says in one sentence how the fix changes the program's behavior. ``source``
    is the page of torch's documentation, or the file of torch, that the rule is based on. ``edits`` do not
    overlap; they are empty in the constants from which rules make fixes.
    """

    rule: str
    title: str
    change: str
    safety: Safety = "unsafe"
    source: str = _REGISTRY
    edits: tuple[Edit, ...] = ()
    prints_differ: bool = False
    """Whether the program's output may change or appear at another time: then the output is not compared."""
    runs_skipped: bool = False
    """Whether the edited statements run code that the program skipped before: this code may draw random
    numbers, and its non-finite values may reach gradients."""
    errors_differ: bool = False
    """Whether the edited statements may raise ``RuntimeError`` where the original statements raise another
    error."""
    replaces: bool = True
    """Whether the edited statements compute something: then the new statements are tried against the original
    ones."""
    uncompiles: bool = False
    """Whether some of the edited statements no longer run in graphs: most of them must."""
    leaves_little: bool = False
    """Whether these are most of what the function computes, as its text shows."""
    operator: OperatorDefinition | None = None
    owned: str = ""
    """A variable that alone holds its tensor: the edited statements assign it instead of changing the
    tensor."""
    raises_more: bool = False
    """Whether the edited statements raise an error for some values, as ``change`` says."""
    gone: str = ""
    """A variable of the module, or an attribute, that the edit removes, as ``change`` says."""

    @property
    def is_setting(self) -> bool:
        """Whether the fix changes settings of torch."""
        return any("._dynamo.config." in edit.text for edit in self.edits)

    @property
    def needs_whole_compiler(self) -> bool:
        """Whether only a run with TorchInductor can verify the fix.

        This is the case if the fix changes compiler options or adds an operator, or if no trial of statements
        covers the fix.
        """
        speaks = any(name in edit.text for edit in self.edits for name in _OF_COMPILER)
        is_untried = not (self.replaces or self.prints_differ) and any(edit.text for edit in self.edits)
        return speaks or self.operator is not None or is_untried


@dataclass(frozen=True, slots=True)
class RuleContext:
    """The input of a rule in addition to the finding: report, source files and calls.

    ``files`` are the source files as they ran, by file name. ``calls`` are the observed calls, by the place
    of the call expression.
    """

    report: Report
    files: Mapping[str, SourceFile | None]
    calls: Mapping[Span, CallsSeen] = field(default_factory=dict)


Rule: TypeAlias = Callable[[Finding, RuleContext], Iterable[Fix]]
"""A pure function that returns candidate edits for a finding."""


@dataclass(frozen=True, slots=True)
class RunCounts:
    """The numbers by which runs of the original and the edited program are compared."""

    breaks: int
    graphs: int
    recompiles: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a fix, from runs of the program with the fix.

    ``verified`` says that the finding is gone, nothing became worse, and all results are equal: in every
    branch of the replaced statements, and in a run of the program with the whole compiler. ``reason`` says
    why the fix is not verified, or what no run has covered; ``basis`` says what was compared (``2 example
    calls, forward and backward``).
    """

    verified: bool
    reason: str
    before: RunCounts
    after: RunCounts
    basis: str = ""
    untaken: tuple[str, ...] = ()
    """The branches of the replaced statements that no tried value took."""
    along: tuple[Finding, ...] = ()
    """The other findings that the edit removes."""
    reveals: bool = False
    """Whether the only objection is that the edit reveals graph breaks, because torch now compiles more
    code."""
    tried: bool = True
    """Whether the fix could be tried. If not, ``reason`` says why, for example how Fullgraph itself
    failed."""
    noticed: str = ""
    """A mild difference, with its place: a tensor in place of a number, another memory layout. Empty if there
    is none."""
    is_small: bool = False
    """Whether only a small part of the compiled lines stays compiled."""

    @property
    def removes(self) -> tuple[int, int]:
        """The numbers of graph breaks and recompilations that the fix removes."""
        before, after = self.before, self.after
        return before.breaks - after.breaks, before.recompiles - after.recompiles
