"""The smallest set of marked sizes with which a program is compiled only once.

A mark is a call of ``mark_dynamic`` or ``mark_unbacked``. The one compilation serves the sizes that
the program uses and those that the user added.
"""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fullgraph_compiler.facts import AddedSizes

from ..report.model import Finding, FrameReport, Report
from ..text.remedies import Remedy, RemedyKind
from ..workspace.positions import Span
from .changes import counts_of
from .experiments import ExperimentState
from .model import Edit, Fix, RuleContext
from .plans import FixPlan
from .prover import EditProver
from .rules.calls import compiled
from .rules.catalogue import candidates as all_candidates
from .rules.recompilations import compiled_otherwise, expression
from .rules.syntax import parameters

_RULES: Final = ("mark-dynamic", "mark-unbacked", "dynamic", "setting")
_WRITTEN: Final[dict[RemedyKind, str]] = {
    "mark": "torch._dynamo.mark_dynamic",
    "mark-unbacked": "torch._dynamo.decorators.mark_unbacked",
}
_MOST_SETS = 24
"""The number of sets of marks, and of other edits, that are tried for one recompilation."""
_MOST_MARKS = 4
"""Up to this number of marks, all subsets are tried; of more marks, only single marks, pairs, and all
together."""
_MOST_STEPS = 8
SOURCES: Final = "TORCH_COMPILE_DYNAMIC_SOURCES"


@dataclass(frozen=True, slots=True, order=True)
class SizeMark:
    """A size that can be marked as dynamic: dimension ``dim`` of ``tensor``.

    ``tensor`` is an expression in the compiled function.
    """

    tensor: str
    dim: int


@dataclass(frozen=True, slots=True)
class SizePlan:
    """The result of a search for marks: the fixes, in the order of application.

    ``base`` is the state of the program before the fixes, ``last`` the state with all of them.
    """

    base: ExperimentState
    last: ExperimentState
    fixes: tuple[Fix, ...] = ()
    nondeterminism: str = ""
    """Why results cannot be compared, as a sentence; empty if they can."""
    reasons: tuple[str, ...] = ()
    """Why the edits that were tried for the remaining recompilations failed, each as a sentence."""

    @property
    def unknown(self) -> str:
        """Why a requested size is not a size of the program; empty if all of them are."""
        return next((item.words for item in self.base.sizes if item.outcome == "unknown"), "")

    @property
    def left(self) -> list[Finding]:
        """The recompilations that remain after the fixes."""
        return _recompilations(self.last.report)

    @property
    def texts(self) -> dict[str, tuple[str, str]]:
        """The texts of the changed files, before and after the fixes."""
        return FixPlan(self.base, self.last, (), ()).texts


async def find_sizes(prover: EditProver, added: Sequence[AddedSizes]) -> SizePlan:
    """Run a program with added sizes; find marks that leave the fewest compilations."""
    prover.added = tuple(added)
    base = await prover.as_it_is()
    found = SizePlan(base, base)
    if found.unknown or base.report.status == "not-started":
        return found
    nondeterminism = await prover.nondeterminism(base)
    if nondeterminism or not found.left:
        return replace(found, nondeterminism=nondeterminism)
    named = tuple(dict.fromkeys(name for item in base.sizes for name in (item.place, *item.along)))
    is_better = True
    while is_better and found.left and len(found.fixes) < _MOST_STEPS:
        step = await _step(prover, found, named)
        is_better, found = step.last is not found.last, step
    return await _without_needless(prover, found)


async def _step(prover: EditProver, found: SizePlan, named: Sequence[str]) -> SizePlan:
    """Add the smallest fix that leaves the fewest recompilations.

    If no fix reduces them, set ``reasons``.
    """
    best, fewest = found, counts_of(found.last.report).recompiles
    breaks = counts_of(found.base.report).breaks  # a new break would hide recompilations
    reasons: dict[str, str] = {}
    for fix in _candidates(found.last.report, named):
        state = await prover.with_fixes(found.last, [fix])
        recompiles = counts_of(state.report).recompiles
        problem = (
            refused_mark(state.report)
            or ("it breaks the graph" if counts_of(state.report).breaks > breaks else "")
            or await prover.differences(found.base, state)
        )
        if not problem and recompiles < fewest:
            best, fewest = replace(found, last=state, fixes=(*found.fixes, fix), reasons=()), recompiles
        elif best is found:
            reasons.setdefault(fix.title, f"{fix.title}: {problem or 'the program recompiles as often'}")
        if not fewest:
            break
    return best if best is not found else replace(found, reasons=tuple(reasons.values()))


