"""Fixes of findings, and what running the program with one has shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from fullgraph_compiler.facts import CallsSeen

from ..report.model import Finding, Report
from ..workspace.positions import Span
from ..workspace.source import SourceFile

Safety: TypeAlias = Literal["safe", "unsafe"]
"""Whether a fix keeps what the program does (``safe``) or changes it: words of ruff."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of a range of a file; an empty range is an insertion before its place."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Operator:
    """What an edit defines in the module, for its new lines: an operator of torch, which is then checked.

    ``name`` is that of the operator, empty if it is none, ``definition`` the text, and ``seen`` what its
    sizes rest on. ``in_place`` says that it changes tensors, none of which has a gradient in the run.
    """

    name: str
    definition: str
    seen: str = ""
    in_place: bool = False


_REGISTRY: Final = "torch/_dynamo/graph_break_registry.json"
_OF_COMPILER: Final = ("torch._", "torch.compile", "torch.cond", "dynamic", "device", "dtype", ".to(")
"""What edits have in them that set options, mark sizes, or change types and devices."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A candidate for the fix of a finding.

    ``rule`` is the rule's id (``where``), ``title`` a short imperative (``Choose with `torch.where```),
    ``change`` what it changes of the program's behaviour, in one sentence, ``source`` the page of torch's
    documentation, or the file of torch, that the rule rests on. Edits do not overlap; the
    constants of rules have none.


    """

    rule: str
    title: str
    change: str
    safety: Safety = "unsafe"
    source: str = _REGISTRY
    edits: tuple[Edit, ...] = ()
    prints_differ: bool = False
    """Whether what the program prints may differ or move: then it is not compared."""
    runs_skipped: bool = False
    """Whether the edited statements run what was skipped before: it may draw random numbers, and what is not
    finite there may reach gradients."""
    errors_differ: bool = False
    """Whether the edited statements may raise ``RuntimeError`` where the old ones raise another error."""
    replaces: bool = True
    """Whether edited statements compute something: then they are tried by themselves, old against new."""
    operator: Operator | None = None

    @property
    def needs_whole_compiler(self) -> bool:
        """Whether only a run with TorchInductor verifies it: it is for the compiler, or nothing tries it."""
        speaks = any(name in edit.text for edit in self.edits for name in _OF_COMPILER)
        is_untried = not (self.replaces or self.prints_differ) and any(edit.text for edit in self.edits)
        return speaks or self.operator is not None or is_untried


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule knows beside its finding: the report of the run, and the texts that ran, by file name.

    ``calls`` are those that were observed, by the place of the call.
    """

    report: Report
    files: Mapping[str, SourceFile | None]
    calls: Mapping[Span, CallsSeen] = field(default_factory=dict)


Rule: TypeAlias = Callable[[Finding, Context], Iterable[Fix]]
"""Returns candidates for the fix of a finding; a pure function."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What is counted of a run, to compare it with that of another text."""

    breaks: int
    graphs: int
    recompiles: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What running the program with a fix has shown.

    ``verified`` says that the finding is gone, nothing became worse and all results are equal, in every
    branch of the replaced statements, and where the program runs as it does by itself. ``reason`` is the
    sentence for why it is not, or what could not be seen; ``basis`` is what the verdict rests on
    (``2 example calls, forward and backward``).
    """

    verified: bool
    reason: str
    before: Counts
    after: Counts
    basis: str = ""
    untaken: tuple[str, ...] = ()
    """The branches of the replaced statements that no value took."""
    along: tuple[Finding, ...] = ()
    """The other findings that the edit removes: consequences of the one that it is for."""
    reveals: bool = False
    """Whether all that is against it are breaks that showed only now, since more is compiled."""
    tried: bool = True
    """Whether it could be tried: if not, ``reason`` says how Fullgraph itself failed."""

    @property
    def removes(self) -> tuple[int, int]:
        """The numbers of breaks and of recompilations that are gone, with those that went along."""
        before, after = self.before, self.after
        return before.breaks - after.breaks, before.recompiles - after.recompiles
