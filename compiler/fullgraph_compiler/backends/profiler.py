"""A profiler of recompilations; each function keeps only one compilation.

This replaces torch's ``CompileProfiler``, which was in ``torch/_dynamo/utils.py`` until 2.0::

    prof = CompileProfiler()
    compiled = torch.compile(f, backend=prof)
    compiled(x)
    print(prof.report())

The result is the worst case, independent of ``recompile_limit``: a guard fails whenever a guarded value
differs from the value in the previous call. So every change is reported, even if a cache or a limit would
hide it.
"""

from __future__ import annotations

import os
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..compat import dynamo_compat, torch_compat
from ..facts import (
    Fact,
    FrameCompiled,
    FrameStarted,
    GraphBreak,
    GuardFailure,
    GuardInstalled,
    Recompile,
    Stack,
    StackFrame,
)
from ..trace.changes import completed, versions
from ..trace.guards import strip_locals
from .explain import ExplainWithBackend

_WIDEST = 60
"""The maximum number of characters in a cell of a table."""


@dataclass(frozen=True, slots=True)
class Recompilation:
    """One recompilation: the failed guard, the user's call, and its time in seconds."""

    compile_id: str
    failure: GuardFailure
    caller: StackFrame | None
    seconds: float


@dataclass(frozen=True, slots=True)
class FunctionProfile:
    """The compilations of one function, including its parts after graph breaks.

    ``versions`` is the number of compilations that a cache without a limit would contain.
    """

    function: str
    filename: str
    row: int
    compilations: int
    recompilations: tuple[Recompilation, ...]
    versions: int

    @property
    def seconds(self) -> float:
        """The total time of the recompilations in seconds."""
        return sum(recompilation.seconds for recompilation in self.recompilations)


@dataclass(frozen=True, slots=True)
class CountedBreak:
    """A graph break, and the number of compilations in which it occurred."""

    code: str
    reason: str
    stack: Stack
    count: int


@dataclass(frozen=True, slots=True)
class ProfileMetrics:
    """The compilations by function, and the graph breaks, the most frequent first."""

    functions: tuple[FunctionProfile, ...]
    graph_breaks: tuple[CountedBreak, ...]

    @property
    def recompilations(self) -> int:
        """The number of recompilations."""
        return sum(len(function.recompilations) for function in self.functions)

    @property
    def recompile_limit(self) -> int:
        """The lowest ``recompile_limit`` with which no function would run eagerly."""
        return max((function.versions for function in self.functions), default=0)


class CompileProfiler(ExplainWithBackend):
    """A backend for ``torch.compile`` that reports why functions recompile.

    Graphs run eagerly. The backend records until it is closed: use it in a ``with`` statement, or call
    :meth:`close`. Until then, each function compiled with this backend keeps only its newest compilation, and
    has no recompile limit.
    """

    def __init__(self) -> None:
        super().__init__("eager")
        self._stack.enter_context(dynamo_compat.keeping_one_entry(self))

    @property
    def frame_count(self) -> int:
        """The number of compiled graphs."""
        return len(self._graphs)

    @property
    def op_count(self) -> int:
        """The number of operations in all compiled graphs."""
        return sum(len(graph.ops) for graph in self._graphs.values())

    def get_metrics(self) -> ProfileMetrics:
        """Return the compilations recorded so far."""
        return ProfileMetrics(tuple(_functions(self._facts)), tuple(_breaks(self._facts)))

    def report(self) -> str:
        """Return the compilations recorded so far as tables of text."""
        return "\n".join(_lines(self.get_metrics())) + "\n"


# -- metrics from facts ------------------------------------------------------------------------

_Function: TypeAlias = tuple[str, str, int]


def _functions(facts: Sequence[Fact]) -> list[FunctionProfile]:
    """Return the profile of each function."""
    started = {fact.compile_id: fact for fact in facts if isinstance(fact, FrameStarted)}
    seconds = {fact.compile_id: fact.seconds for fact in facts if isinstance(fact, FrameCompiled)}
    guards: dict[str, list[GuardInstalled]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact, GuardInstalled):
            guards[fact.compile_id].append(fact)
    compilations: dict[_Function, list[str]] = defaultdict(list)
    for compile_id, frame in started.items():
        compilations[_key(frame)].append(compile_id)
    recompilations: dict[_Function, list[Recompilation]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact, Recompile):
            frame = started[fact.compile_id]  # reported right after the ``Recompile``
            failure = fact.failures[0]  # of the only compilation that was kept
            failure = completed(failure, guards[failure.compile_id], guards[fact.compile_id])
            recompilations[_key(frame)].append(
                Recompilation(
                    fact.compile_id, failure, _caller(frame.stack), seconds.get(fact.compile_id, 0.0)
                )
            )
    profiles = [
        FunctionProfile(
            *function,
            len(compile_ids),
            tuple(recompilations[function]),
            versions({name: guards[name] for name in compile_ids if name in seconds}),
        )
        for function, compile_ids in compilations.items()
    ]
    return sorted(profiles, key=lambda profile: -len(profile.recompilations))


