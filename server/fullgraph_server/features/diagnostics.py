"""Findings as diagnostics, published when a report or a text has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence

from fullgraph_compiler.facts import Severity
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..client.documents import ClientDocuments
from ..client.findings import ShownFinding, minify_options, shown_findings
from ..protocol.report import FindingData
from ..report.model import Finding, Report
from ..runs.choice import TargetChoice
from ..runs.observers import RunObserver
from ..text.messages import brief
from ..workspace.examples import find_examples, unknown_names
from ..workspace.source import TOO_LONG
from ..workspace.targets import mentions_compile
from .context import ServerContext
from .explanation import explanation_uri

_SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
}

_PAUSE_SECONDS = 0.1
"""Seconds after the last edit until moved diagnostics are published; until then, the client moves them."""
_EXAMPLE = "example-call"
"""The diagnostic code for mistakes in example calls, which are reported without a run."""
_TOO_LONG = types.Diagnostic(
    range=types.Range(types.Position(0, 0), types.Position(0, 0)),
    message=TOO_LONG,
    severity=types.DiagnosticSeverity.Information,
    code="long-file",
    source="fullgraph",
)


class DiagnosticPublisher(RunObserver):
    """Publisher of diagnostics for the newest report of each target."""

    def __init__(
        self, server: LanguageServer, documents: ClientDocuments, choice: TargetChoice | None = None
    ) -> None:
        self._server = server
        self._choice = choice or TargetChoice()
        self._documents = documents
        self._reports: dict[str, Report] = {}
        self._published: dict[str, tuple[Sequence[str], list[types.Diagnostic]]] = {}
        """For each file, the URIs of its documents and the diagnostics when they were last published."""
        self._edited: set[str] = set()
        self._pause: asyncio.TimerHandle | None = None

    def reported(self, report: Report) -> None:
        """Show a report instead of the target's earlier one."""
        earlier = self._reports.get(report.target)
        if earlier is not None and report.generation < earlier.generation:
            return
        self._reports[report.target] = report
        self._publish(_files(earlier) | _files(report))

    def cleared(self, target: str) -> None:
        """Remove a target's findings."""
        self._publish(_files(self._reports.pop(target, None)))

    def chosen(self) -> None:
        """Show findings by the user's new choice of a target."""
        self._publish({name for report in self._reports.values() for name in _files(report)})

    def edited(self, filename: str) -> None:
        """Move findings with the edits of a file, once it has not changed for a moment."""
        self._edited.add(filename)
        if self._pause is not None:
            self._pause.cancel()
        self._pause = asyncio.get_running_loop().call_later(_PAUSE_SECONDS, self._move)

    def _move(self) -> None:
        edited, self._edited = self._edited, set()
        findings = (finding for report in self._reports.values() for finding in report.findings)
        moved = {item.span.filename for item in findings if not edited.isdisjoint(_places(item))}
        self._publish(moved | edited)

    def _publish(self, filenames: Iterable[str]) -> None:
        for filename in sorted(filenames):
            reports = self._choice.among(filename, self._reports.values())
            shown = shown_findings(filename, reports, self._documents.drift)
            source = self._documents.source(filename) if self._documents.is_open(filename) else None
            problems = [*find_examples(source).problems, *unknown_names(source)] if source else []
            told = {(problem.span.row, problem.message) for problem in problems}
            diagnostics = [
                *([_TOO_LONG] if source and source.is_long and mentions_compile(source.text) else []),
                *(
                    types.Diagnostic(
                        range=self._documents.range(problem.span),
                        message=problem.message,
                        severity=types.DiagnosticSeverity.Error,
                        code=_EXAMPLE,
                        source="fullgraph",
                    )
                    for problem in problems
                ),
                *(self._diagnostic(item) for item in shown if (item.span.row, item.message) not in told),
            ]
            uris = self._documents.uris(filename)
            if (uris, diagnostics) == self._published.get(filename, (uris, [])):
                continue
            self._published[filename] = uris, diagnostics
            self._server.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(
                    uri=self._documents.uri(filename),
                    version=self._documents.version(filename),
                    diagnostics=diagnostics,
                )
            )

    def _diagnostic(self, shown: ShownFinding) -> types.Diagnostic:
        finding = shown.finding
        # The message of a recompilation already contains its count.
        counts = finding.count > 1 and finding.kind != "recompile" and not shown.edited
        times = f" ({finding.count} times)" if counts else ""
        return types.Diagnostic(
            range=self._documents.range_of(shown.report, shown.span),
            message="\n".join([shown.message + times, *_details(finding)]),
            severity=types.DiagnosticSeverity.Hint if shown.edited else _SEVERITIES[finding.severity],
            code=finding.code,
            code_description=types.CodeDescription(finding.url) if finding.url else None,
            source="fullgraph",
            tags=self._tags() if shown.edited else None,
            related_information=self._related(shown.report, finding),
            data=FindingData(
                shown.report.target,
                shown.report.generation,
                finding.kind,
                finding.count,
                render(finding, self._documents.row_words),
                explanation_uri(shown.report.target, finding),
                minify_options(shown.report, finding),
            ),
        )

    def _tags(self) -> list[types.DiagnosticTag] | None:
        """Return the tag that fades a finding on an edited line, if it is supported."""
        support = self._publishing.tag_support if self._publishing else None
        faded = types.DiagnosticTag.Unnecessary
        return [faded] if support and faded in support.value_set else None

    def _related(self, report: Report, finding: Finding) -> list[types.DiagnosticRelatedInformation] | None:
        """Return the finding's calls, innermost first, then calls of other recompilations."""
        if not (self._publishing and self._publishing.related_information):
            return None
        return [
            types.DiagnosticRelatedInformation(
                self._documents.line_location(report, call.filename, call.row), f"in {call.function}"
            )
            for call in (*reversed(finding.stack), *finding.also_from)
            if (call.filename, call.row) != (finding.span.filename, finding.span.row)
        ] or None

    @property
    def _publishing(self) -> types.PublishDiagnosticsClientCapabilities | None:
        capabilities = self._server.client_capabilities.text_document
        return capabilities.publish_diagnostics if capabilities else None


