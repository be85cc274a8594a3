"""Findings as diagnostics: pushed when a report has changed, for the files in which it has."""

from __future__ import annotations

from collections.abc import Iterable

from fullgraph_compiler.facts import Severity
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..engine.report import Finding, Report
from ..engine.runs import RunObserver
from ..protocol import FindingData
from .documents import Documents
from .explanation import explanation_uri

_SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
}


class Diagnostics(RunObserver):
    """What the client shows, and the reports that it comes from."""

    def __init__(self, server: LanguageServer, documents: Documents) -> None:
        self._server = server
        self._documents = documents
        self._reports: dict[str, Report] = {}
        self._published: dict[str, list[types.Diagnostic]] = {}

    def reported(self, report: Report) -> None:
        """Show a report in place of the target's earlier one."""
        earlier = self._reports.get(report.target)
        if earlier is not None and earlier.generation > report.generation:
            return
        self._reports[report.target] = report
        self._publish(_files(earlier) | _files(report))

    def cleared(self, target: str) -> None:
        """Take a target's findings away."""
        self._publish(_files(self._reports.pop(target, None)))

    def _publish(self, filenames: Iterable[str]) -> None:
        for filename in sorted(filenames):
            diagnostics = self._diagnostics(filename)
            if diagnostics == self._published.get(filename, []):
                continue
            self._published[filename] = diagnostics
            self._server.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(
                    uri=self._documents.uri(filename),
                    version=self._documents.version(filename),
                    diagnostics=diagnostics,
                )
            )

    def _diagnostics(self, filename: str) -> list[types.Diagnostic]:
        """The findings of all targets in a file; what several targets found is shown once."""
        found: dict[tuple[object, ...], types.Diagnostic] = {}
        for report in self._reports.values():
            for index, finding in enumerate(report.findings):
                if finding.span.filename == filename:
                    key = (finding.code, finding.span, finding.message)
                    found.setdefault(key, self._diagnostic(report, index))
        return list(found.values())

    def _diagnostic(self, report: Report, index: int) -> types.Diagnostic:
        finding = report.findings[index]
        times = f" ({finding.count} times)" if finding.count > 1 else ""
        return types.Diagnostic(
            range=self._documents.range(finding.span),
            message=finding.message + times,
            severity=_SEVERITIES[finding.severity],
            code=finding.code,
            code_description=types.CodeDescription(finding.url) if finding.url else None,
            source="fullgraph",
            related_information=self._related(finding),
            data=FindingData(
                report.target,
                report.generation,
                finding.kind,
                finding.count,
                render(finding),
                explanation_uri(report, index),
            ),
        )

    def _related(self, finding: Finding) -> list[types.DiagnosticRelatedInformation] | None:
        """The other calls of the stack, the innermost first."""
        capabilities = self._server.client_capabilities.text_document
        publishing = capabilities.publish_diagnostics if capabilities else None
        if not (publishing and publishing.related_information):
            return None
        return [
            types.DiagnosticRelatedInformation(
                types.Location(
                    self._documents.uri(call.filename), self._documents.line_range(call.filename, call.row)
                ),
                f"in {call.function}",
            )
            for call in reversed(finding.stack)
            if (call.filename, call.row) != (finding.span.filename, finding.span.row)
        ] or None


def render(finding: Finding) -> str:
    """All that is known about a finding, as plain text."""
    parts = [f"{finding.code}: {finding.message}", finding.explanation]
    parts += [f"Hint: {hint}" for hint in finding.hints]
    if finding.stack:
        calls = [f'  File "{call.filename}", line {call.row}, in {call.function}' for call in finding.stack]
        parts.append("\n".join(["Called from (most recent call last):", *calls]))
    if finding.url:
        parts.append(f"See {finding.url}")
    if finding.text:
        parts += ["The compiler's own message:", finding.text]
    return "\n\n".join(part for part in parts if part)


def _files(report: Report | None) -> set[str]:
    return {finding.span.filename for finding in report.findings} if report else set()
