"""The quick fix that ignores a finding by a comment at the end of its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types

from ..client.capabilities import member
from ..client.documents import ClientDocuments
from ..client.findings import shown_findings
from ..kinds import KINDS
from ..report.model import Report
from ..workspace.ignores import ignoring

_SEVERITIES = (types.DiagnosticSeverity.Warning, types.DiagnosticSeverity.Information)
"""Diagnostic severities that can be ignored: not errors, and not hints (findings on edited lines)."""
_NOT_OFFERED = [name for name, kind in KINDS.items() if not kind.can_be_ignored]


def ignorable_codes(
    documents: ClientDocuments, reports: Iterable[Report], filename: str, row: int
) -> list[str]:
    """Return the codes of findings in a row that a comment can ignore, each once."""
    found = (
        item.finding for item in shown_findings(filename, reports, documents.drift) if item.span.row == row
    )
    codes = (item.code for item in found if item.severity != "error" and item.kind not in _NOT_OFFERED)
    return list(dict.fromkeys(codes))


def can_be_ignored(diagnostic: types.Diagnostic) -> bool:
    """Tell whether a diagnostic's finding can be ignored and its line is unedited."""
    is_own = diagnostic.source == "fullgraph" and diagnostic.severity in _SEVERITIES
    return is_own and member(diagnostic.data, "kind") not in _NOT_OFFERED


def ignore_actions(documents: ClientDocuments, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
    """Yield an action for each finding that can be ignored."""
    filename = documents.filename(params.text_document.uri)
    source = documents.source(filename) if filename else None
    if source is None:
        return
    for diagnostic in params.context.diagnostics:
        code = diagnostic.code
        if not isinstance(code, str) or not can_be_ignored(diagnostic):
            continue
        edited = ignoring(source, diagnostic.range.end.line + 1, code)
        if edited is not None:
            span, text = edited
            edit = types.TextEdit(documents.range(span), text)
            yield types.CodeAction(
                f"Ignore {code} on this line",
                types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic],
                edit=types.WorkspaceEdit(changes={params.text_document.uri: [edit]}),
            )
