"""Folding of the facts of a run into a report: the same thing seen often becomes one finding.

Pure and total: any order of facts, and any part of them, gives a report.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from fullgraph_compiler.facts import (
    Artifact,
    CallsCounted,
    CallsWithoutGraph,
    CodeGenerated,
    CompileFailure,
    Depth,
    ExportFailed,
    Fact,
    FaultLocated,
    FilesDiscarded,
    FrameSkipped,
    FrameStarted,
    GraphBreak,
    GraphCaptured,
    GraphsExecuted,
    GraphUnchecked,
    KernelCompiled,
    ModulesLoaded,
    Noise,
    PhasesTimed,
    ProgramExported,
    ProgramRaised,
    RanDry,
    RecipeTried,
    RecompileLimit,
    RecordText,
    RerunsSkipped,
    RunFinished,
    Severity,
    Stack,
    StackFrame,
    StageChecked,
    TargetProblem,
    TimesMeasured,
    VariantMeasured,
)
from fullgraph_compiler.trace.export.texts import parse_failing_operator
from fullgraph_compiler.trace.graphs import parse_operators
from fullgraph_compiler.trace.messages import ErrorElsewhere, parse_error_elsewhere

from ..kinds import FindingKind
from ..text import exports, hints, messages
from ..text.markdown import torch_page
from ..text.remedies import Advice, sentences
from ..text.vllm import vllm_graphs
from ..workspace.positions import Span
from ..workspace.source import SourceFile
from ..workspace.targets import PYTEST
from ..workspace.workspace import Workspace
from .answers.answers import Answers
from .answers.causes import cause_answer
from .answers.inlined.cached import cached_builders
from .answers.inlined.nested import nested_builders
from .caches.model import Caches
from .caches.uses import cache_builders, caches_of, with_caches
from .exports.findings import export_builders
from .exports.marked_sizes import refused_marks
from .exports.programs import exported_programs
from .faults import add_faults, fault_message
from .finding_builder import FindingBuilder, by_place, finished, without_ignored
from .frames import Frames
from .graph_lines import graph_lines
from .kernels import codes_of
from .measured.speed import measured_speed
from .model import Code, Finding, FrameReport, Graph, GraphLines, Report, TensorName
from .recompiles import Recompilations
from .sizes import size_conditions
from .source_locator import Places, with_library_places, without_own_calls
from .speed import compilations, speed_builders
from .tensors import tensor_names
from .wrappers import Lightning, wrapper_of

_T = TypeVar("_T")
_GRAVEST_FIRST: Final[tuple[Severity, ...]] = ("error", "warning", "information")
_LINE: Final = re.compile(r"\bline (\d+)")


def fold(
    target: str,
    generation: int,
    torch: str,
    facts: Iterable[Fact],
    workspace: Workspace,
    filename: str | None = None,
    depth: Depth = "graph",
) -> Report:
    """Make a report from the facts so far.

    ``filename`` is where a problem without a stack is shown; by default the file in ``target``.
    """
    facts = tuple(facts)
    places = Places(workspace, filename or _target_file(target, workspace))
    for fact in facts:
        places.index(fact)
    lightning = Lightning(facts, places, workspace)
    recompilations = Recompilations(facts, places, workspace, lightning)
    caches = caches_of(facts, places, with_keys=depth == "build")
    finding_facts = _FindingFacts(facts, places, recompilations, workspace, lightning, caches, depth)
    builders = finding_facts.builders()
    told = sorted((finished(builder) for builder in builders), key=by_place)
    breaks = [builder.compile_ids for builder in builders if builder.finding.kind == "graph-break"]
    frames = with_caches(Frames(facts, places, recompilations, workspace).reports(breaks), caches)
    findings, ignored = without_ignored(told, frames, workspace, complete=finding_facts.completed)
    graphs = tuple(_graph(fact, places, workspace) for fact in _of_type(facts, GraphCaptured))
    codes = codes_of(_of_type(facts, CodeGenerated), _of_type(facts, KernelCompiled), places.own_span)
    tensors = tensor_names(facts, workspace)
    lines = graph_lines(finding_facts.without_passing_exceptions(), places, workspace)
    end = _last(facts, RunFinished)
    return Report(
        target=target,
        generation=generation,
        torch=torch,
        status=end.status if end else None,
        seconds=end.seconds if end else 0.0,
        findings=findings,
        ignored=ignored,
        frames=frames,
        graphs=graphs,
        exports=exported_programs(facts, places),
        codes=codes,
        artifacts=tuple(_of_type(facts, Artifact)),
        records=tuple(_of_type(facts, RecordText)),
        phases=tuple(phase for fact in _of_type(facts, PhasesTimed) for phase in fact.phases),
        compilations=compilations(facts, places, recompilations),
        tensors=tensors,
        times=tuple(_of_type(facts, TimesMeasured)),
        speed=measured_speed(facts, places, recompilations),
        variants=tuple(_of_type(facts, VariantMeasured)),
        stages=tuple(_of_type(facts, StageChecked)),
        unchecked=tuple(_of_type(facts, GraphUnchecked)),
        noise=tuple(_of_type(facts, Noise)),
        reruns_skipped=_last(facts, RerunsSkipped) is not None,
        recipes=tuple(_of_type(facts, RecipeTried)),
        files=_files(facts, _names(findings, frames, graphs, codes, tensors, lines), workspace),
        depth=depth,
        sizes=size_conditions(facts, places),
        graph_lines=lines,
        caches=caches,
        vllm=vllm_graphs(facts),
        dry=_last(facts, RanDry),
        left_out=end.left_out if end else (),
        reaches_others=end is not None and end.reaches_others,
        executed=tuple(name for fact in _of_type(facts, GraphsExecuted) for name in fact.compile_ids),
        discarded=next(_of_type(facts, FilesDiscarded), None),
    )


_OF_A_PROGRAM: Final[tuple[Depth, ...]] = ("graph", "recompiles", "late-compile", "kernels", "build")
"""The depths of a run that is the program from start to end."""


class _FindingFacts:
    """The facts that become findings."""

    def __init__(
        self,
        facts: Sequence[Fact],
        places: Places,
        recompilations: Recompilations,
        workspace: Workspace,
        lightning: Lightning,
        caches: Caches,
        depth: Depth,
    ) -> None:
        self._lightning = lightning
        self._caches = caches
        self._facts = facts
        self._places = places
        self._recompilations = recompilations
        self._workspace = workspace
        self._explained = {
            fact.compile_id
            for fact in facts
            if isinstance(fact, (GraphBreak, CompileFailure, RecompileLimit))
        }
        self._skipped = {fact.compile_id for fact in _of_type(facts, FrameSkipped)}
        self._raised_at = {
            (frame.filename, frame.row)
            for fact in _of_type(facts, ProgramRaised)
            for frame in fact.stack[-1:]
        }
        end = _last(facts, RunFinished)
        self._not_started = end is not None and end.status == "not-started"
        self.completed = end is not None and end.status in ("finished", "exited")
        # A log does not say how its program ended, nor do the runs of an analysis.
        self._succeeded = end is not None and end.exit_code == 0 and depth in _OF_A_PROGRAM
        self._ended_early = (
            end is not None
            and end.status == "exited"
            and any(fact.stack and fact.severity == "warning" for fact in _of_type(facts, TargetProblem))
        )
        self._uncalled = {
            fact
            for fact in _of_type(facts, CallsWithoutGraph)
            if not fact.calls and workspace.contains(fact.filename)
        }
        self._answers = Answers(facts, places, workspace)
        self._exports = any(isinstance(fact, (ProgramExported, ExportFailed)) for fact in facts)
        given_up = self._explained | {fact.compile_id for fact in _of_type(facts, FrameSkipped)}
        self._given_up = {
            (fact.filename, fact.function)
            for fact in _of_type(facts, FrameStarted)
            if fact.compile_id in given_up
        }
        self._given_up |= {
            (fact.filename, fact.function.rpartition(".")[2]) for fact in _of_type(facts, RecompileLimit)
        }

    def builders(self) -> list[FindingBuilder]:
        """Build all findings, those of recompilations, speed and faults among them."""
        builders = [
            *self._merged(),
            *self._recompilations.builders(),
            *self._recompilations.late_compilations(),
            *speed_builders(self._facts, self._finding),
            *cached_builders(self._facts, self._finding, self._places, self._workspace),
            *nested_builders(self._facts, self._finding, self._places, self._workspace),
            *cache_builders(self._caches, self._finding),
            *map(self._after_it, export_builders(self._facts, self._finding, self._places, self._workspace)),
            *map(self._after_it, refused_marks(self._facts, self._finding, self._places, self._workspace)),
        ]
        return add_faults(builders, self._facts, self._fault)

    def without_passing_exceptions(self) -> list[Fact]:
        """Leave out breaks that are only the program's own exception, on its way through Dynamo."""
        return [fact for fact in self._facts if not self._is_passing_exception(fact)]

    def _is_passing_exception(self, fact: Fact) -> bool:
        return (
            isinstance(fact, GraphBreak)
            and fact.skips_frame
            and bool(fact.stack)
            and (fact.stack[-1].filename, fact.stack[-1].row) in self._raised_at
        )

    def _merged(self) -> Iterable[FindingBuilder]:
        """Build a finding for each fact; facts that say the same about the same place share one.

        The gravest of them is told. What stops the program is not the same as what does not.
        """
        builders: dict[tuple[str, str, Span, str], FindingBuilder] = {}
        # torch can report a break twice in one compilation, before and after it has tried again, and point
        # at another part of the line.
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
        finding = self._finding(
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
        name = name or (finding.stack[0].function if finding.stack else "")
        eager = ""
        if fact.skips_frame and name:
            eager = self._runs_eagerly(name, fact.compile_id)
        elif fact.skips_rest and name and fact.compile_id not in self._skipped:
            eager = messages.compiled_up_to(name)
        return FindingBuilder(finding, {fact.compile_id}, eager=eager or given.eager, title=title)

    def _title(self, fact: GraphBreak | CompileFailure, reason: str) -> str:
        """Write what breaks the graph; empty where torch has no id for it, or does not say where it is."""
        if not fact.code:
            return ""  # baselines know such a break by torch's reason
        said = f"{reason} {fact.explanation}"
        subject = self._places.subject(fact.stack, fact.compile_id, fact.code, said)
        if not subject:
            return ""
        library = self._places.place(fact.stack, fact.compile_id).library
        title = messages.break_title(subject, stops=isinstance(fact, CompileFailure))
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
            return None  # each is a finding
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
        finding = self._finding(
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
        return FindingBuilder(self._survived(finding), {fact.compile_id}, title=title, blame=given.blame)

    def _after_it(self, builder: FindingBuilder) -> FindingBuilder:
        if builder.finding.severity == "error":
            builder.finding = self._survived(builder.finding)
        return builder

    def _survived(self, finding: Finding) -> Finding:
        """Say of an error of the compiler that the program went on after it, if it did."""
        if not self._succeeded or not self.completed:
            return finding
        return replace(finding, explanation=messages.went_on(finding.explanation), survived=True)

    def _recompile_limit(self, fact: RecompileLimit) -> FindingBuilder:
        again = self._recompilations.causes(fact)
        function = self._places.name_of(fact.compile_id)
        last = [self._recompilations.cause(fact.failures, fact.compile_id)] if fact.failures else []
        together = self._recompilations.together(fact)
        given = messages.limit_advice(
            again or last, self._recompilations.advise, fact.setting, function, together
        )
        answer = self._answers.on_limit(fact)
        finding = self._finding(
            "recompile-limit",
            "error" if fact.fatal else "warning",
            messages.limit_message(fact.setting, fact.limit, function, fact.fatal),
            (*fact.stack, *self._places.own_frame(fact.compile_id)),
            fact.compile_id,
            explanation="\n".join(
                filter(
                    None,
                    (
                        messages.limit_explanation(
                            self._recompilations.named(again), self._recompilations.named(last)
                        ),
                        messages.changed_with(together),
                        self._calls_from(fact),
                        answer.note,
                    ),
                )
            ),
            hints=(*answer.hints, *sentences(given)),
        )
        finding = replace(finding, advice=tuple(given))
        return FindingBuilder(self._survived(finding) if fact.fatal else finding, {fact.compile_id})

    def _calls_from(self, fact: RecompileLimit) -> str:
        """Say how many calls of a function came from a limit on; empty if that is not known."""
        counts = (
            item.calls
            for item in _of_type(self._facts, CallsCounted)
            if (item.filename, item.row) == (fact.filename, fact.row)
        )
        calls = next(counts, 0)
        if fact.fatal or not fact.called or calls < fact.called:
            return ""
        return messages.calls_from_limit(calls - fact.called + 1, calls)

    def _frame_skipped(self, fact: FrameSkipped) -> FindingBuilder | None:
        if fact.compile_id in self._explained:
            return None
        function = self._places.name_of(fact.compile_id)
        message = messages.skipped_message(function, messages.first_line(fact.reason))
        finding = self._finding("skipped-frame", "warning", message, (), fact.compile_id, text=fact.reason)
        return FindingBuilder(finding, {fact.compile_id}, eager=self._runs_eagerly(function, fact.compile_id))

    def _runs_eagerly(self, function: str, compile_id: str) -> str:
        return messages.runs_eagerly(function, resumed=self._places.resumes_at(compile_id) is not None)

    def _raised_elsewhere(self, fact: ProgramRaised, other: ErrorElsewhere) -> FindingBuilder:
        """Tell the error of another process, on its line, of which one was raised here."""
        said = (fact.error, other.introduction, other.error, other.message.reason)
        finding = self._finding(
            "target-error",
            "error",
            ": ".join(filter(None, said)),
            (*fact.stack, *other.stack),
            "",
            explanation=other.message.whole_explanation,
            hints=hints.break_hints(other.message.hints, in_library=False),
            url=other.message.url,
            text=fact.text,
        )
        return FindingBuilder(finding)

    def _program_raised(self, fact: ProgramRaised) -> FindingBuilder:
        if not fact.caught and (other := parse_error_elsewhere(fact.message)):
            return self._raised_elsewhere(fact, other)
        said = messages.first_line(fact.message)
        hints = fact.hints
        if failure := next(reversed(self._recompilations.completed(fact.failures, "")), None):
            said = messages.refused_message(self._places.name_of(failure.compile_id), [failure])
            hints = sentences(self._recompilations.advise(failure))
        stack, compile_id = fact.stack, ""
        operator, _ = parse_failing_operator(fact.message)
        if operator:
            said = exports.mismatched_kernel(operator, said)
            hints = exports.kernel_hints(operator, missing=False)
            stack, compile_id = self._call_of(operator) or (stack, compile_id)
        if _ended_by_argparse(fact):
            hints = (messages.WANTS_ARGUMENTS,)
        given = self._answers.on_raised(fact)
        if failure:
            hints = (*given.hints, *hints)
        else:
            said, hints = given.title or said, given.advised(hints)
        if given.operator:
            stack, compile_id = self._call_of(given.operator) or (stack, compile_id)
        message = ": ".join(part for part in (fact.error, said) if part)
        severity: Severity = "warning" if fact.caught else "error"
        explanation = messages.went_on(given.note) if fact.caught else given.note
        finding = self._finding(
            "target-error",
            severity,
            message,
            stack,
            compile_id,
            explanation=explanation,
            hints=hints,
            text=fact.text,
        )
        return FindingBuilder(finding)

    def _call_of(self, operator: str) -> tuple[Stack, str] | None:
        """Find the first call of an operator in the graphs, and the compilation that it is in."""
        for graph in _of_type(self._facts, GraphCaptured):
            for node in parse_operators(graph.text):
                if node.frame is not None and node.operator.replace(".", "::", 1) == operator:
                    return (node.frame,), graph.compile_id
        return None

    def _target_problem(self, fact: TargetProblem) -> FindingBuilder:
        message = self._in_cells(fact.message, fact.stack)
        finding = self._finding("target-error", fact.severity, message, fact.stack, "", hints=fact.hints)
        return FindingBuilder(replace(finding, of_run=not fact.stack and (fact.of_run or self._not_started)))

    def _in_cells(self, message: str, stack: Stack) -> str:
        """Return a message of Python's parser with rows of cells, if it is about a notebook."""
        source = self._workspace.source(stack[-1].filename) if stack else None
        if source is None or not source.cells:
            return message
        return _LINE.sub(lambda line: f"line {source.row_words(int(line[1]))}", message)

    def _without_graph(self, fact: CallsWithoutGraph) -> FindingBuilder | None:
        if not self.completed or (fact.filename, fact.function.rpartition(".")[2]) in self._given_up:
            return None  # what has become of its frame is a finding already
        if not fact.function and (self._ended_early or self._exports or self._uncalled):
            return None  # a problem says why the program came no further, it exports, or others say more
        if not fact.calls and fact.function and fact not in self._uncalled:
            return None
        stack = list(fact.stack)
        while stack and not self._workspace.contains(stack[-1].filename):
            stack.pop()
        hints = (messages.UNCALLED,) if fact in self._uncalled else self._answers.on_no_graph(fact)
        if fact in self._uncalled:
            stack = [StackFrame(fact.filename, fact.row, fact.function)]
        message = messages.without_graph_message(fact)
        finding = self._finding("nothing-compiled", "warning", message, tuple(stack), "", hints=hints)
        return FindingBuilder(replace(finding, of_run=not fact.function))

    def _fault(self, fact: FaultLocated, kind: FindingKind) -> Finding:
        message, text = fault_message(fact), fact.failure.text
        if fact.cause is None:
            return self._finding(kind, "error", message, fact.stack, fact.compile_id, text=text)
        whole = fact.stage == "compiled"
        is_of_names = fact.cause.kind == "wrapped" and fact.failure.kind == "accuracy"
        answer = cause_answer(fact.cause, fact.failure, self._workspace.source, whole=whole)
        finding = self._finding(
            kind,
            # What a program does on purpose is no fault, but the results are not those uncompiled.
            "warning" if fact.cause.kind == "compiling" or is_of_names else "error",
            answer.title,
            fact.stack,
            fact.compile_id,
            explanation=answer.note,
            hints=answer.hints,
            text=text,
        )
        return replace(finding, of_program=True)

    def _finding(
        self,
        kind: FindingKind,
        severity: Severity,
        message: str,
        stack: Stack,
        compile_id: str,
        *,
        code: str = "",
        explanation: str = "",
        hints: tuple[str, ...] = (),
        url: str = "",
        text: str = "",
    ) -> Finding:
        place = self._places.place(stack, compile_id)
        message = with_library_places(message, [place.library] if place.library else [])
        return Finding(
            kind,
            code or kind,
            severity,
            message,
            place.span,
            explanation,
            hints,
            torch_page(url),
            place.calls,
            text=without_own_calls(text),
        )


_BUILD: Final[dict[type, Callable[[_FindingFacts, Any], FindingBuilder | None]]] = {
    GraphBreak: _FindingFacts._graph_break,
    CompileFailure: _FindingFacts._compile_failure,
    RecompileLimit: _FindingFacts._recompile_limit,
    FrameSkipped: _FindingFacts._frame_skipped,
    ProgramRaised: _FindingFacts._program_raised,
    TargetProblem: _FindingFacts._target_problem,
    CallsWithoutGraph: _FindingFacts._without_graph,
}
"""The builders of findings, by the type of the fact."""


def _ended_by_argparse(fact: ProgramRaised) -> bool:
    innermost = fact.stack[-1].filename if fact.stack else ""
    return fact.error == "SystemExit" and os.path.basename(innermost) == "argparse.py"


def _of_type(facts: Sequence[Fact], kind: type[_T]) -> Iterator[_T]:
    return (fact for fact in facts if isinstance(fact, kind))


def _last(facts: Sequence[Fact], kind: type[_T]) -> _T | None:
    """Return the last fact of a type, which is the most complete one."""
    return next((fact for fact in reversed(facts) if isinstance(fact, kind)), None)


def _graph(fact: GraphCaptured, places: Places, workspace: Workspace) -> Graph:
    # A graph of a library's operations alone stands on the function that was compiled.
    frames = itertools.chain((node.frame for node in fact.nodes), places.own_frame(fact.compile_id))
    frame = next((frame for frame in frames if workspace.contains(frame.filename)), None)
    return Graph(fact.compile_id, len(fact.nodes), places.span(frame) if frame else None, fact.text)


def _files(facts: Sequence[Fact], names: Iterable[str], workspace: Workspace) -> dict[str, SourceFile | None]:
    """Map the workspace's imported files to ``None``, and those in ``names`` to their text."""
    imported = (name for fact in _of_type(facts, ModulesLoaded) for name in fact.filenames)
    files: dict[str, SourceFile | None] = dict.fromkeys(filter(workspace.contains, imported))
    # Only these are read: a program may import hundreds that it compiles nothing of.
    files.update((name, workspace.source(name)) for name in filter(workspace.contains, names))
    return files


def _names(
    findings: Iterable[Finding],
    frames: Iterable[FrameReport],
    graphs: Iterable[Graph],
    codes: Iterable[Code],
    tensors: Iterable[TensorName],
    lines: Iterable[GraphLines],
) -> set[str]:
    """Collect the files that a report names."""
    names = {finding.span.filename for finding in findings}
    names.update(call.filename for finding in findings for call in (*finding.stack, *finding.also_from))
    names.update(graph.span.filename for graph in graphs if graph.span)
    names.update(item.span.filename for item in tensors)
    names.update(item.filename for item in lines)
    names.update(span.filename for item in codes for launch in item.launches for span in launch.spans)
    for frame in frames:
        names.add(frame.filename)
        names.update(guard.span.filename for guard in frame.guards if guard.span)
    return names


def _target_file(target: str, workspace: Workspace) -> str:
    """Return the file in a target's id, or the project's configuration file if there is none."""
    path = target.removeprefix(PYTEST).partition("::")[0]
    filename = os.path.join(workspace.root, path)
    return filename if os.path.isfile(filename) else os.path.join(workspace.root, "pyproject.toml")
