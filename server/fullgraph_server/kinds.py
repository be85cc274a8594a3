"""The kinds of findings; each row has everything that commands and editors need."""

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

``itself``: under the name of its kind. ``eager``: as a function that runs eagerly (with severity error: as
a failure). ``problem``: by severity; an error is a failure, a warning a problem, a note is not counted.
"""

Stable: TypeAlias = Literal["message", "cause", "function"]
"""The part of a message that is equal in every run: the text without numbers and paths, the failed guard,
or the function."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding: its names and meaning, and how to count and compare it."""

    one: str
    many: str
    """The name in the plural."""
    meaning: str
    """One sentence, as in docs/findings.md."""
    url: str = f"{_DOCS}/compile/programming_model.html"
    """PyTorch's page about the kind."""

    summary: Summary = ""
    """How a target's summary in VS Code counts these findings; empty if the summary leaves them out."""
    stable: Stable = "message"
    """The part of a message by which baselines and comparisons recognize a finding."""
    seen_by: str = "compilation"
    """The noun for a finding's count."""
    sums_compilations: bool = False
    """Whether a finding counts once for each compilation that has it, instead of only once."""

    is_about_speed: bool = False
    """Whether the compile report and ``fullgraph times`` show these findings."""
    is_failure: bool = False
    """Whether the finding says why the program, or the compiler, stopped."""
    runs_eagerly: bool = False
    """Whether code meant for compilation runs eagerly: the pytest plugin counts it as a break."""
    is_of_guard: bool = False
    """Whether a failed guard causes the finding: edits against recompilations may help."""

    fails: bool = True
    """Whether the finding fails a command with ``--fail-on recompile``."""
    rejects_edits: bool = False
    """Whether an edit that adds such a finding is rejected."""
    is_in_every_run: bool = True
    """Whether every run looks for such findings; only then is a comment that ignores them ever unused."""
    can_be_ignored: bool = True
    """Whether the editor offers a comment that ignores the finding."""

    def counted(self, number: int) -> str:
        """Return a number of findings in words: ``2 graph breaks``."""
        return counted(number, self.one, self.many)

    def seen_in(self, number: int) -> str:
        """Return how often a finding was seen, in words: ``3 compilations``."""
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
        "a stage of the compiler produces a wrong result",
        summary="failure",
    ),
    "skipped-frame": Kind(
        "skipped frame",
        "skipped frames",
        "Dynamo skipped the function without reporting a graph break",
        summary="eager",
        runs_eagerly=True,
        rejects_edits=True,
    ),
    "nothing-compiled": Kind(
        "function without a graph",
        "functions without a graph",
        "the program called no compiled function, or the calls of a compiled function captured no graph",
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
        "a graph that should run as a CUDA graph does not",
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
        "a compiler cache had no entry for this graph, but had entries for other graphs",
        is_about_speed=True,
        fails=False,
        is_in_every_run=False,
    ),
    "cache-bypass": Kind(
        "cache bypass",
        "cache bypasses",
        "a compiler cache does not store this graph",
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
    "data-dependent": "export needs the value of a condition or a number that depends on data",
    "missing-fake-kernel": "an operator has no fake kernel, so export cannot know the shape of its result",
    "mismatched-fake-kernel": "the result of an operator differs from the result of its fake kernel",
    "assigned-attribute": "a module assigns a tensor to an attribute; the exported program does not",
    "size-constraint": "a size is marked as dynamic, but the code restricts it or turns it into a constant",
}
"""The meaning of each code of findings of the kind `export-error`."""
