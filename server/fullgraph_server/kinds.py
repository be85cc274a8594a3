"""The kinds of findings: a row has everything that commands and the editor know of a kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from .text.messages import counted

_DOCS: Final = "https://docs.pytorch.org/docs/stable"
_BREAKS: Final = f"{_DOCS}/compile/programming_model.graph_breaks_index.html"
_RECOMPILES: Final = f"{_DOCS}/compile/programming_model.recompilation.html"

FindingKind: TypeAlias = Literal[
    "graph-break",
    "recompile",
    "late-compile",
    "recompile-limit",
    "compile-error",
    "capture-error",
    "export-error",
    "accuracy",
    "skipped-frame",
    "nothing-compiled",
    "rank-difference",
    "cudagraph-skip",
    "perf-hint",
    "cache-miss",
    "cache-bypass",
    "unused-ignore",
    "target-error",
]

Summary: TypeAlias = Literal["", "itself", "eager", "failure", "problem"]
"""How a target's summary in VS Code counts a finding.

``itself`` has the name of its kind, ``eager`` is a function that runs eagerly (with severity error: a
failure). ``problem`` goes by severity: an error is a failure, a warning a problem, a note is not counted.
"""

Stable: TypeAlias = Literal["message", "cause", "function"]
"""What of a message is the same in every run: all but numbers and paths, the failed guard, the function."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A row: the names of a kind, its meaning, and how its findings are counted, compared and treated."""

    one: str
    many: str
    """Its name in the plural."""
    meaning: str
    """One sentence, as in docs/findings.md."""
    url: str = f"{_DOCS}/compile/programming_model.html"
    """PyTorch's page about it."""

    summary: Summary = ""
    """How a target's summary in VS Code counts its findings; empty if it leaves them out."""
    stable: Stable = "message"
    """What baselines and comparisons keep of a message."""
    seen_by: str = "compilation"
    """The noun of a finding's count."""
    sums_compilations: bool = False
    """Whether each compilation that saw a finding counts; else a finding counts once."""

    is_about_speed: bool = False
    """Whether the compile report and ``fullgraph times`` show it."""
    is_failure: bool = False
    """Whether it says why the program, or the compiler, came no further."""
    runs_eagerly: bool = False
    """Whether code that was to be compiled runs eagerly after it: a break for the pytest plugin."""
    is_of_guard: bool = False
    """Whether a failed guard leads to it: the edits against recompilations may help."""

    fails: bool = True
    """Whether it fails a command with ``--fail-on recompile``."""
    rejects_edits: bool = False
    """Whether an edit that adds one is rejected."""
    is_in_every_run: bool = True
    """Whether all runs look for it: a comment that ignores it can be found useless."""
    can_be_ignored: bool = True
    """Whether the editor offers a comment that ignores it."""

    def counted(self, number: int) -> str:
        """Write a number of findings with their name: ``2 graph breaks``."""
        return counted(number, self.one, self.many)

    def seen_in(self, number: int) -> str:
        """Write how often a finding was seen: ``3 compilations``."""
        return counted(number, self.seen_by)


KINDS: Final[Mapping[FindingKind, Kind]] = {
    "graph-break": Kind(
        "graph break",
        "graph breaks",
        "Dynamo ended a graph here",
        _BREAKS,
        summary="itself",
        runs_eagerly=True,
        rejects_edits=True,
    ),
    "recompile": Kind(
        "recompilation",
        "recompilations",
        "a guard failed, and the function was compiled again",
        _RECOMPILES,
        summary="itself",
        stable="cause",
        sums_compilations=True,
        is_of_guard=True,
        rejects_edits=True,
    ),
    "late-compile": Kind(
        "late compilation",
        "late compilations",
        "a compilation after the warm-up",
        _RECOMPILES,
        summary="itself",
        stable="cause",
        sums_compilations=True,
        is_of_guard=True,
        is_in_every_run=False,
    ),
    "recompile-limit": Kind(
        "recompile limit hit",
        "recompile limits hit",
        "a function was compiled too often, and new calls run eagerly",
        _RECOMPILES,
        summary="eager",
        seen_by="call",  # a call that meets the limit is not compiled
        runs_eagerly=True,
        is_of_guard=True,
        rejects_edits=True,
    ),
    "compile-error": Kind(
        "compile error",
        "compile errors",
        "the backend failed",
        summary="failure",
        is_failure=True,
        runs_eagerly=True,
        rejects_edits=True,
    ),
    "capture-error": Kind(
        "capture error",
        "capture errors",
        "Dynamo failed, or a graph break stopped the program (`fullgraph=True`)",
        summary="failure",
        is_failure=True,
        runs_eagerly=True,
        rejects_edits=True,
    ),
    "export-error": Kind(
        "export problem",
        "export problems",
        "`torch.export` failed here, or `draft_export` had to assume something",
        f"{_DOCS}/export.html",
        summary="problem",
        is_failure=True,
        rejects_edits=True,
    ),
    "accuracy": Kind(
        "wrong result",
        "wrong results",
        "a stage of the compiler gives a wrong result",
        summary="failure",
    ),
    "skipped-frame": Kind(
        "skipped frame",
        "skipped frames",
        "Dynamo gave a function up without a graph break to show for it",
        summary="eager",
        runs_eagerly=True,
        rejects_edits=True,
    ),
    "nothing-compiled": Kind(
        "function without a graph",
        "functions without a graph",
        "the program called no compiled function, or the calls of one captured no graph",
        rejects_edits=True,
    ),
    "rank-difference": Kind(
        "difference between ranks",
        "differences between ranks",
        "ranks of one job compiled a function differently",
        summary="itself",
        stable="function",
        is_in_every_run=False,
    ),
    "cudagraph-skip": Kind(
        "skipped CUDA graph",
        "skipped CUDA graphs",
        "a graph that was to run as a CUDA graph does not",
        is_about_speed=True,
        is_in_every_run=False,
    ),
    "perf-hint": Kind(
        "performance hint",
        "performance hints",
        "something else costs speed",
        is_about_speed=True,
        is_in_every_run=False,
    ),
    "cache-miss": Kind(
        "cache miss",
        "cache misses",
        "a cache of the compiler lacked a graph where it had others",
        is_about_speed=True,
        fails=False,
        is_in_every_run=False,
    ),
    "cache-bypass": Kind(
        "cache bypass",
        "cache bypasses",
        "a cache of the compiler leaves a graph out",
        is_about_speed=True,
        fails=False,
        is_in_every_run=False,
    ),
    "unused-ignore": Kind(
        "unused ignore comment",
        "unused ignore comments",
        "a comment that ignores findings ignored none",
        fails=False,
        can_be_ignored=False,
    ),
    "target-error": Kind(
        "problem",
        "problems",
        "the program raised, crashed, ran out of memory, was stopped at its time limit "
        "(information), or could not start",
        summary="problem",
        is_failure=True,
        rejects_edits=True,
        can_be_ignored=False,
    ),
}
"""A row for each kind, in the order in which summaries name them."""

EXPORT_CODES: Final = {
    "data-dependent": "an export has to know a condition or a number that only data decide",
    "missing-fake-kernel": "nothing says what the result of an operator looks like, so it cannot be exported",
    "mismatched-fake-kernel": "the result of an operator is not what its fake kernel says",
    "assigned-attribute": "a module assigns a tensor to an attribute, which the exported program does not do",
    "size-constraint": "the code restricts a size, or makes a number of it, that may be marked dynamic",
}
"""The meaning of a finding's code, for those of the kind `export-error`."""
