"""Navigation from source lines to their kernels, and from generated code back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..client.capabilities import client_command
from ..client.documents import ClientDocuments
from ..protocol.lines import CounterpartsParams
from ..protocol.names import COUNTERPARTS, OPEN_ARTIFACT, SHOW_SOURCE
from ..report.artifacts import CompilerDocument, DocumentMark, Rows
from ..report.model import KernelLaunch
from ..runs.schedule import RunSchedule
from ..workspace.positions import Span
from .artifacts import ArtifactDocuments, ShownDocument
from .context import ServerContext

DocumentLaunch: TypeAlias = tuple[ShownDocument, KernelLaunch, list[Span], Rows]
"""A document, a launch in it, the user code that the launch computes, and the launch's rows."""


class CodeMap:
    """The map between user code and code that the compiler generated."""

    def __init__(self, documents: ClientDocuments, runs: RunSchedule, artifacts: ArtifactDocuments) -> None:
        self._documents = documents
        self._runs = runs
        self._artifacts = artifacts

    def implementations(self, filename: str, row: int) -> list[types.LocationLink]:
        """Return the kernels and library calls that compute a line."""
        links: dict[tuple[str, int], types.LocationLink] = {}
        for shown, _, spans, rows in self.launches(filename, row):
            links[shown.uri, rows[0]] = self._link(shown, spans, rows)
        return list(links.values())

    def launches(self, filename: str, row: int) -> list[DocumentLaunch]:
        """Return the kernel launches that compute a line, with their documents.

        They are taken from the newest ordinary report that has generated code, or else from a layer such as a
        preview.
        """
        reports = self._runs.of_file(filename)
        layers = (layer for report in reports for layer in self._runs.layers(report.target))
        for report in (*reports, *layers):
            earlier = self._documents.drift(report, filename).earlier(row)
            if not report.codes or filename not in report.files or earlier is None:
                continue
            return [
                (shown, launch, spans, rows)
                for shown in self._artifacts.of_report(report)
                for launch, rows in _places(shown.document)
                if (spans := launch.spans_at(filename, earlier))
            ]
        return []

    def sources(self, uri: str, row: int | None = None) -> list[types.Location]:
        """Return the current places of the user code for a document, or for one row."""
        shown = self._artifacts.get(uri)
        if shown is None:
            return []
        spans = dict.fromkeys(mark.span for mark in _marks_at(shown, row))
        locations = [self._documents.location(shown.report, span) for span in sorted(spans, key=_order)]
        return list({(item.uri, str(item.range)): item for item in locations}.values())

    def sources_at(self, uri: str, row: int) -> list[tuple[tuple[str, ...], types.Location]]:
        """Return pairs of operations and user code for a row of a document."""
        shown = self._artifacts.get(uri)
        if shown is None:
            return []
        marks = sorted(_marks_at(shown, row), key=lambda mark: _order(mark.span))
        return [(mark.operators, self._documents.location(shown.report, mark.span)) for mark in marks]

    def counterparts(self, params: CounterpartsParams) -> list[types.Location]:
        """Return the places in other documents that correspond to a place in a document."""
        uri, position = params.text_document.uri, params.position
        others = list(filter(None, map(self._artifacts.get, params.among)))
        shown = self._artifacts.get(uri)
        if shown is not None:
            spans = {mark.span for mark in _marks_at(shown, position.line + 1)}
            names = set(map(self._documents.filename, params.among))
            found = self.sources(uri, position.line + 1)
            sources = [place for place in found if self._documents.filename(place.uri) in names]
            rows = [
                (other.uri, mark.rows)
                for other in others
                for mark in other.marks
                if any(_overlap(mark.span, span) for span in spans)
            ]
        elif filename := self._documents.filename(uri):
            sources, place = [], self._documents.place(filename, position)
            rows = [(other.uri, at) for other in others for at in self._rows_of(other, filename, *place)]
        else:
            return []
        return [*sources, *(types.Location(other, _range(at)) for other, at in dict.fromkeys(rows))]

    def lens_rows(self, uri: str) -> list[int]:
        """Return the rows of a document that get lenses with the user's lines.

        These are the first row of a kernel, or all rows with a launch in whole generated code.
        """
        shown = self._artifacts.get(uri)
        if shown is None or shown.document.code is None:
            return []
        if shown.document.launches:
            return [1]
        return sorted({launch.rows[0] for launch in shown.document.code.launches})

    def compiled(self, uri: str) -> list[ShownDocument]:
        """Return the compiled forms of a kernel, such as its PTX."""
        shown = self._artifacts.get(uri)
        if shown is None or not shown.document.launches or shown.document.built:
            return []
        own = shown.document
        return [
            item
            for item in self._artifacts.of_report(shown.report)
            if item.document.built
            and item.document.code is own.code
            and item.document.launches[0] is own.launches[0]
        ]

    def lens_lines(self, uri: str, row: int) -> list[types.Location]:
        """Return the user's lines that the kernel or launch at a row computes, each once."""
        shown = self._artifacts.get(uri)
        whole = shown is not None and bool(shown.document.launches)
        locations = self.sources(uri, None if whole else row)
        return list({(item.uri, item.range.start.line): item for item in locations}.values())

    def _rows_of(self, shown: ShownDocument, filename: str, row: int, column: int) -> list[Rows]:
        earlier = self._documents.drift(shown.report, filename).earlier(row)
        if earlier is None:
            return []
        of_line = [
            mark
            for mark in shown.marks
            if mark.span.filename == filename and mark.span.row <= earlier <= mark.span.end_row
        ]
        at = Span(filename, earlier, column, earlier, column + 1)
        exact = [mark for mark in of_line if _overlap(mark.span, at)] or of_line
        innermost = min((_size(mark.span) for mark in exact), default=None)
        return list(dict.fromkeys(mark.rows for mark in exact if _size(mark.span) == innermost))

    def _link(self, shown: ShownDocument, spans: list[Span], rows: Rows) -> types.LocationLink:
        lines, first = _range(rows), _range((rows[0], rows[0]))
        origin = self._documents.location(shown.report, max(spans, key=_size)).range
        return types.LocationLink(shown.uri, lines, first, origin)