def refused_mark(report: Report) -> str:
    """Say in torch's words that torch rejects a mark; return "" if it does not."""
    problem = report.problem
    if problem is None or problem.code != "size-constraint":
        return ""
    error, _, said = problem.explanation.partition(": ")
    return f"torch rejects a mark ({error}): {said.removesuffix('.')}"


def _candidates(report: Report, named: Sequence[str]) -> list[Fix]:
    """Return candidate fixes for a run's recompilations, smallest sets of marks first."""
    context = RuleContext(report, report.files)
    found = (size_candidates(finding, context, named)[:_MOST_SETS] for finding in _recompilations(report))
    return _distinct(itertools.chain.from_iterable(found))


def _distinct(fixes: Iterable[Fix]) -> list[Fix]:
    """Leave out fixes with the same edits as an earlier fix."""
    found: dict[tuple[Edit, ...], Fix] = {}
    for fix in fixes:
        found.setdefault(fix.edits, fix)
    return list(found.values())


def _recompilations(report: Report) -> list[Finding]:
    return [item for item in report.findings if item.kind in ("recompile", "recompile-limit")]


def size_candidates(finding: Finding, context: RuleContext, named: Sequence[str]) -> list[Fix]:
    """Return fixes that mark sizes, smallest sets first, then other fixes about sizes."""
    marks = marks_of(finding, context, named)
    settings = {item.setting for item in finding.remedies if item.kind == "mark" and item.setting}
    setting = next(iter(settings), "")
    remedies = [Remedy(kind, written(kind, chosen), setting) for chosen in _sets(marks) for kind in _WRITTEN]
    marked = [fix for remedy in remedies for fix in compiled_otherwise(finding, context, remedy)]
    dynamic = compiled_otherwise(finding, context, Remedy("dynamic"))
    others = (*all_candidates(finding, context), *dynamic)
    return _distinct([*marked, *(fix for fix in others if fix.rule in _RULES)])


def marks_of(finding: Finding, context: RuleContext, named: Sequence[str]) -> list[SizeMark]:
    """Return the sizes that may be marked for a recompilation.

    They are the sizes that the advice for the function names, and those that varied. ``named`` are the varied
    sizes, written as ``x.0``.
    """
    frames = _frames(finding.compile_ids)
    alike = [item for item in context.report.findings if _frames(item.compile_ids) & frames]
    found = [mark for item in (finding, *alike) for remedy in item.remedies for mark in _marks(remedy)]
    made = compiled(finding, context)
    if made is not None and made.function is not None:
        names = parameters(made.function)
        for place, _, dim in (name.rpartition(".") for name in named):
            is_part = isinstance(expression(place), (ast.Name, ast.Subscript, ast.Attribute))
            if dim.isdigit() and _root(place) in names and is_part:
                found.append(SizeMark(place, int(dim)))
    return sorted(dict.fromkeys(found))


def written(kind: RemedyKind, marks: Iterable[SizeMark]) -> tuple[str, ...]:
    """Write marks as code, one statement for each tensor."""
    texts = []
    for tensor, group in itertools.groupby(sorted(marks), key=lambda mark: mark.tensor):
        dims = tuple(mark.dim for mark in group)
        texts.append(f"{_WRITTEN[kind]}({tensor}, {dims[0] if len(dims) == 1 else dims})")
    return tuple(texts)


def times_compiled(frame: FrameReport) -> tuple[int, int]:
    """Return how often a function was compiled, and the number of its parts.

    Each graph break adds a part.
    """
    parts = Counter(item.partition("/")[0] for item in frame.compile_ids)
    return max(parts.values(), default=0), len(parts)


