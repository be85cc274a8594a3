"""A trace as one HTML page that opens offline.

The page is the compile report that editors show, together with the data that it displays.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from itertools import starmap
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from lsprotocol.types import Location, Position, Range

from ...commands.client_edge import ReportEdge
from ...commands.performance import PERFORMANCE_ITEM
from ...commands.report import FINDING, REPORT_ITEM
from ...features.artifacts import ArtifactDocuments, ShownDocument
from ...protocol.wire import create_converter
from ...report.model import Finding, Report
from ...shapes.shape import JsonKey, shape, whole
from ...text.urls import without_secrets
from ...text.visible import visible
from ...workspace.positions import TRACE, Span
from ...workspace.source import SourceFile
from ...workspace.workspace import Workspace
from ..formats.checked import CheckedReport, shown_path
from ..formats.places import shown_place
from ..formats.text import labelled_notes

BUNDLE: Final = Path(__file__).parent / "page"
"""The folder with the page's script and style, which `npm run build` writes."""
HEAD: Final = '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta name="generator" content="fullgraph trace">\n'
"""The beginning of each page, by which a page of a trace is recognized."""
_MOST_TEXT: Final = 32_000_000
"""The most characters of documents in the page; further documents are only in the folder next to the page."""
_MOST_ROWS: Final = 6
_AROUND: Final = 2
"""The most quoted lines of a finding, and the number of quoted lines above and below the finding."""


def page(checked: CheckedReport) -> str:
    """Return the page of a trace as HTML.

    Raises ``OSError`` if ``npm run build`` has not written the page's script.
    """
    # An absolute path means nothing to the recipient of the page.
    report = replace(checked.report, target=f"{TRACE}/{checked.target.label}")
    edge = _PageEdge(report, ArtifactDocuments(), checked.workspace)
    told = {"report": PERFORMANCE_ITEM.object(report, edge), "trace": TRACE_ITEM.object(report, edge)}
    data = create_converter().unstructure(told)
    if data["report"]["pictures"]:
        data["drawer"] = _read("drawer.js")
    return _html(checked.target.label, data)


@dataclass(frozen=True)
class _PageEdge(ReportEdge):
    """Converter of a trace's report for the page.

    Texts are not escaped, since the page's script inserts them as text only. Paths are relative if possible,
    since the page is read on other machines. A trace that was just read has no drift.
    """

    workspace: Workspace

    def place(self, span: Span) -> Location:
        source = self.report.files.get(span.filename)
        start = _position(source, span.row, span.column)
        end = _position(source, *max((span.row, span.column), (span.end_row, span.end_column)))
        path = quote(without_secrets(shown_path(span.filename)), errors="replace")
        return Location(f"source:/{path}", Range(start, end))

    def line(self, filename: str, row: int) -> Location:
        return self.place(Span(filename, row, 1, row, 1))


def _position(source: SourceFile | None, row: int, column: int) -> Position:
    """Return a position whose column counts UTF-16 units, as JavaScript's strings do."""
    before = source.line(row)[: column - 1] if source else ""
    return Position(row - 1, len(before.encode("utf-16-le", "surrogatepass")) // 2)


def _texts(shown: list[ShownDocument]) -> Iterator[tuple[str, str]]:
    left = _MOST_TEXT
    for item in shown:
        left -= len(item.document.text)
        if left < 0:
            return
        yield item.uri, item.document.text


@dataclass(frozen=True, slots=True)
class _SourceExcerpt:
    """Source lines from row ``start``, with a finding in rows ``first`` to ``last``."""

    start: int
    lines: list[str]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _FindingNote:
    """A note on a finding, such as its reason."""

    label: str
    text: str


# A finding with everything that an editor shows about it elsewhere.
TOLD: Final = shape(
    Finding,
    JsonKey("finding", value=lambda finding, _: finding, type=Finding, shape=FINDING),
    JsonKey("place", value=lambda finding, _: _place(finding), type=str),
    JsonKey(
        "notes",
        value=lambda finding, _: list(starmap(_FindingNote, labelled_notes(finding))),
        type=list[_FindingNote],
        shape=whole(_FindingNote, name="NoteItem"),
    ),
    JsonKey(
        "excerpt",
        value=lambda finding, edge: _excerpt(finding, edge.workspace),
        type=_SourceExcerpt | None,
        shape=whole(_SourceExcerpt, name="ExcerptItem"),
    ),
    name="ToldFindingItem",
)
TRACE_ITEM: Final = shape(
    Report,
    JsonKey("report", value=lambda report, _: report, type=Report, shape=REPORT_ITEM),
    JsonKey("findings", shape=TOLD),
    # The text of each document, by URI.
    JsonKey("texts", value=lambda _, edge: dict(_texts(edge.documents)), type=dict[str, str]),
    # With several ranks, the rank whose graphs, kernels and times are shown.
    "rank=usual_rank",
    name="TraceItem",
)


def _place(finding: Finding) -> str:
    """Return ``model.py:12:9``; empty for a finding of the run as a whole."""
    return "" if finding.of_run else without_secrets(shown_place(finding))


def _excerpt(finding: Finding, workspace: Workspace) -> _SourceExcerpt | None:
    span = finding.span
    source = None if finding.of_run else workspace.source(span.filename)
    if source is None:
        return None
    last = min(span.end_row, span.row + _MOST_ROWS - 1)
    start, end = max(span.row - _AROUND, 1), min(last + _AROUND, len(source.lines))
    lines = [source.line(row) for row in range(start, end + 1)]
    return _SourceExcerpt(start, lines, span.row, last) if lines else None


def _html(title: str, data: dict[str, Any]) -> str:
    script, style = _read("report.js"), _read("report.css")
    # In JSON, a < can only be in a string.
    text = json.dumps(data).replace("<", "\\u003c")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}' 'wasm-unsafe-eval'; style-src '{_hash(style)}'; "
        "worker-src blob:"
    )
    return (
        f'{HEAD}<meta charset="UTF-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(visible(title))}</title>\n<style>{style}</style>\n</head>\n"
        f'<body><script type="application/json" id="exported">{text}</script>'
        f"<script>{script}</script></body>\n</html>\n"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _read(name: str) -> str:
    return (BUNDLE / name).read_text("utf-8")