def _key(frame: FrameStarted) -> _Function:
    return frame.function, frame.filename, frame.row


def _caller(stack: Stack) -> StackFrame | None:
    """Return the innermost call outside of torch, if any."""
    own = [frame for frame in stack if not frame.filename.startswith(torch_compat.folder())]
    return own[-1] if own else None


def _breaks(facts: Sequence[Fact]) -> list[CountedBreak]:
    first: dict[tuple[object, ...], GraphBreak] = {}
    seen: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for fact in facts:
        if isinstance(fact, GraphBreak):
            key = (fact.code, fact.reason, *((frame.filename, frame.row) for frame in fact.stack[-1:]))
            first.setdefault(key, fact)
            seen[key].add(fact.compile_id)
    counted = [CountedBreak(b.code, b.reason, b.stack, len(seen[key])) for key, b in first.items()]
    return sorted(counted, key=lambda counted_break: -counted_break.count)


# -- the report --------------------------------------------------------------------------------

_BREAK_COLUMNS = ("Count", "Code", "Place", "Reason")
_FUNCTION_COLUMNS = ("Function", "Place", "Recompiles", "Seconds", "Different compilations")
_RECOMPILATION_COLUMNS = ("Compile id", "Guard", "Expected", "Actual", "First used", "Called from")


def _lines(metrics: ProfileMetrics) -> Iterator[str]:
    yield from _heading("Torchdynamo Profiler Report", "=")
    yield ""
    yield from _heading("Graph Breaks", "-")
    if metrics.graph_breaks:
        yield "A graph ends where Dynamo meets code that it cannot trace; fullgraph=True stops at the first."
        yield ""
        yield from _table([_BREAK_COLUMNS, *map(_break_row, metrics.graph_breaks)], ">")
    else:
        yield "There are none."
    yield ""
    yield from _heading("Recompilation", "-")
    again = [function for function in metrics.functions if function.recompilations]
    if not again:
        yield "Nothing was compiled more than once."
        return
    yield "Each function keeps only its newest compilation, and recompiles when one of its guards fails."
    yield ""
    yield from _table([_FUNCTION_COLUMNS, *map(_function_row, again)], "<<>>>")
    for function in again:
        yield ""
        yield f"{function.function} ({_place(function)})"
        for line in _table([_RECOMPILATION_COLUMNS, *map(_recompilation_row, function.recompilations)]):
            yield f"  {line}"
    yield ""
    limit = metrics.recompile_limit
    yield f"Set torch._dynamo.config.recompile_limit to {limit} or more to avoid being cache limited."


def _break_row(counted: CountedBreak) -> tuple[str, ...]:
    return str(counted.count), counted.code, _place(*counted.stack[-1:]), counted.reason.partition("\n")[0]


def _function_row(profile: FunctionProfile) -> tuple[str, ...]:
    count = len(profile.recompilations)
    return profile.function, _place(profile), str(count), f"{profile.seconds:.2f}", str(profile.versions)


def _recompilation_row(recompilation: Recompilation) -> tuple[str, ...]:
    failure = recompilation.failure
    return (
        recompilation.compile_id,
        _guard(failure),
        failure.expected,
        failure.actual,
        _place(*failure.stack[-1:]),
        _place(recompilation.caller) if recompilation.caller else "",
    )


def _guard(failure: GuardFailure) -> str:
    """Return the guarded property, or torch's reason if the guarded value has no name."""
    name = strip_locals(failure.source)
    if not name:
        return failure.changed if failure.kind == "GLOBAL_STATE" else failure.reason
    if not failure.changed:
        return name
    place = "" if failure.dimension is None else f" at dimension {failure.dimension}"
    return f"{failure.changed} of {name}{place}"


def _place(at: StackFrame | FunctionProfile | None = None) -> str:
    """Return a location like ``train.py:12``.

    The path is relative to the current folder if the file is below this folder.
    """
    if at is None:
        return ""
    folder = os.path.join(os.getcwd(), "")
    return f"{at.filename.removeprefix(folder)}:{at.row}"


def _heading(text: str, line: str) -> tuple[str, str]:
    return text, line * len(text)


def _table(rows: Sequence[Sequence[str]], alignment: str = "") -> Iterator[str]:
    """Yield a line of text for each row.

    ``alignment`` has one ``<`` or ``>`` for each of the first columns; all other columns get ``<``.
    """
    cells = [[textwrap.shorten(cell, _WIDEST, placeholder=" ...") or "-" for cell in row] for row in rows]
    sides = alignment.ljust(len(cells[0]), "<")
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        line = (f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True))
        yield "  ".join(line).rstrip()
