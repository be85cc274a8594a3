"""The JSON of a report.

Rows and columns are 1-based, columns count characters, and times are in seconds.
"""

from __future__ import annotations

from typing import Final

from fullgraph_compiler.facts import (
    Failure,
    FilesDiscarded,
    GraphUnchecked,
    RanDry,
    RecipeTried,
    SizesRemembered,
    StageChecked,
)

from ..report.caches.model import CacheCount, CacheUse, CacheUses, KeyDifference
from ..report.faults import verdict
from ..report.model import ExportedProgram, Finding, FrameCompilation, FrameReport, Guard, RankSummary, Report
from ..text.source_names import compile_number
from ..text.vllm import VllmGraph
from ..workspace.positions import Span, StackCall
from .shape import JsonKey, shape

VERSION: Final = 1
_SECONDS: Final = JsonKey("seconds", value=lambda item, _: round(item.seconds, 3), type=float)
_PASSES: Final = JsonKey("passes", value=lambda item, _: item.failure is None, type=bool)
_FAILURE: Final = JsonKey("failure", shape=shape(Failure, "kind", "error", "message", "phase"))

_CALL: Final = shape(StackCall, "filename", "row", "function")
FINDING: Final = shape(
    Finding,
    "kind",
    "code",
    "severity",
    "message",
    "filename=span.filename",
    JsonKey("location", "span", shape(Span, "row", "column")),
    JsonKey("end_location", "span", shape(Span, "row=end_row", "column=end_column")),
    "url",
    "explanation",
    "hints",
    JsonKey("stack", shape=_CALL),
    JsonKey("also_from", shape=_CALL),
    "count",
    JsonKey(
        "compile_ids", value=lambda item, _: sorted(item.compile_ids, key=compile_number), type=list[str]
    ),
    "fault",
    "ranks",
    "of_run",
    "survived",
)
_GUARD: Final = shape(
    Guard, "source", "kind", "expected", "code", "row=span.row", "filename=span.filename", "failures"
)
_FRAME: Final = shape(
    FrameReport,
    "function",
    "qualname",
    "filename",
    "row",
    "compile_ids",
    "graphs",
    "ops",
    "breaks",
    JsonKey("guards", shape=_GUARD),
    "recompiles",
    "versions",
    _SECONDS,
)
_COMPILATION: Final = shape(
    FrameCompilation,
    "compile_id",
    "function",
    "filename=span.filename",
    "row=span.row",
    _SECONDS,
    "reason",
    JsonKey("caller", shape=shape(Span, "filename", "row")),
)
_DIFFERENCE: Final = shape(KeyDifference, "name", "before", "after", "filename=span.filename", "row=span.row")
_CACHE_USE: Final = shape(
    CacheUse,
    "compile_id",
    "function",
    "filename=span.filename",
    "row=span.row",
    "cache",
    "state",
    "backward=lookup.backward",
    "key=lookup.key",
    "reason",
    "hint",
    "nearest",
    JsonKey("differences", shape=_DIFFERENCE),
    "seconds=lookup.seconds",
)
_CACHES: Final = shape(
    CacheUses,
    "warm",
    JsonKey(
        "counts",
        value=lambda caches, _: {count.cache: count for count in caches.counts},
        type=dict[str, CacheCount],
        shape=shape(CacheCount, "hits", "misses", "bypasses"),
    ),
    JsonKey("graphs", "uses", _CACHE_USE),
    JsonKey("sizes", shape=shape(SizesRemembered, "action", "place", "functions")),
)
_RANK: Final = shape(
    RankSummary,
    "rank",
    "status",
    _SECONDS,
    "compilations",
    "graphs",
    "breaks",
    "recompiles",
    "differs",
    "group",
)
_VLLM: Final = shape(
    VllmGraph,
    "compile_id=configured.compile_id",
    "model=configured.model",
    "prefix=configured.prefix",
    "splitting=configured.splitting",
    "cudagraphs=configured.cudagraphs",
    JsonKey(
        "parts",
        value=lambda graph, _: [{"name": name, "sizes": sizes} for name, sizes in graph.parts],
        type=list[dict[str, str | list[tuple[int, int]]]],
    ),
)
REPORT: Final = shape(
    Report,
    JsonKey("version", value=lambda *_: VERSION, type=int),
    "torch",
    "target",
    "status",
    _SECONDS,
    # The command line sets this key: it knows the baseline.
    JsonKey("findings", shape=FINDING.with_keys(JsonKey("baseline", value=lambda *_: False, type=bool))),
    JsonKey("ignored", shape=FINDING),
    JsonKey("exports", shape=shape(ExportedProgram, "compile_id", "function", "ops", "sizes")),
    JsonKey("frames", shape=_FRAME),
    JsonKey("compilations", shape=_COMPILATION),
    JsonKey("stages", shape=shape(StageChecked, "stage", "compile_id", _PASSES, _FAILURE, _SECONDS)),
    JsonKey("unchecked", shape=shape(GraphUnchecked, "compile_id", "reason")),
    JsonKey(
        "conclusion",
        value=lambda report, _: verdict(report) if report.stages or report.unchecked else "",
        type=str,
    ),
    JsonKey(
        "recipes",
        value=lambda report, _: report.of(RecipeTried),
        type=list[RecipeTried],
        shape=shape(RecipeTried, "recipe", _PASSES, _FAILURE, _SECONDS, "memory"),
    ),
    JsonKey("caches", shape=_CACHES),
    JsonKey("ranks", shape=_RANK),
    JsonKey("vllm", shape=_VLLM),
    JsonKey("dry", shape=shape(RanDry, "device", "unknown")),
    "left_out",
    JsonKey("discarded", shape=shape(FilesDiscarded, "by", "reason", "read_only")),
)
