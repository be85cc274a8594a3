"""Fold the facts of a run into a report: the same thing seen often becomes one finding.

Pure and total: any order of facts, and any part of them, gives a report.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from fullgraph_compiler.facts import (
    Artifact,
    CodeGenerated,
    CollectivesTraced,
    CompileFailure,
    Depth,
    Fact,
    FaultLocated,
    FilesDiscarded,
    FrameCompiled,
    FrameSkipped,
    GraphBreak,
    GraphCaptured,
    GuardInstalled,
    KernelCompiled,
    ModulesLoaded,
    PhasesTimed,
    ProgramRaised,
    RanDry,
    RecipeTried,
    Recompile,
    RecompileLimit,
    RunFinished,
    Severity,
    Stack,
    StageChecked,
    TargetProblem,
    TimesMeasured,
)
from fullgraph_compiler.trace.changes import versions

from ..text import messages
from ..text.markdown import torch_page
from ..workspace.positions import Span
from ..workspace.ranges import definition_span
from ..workspace.source import SourceFile
from ..workspace.workspace import Workspace
from .faults import add_faults, fault_message
from .finding_builder import FindingBuilder, by_place, finished
from .graph_lines import graph_lines
from .kernels import codes_of
from .model import Code, Finding, FindingKind, FrameReport, Graph, GraphLines, Guard, Report, TensorName
from .recompiles import Recompilations
from .sizes import size_conditions
from .source_locator import Function, Places
from .speed import compilations, speed_drafts
from .tensors import tensor_names
from .wrappers import bucket_drafts, wrapper_of


def fold(
    target: str,
    generation: int,
    torch: str,
    facts: Iterable[Fact],
    workspace: Workspace,
    filename: str | None = None,
    depth: Depth = "graph",
) -> Report:
    """The report of the facts so far.

    ``filename`` is where a problem without a stack is shown; by default the file in ``target``.
    """
    place = filename or _target_file(target, workspace)
    return _Folding(workspace, place, tuple(facts)).report(target, generation, torch, depth)


class _Folding:
    def __init__(self, workspace: Workspace, filename: str, facts: Sequence[Fact]) -> None:
        self._workspace = workspace
        self._facts = facts
        self._places = Places(workspace, filename)
        self._recompilations = Recompilations(facts, self._places, workspace)
        self._explained: set[str] = set()
        self._raised_at: set[tuple[str, int]] = set()
        self._not_started = False
        for fact in facts:
            self._index(fact)

    def report(self, target: str, generation: int, torch: str, depth: Depth) -> Report:
        # Where the work itself fails after the program has ended, it tells of another end.
        end = next((fact for fact in reversed(self._facts) if isinstance(fact, RunFinished)), None)
        builders = self._builders()
        findings = sorted((finished(builder) for builder in builders), key=by_place)
        frames = self._frames(builders)
        graphs = tuple(self._graph(fact) for fact in self._facts if isinstance(fact, GraphCaptured))
        written = (fact for fact in self._facts if isinstance(fact, CodeGenerated))
        built = (fact for fact in self._facts if isinstance(fact, KernelCompiled))
        codes = codes_of(written, built, self._places.own_span)
        tensors = tensor_names(self._facts, self._workspace)
        seen = [fact for fact in self._facts if not self._is_passing_exception(fact)]
        lines = graph_lines(seen, self._places, self._workspace)
        return Report(
            target=target,
            generation=generation,
            torch=torch,
            status=end.status if end else None,
            seconds=end.seconds if end else 0.0,
            findings=tuple(findings),
            frames=frames,
            graphs=graphs,
            codes=codes,
            artifacts=tuple(fact for fact in self._facts if isinstance(fact, Artifact)),
            phases=tuple(
                phase for fact in self._facts if isinstance(fact, PhasesTimed) for phase in fact.phases
            ),
            compilations=compilations(self._facts, self._places, self._recompilations),
            tensors=tensors,
            times=tuple(fact for fact in self._facts if isinstance(fact, TimesMeasured)),
            stages=tuple(fact for fact in self._facts if isinstance(fact, StageChecked)),
            recipes=tuple(fact for fact in self._facts if isinstance(fact, RecipeTried)),
            files=self._files(_names(findings, frames, graphs, codes, tensors, lines)),
            depth=depth,
            sizes=size_conditions(self._facts, self._places),
            graph_lines=lines,
            # The last one knows most.
            dry=next((fact for fact in reversed(self._facts) if isinstance(fact, RanDry)), None),
            discarded=next((fact for fact in self._facts if isinstance(fact, FilesDiscarded)), None),
        )

    def _index(self, fact: Fact) -> None:
        self._places.index(fact)
        if isinstance(fact, (GraphBreak, CompileFailure, RecompileLimit)):
            self._explained.add(fact.compile_id)
        elif isinstance(fact, ProgramRaised):
            self._raised_at.update((frame.filename, frame.row) for frame in fact.stack[-1:])
        elif isinstance(fact, RunFinished):
            self._not_started = fact.status == "not-started"

    # -- findings ------------------------------------------------------------------------------

    def _builders(self) -> list[FindingBuilder]:
        builders: dict[tuple[str, Span, str], FindingBuilder] = {}
        # torch can tell a break twice in one compilation, before and after it has tried again, and point
        # at another part of the line.
        told: dict[tuple[str, str, str, int, str], FindingBuilder] = {}
        for fact in self._facts:
            builder = None if self._is_passing_exception(fact) else self._builder(fact)
            if builder is None:
                continue
            finding = builder.finding
            span, words = finding.span, (finding.code, finding.message)
            lines = [(*words, span.filename, span.row, compile_id) for compile_id in builder.compile_ids]
            known = next((told[line] for line in lines if line in told), None)
            known = known or builders.setdefault((finding.code, span, finding.message), builder)
            told.update(dict.fromkeys(lines, known))
            known.compile_ids |= builder.compile_ids
            known.eager = known.eager or builder.eager
        found = [*builders.values(), *self._recompilations.builders(), *self._recompilations.missed()]
        found += speed_drafts(self._facts, self._finding)
        found += bucket_drafts(self._facts, self._finding)
        return add_faults(found, self._facts, self._fault)

    def _is_passing_exception(self, fact: Fact) -> bool:
        """Whether a graph break is only the program's own exception, on its way through Dynamo."""
        return (
            isinstance(fact, GraphBreak)
            and fact.skips_frame
            and bool(fact.stack)
            and (fact.stack[-1].filename, fact.stack[-1].row) in self._raised_at
        )

    def _builder(self, fact: Fact) -> FindingBuilder | None:
        if isinstance(fact, GraphBreak):
            return self._graph_break(fact)
        if isinstance(fact, CompileFailure):
            return self._compile_failure(fact)
        if isinstance(fact, RecompileLimit):
            return self._recompile_limit(fact)
        if isinstance(fact, FrameSkipped) and fact.compile_id not in self._explained:
            message = f"frame skipped: {messages.first_line(fact.reason)}"
            finding = self._finding(
                "skipped-frame", "warning", message, (), fact.compile_id, text=fact.reason
            )
            return FindingBuilder(finding, {fact.compile_id}, eager=fact.function)
        if isinstance(fact, ProgramRaised):
            message = ": ".join(part for part in (fact.error, messages.first_line(fact.message)) if part)
            return FindingBuilder(
                self._finding("target-error", "error", message, fact.stack, "", text=fact.text)
            )
        if isinstance(fact, TargetProblem):
            found = self._finding(
                "target-error", fact.severity, fact.message, fact.stack, "", hints=fact.hints
            )
            return FindingBuilder(
                replace(found, of_run=not fact.stack and (fact.of_run or self._not_started))
            )
        return None

    def _graph_break(self, fact: GraphBreak) -> FindingBuilder:
        wrapper = wrapper_of(fact.stack, self._workspace.contains)
        reason = messages.first_line(fact.reason) or "graph break"
        finding = self._finding(
            "graph-break",
            "information" if wrapper and not fact.skips_frame else "warning",
            f"{wrapper.name} breaks the graph by itself: {reason}" if wrapper else reason,
            fact.stack,
            fact.compile_id,
            code=fact.code,
            explanation=wrapper.explanation if wrapper else fact.explanation,
            hints=wrapper.hints if wrapper else fact.hints,
            url=fact.url,
            text=fact.text,
        )
        function = self._places.functions.get(fact.compile_id)
        name = function.name if function else finding.stack[0].function if finding.stack else ""
        return FindingBuilder(finding, {fact.compile_id}, eager=name if fact.skips_frame else "")

    def _compile_failure(self, fact: CompileFailure) -> FindingBuilder:
        message = messages.first_line(fact.message) or fact.error
        if fact.phase == "backend":
            message = f"backend failed: {message}"
        elif not fact.code and message != fact.error:
            message = f"Dynamo failed: {fact.error}: {message}"
        finding = self._finding(
            "compile-error" if fact.phase == "backend" else "capture-error",
            "error",
            message,
            fact.stack,
            fact.compile_id,
            code=fact.code,
            explanation=fact.explanation,
            hints=fact.hints,
            url=fact.url,
            text=fact.text or fact.message,
        )
        return FindingBuilder(finding, {fact.compile_id})

    def _fault(self, fact: FaultLocated, kind: FindingKind) -> Finding:
        return self._finding(
            kind, "error", fault_message(fact), fact.stack, fact.compile_id, text=fact.failure.text
        )

    def _recompile_limit(self, fact: RecompileLimit) -> FindingBuilder:
        causes = self._recompilations.causes(fact)
        finding = self._finding(
            "recompile-limit",
            "error" if fact.fatal else "warning",
            messages.limit_message(fact.setting, fact.limit, fact.function, fact.fatal),
            (),
            fact.compile_id,
            explanation=messages.limit_explanation(causes) if causes else "",
            hints=messages.limit_hints(causes, fact.setting, fact.function),
        )
        return FindingBuilder(finding, {fact.compile_id})

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
        if place.library:
            message = f"{message.rstrip('.')} ({messages.library_place(place.library)})"
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
            text=messages.without_own_calls(text),
        )

    # -- frames --------------------------------------------------------------------------------

    def _frames(self, builders: Sequence[FindingBuilder]) -> tuple[FrameReport, ...]:
        members: dict[Function, list[str]] = defaultdict(list)
        for compile_id, function in self._places.functions.items():
            members[function].append(compile_id)
        compiled = {fact.compile_id: fact for fact in self._facts if isinstance(fact, FrameCompiled)}
        recompiles = {fact.compile_id: fact for fact in self._facts if isinstance(fact, Recompile)}
        breaks = [builder.compile_ids for builder in builders if builder.finding.kind == "graph-break"]
        launches: Counter[str] = Counter()
        collectives: dict[str, tuple[str, ...]] = {}
        limited = {fact.compile_id for fact in self._facts if isinstance(fact, RecompileLimit)}
        for fact in self._facts:
            if isinstance(fact, CodeGenerated):
                launches[fact.compile_id] += len(fact.kernels)
            elif isinstance(fact, CollectivesTraced):
                collectives[fact.compile_id] = fact.operations
        frames = []
        for function, compile_ids in members.items():
            own, source = set(compile_ids), self._workspace.source(function.filename)
            guards = self._recompilations.guards
            done = [compiled[compile_id] for compile_id in compile_ids if compile_id in compiled]
            again = [recompiles[compile_id] for compile_id in compile_ids if compile_id in recompiles]
            frames.append(
                FrameReport(
                    function=function.name,
                    filename=function.filename,
                    row=definition_span(source, function.filename, function.row, function.name).row,
                    compile_ids=tuple(compile_ids),
                    graphs=sum(fact.graphs for fact in done),
                    ops=sum(fact.ops for fact in done),
                    breaks=sum(not own.isdisjoint(ids) for ids in breaks),
                    guards=self._frame_guards(compile_ids, again),
                    recompiles=len(again),
                    versions=versions({fact.compile_id: guards[fact.compile_id] for fact in done}),
                    kernels=sum(launches[compile_id] for compile_id in compile_ids),
                    seconds=sum(fact.seconds for fact in done),
                    compilations=len(own - limited),
                    outlines=tuple(fact.outline for fact in done if fact.outline),
                    collectives=tuple(
                        itertools.chain.from_iterable(collectives.get(name, ()) for name in compile_ids)
                    ),
                )
            )
        return tuple(sorted(frames, key=lambda frame: (frame.filename, frame.row, frame.function)))

    def _frame_guards(self, compile_ids: Sequence[str], recompiles: Sequence[Recompile]) -> tuple[Guard, ...]:
        installed: dict[tuple[str, str, str], list[GuardInstalled]] = {}
        for compile_id in compile_ids:
            for guard in self._recompilations.guards[compile_id]:
                installed.setdefault((guard.source, guard.kind, guard.code), []).append(guard)
        failed: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
        for fact in recompiles:
            for failure in fact.failures:
                failed[failure.source, failure.compile_id].add((fact.compile_id, failure.kind))
        guards = []
        for (source, kind, code), same in installed.items():
            first = next((guard for guard in same if guard.stack), same[0])
            causes = {
                cause
                for guard in same
                for cause, failed_kind in failed.get((source, guard.compile_id), ())
                if failed_kind in ("", kind)
            }
            span = self._places.name_span(first.stack, source)
            callers = self._places.callers(first.stack)
            guards.append(
                Guard(source, kind, first.expected, code, first.compile_id, span, len(causes), callers)
            )
        return tuple(guards)

    def _graph(self, fact: GraphCaptured) -> Graph:
        contains = self._workspace.contains
        # A graph of a library's operations alone stands on the function that was compiled.
        places = itertools.chain((node.frame for node in fact.nodes), self._places.own_frame(fact.compile_id))
        frame = next((place for place in places if contains(place.filename)), None)
        return Graph(fact.compile_id, len(fact.nodes), self._places.span(frame) if frame else None, fact.text)

    def _files(self, names: Iterable[str]) -> dict[str, SourceFile | None]:
        """The workspace's files among those that the report speaks of, and those that were imported."""
        contains = self._workspace.contains
        imported = (
            name for fact in self._facts if isinstance(fact, ModulesLoaded) for name in fact.filenames
        )
        files: dict[str, SourceFile | None] = dict.fromkeys(filter(contains, imported))
        # Only these are read: a program may import hundreds that it compiles nothing of.
        files.update((name, self._workspace.source(name)) for name in filter(contains, names))
        return files


def _names(
    findings: Iterable[Finding],
    frames: Iterable[FrameReport],
    graphs: Iterable[Graph],
    codes: Iterable[Code],
    tensors: Iterable[TensorName],
    lines: Iterable[GraphLines],
) -> set[str]:
    """The files that a report speaks of."""
    names = {finding.span.filename for finding in findings}
    names.update(call.filename for finding in findings for call in finding.stack)
    names.update(graph.span.filename for graph in graphs if graph.span)
    names.update(item.span.filename for item in tensors)
    names.update(item.filename for item in lines)
    names.update(span.filename for item in codes for launch in item.launches for span in launch.spans)
    for frame in frames:
        names.add(frame.filename)
        names.update(guard.span.filename for guard in frame.guards if guard.span)
    return names


def _target_file(target: str, workspace: Workspace) -> str:
    path = target.removeprefix("pytest:").partition("::")[0]
    filename = os.path.join(workspace.root, path)
    return filename if os.path.isfile(filename) else os.path.join(workspace.root, "pyproject.toml")
