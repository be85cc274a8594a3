"""A trace as one page that opens offline in a browser: the editor's compile report, with its data in it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from lsprotocol import types

from ...commands.performance import PerformanceItems
from ...commands.report import ReportItems
from ...features.artifacts import ArtifactDocuments, ShownDocument
from ...protocol.report import ExcerptItem, NoteItem, ToldFindingItem, TraceItem
from ...protocol.wire import create_converter
from ...report.model import Finding, Report
from ...text.urls import without_secrets
from ...text.visible import visible
from ...workspace.positions import TRACE, Span
from ...workspace.source import SourceFile
from ..formats.checked import Checked, shown_path
from ..formats.places import shown_place
from ..formats.text import labelled_notes

BUNDLE: Final = Path(__file__).parent / "page"
"""The program of the page, which `npm run build` puts here."""
HEAD: Final = '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta name="generator" content="fullgraph trace">\n'
"""The beginning of each page."""
_MOST_TEXT: Final = 32_000_000
"""The limit on characters of documents in the page; the others are only in the folder beside it."""
_MOST_ROWS: Final = 6
_AROUND: Final = 2
"""Limits on lines that are quoted: those of a finding, and those above and below."""


def page(checked: Checked) -> str:
    """Return the page of a trace. Raises ``OSError`` without its program."""
    # An absolute path is of no use to who gets the page.
    report = replace(checked.report, target=f"{TRACE}/{checked.target.label}")
    documents, places = ArtifactDocuments(), _Places()
    items = ReportItems(places, documents)
    performance = PerformanceItems(places, documents, items).performance(report)
    trace = TraceItem(
        report=items.report(report),
        findings=[_told(items, replace(checked, report=report), finding) for finding in report.findings],
        texts=dict(_texts(documents.of_report(report))),
        rank=report.usual_rank,
    )
    drawer = _read("drawer.js") if performance.pictures else None
    convert = create_converter().unstructure
    data = {"report": convert(performance), "trace": convert(trace), "drawer": drawer}
    return _html(checked.target.label, {name: value for name, value in data.items() if value is not None})


class _Places:
    """Places by a path that says something elsewhere, too; a report of a trace as it is has no drift."""

    def location(self, report: Report, span: Span) -> types.Location:
        source = report.files.get(span.filename)
        start = _position(source, span.row, span.column)
        end = _position(source, *max((span.row, span.column), (span.end_row, span.end_column)))
        path = quote(without_secrets(shown_path(span.filename)), errors="replace")
        return types.Location(f"source:/{path}", types.Range(start, end))

    def line_location(self, report: Report, filename: str, row: int) -> types.Location:
        return self.location(report, Span(filename, row, 1, row, 1))


def _position(source: SourceFile | None, row: int, column: int) -> types.Position:
    """Return a position in the units of JavaScript's strings."""
    before = source.line(row)[: column - 1] if source else ""
    return types.Position(row - 1, len(before.encode("utf-16-le", "surrogatepass")) // 2)


def _texts(shown: list[ShownDocument]) -> Iterator[tuple[str, str]]:
    left = _MOST_TEXT
    for item in shown:
        left -= len(item.document.text)
        if left < 0:
            return
        yield item.uri, item.document.text


def _told(items: ReportItems, checked: Checked, finding: Finding) -> ToldFindingItem:
    source = None if finding.of_run else checked.workspace.source(finding.span.filename)
    return ToldFindingItem(
        finding=items.finding(checked.report, finding),
        place="" if finding.of_run else without_secrets(shown_place(finding)),
        notes=[NoteItem(label, text) for label, text in labelled_notes(finding)],
        excerpt=_excerpt(source, finding.span) if source else None,
    )


def _excerpt(source: SourceFile, span: Span) -> ExcerptItem | None:
    last = min(span.end_row, span.row + _MOST_ROWS - 1)
    start, end = max(span.row - _AROUND, 1), min(last + _AROUND, len(source.lines))
    lines = [source.line(row) for row in range(start, end + 1)]
    return ExcerptItem(start, lines, span.row, last) if lines else None


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
