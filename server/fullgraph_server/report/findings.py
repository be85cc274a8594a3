"""Findings from facts, each on a line of user code; equal findings are merged."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from fullgraph_compiler.facts import (
    CallsCounted,
    CallsWithoutGraph,
    CompileFailure,
    Depth,
    ExportFailed,
    Fact,
    FaultLocated,
    FrameSkipped,
    FrameStarted,
    GraphBreak,
    GraphCaptured,
    ProgramExported,
    ProgramRaised,
    RecompileLimit,
    RunFinished,
    Severity,
    Stack,
    StackFrame,
    TargetProblem,
)
from fullgraph_compiler.trace.export.texts import parse_failing_operator
from fullgraph_compiler.trace.graphs import parse_operators
from fullgraph_compiler.trace.messages import RelayedError, parse_error_elsewhere

from ..kinds import FindingKind
from ..text import exports, hints, messages
from ..text.markdown import code_span
from ..text.remedies import Advice, sentences
from ..workspace.positions import Span
from .answers.answers import FindingAnswers
from .answers.causes import cause_answer
from .answers.inlined.cached import cached_builders
from .answers.inlined.nested import nested_builders
from .caches.model import CacheUses
from .caches.uses import cache_builders
from .exports.findings import export_builders
from .exports.marked_sizes import refused_marks
from .facts_by_type import FactsByType
from .faults import add_faults, fault_message
from .finding_builder import FindingBuilder
from .recompiles import RecompileIndex
from .source_locator import FactLocator, with_library_places
from .speed import speed_builders
from .wrappers import LightningModules, wrapper_of

_GRAVEST_FIRST: Final[tuple[Severity, ...]] = ("error", "warning", "information")
_LINE: Final = re.compile(r"\bline (\d+)")
_OF_A_PROGRAM: Final[tuple[Depth, ...]] = ("graph", "recompiles", "late-compile", "kernels", "build")
"""The depths of runs that execute the whole program."""


class FindingFacts:
    """The facts of a run, with all that is needed to build findings from them."""

    def __init__(
        self,
        facts: FactsByType,
        places: FactLocator,
        recompilations: RecompileIndex,
        lightning: LightningModules,
        caches: CacheUses,
        depth: Depth,
    ) -> None:
        self._lightning = lightning
        self._caches = caches
        self._facts = facts
        self._places = places
        self._recompilations = recompilations
        workspace = self._workspace = places.workspace
        self._explained = {
            *facts.by_compile_id(GraphBreak),
            *facts.by_compile_id(CompileFailure),
            *facts.by_compile_id(RecompileLimit),
        }
        self._skipped = {fact.compile_id for fact in facts.of(FrameSkipped)}
        self._raised_at = {
            (frame.filename, frame.row) for fact in facts.of(ProgramRaised) for frame in fact.stack[-1:]
        }
        end = facts.last(RunFinished)
        self._not_started = end is not None and end.status == "not-started"
        self.completed = end is not None and end.status in ("finished", "exited")
        # Neither a log nor a run of an analysis says how the program ended.
        self._succeeded = end is not None and end.exit_code == 0 and depth in _OF_A_PROGRAM
        self._ended_early = (
            end is not None
            and end.status == "exited"
            and any(fact.stack and fact.severity == "warning" for fact in facts.of(TargetProblem))
        )
        self._uncalled = {
            fact
            for fact in facts.of(CallsWithoutGraph)
            if not fact.calls and workspace.contains(fact.filename)
        }
        self._answers = FindingAnswers(facts, places)
        self._exports = bool(facts.of(ProgramExported) or facts.of(ExportFailed))
        self._given_up = {
            (fact.filename, fact.function)
            for fact in facts.of(FrameStarted)
            if fact.compile_id in self._explained | self._skipped
        }
        self._given_up |= {
            (fact.filename, fact.function.rpartition(".")[2]) for fact in facts.of(RecompileLimit)
        }

    def builders(self) -> list[FindingBuilder]:
        """Build all findings, including those about recompilations, speed and faults."""
        builders = [
            *self._merged(),
            *self._recompilations.builders(),
            *self._recompilations.late_compilations(),
            *speed_builders(self._facts, self._places),
            *cached_builders(self._facts, self._places),
            *nested_builders(self._facts, self._places),
            *cache_builders(self._caches, self._places),
            *map(self._after_it, export_builders(self._facts, self._places)),
            *map(self._after_it, refused_marks(self._facts, self._places)),
        ]
        return add_faults(builders, self._facts, self._fault)

    def without_passing_exceptions(self) -> list[Fact]:
        """Return the facts without graph breaks that an exception of the program causes.

        At such a break, Dynamo only stops to raise the exception.
        """
        return [
            fact
            for fact in self._facts.all
            if not (
                isinstance(fact, GraphBreak)
                and fact.skips_frame
                and fact.stack
                and (fact.stack[-1].filename, fact.stack[-1].row) in self._raised_at
            )
        ]

    def _merged(self) -> Iterable[FindingBuilder]:
        """Build a finding for each fact; facts with equal findings share one.

        A shared finding has the highest severity of its facts. An error that stops the program is not merged
        with a finding that does not stop it.
        """
        builders: dict[tuple[str, str, Span, str], FindingBuilder] = {}
        # torch can report a break twice in one compilation, before and after a second attempt, at different
        # columns of the line.
        by_line: dict[tuple[str, str, str, int, str], FindingBuilder] = {}
        for fact in self.without_passing_exceptions():
            build = _BUILD.get(type(fact))
            builder = build(self, fact) if build else None
            if builder is None:
                continue
            finding = builder.finding
            span, words = finding.span, (finding.code, finding.message)
            lines = [(*words, span.filename, span.row, compile_id) for compile_id in builder.compile_ids]
            first = next((by_line[line] for line in lines if line in by_line), None)
            first = first or builders.setdefault((finding.kind, finding.code, span, finding.message), builder)
            if _GRAVEST_FIRST.index(finding.severity) < _GRAVEST_FIRST.index(first.finding.severity):
                first.finding, first.title = finding, builder.title
            by_line.update(dict.fromkeys(lines, first))
            first.compile_ids |= builder.compile_ids
            first.eager = first.eager or builder.eager
        for builder in builders.values():
            builder.finding = replace(builder.finding, message=builder.title or builder.finding.message)
        return builders.values()

    def _graph_break(self, fact: GraphBreak) -> FindingBuilder:
        wrapper = wrapper_of(fact.stack, self._workspace.contains)
        reason = messages.first_line(fact.reason) or "graph break"
        title = "" if wrapper else self._title(fact, reason)
        given = self._answers.on_break(fact, wrapped=wrapper is not None)
        explanation = messages.with_reason(reason, fact.explanation)
        if not title or given.replaced:
            explanation = wrapper.explanation if wrapper else fact.explanation
        builder = self._places.finding(
            "graph-break",
            "information" if wrapper and not fact.skips_frame else "warning",
            f"{wrapper.name} breaks the graph by itself: {reason}" if wrapper else reason,
            fact.stack,
            fact.compile_id,
            code=fact.code,
            explanation=given.explained(explanation),
            hints=given.advised(wrapper.hints if wrapper else self._break_hints(fact)),
            url=fact.url,
            text=fact.text,
        )
        name = self._places.name_of(fact.compile_id)
        name = name or (builder.finding.stack[0].function if builder.finding.stack else "")
        builder.title, builder.eager = title, given.eager
        if fact.skips_frame and name:
            builder.eager = self._runs_eagerly(name, fact.compile_id)
        elif fact.skips_rest and name and fact.compile_id not in self._skipped:
            builder.eager = (
                f"{code_span(name)} is compiled up to an earlier line, and the rest of it runs eagerly"
            )
        return builder

    def _title(self, fact: GraphBreak | CompileFailure, reason: str) -> str:
        """Return a title that names the code that breaks the graph.

        The title is empty if torch reports no id of the break, or the code is unknown.
        """
        if not fact.code:
            return ""  # without an id, baselines identify a break by torch's reason
        said = f"{reason} {fact.explanation}"
        subject = self._places.subject(fact.stack, fact.compile_id, fact.code, said)
        if not subject:
            return ""
        library = self._places.place(fact.stack, fact.compile_id).library
        stops = isinstance(fact, CompileFailure)
        title = f"Dynamo cannot trace {subject}" if stops else f"{subject} breaks the graph"
        return with_library_places(title, [library] if library else [])

    def _break_hints(self, fact: GraphBreak | CompileFailure) -> tuple[str, ...]:
        if instead := self._lightning.hints(fact.stack, fact.compile_id):
            return sentences(map(Advice, instead))
        if hints.RETURNS_ALIAS in fact.text:
            return (hints.RETURN_A_COPY,)
        if hints.WRITES_INPUT in fact.text:
            return (hints.RETURN_A_NEW_ONE,)
        place = self._places.place(fact.stack, fact.compile_id)
        return hints.break_hints(fact.hints, in_library=place.library is not None)

    def _compile_failure(self, fact: CompileFailure) -> FindingBuilder | None:
        if fact.violations:
            return None  # each violation is a finding of its own: ``refused_marks``
        message = messages.first_line(fact.message) or fact.error
        title = "" if fact.phase == "backend" else self._title(fact, message)
        if fact.phase == "backend":
            backend = "TorchInductor" if fact.error == "InductorError" else "backend"
            message = f"{backend} failed: {message}"
        elif not fact.code and message != fact.error:
            message = f"Dynamo failed: {fact.error}: {message}"
        given = self._answers.on_failure(fact)
        explanation = messages.with_reason(message, fact.explanation)
        if given.title:
            title = given.title
        if not title or given.replaced or given.title:
            explanation = fact.explanation
        builder = self._places.finding(
            "compile-error" if fact.phase == "backend" else "capture-error",
            "error",
            message,
            fact.stack,
            fact.compile_id,
            code=fact.code,
            explanation=given.explained(explanation),
            hints=given.advised(self._break_hints(fact)),
            url=fact.url,
            text=fact.text or fact.message,
        )
        builder.title, builder.blame = title, given.blame
        return self._after_it(builder)

    def _after_it(self, builder: FindingBuilder) -> FindingBuilder:
        """Note in an error of the compiler that the program continued, if it did."""
        finding = builder.finding
        if finding.severity == "error" and self._succeeded and self.completed:
            said = messages.went_on(finding.explanation)
            builder.finding = replace(finding, explanation=said, survived=True)
        return builder

    def _recompile_limit(self, fact: RecompileLimit) -> FindingBuilder:
        again = self._recompilations.causes(fact)
        function = self._places.name_of(fact.compile_id)
        last = [self._recompilations.cause(fact.failures, fact.compile_id)] if fact.failures else []
        together = self._recompilations.together(fact)
        given = messages.limit_advice(
            again or last, self._recompilations.advise, fact.setting, function, together
        )
        answer = self._answers.on_limit(fact)
        outcome = "it must not run eagerly" if fact.fatal else "new calls run eagerly from now on"
        builder = self._places.finding(
            "recompile-limit",
            "error" if fact.fatal else "warning",
            f"{code_span(function)} reached the {fact.setting.replace('_', ' ')} of {fact.limit}: {outcome}",
            (*fact.stack, *self._places.own_frame(fact.compile_id)),
            fact.compile_id,
            explanation="\n".join(
                filter(
                    None,
                    (
                        messages.limit_explanation(*map(self._recompilations.named, (again, last))),
                        messages.changed_with(together),
                        self._calls_from(fact),
                        answer.note,
                    ),
                )
            ),
            hints=(*answer.hints, *sentences(given)),
        )
        builder.finding = replace(builder.finding, advice=tuple(given))
        return self._after_it(builder)

    def _calls_from(self, fact: RecompileLimit) -> str:
        """Return a sentence with the number of calls since a function reached a limit.

        The sentence is empty if the number is unknown.
        """
        counts = (
            item.calls
            for item in self._facts.of(CallsCounted)
            if (item.filename, item.row) == (fact.filename, fact.row)
        )
        calls = next(counts, 0)
        if fact.fatal or not fact.called or calls < fact.called:
            return ""
        since = calls - fact.called + 1
        return f"{since} of its {calls} calls came after that: those that fit no compilation ran eagerly."

    def _frame_skipped(self, fact: FrameSkipped) -> FindingBuilder | None:
        if fact.compile_id in self._explained:
            return None
        function = self._places.name_of(fact.compile_id)
        # The function is empty if torch did not report it.
        skipped = code_span(function) if function else "a frame"
        message = f"{skipped} is skipped: {messages.first_line(fact.reason)}"
        builder = self._places.finding(
            "skipped-frame", "warning", message, (), fact.compile_id, text=fact.reason
        )
        builder.eager = self._runs_eagerly(function, fact.compile_id)
        return builder

    def _runs_eagerly(self, function: str, compile_id: str) -> str:
        return messages.runs_eagerly(function, resumed=self._places.resumes_at(compile_id) is not None)

    def _raised_elsewhere(self, fact: ProgramRaised, other: RelayedError) -> FindingBuilder:
        """Build a finding on an error of another process that this process raised again."""
        said = (fact.error, other.introduction, other.error, other.message.reason)
        return self._places.finding(
            "target-error",
            "error",
            ": ".join(filter(None, said)),
            (*fact.stack, *other.stack),
            explanation=other.message.whole_explanation,
            hints=hints.break_hints(other.message.hints, in_library=False),
            url=other.message.url,
            text=fact.text,
        )

    def _program_raised(self, fact: ProgramRaised) -> FindingBuilder:
        if not fact.caught and (other := parse_error_elsewhere(fact.message)):
            return self._raised_elsewhere(fact, other)
        said = messages.first_line(fact.message)
        hints = fact.hints
        if failure := next(reversed(self._recompilations.completed(fact.failures, "")), None):
            function = code_span(self._places.name_of(failure.compile_id))
            said = f"{function} would have to be compiled again: {messages.change([failure])}"
            hints = sentences(self._recompilations.advise(failure))
        stack = fact.stack
        operator, _ = parse_failing_operator(fact.message)
        if operator:
            said = exports.mismatched_kernel(operator, said)
            hints = exports.kernel_hints(operator, missing=False)
            stack = self._call_of(operator) or stack
        innermost = fact.stack[-1].filename if fact.stack else ""
        if fact.error == "SystemExit" and os.path.basename(innermost) == "argparse.py":
            hints = (messages.WANTS_ARGUMENTS,)
        given = self._answers.on_raised(fact)
        if failure:
            hints = (*given.hints, *hints)
        else:
            said, hints = given.title or said, given.advised(hints)
        if given.operator:
            stack = self._call_of(given.operator) or stack
        return self._places.finding(
            "target-error",
            "warning" if fact.caught else "error",
            ": ".join(part for part in (fact.error, said) if part),
            stack,
            explanation=messages.went_on(given.note) if fact.caught else given.note,
            hints=hints,
            text=fact.text,
        )

    def _call_of(self, operator: str) -> Stack:
        """Return the stack of the first call of an operator in the graphs.

        The stack is empty if no graph contains such a call.
        """
        for graph in self._facts.of(GraphCaptured):
            for node in parse_operators(graph.text):
                if node.frame is not None and node.operator.replace(".", "::", 1) == operator:
                    return self._places.full_stack((node.frame,), graph.compile_id)
        return ()

    def _target_problem(self, fact: TargetProblem) -> FindingBuilder:
        message = self._in_cells(fact.message, fact.stack)
        builder = self._places.finding("target-error", fact.severity, message, fact.stack, hints=fact.hints)
        of_run = not fact.stack and (fact.of_run or self._not_started)
        builder.finding = replace(builder.finding, of_run=of_run)
        return builder

    def _in_cells(self, message: str, stack: Stack) -> str:
        """Replace the rows in a message of Python's parser by rows of notebook cells.

        A message about a file that is not a notebook is returned unchanged.
        """
        source = self._workspace.source(stack[-1].filename) if stack else None
        if source is None or not source.cells:
            return message
        return _LINE.sub(lambda line: f"line {source.row_words(int(line[1]))}", message)

    def _without_graph(self, fact: CallsWithoutGraph) -> FindingBuilder | None:
        if not self.completed or (fact.filename, fact.function.rpartition(".")[2]) in self._given_up:
            return None  # a break or a skipped frame explains it already
        if not fact.function and (self._ended_early or self._exports or self._uncalled):
            return None  # other findings explain it: the program ended early, exported, or never called it
        if not fact.calls and fact.function and fact not in self._uncalled:
            return None
        stack = list(fact.stack)
        while stack and not self._workspace.contains(stack[-1].filename):
            stack.pop()
        hints = (messages.UNCALLED,) if fact in self._uncalled else self._answers.on_no_graph(fact)
        if fact in self._uncalled:
            stack = [StackFrame(fact.filename, fact.row, fact.function)]
        message = messages.without_graph_message(fact)
        builder = self._places.finding("nothing-compiled", "warning", message, tuple(stack), hints=hints)
        builder.finding = replace(builder.finding, of_run=not fact.function)
        return builder

    def _fault(self, fact: FaultLocated, kind: FindingKind) -> FindingBuilder:
        compile_id, text = fact.compile_id or None, fact.failure.text
        if fact.cause is None:
            return self._places.finding(kind, "error", fault_message(fact), fact.stack, compile_id, text=text)
        whole = fact.stage == "compiled"
        is_of_names = fact.cause.kind == "wrapped" and fact.failure.kind == "accuracy"
        answer = cause_answer(fact.cause, fact.failure, self._workspace.source, whole=whole)
        builder = self._places.finding(
            kind,
            # The program differs on purpose, so this is a warning, not an error.
            "warning" if fact.cause.kind == "compiling" or is_of_names else "error",
            answer.title,
            fact.stack,
            compile_id,
            explanation=answer.note,
            hints=answer.hints,
            text=text,
        )
        builder.finding = replace(builder.finding, of_program=True)
        return builder


_BUILD: Final[dict[type, Callable[[FindingFacts, Any], FindingBuilder | None]]] = {
    GraphBreak: FindingFacts._graph_break,
    CompileFailure: FindingFacts._compile_failure,
    RecompileLimit: FindingFacts._recompile_limit,
    FrameSkipped: FindingFacts._frame_skipped,
    ProgramRaised: FindingFacts._program_raised,
    TargetProblem: FindingFacts._target_problem,
    CallsWithoutGraph: FindingFacts._without_graph,
}
"""The functions that build findings, by the type of the fact."""