def _sets(marks: Sequence[SizeMark]) -> Iterator[tuple[SizeMark, ...]]:
    numbers = range(1, len(marks) + 1) if len(marks) <= _MOST_MARKS else (1, 2, len(marks))
    for number in numbers:
        yield from itertools.combinations(marks, number)


def _marks(remedy: Remedy) -> Iterator[SizeMark]:
    for text in remedy.code if remedy.kind in _WRITTEN else ():
        call = ast.parse(text.strip(), mode="eval").body
        if isinstance(call, ast.Call) and len(call.args) > 1:
            dims = ast.literal_eval(call.args[1])
            for dim in dims if isinstance(dims, tuple) else (dims,):
                yield SizeMark(ast.unparse(call.args[0]), dim)


def _frames(compile_ids: Iterable[str]) -> set[str]:
    return {item.partition("/")[0] for item in compile_ids}


def _root(place: str) -> str:
    return place.partition("[")[0].partition(".")[0]


# -- the smallest one ----------------------------------------------------------------------------------


async def _without_needless(prover: EditProver, found: SizePlan) -> SizePlan:
    """Drop the marks of earlier steps that later steps made needless."""
    if len(found.fixes) < 2:
        return found  # smaller sets were tried before
    before = counts_of(found.last.report)
    for line in dict.fromkeys(text for _, text in _added_marks(found)):
        edits = [Edit(span, "") for span, text in _added_marks(found) if text == line]
        fix = Fix("needless", "", "", "safe", "", tuple(edits), replaces=False)
        state = await prover.with_fixes(found.last, [fix])
        if counts_of(state.report) == before and not await prover.differences(found.base, state):
            found = replace(found, last=state)
    return found


def _added_marks(found: SizePlan) -> list[tuple[Span, str]]:
    """Return the added lines that mark sizes, with their places in the last text."""
    names = [f"{name.rpartition('.')[2]}(" for name in _WRITTEN.values()]
    marks = []
    for filename, (before, after) in found.texts.items():
        known = {line.strip() for line in before.splitlines()}
        for row, line in enumerate(after.splitlines(), 1):
            if line.strip() not in known and any(name in line for name in names):
                marks.append((Span(filename, row, 1, row + 1, 1), line.strip()))
    return marks


# -- without a change of the code ----------------------------------------------------------------------


async def dynamic_sources(prover: EditProver, found: SizePlan) -> str:
    """Return a ``TORCH_COMPILE_DYNAMIC_SOURCES`` with the same effect as the fixes.

    A run confirms the value. Return "" if no value has this effect.
    """
    if not found.texts or any(fix.rule not in ("mark-dynamic", "dynamic") for fix in found.fixes):
        return ""
    wanted = counts_of(found.last.report)
    for value in dict.fromkeys(_source_values(found.base)):
        state = await prover.run(found.base.texts, variables={SOURCES: value})
        if counts_of(state.report) == wanted and not await prover.differences(found.base, state):
            return value
    return ""


def _source_values(base: ExperimentState) -> Iterator[str]:
    """Yield values of ``TORCH_COMPILE_DYNAMIC_SOURCES`` to try.

    Values that name single dimensions come first; older versions of torch do not support them.
    """
    varied = [name.rpartition(".") for item in base.sizes for name in (item.place, *item.along)]
    sized = dict.fromkeys((place, dim) for place, _, dim in varied if place and dim.isdigit())
    if sized:
        yield ", ".join(f"{_source(place)}:{dim}" for place, dim in sized)
        yield ", ".join(dict.fromkeys(_source(place) for place, _ in sized))
    guards = [guard for frame in base.report.frames if len(frame.compile_ids) > 1 for guard in frame.guards]
    sources = [item.source for item in guards if item.kind == "TENSOR_MATCH"]
    local = [text for text in sources if text.startswith("L[") and "._" not in text and "'self'" not in text]
    if local:
        yield ", ".join(dict.fromkeys(local))


def _source(place: str) -> str:
    root = _root(place)
    return f"L['{root}']{place[len(root) :]}"
