"""The quick fix that ignores a finding by a comment behind its line."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from ..client.capabilities import member
from ..client.documents import Documents
from ..workspace.ignores import ignoring

_SEVERITIES = (types.DiagnosticSeverity.Warning, types.DiagnosticSeverity.Information)
"""Those of findings that can be ignored: errors cannot, and what was edited since the run is a hint."""
_NOT_OFFERED = ("target-error", "unused-ignore")


def ignore_actions(documents: Documents, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
    """Yield an action for each finding that can be ignored."""
    filename = documents.filename(params.text_document.uri)
    source = documents.source(filename) if filename else None
    if source is None:
        return
    for diagnostic in params.context.diagnostics:
        code = diagnostic.code
        if diagnostic.source != "fullgraph" or diagnostic.severity not in _SEVERITIES:
            continue
        if not isinstance(code, str) or member(diagnostic.data, "kind") in _NOT_OFFERED:
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
