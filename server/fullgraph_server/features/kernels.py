"""Generated code as documents: from a source line to its kernels, and from a kernel back to its lines.

A document's URI has the hash of its text, so an old tab stays what it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..engine.kernels import KernelFile, kernel_files
from ..engine.report import Launch, Report, Span
from ..engine.runs import Runs
from ..protocol import KERNEL_SCHEME, SHOW_SOURCE
from .capabilities import client_command
from .documents import Documents
from .findings import newest_first

_MOST = 2000
"""How many documents can be read again, the newest ones."""


@dataclass(frozen=True)
class _Known:
    """A document that the client may ask for, and the report that has it."""

    report: Report
    file: KernelFile


class KernelDocuments:
    """The generated code of reports, by URI. What was shown once can be read again."""

    def __init__(self, documents: Documents, runs: Runs) -> None:
        self._documents = documents
        self._runs = runs
        self._known: dict[str, _Known] = {}
        self._of_target: dict[str, tuple[Report, list[tuple[str, KernelFile]]]] = {}

    def of_report(self, report: Report) -> list[tuple[str, KernelFile]]:
        """All code of a report, with URIs under which it can be read."""
        last, found = self._of_target.get(report.target, (None, []))
        if last is not report:
            found = [(_uri(file), file) for file in kernel_files(report)]
            self._of_target[report.target] = report, found
            for uri, file in found:
                self._known.pop(uri, None)
                self._known[uri] = _Known(report, file)
            for uri in list(self._known)[:-_MOST]:
                del self._known[uri]
        return found

    def text(self, uri: str) -> str:
        """What a document says."""
        known = self._known.get(uri)
        return known.file.text if known else "This kernel is of an earlier session: run its target again.\n"

    def implementations(self, filename: str, row: int) -> list[types.LocationLink]:
        """The kernels that compute a line, and where library functions are called for it."""
        for report in newest_first(self._runs.reports()):
            earlier = self._documents.drift(report, filename).earlier(row)
            if not report.codes or filename not in report.files or earlier is None:
                continue
            links: dict[tuple[str, int], types.LocationLink] = {}
            for uri, file in self.of_report(report):
                for launch, rows in _places(file):
                    if (span := launch.span_at(filename, earlier)) is not None:
                        links[uri, rows[0]] = self._link(report, span, uri, rows)
            return list(links.values())
        return []

    def sources(self, uri: str, row: int | None = None) -> list[tuple[Span, types.Location]]:
        """The user's lines behind a document, or behind a row of it: as they ran, and where they are now."""
        known = self._known.get(uri)
        if known is None:
            return []
        launches = known.file.launches or known.file.code.launches
        if not known.file.launches and row is not None:
            launches = tuple(launch for launch in launches if _holds(launch, row))
        spans = dict.fromkeys(span for launch in launches for span in launch.spans)
        return [(span, self._documents.location(known.report, span)) for span in sorted(spans, key=_order)]

    def lens_rows(self, uri: str) -> list[int]:
        """Where a document speaks of other lines: a kernel at its top, a whole code where it launches one."""
        known = self._known.get(uri)
        if known is None or known.file.launches:
            return [1]
        return sorted({launch.rows[0] for launch in known.file.code.launches})

    def _link(self, report: Report, span: Span, uri: str, rows: tuple[int, int]) -> types.LocationLink:
        lines = types.Range(types.Position(rows[0] - 1, 0), types.Position(rows[1] - 1, 0))
        first = types.Range(lines.start, lines.start)
        origin = self._documents.location(report, span).range
        return types.LocationLink(uri, lines, first, origin)


def register(server: LanguageServer, documents: Documents, kernels: KernelDocuments) -> None:
    """Answer ``textDocument/implementation`` in sources and ``textDocument/definition`` in kernels."""

    @server.feature(types.TEXT_DOCUMENT_IMPLEMENTATION)
    async def implementation(params: types.ImplementationParams) -> list[types.LocationLink]:
        filename = documents.filename(params.text_document.uri)
        if filename is None:
            return []
        return kernels.implementations(filename, params.position.line + 1)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> list[types.Location]:
        found = kernels.sources(params.text_document.uri, params.position.line + 1)
        return [location for _, location in found]


def source_lenses(
    server: LanguageServer, kernels: KernelDocuments, documents: Documents, uri: str
) -> list[types.CodeLens]:
    """In generated code, a lens for each of the user's lines behind it."""
    lenses = []
    for row in kernels.lens_rows(uri):
        place = types.Range(types.Position(row - 1, 0), types.Position(row - 1, 0))
        for span, location in kernels.sources(uri, row):
            now = location.range.start.line + 1
            name = span.filename.rpartition("/")[2]
            title = f"{name}:{now} {documents.line(span.filename, now).strip()}"
            command = client_command(server, SHOW_SOURCE, title, location) or types.Command(title, "")
            lenses.append(types.CodeLens(place, command))
    return lenses


def is_kernel(uri: str) -> bool:
    """Whether a document is generated code."""
    return uri.startswith(f"{KERNEL_SCHEME}:")


def _uri(file: KernelFile) -> str:
    key = sha256(file.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{KERNEL_SCHEME}:/{key}/{quote(file.name)}"


def _places(file: KernelFile) -> list[tuple[Launch, tuple[int, int]]]:
    """Where a document computes something itself: a kernel does in all its rows, the whole code in calls."""
    if file.launches:
        return [(launch, (1, file.text.count("\n"))) for launch in file.launches]
    return [(launch, launch.rows) for launch in file.code.launches if not launch.source]


def _holds(launch: Launch, row: int) -> bool:
    return any(rows and rows[0] <= row <= rows[1] for rows in (launch.rows, launch.definition))


def _order(span: Span) -> tuple[str, int, int]:
    return span.filename, span.row, span.column