def register(context: ServerContext, diagnostics: DiagnosticPublisher) -> None:
    """Register handlers that update diagnostics when a document is opened or closed.

    The text that the client shows then may differ from the text on disk.
    """

    @context.server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    @context.server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def file(params: types.DidOpenTextDocumentParams | types.DidCloseTextDocumentParams) -> None:
        if filename := context.documents.filename(params.text_document.uri):
            diagnostics.edited(filename)

    @context.server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    @context.server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    async def notebook(
        params: types.DidOpenNotebookDocumentParams | types.DidCloseNotebookDocumentParams,
    ) -> None:
        if filename := context.documents.filename(params.notebook_document.uri):
            diagnostics.edited(filename)


def _details(finding: Finding) -> Iterator[str]:
    """Yield the reason of a finding and its first hint, for the diagnostic's message."""
    if reason := brief(finding.explanation):
        yield reason
    if finding.hints:
        yield f"help: {brief(finding.hints[0])}"


def render(finding: Finding, row_words: Callable[[str, int], str]) -> str:
    """Render a finding with all its details as plain text."""
    parts = [f"{finding.code}: {finding.message}", finding.explanation]
    parts += [f"Hint: {hint}" for hint in finding.hints]
    if finding.stack:
        calls = [
            f'  File "{call.filename}", line {row_words(call.filename, call.row)}, in {call.function}'
            for call in finding.stack
        ]
        parts.append("\n".join(["Called from (most recent call last):", *calls]))
    if finding.also_from:
        calls = [f"  {call.filename}:{row_words(call.filename, call.row)}" for call in finding.also_from]
        parts.append("\n".join(["Other recompilations were called from:", *calls]))
    if finding.url:
        parts.append(f"See {finding.url}")
    if finding.text:
        parts += ["The compiler's own message:", finding.text]
    return "\n\n".join(part for part in parts if part)


def _files(report: Report | None) -> set[str]:
    return {finding.span.filename for finding in report.findings if not finding.of_run} if report else set()


def _places(finding: Finding) -> set[str]:
    """Return the files that a finding points to."""
    return {finding.span.filename, *(call.filename for call in (*finding.stack, *finding.also_from))}
