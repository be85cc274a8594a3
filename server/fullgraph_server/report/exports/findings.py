"""Findings about exports, each on the line that prevents the export."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from fullgraph_compiler.facts import (
    CompileFailure,
    ExportFailed,
    ExportProblem,
    GraphCaptured,
    ProgramExported,
    RunFinished,
    Severity,
    SizeViolation,
    Specialization,
    Stack,
)

from ...text import exports, messages
from ...text.markdown import code_span
from ...text.size_expressions import written_size
from ...workspace.ranges import assignment_frame
from ..facts_by_type import FactsByType
from ..finding_builder import FindingBuilder
from ..source_locator import FactLocator
from .conditions import condition_of
from .marked_sizes import INPUTS, SizeFact, code_behind, condition_text, source_of, sources_of, written
from .refused import refusals


def export_builders(facts: FactsByType, places: FactLocator) -> Iterator[FindingBuilder]:
    """Build a finding for each problem of an export.

    If several exports have the same problem, there is one finding.
    """
    ended = _ExportFacts(facts, places)
    builders: dict[tuple[str, object, str], FindingBuilder] = {}
    for builder in ended.builders():
        made = builder.finding
        builders.setdefault((made.code, made.span, made.message), builder)
    yield from builders.values()


class _ExportFacts:
    """The facts about the exports of a run or a log."""

    def __init__(self, facts: FactsByType, places: FactLocator) -> None:
        self._facts = facts
        self._finding = places.finding
        self._places = places
        self._workspace = places.workspace
        self._failed = {fact.compile_id: fact for fact in facts.of(ExportFailed) if not fact.retried}
        self._ended = bool(facts.of(RunFinished))  # a log has no such fact
        self._broken = {fact.compile_id for fact in facts.of(CompileFailure)}
        self._sizes: dict[str, list[SizeFact]] = defaultdict(list)
        for fact in facts.all:
            if isinstance(fact, SizeFact):
                self._sizes[fact.compile_id].append(fact)

    def builders(self) -> Iterator[FindingBuilder]:
        """Build the findings, in the order of the facts."""
        for fact in self._facts.all:
            if isinstance(fact, ExportProblem):
                yield self._problem(fact)
            elif isinstance(fact, ExportFailed):
                yield from self._failure(fact)
            elif isinstance(fact, ProgramExported) and fact.of_draft_log:
                for size in self._sizes[fact.compile_id]:
                    yield self._size_in_log(size, failed=False)

    def _problem(self, fact: ExportProblem) -> FindingBuilder:
        if fact.kind == "data-dependent":
            return self._undecided(fact)
        return self._assigned(fact) if fact.kind == "assigned-attribute" else self._kernel(fact)

    def _assigned(self, fact: ExportProblem) -> FindingBuilder:
        traced = {
            (node.frame.filename, node.frame.function)
            for graph in self._facts.of(GraphCaptured)
            if graph.compile_id == fact.compile_id
            for node in graph.nodes
        }
        sources = ((self._workspace.source(filename), name) for filename, name in sorted(traced))
        found = (
            assignment_frame(source, name, fact.subject)
            for source, name in sources
            if source is not None and self._workspace.contains(source.filename)
        )
        frame = next(filter(None, found), None)
        function = frame.function if frame else ""
        is_left, attribute = bool(fact.detail), code_span(fact.subject)
        if is_left:
            where = f", which {code_span(function)} assigns" if function else ""
            message = f"the export leaves {attribute}{where}, as a fake tensor without data"
        else:
            where = f" in {code_span(function)}" if function else ""
            message = f"the exported program omits the assignment of {attribute}{where}"
        return self._finding(
            "export-error",
            "warning",
            message,
            (frame,) if frame else (),
            fact.compile_id,
            code=fact.kind,
            hints=(exports.MAKE_FIRST,) if is_left else exports.assigned_hints(fact.subject),
        )

    def _severity(self, fact: ExportProblem) -> Severity:
        """Return ``error`` for a problem that made an export fail, otherwise ``warning``."""
        failed = self._failed.get(fact.compile_id)
        return "error" if failed and failed.cause == fact.subject else "warning"

    def _undecided(self, fact: ExportProblem) -> FindingBuilder:
        span = self._places.place(fact.stack, fact.compile_id).span
        condition = condition_of(fact, span, self._places)
        names = [name for name, _ in condition.reads if name]
        if condition.text == fact.subject and not names:
            names = [item.name for item in fact.symbols]
        places = [
            f"{code_span(item.name)} is read from a tensor on line {place.row}"
            for item, (_, place) in zip(fact.symbols, condition.reads, strict=True)
            if place and place.filename == span.filename
        ]
        explanation = "; ".join([f"torch calls it {code_span(fact.subject)}", *places])
        return self._finding(
            "export-error",
            self._severity(fact),
            exports.undecided(condition.text, fact, kind=condition.kind, names=names),
            fact.stack,
            fact.compile_id,
            code=fact.kind,
            explanation=f"{explanation}.",
            hints=exports.undecided_hints(
                condition.text,
                condition.opposite,
                fact.detail,
                kind=condition.kind,
                value=condition.value,
                unnamed=condition.unnamed,
                in_library=bool(fact.stack) and not self._workspace.contains(fact.stack[-1].filename),
            ),
            text=self._text(fact.compile_id),
        )

    def _kernel(self, fact: ExportProblem) -> FindingBuilder:
        missing, severity = fact.kind == "missing-fake-kernel", self._severity(fact)
        message = exports.mismatched_kernel(fact.subject, fact.detail)
        if missing:
            message = f"{code_span(fact.subject)} has no fake kernel, which says what its result looks like"
            message += ": draft_export took that from a real call" if severity == "warning" else ""
        return self._finding(
            "export-error",
            severity,
            message,
            fact.stack,
            fact.compile_id,
            code=fact.kind,
            hints=exports.kernel_hints(fact.subject, missing=missing),
            text=self._text(fact.compile_id),
        )

    def _text(self, compile_id: str) -> str:
        failed = self._failed.get(compile_id)
        return failed.text if failed else ""

    def _failure(self, fact: ExportFailed) -> Iterator[FindingBuilder]:
        """Build findings on why an export failed.

        There are none if a problem of the export already has a finding that says why.
        """
        if fact.violations:
            yield from self._violations(fact)
        elif fact.cause or fact.compile_id in self._broken:
            return
        elif refused := list(refusals(fact.message)):
            for refusal in refused:
                yield self._finding(
                    "export-error",
                    "error",
                    refusal.title,
                    fact.stack,
                    fact.compile_id,
                    code="size-constraint" if refusal.about_sizes else "",
                    hints=refusal.hints,
                    text=fact.text,
                )
        elif sizes := [] if fact.error or fact.while_tracing else self._sizes[fact.compile_id]:
            yield from (self._size_in_log(size, failed=True) for size in _by_line(sizes))
        else:
            yield self._finding(
                "export-error",
                "error",
                exports.failed(fact, messages.first_line(fact.message)),
                fact.stack,
                fact.compile_id,
                hints=() if fact.error or self._ended else (exports.FULL_REASON,),
                text=fact.text,
            )

    def _violations(self, fact: ExportFailed) -> Iterator[FindingBuilder]:
        """Build a finding for each line and each dimension that the line restricts.

        If a line restricts a dimension by several conditions, the message has one and the explanation the
        others.
        """
        told: dict[tuple[str, str, int], list[tuple[SizeViolation, Stack, str]]] = {}
        for violation in fact.violations:
            size = code_behind(violation, self._sizes[fact.compile_id])
            stack = size.stack if size and size.stack else fact.stack
            source = violation.source or (source_of(size) if size else "")
            place = self._places.place(stack, fact.compile_id).span
            told.setdefault((violation.dimension or source, place.filename, place.row), []).append(
                (violation, stack, source)
            )
        for same in told.values():
            violation, stack, source = next((item for item in same if item[0].value), same[0])
            condition = condition_text(violation)
            others = [condition_text(item) for item, _, _ in same if item.condition and item is not violation]
            name = violation.dimension
            name_of_size = "" if INPUTS in source else written_size(source)
            suggestions = [line for line in fact.suggestions if not name or name in line.partition(" = ")[0]]
            yield self._finding(
                "export-error",
                "warning" if fact.retried else "error",
                exports.specialized(name_of_size, violation.value, name)
                if violation.value
                else exports.restricted(condition, name),
                stack,
                fact.compile_id,
                code="size-constraint",
                explanation=exports.also(others),
                hints=exports.size_hints(violation.value, suggestions),
                text=fact.text,
            )

    def _size_in_log(self, fact: SizeFact, *, failed: bool) -> FindingBuilder:
        who = "a failing export" if failed else "draft_export"
        return self._finding(
            "export-error",
            "error" if failed else "information",
            f"{who} assumes {code_span(written(fact))} here",
            fact.stack,
            fact.compile_id,
            code="size-constraint",
            hints=exports.IN_LOG_OF_FAILED if failed else (exports.DRAFT_SIZES,),
        )


def _by_line(sizes: Sequence[SizeFact]) -> Iterator[SizeFact]:
    """Yield one fact for each line: a specialization if there is one, else the first."""
    chosen: dict[object, SizeFact] = {}
    for fact in sizes:
        if not fact.stack or not sources_of(fact):
            continue
        place = (fact.stack[-1].filename, fact.stack[-1].row)
        if place not in chosen or isinstance(fact, Specialization):
            chosen[place] = fact
    yield from chosen.values()
