"""Messages to the user (``window/showMessage``)."""

from __future__ import annotations

from fullgraph_compiler.facts import Severity
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..report.model import Finding, Report
from ..runs.schedule import RunObserver
from ..text.visible import visible
from .capabilities import experimental_capability

_KINDS: dict[Severity, types.MessageType] = {
    "error": types.MessageType.Error,
    "warning": types.MessageType.Warning,
}


def show_message(server: LanguageServer, kind: types.MessageType, message: str) -> None:
    """Show a sentence without links: VS Code makes them of Markdown's form, also to commands."""
    server.window_show_message(types.ShowMessageParams(kind, visible(message).replace("](", "] (")))


class RunMessages(RunObserver):
    """Messages about problems of a whole run, which no diagnostic shows: each once, until it is gone."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._shown: dict[str, frozenset[Finding]] = {}

    def reported(self, report: Report) -> None:
        """Show the new problems in the report of a run that is over."""
        if report.status is None or self._is_shown_by_client(report):
            return
        issues = frozenset(finding for finding in report.findings if finding.of_run)
        label = report.target.rpartition("/")[2]
        for finding in report.findings:
            if finding in issues - self._shown.get(report.target, frozenset()) and finding.severity in _KINDS:
                message = " ".join([f"{label}: {finding.message.rstrip('.')}.", *finding.hints[:1]])
                show_message(self._server, _KINDS[finding.severity], message)
        self._shown[report.target] = issues

    def cleared(self, target: str) -> None:
        """Show the problems of a target again if it is run again."""
        self._shown.pop(target, None)

    def _is_shown_by_client(self, report: Report) -> bool:
        """Tell whether the client says by itself, with buttons, why there is nothing to show."""
        nothing = report.status == "not-started" or (
            report.depth in ("kernels", "build") and not report.codes
        )
        return nothing and bool(experimental_capability(self._server, "fullgraphStatus"))
