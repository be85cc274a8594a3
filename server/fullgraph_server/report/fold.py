"""Fold the facts of a run into a report: repeated observations become one finding.

``fold`` is pure and total: it returns a report for any subset of the facts, in any order.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable

from fullgraph_compiler.facts import (
    Artifact,
    CodeGenerated,
    Depth,
    Fact,
    FilesDiscarded,
    GraphCaptured,
    GraphsExecuted,
    GraphUnchecked,
    KernelCompiled,
    ModulesLoaded,
    Noise,
    PhasesTimed,
    RanDry,
    RecordText,
    RerunsSkipped,
    Result,
    RunFinished,
    StageChecked,
)

from ..text.vllm import vllm_graphs
from ..workspace.source import SourceFile
from ..workspace.targets import PYTEST
from ..workspace.workspace import Workspace
from .caches.uses import caches_of, with_caches
from .exports.programs import exported_programs
from .facts_by_type import FactsByType
from .finding_builder import by_place, finished, without_ignored
from .findings import FindingFacts
from .frames import FrameTable
from .kernels import codes_of
from .lines.graph_lines import graph_lines
from .lines.tensors import tensor_names
from .measured.speed import measured_speed
from .model import CapturedGraph, Finding, FrameReport, GeneratedCode, GraphLines, Report, TensorName
from .recompiles import RecompileIndex
from .sizes import size_conditions
from .source_locator import FactLocator
from .speed import compilations
from .wrappers import LightningModules


def fold(
    target: str,
    generation: int,
    torch: str,
    facts: Iterable[Fact],
    workspace: Workspace,
    filename: str | None = None,
    depth: Depth = "graph",
) -> Report:
    """Return the report of the facts of a run, which need not be complete.

    ``filename`` is the file on which problems without a stack are shown, by default the file in ``target``.
    """
    by_type = FactsByType(facts)
    of, last = by_type.of, by_type.last
    places = FactLocator(workspace, filename or _target_file(target, workspace), by_type.all)
    lightning = LightningModules(by_type, places)
    recompilations = RecompileIndex(by_type, places, lightning)
    caches = caches_of(by_type, places, with_keys=depth == "build")
    finding_facts = FindingFacts(by_type, places, recompilations, lightning, caches, depth)
    builders = finding_facts.builders()
    told = sorted((finished(builder) for builder in builders), key=by_place)
    breaks = [builder.compile_ids for builder in builders if builder.finding.kind == "graph-break"]
    frames = with_caches(FrameTable(by_type, places, recompilations).reports(breaks), caches)
    findings, ignored = without_ignored(told, frames, workspace, complete=finding_facts.completed)
    graphs = tuple(_graph(fact, places) for fact in of(GraphCaptured))
    codes = codes_of(of(CodeGenerated), of(KernelCompiled), places.own_span)
    tensors = tensor_names(by_type, workspace)
    lines = graph_lines(finding_facts.without_passing_exceptions(), places)
    end = last(RunFinished)
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
        exports=exported_programs(by_type, places),
        codes=codes,
        artifacts=of(Artifact),
        records=of(RecordText),
        phases=tuple(phase for fact in of(PhasesTimed) for phase in fact.phases),
        compilations=compilations(by_type, places, recompilations),
        tensors=tensors,
        speed=measured_speed(by_type, places, recompilations),
        stages=of(StageChecked),
        unchecked=of(GraphUnchecked),
        noise=of(Noise),
        reruns_skipped=last(RerunsSkipped) is not None,
        results=tuple(fact for fact in by_type.all if isinstance(fact, Result)),
        files=_files(by_type, _names(findings, frames, graphs, codes, tensors, lines), workspace),
        depth=depth,
        sizes=tuple(size_conditions(by_type, places)),
        graph_lines=lines,
        caches=caches,
        vllm=vllm_graphs(by_type.all),
        dry=last(RanDry),
        left_out=end.left_out if end else (),
        reaches_others=end is not None and end.reaches_others,
        executed=tuple(name for fact in of(GraphsExecuted) for name in fact.compile_ids),
        discarded=by_type.first(FilesDiscarded),
    )


def _graph(fact: GraphCaptured, places: FactLocator) -> CapturedGraph:
    # A graph with operations of libraries only is placed on the compiled function.
    frames = itertools.chain((node.frame for node in fact.nodes), places.own_frame(fact.compile_id))
    frame = next((frame for frame in frames if places.workspace.contains(frame.filename)), None)
    return CapturedGraph(fact.compile_id, len(fact.nodes), places.span(frame) if frame else None, fact.text)


def _files(facts: FactsByType, names: Iterable[str], workspace: Workspace) -> dict[str, SourceFile | None]:
    """Map the workspace files that were imported or are in ``names`` to texts.

    A file that is not in ``names`` is not read, and mapped to ``None``.
    """
    imported = (name for fact in facts.of(ModulesLoaded) for name in fact.filenames)
    files: dict[str, SourceFile | None] = dict.fromkeys(filter(workspace.contains, imported))
    # Other files are not read: a program can import hundreds of files without compiled functions.
    files.update((name, workspace.source(name)) for name in filter(workspace.contains, names))
    return files


def _names(
    findings: Iterable[Finding],
    frames: Iterable[FrameReport],
    graphs: Iterable[CapturedGraph],
    codes: Iterable[GeneratedCode],
    tensors: Iterable[TensorName],
    lines: Iterable[GraphLines],
) -> set[str]:
    """Collect the names of all files that a report refers to."""
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
    """Return the file in a target's id; without a file, the ``pyproject.toml``."""
    path = target.removeprefix(PYTEST).partition("::")[0]
    filename = os.path.join(workspace.root, path)
    return filename if os.path.isfile(filename) else os.path.join(workspace.root, "pyproject.toml")
