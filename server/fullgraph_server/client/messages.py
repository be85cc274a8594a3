"""Messages to the user (``window/showMessage``)."""

from __future__ import annotations

import logging

from fullgraph_compiler.facts import Severity
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from ..analyses.registry import verdict
from ..report.model import Finding, Layer, Report
from ..runs.observers import RunObserver
from ..text.visible import visible
from .capabilities import experimental_capability
from .findings import names_of

_log = logging.getLogger(__name__)

_KINDS: dict[Severity, types.MessageType] = {
    "error": types.MessageType.Error,
    "warning": types.MessageType.Warning,
}


def show_message(server: LanguageServer, kind: types.MessageType, message: str) -> None:
    """Show a message to the user, without links.

    VS Code turns ``[text](target)`` into links, even into links to commands.
    """
    server.window_show_message(types.ShowMessageParams(kind, visible(message).replace("](", "] (")))


async def agrees(server: LanguageServer, question: str) -> bool:
    """Return whether the user answers the question with yes; dismissing it means no."""
    actions = [types.MessageActionItem("Yes"), types.MessageActionItem("No")]
    params = types.ShowMessageRequestParams(types.MessageType.Info, visible(question), actions)
    try:
        answer = await server.window_show_message_request_async(params)
    except JsonRpcException as error:  # a client that cannot ask
        _log.info("the client cannot ask the user: %s", error)
        return False
    return answer is not None and answer.title == "Yes"


class RunMessages(RunObserver):
    """Observer that shows problems of a whole run, which no diagnostic shows.

    A problem is shown once, and again only after a run without this problem.
    """

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._shown: dict[str, dict[Layer, frozenset[Finding]]] = {}

    def reported(self, report: Report) -> None:
        """Show the new problems of a finished run.

        Problems that the response to the run's command contains are left out.
        """
        self._show(report, is_beside=False)

    def layered(self, report: Report) -> None:
        """Show the new problems of a layer, which are on no line."""
        self._show(report, is_beside=True)

    def _show(self, report: Report, *, is_beside: bool) -> None:
        told = verdict(report) is not None or self._is_shown_by_client(report, is_beside=is_beside)
        in_background = report.layer == "inductor"  # its row in the targets view says why it did not run
        if report.status is None or told or in_background:
            return
        issues = frozenset(finding for finding in report.findings if finding.of_run)
        label = names_of([report.target])
        shown = self._shown.setdefault(report.target, {})
        for finding in report.findings:
            if finding in issues - shown.get(report.layer, frozenset()) and finding.severity in _KINDS:
                message = " ".join([f"{label}: {finding.message.rstrip('.')}.", *finding.hints[:1]])
                show_message(self._server, _KINDS[finding.severity], message)
        shown[report.layer] = issues

    def cleared(self, target: str) -> None:
        """Forget the shown problems of a target, so that its next run shows them again."""
        self._shown.pop(target, None)

    def _is_shown_by_client(self, report: Report, *, is_beside: bool) -> bool:
        """Tell whether the client itself explains why there is nothing to show."""
        if not experimental_capability(self._server, "fullgraphStatus"):
            return False
        if report.status == "not-started":
            return not is_beside  # a failed layer leaves the state of its target unchanged
        return report.depth in ("kernels", "build") and not report.codes
