"""JSON: one object for each target, each on its own line if there are several."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TextIO

from fullgraph_compiler.facts import Failure, FilesDiscarded, RanDry, RecipeTried, StageChecked

from ...analyses.registry import of_depth
from ...report.caches.model import Caches, CacheUse
from ...report.faults import verdict
from ...report.model import Compilation, ExportedProgram, Finding, FrameReport, Guard, RankSummary
from ...text.source_names import compile_number
from ...text.vllm import VllmGraph
from ...workspace.positions import Call
from ..output import write_object
from .checked import Checked
from .places import in_cells

VERSION = 1


def write(reports: Iterable[Checked], targets: int, out: TextIO) -> None:
    """Write each report as soon as it is complete."""
    for checked in reports:
        write_object(out, in_cells(report_object(checked)), indent=2 if targets == 1 else None)
        out.flush()


def report_object(checked: Checked) -> dict[str, Any]:
    """Return a report as JSON values. Rows and columns are 1-based, columns in characters."""
    report = checked.report
    common = {
        "version": VERSION,
        "torch": report.torch,
        "target": report.target,
        "status": report.status,
        "seconds": round(report.seconds, 3),
        "findings": [
            {**finding_object(finding), "baseline": checked.is_known(finding)} for finding in report.findings
        ],
        "ignored": [finding_object(finding) for finding in report.ignored],
        "exports": [_export(export) for export in report.exports],
        "frames": [_frame(frame) for frame in report.frames],
        "compilations": [_compilation(item) for item in report.compilations],
        "stages": [_stage(stage) for stage in report.stages],
        "unchecked": [{"compile_id": graph.compile_id, "reason": graph.reason} for graph in report.unchecked],
        "conclusion": verdict(report) if report.stages or report.unchecked else "",
        "recipes": [_recipe(recipe) for recipe in report.of(RecipeTried)],
        "caches": _caches(report.caches),
        "ranks": [_rank(rank) for rank in report.ranks],
        "vllm": [_vllm(graph) for graph in report.vllm],
        "dry": report.dry and _dry(report.dry),
        "left_out": list(report.left_out),
        "discarded": report.discarded and _discarded(report.discarded),
    }
    analysis = of_depth(report.depth)
    return analysis.as_json(report, common) if analysis else common


def finding_object(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON values."""
    span = finding.span
    return {
        "kind": finding.kind,
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "filename": span.filename,
        "location": {"row": span.row, "column": span.column},
        "end_location": {"row": span.end_row, "column": span.end_column},
        "url": finding.url,
        "explanation": finding.explanation,
        "hints": list(finding.hints),
        "stack": [_call(call) for call in finding.stack],
        "also_from": [_call(call) for call in finding.also_from],
        "count": finding.count,
        "compile_ids": sorted(finding.compile_ids, key=compile_number),
        "fault": finding.fault,
        "ranks": list(finding.ranks),
        "of_run": finding.of_run,
        "survived": finding.survived,
    }


def _call(call: Call) -> dict[str, Any]:
    return {"filename": call.filename, "row": call.row, "function": call.function}


def _vllm(graph: VllmGraph) -> dict[str, Any]:
    configured = graph.configured
    return {
        "compile_id": configured.compile_id,
        "model": configured.model,
        "prefix": configured.prefix,
        "splitting": list(configured.splitting),
        "cudagraphs": configured.cudagraphs,
        "parts": [{"name": name, "sizes": [list(pair) for pair in sizes]} for name, sizes in graph.parts],
    }


def _frame(frame: FrameReport) -> dict[str, Any]:
    return {
        "function": frame.function,
        "qualname": frame.qualname,
        "filename": frame.filename,
        "row": frame.row,
        "compile_ids": list(frame.compile_ids),
        "graphs": frame.graphs,
        "ops": frame.ops,
        "breaks": frame.breaks,
        "guards": [_guard(guard) for guard in frame.guards],
        "recompiles": frame.recompiles,
        "versions": frame.versions,
        "seconds": round(frame.seconds, 3),
    }


def _export(export: ExportedProgram) -> dict[str, Any]:
    return {
        "compile_id": export.compile_id,
        "function": export.function,
        "ops": export.ops,
        "sizes": list(export.sizes),
    }


def _compilation(item: Compilation) -> dict[str, Any]:
    caller = item.caller
    return {
        "compile_id": item.compile_id,
        "function": item.function,
        "filename": item.span.filename,
        "row": item.span.row,
        "seconds": round(item.seconds, 3),
        "reason": item.reason,
        "caller": caller and {"filename": caller.filename, "row": caller.row},
    }


def _stage(stage: StageChecked) -> dict[str, Any]:
    return {
        "stage": stage.stage,
        "compile_id": stage.compile_id,
        "passes": stage.failure is None,
        "failure": stage.failure and _failure(stage.failure),
        "seconds": round(stage.seconds, 3),
    }


def _recipe(recipe: RecipeTried) -> dict[str, Any]:
    return {
        "recipe": recipe.recipe,
        "passes": recipe.failure is None,
        "failure": recipe.failure and _failure(recipe.failure),
        "seconds": round(recipe.seconds, 3),
        "memory": recipe.memory,
    }


def _caches(caches: Caches) -> dict[str, Any]:
    return {
        "warm": caches.warm,
        "counts": {
            count.cache: {"hits": count.hits, "misses": count.misses, "bypasses": count.bypasses}
            for count in caches.counts
        },
        "graphs": [_cache_use(use) for use in caches.uses],
        "sizes": [
            {"action": item.action, "place": item.place, "functions": item.functions} for item in caches.sizes
        ],
    }


def _cache_use(use: CacheUse) -> dict[str, Any]:
    return {
        "compile_id": use.compile_id,
        "function": use.function,
        "filename": use.span.filename,
        "row": use.span.row,
        "cache": use.cache,
        "state": use.state,
        "backward": use.lookup.backward,
        "key": use.lookup.key,
        "reason": use.reason,
        "hint": use.hint,
        "nearest": use.nearest,
        "differences": [
            {
                "name": item.name,
                "before": item.before,
                "after": item.after,
                "filename": item.span and item.span.filename,
                "row": item.span and item.span.row,
            }
            for item in use.differences
        ],
        "seconds": use.lookup.seconds,
    }


def _rank(rank: RankSummary) -> dict[str, Any]:
    return {
        "rank": rank.rank,
        "status": rank.status,
        "seconds": round(rank.seconds, 3),
        "compilations": rank.compilations,
        "graphs": rank.graphs,
        "breaks": rank.breaks,
        "recompiles": rank.recompiles,
        "differs": rank.differs,
        "group": rank.group,
    }


def _dry(dry: RanDry) -> dict[str, Any]:
    return {"device": dry.device, "unknown": list(dry.unknown)}


def _discarded(discarded: FilesDiscarded) -> dict[str, Any]:
    return {"by": discarded.by, "reason": discarded.reason, "read_only": list(discarded.read_only)}


def _failure(failure: Failure) -> dict[str, Any]:
    return {
        "kind": failure.kind,
        "error": failure.error,
        "message": failure.message,
        "phase": failure.phase,
    }


def _guard(guard: Guard) -> dict[str, Any]:
    return {
        "source": guard.source,
        "kind": guard.kind,
        "expected": guard.expected,
        "code": guard.code,
        "row": guard.span.row if guard.span else None,
        "filename": guard.span.filename if guard.span else None,
        "failures": guard.failures,
    }
