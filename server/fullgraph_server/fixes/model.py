"""Fixes of findings, and the verdicts on them from runs of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from fullgraph_compiler.facts import CallsSeen

from ..report.model import Finding, Report
from ..workspace.positions import Span
from ..workspace.source import SourceFile

Safety: TypeAlias = Literal["safe", "unsafe"]
"""Whether a fix preserves the behavior of the program (``safe``) or changes it; the words are ruff's."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of a range of a file; an empty range is an insertion before it."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class OperatorDefinition:
    """A definition that an edit adds to the module, usually a custom operator.

    A custom operator is then checked. ``name`` is the operator's name, empty if the definition is not an
    operator; ``definition`` is its text. ``seen`` says which calls its sizes were derived from. ``in_place``
    says that the operator changes tensors, none of which has a gradient in the run.
    """

    name: str
    definition: str
    seen: str = ""
    in_place: bool = False


_REGISTRY: Final = "torch/_dynamo/graph_break_registry.json"
_OF_COMPILER: Final = ("torch._", "torch.compile", "torch.cond", "dynamic", "device", "dtype", ".to(")
"""Parts of the text of edits that set options, mark sizes, or change dtypes and devices."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A candidate edit for a finding.

    ``rule`` is the rule's id (``where``), ``title`` a short imperative (``Choose with `torch.where```).
    ``change`` says in one sentence how the fix changes the program's behavior. ``source`` is the page of
    torch's documentation, or the file of torch, that the rule is based on. Edits do not overlap; the
    constants of rules have no edits.
    """

    rule: str
    title: str
    change: str
    safety: Safety = "unsafe"
    source: str = _REGISTRY
    edits: tuple[Edit, ...] = ()
    prints_differ: bool = False
    """Whether the program's output may differ or move: then the output is not compared."""
    runs_skipped: bool = False
    """Whether the edited statements run code that was skipped before: it may draw random numbers, and its
    non-finite values may reach gradients."""
    errors_differ: bool = False
    """Whether the edited statements may raise ``RuntimeError`` where the old ones raise another error."""
    replaces: bool = True
    """Whether the edited statements compute something: then the new statements are tried against the old."""
    operator: OperatorDefinition | None = None

    @property
    def needs_whole_compiler(self) -> bool:
        """Whether only a run with TorchInductor verifies the fix.

        That holds if the fix addresses the compiler, or if no trial of statements covers the fix.
        """
        speaks = any(name in edit.text for edit in self.edits for name in _OF_COMPILER)
        is_untried = not (self.replaces or self.prints_differ) and any(edit.text for edit in self.edits)
        return speaks or self.operator is not None or is_untried


@dataclass(frozen=True, slots=True)
class RuleContext:
    """The input of a rule in addition to its finding: report, texts and calls.

    ``files`` are the texts that ran, by file name. ``calls`` are the observed calls, by the place of the
    call.
    """

    report: Report
    files: Mapping[str, SourceFile | None]
    calls: Mapping[Span, CallsSeen] = field(default_factory=dict)


Rule: TypeAlias = Callable[[Finding, RuleContext], Iterable[Fix]]
"""A pure function that returns candidate edits for a finding."""


@dataclass(frozen=True, slots=True)
class RunCounts:
    """The numbers by which runs of two texts are compared."""

    breaks: int
    graphs: int
    recompiles: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a fix, from runs of the program with it.

    ``verified`` says that the finding is gone, nothing became worse, and all results are equal: in every
    branch of the replaced statements, and in a run of the program with the whole compiler. ``reason`` says
    why the fix is not verified, or what no run has covered; ``basis`` says what was compared
    (``2 example calls, forward and backward``).
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
    """Whether the only objection is that the edit reveals graph breaks, because torch compiles more code."""
    tried: bool = True
    """Whether the fix could be tried; if not, ``reason`` says why, such as how Fullgraph itself failed."""

    @property
    def removes(self) -> tuple[int, int]:
        """The numbers of graph breaks and of recompilations that the fix removes in all."""
        before, after = self.before, self.after
        return before.breaks - after.breaks, before.recompiles - after.recompiles