def register(context: ServerContext, kernels: CodeMap) -> None:
    """Register handlers of requests for implementations, definitions, counterparts."""

    @context.server.feature(types.TEXT_DOCUMENT_IMPLEMENTATION)
    async def implementation(params: types.ImplementationParams) -> list[types.LocationLink]:
        filename = context.documents.filename(params.text_document.uri)
        if filename is None:
            return []
        return kernels.implementations(filename, params.position.line + 1)

    @context.server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> list[types.Location]:
        return kernels.sources(params.text_document.uri, params.position.line + 1)

    @context.server.feature(COUNTERPARTS)
    async def counterparts(params: CounterpartsParams) -> list[types.Location]:
        return kernels.counterparts(params)


def source_lenses(
    server: LanguageServer, kernels: CodeMap, documents: ClientDocuments, uri: str
) -> list[types.CodeLens]:
    """Return the lenses of generated code.

    A kernel has a lens for each of its compiled forms, and for each user line that it computes.
    """
    lenses = []
    for form in kernels.compiled(uri):
        title = form.document.title.rpartition(", ")[2]
        opens = client_command(server, OPEN_ARTIFACT, title, form.uri)
        lenses += [types.CodeLens(_range((1, 1)), opens)] if opens else []
    for row in kernels.lens_rows(uri):
        for location in kernels.lens_lines(uri, row):
            filename, now = documents.filename(location.uri) or "", location.range.start.line + 1
            at = f"{filename.rpartition('/')[2]}:{documents.shown_row(filename, now)}"
            title = f"{at} {documents.line(filename, now).strip()}"
            command = client_command(server, SHOW_SOURCE, title, location) or types.Command(title, "")
            lenses.append(types.CodeLens(_range((row, row)), command))
    return lenses


def _places(document: CompilerDocument) -> list[tuple[KernelLaunch, Rows]]:
    """Return the launches of a document with their rows.

    In the document of a kernel, each launch of the kernel has all rows. In the document of whole code, only
    library calls are returned.
    """
    if document.built or document.code is None:
        return []
    if document.launches:
        return [(launch, (1, document.text.count("\n"))) for launch in document.launches]
    return [(launch, launch.rows) for launch in document.code.launches if not launch.source]


def _marks_at(shown: ShownDocument, row: int | None) -> Iterable[DocumentMark]:
    """Return the marks that link a row to user code; for ``None``, all marks.

    For a row of a kernel without a mark for exactly this row, all marks of the kernel are returned.
    """
    if row is None:
        return shown.marks
    around = [mark for mark in shown.marks if mark.rows[0] <= row <= mark.rows[1]]
    own = [mark for mark in around if mark.rows == (row, row)]
    return own or (shown.marks if shown.document.launches else around)


def _overlap(one: Span, other: Span) -> bool:
    starts_before_end = (one.row, one.column) < (other.end_row, other.end_column)
    ends_after_start = (other.row, other.column) < (one.end_row, one.end_column)
    return one.filename == other.filename and starts_before_end and ends_after_start


def _size(span: Span) -> tuple[int, int]:
    return span.end_row - span.row, span.end_column - span.column


def _range(rows: Rows) -> types.Range:
    return types.Range(types.Position(rows[0] - 1, 0), types.Position(rows[1] - 1, 0))


def _order(span: Span) -> tuple[str, int, int, int]:
    return span.filename, span.row, span.column, -span.end_column
