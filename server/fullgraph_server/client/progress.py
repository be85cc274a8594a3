"""The client's progress display, which can cancel a run, and status messages."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent import futures
from typing import Any

from fullgraph_compiler.facts import Status
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.progress import Progress as ServerProgress

from ..protocol.names import STATUS
from ..protocol.runs import StatusParams
from ..runs.observers import RunObserver
from ..runs.slot import TargetState
from ..workspace.targets import Target
from .capabilities import experimental_capability

_log = logging.getLogger(__name__)


class WorkDoneProgress:
    """A work-done progress in the client; does nothing if the client lacks support."""

    def __init__(
        self, server: LanguageServer, token: str, message: str, cancel: Callable[[], object]
    ) -> None:
        self._server = server
        self._token = token
        self._message = message
        self._cancel = cancel
        self._begun = self._over = False
        window = server.client_capabilities.window
        if window is not None and window.work_done_progress:
            # A task that is never cancelled: the client may answer late or refuse, and the work goes on.
            self._beginning = asyncio.create_task(self._begin())

    def report(self, message: str) -> None:
        """Show the current step of the work."""
        self._message = message
        if self._begun:
            self._progress.report(self._token, types.WorkDoneProgressReport(message=message))

    def end(self, message: str) -> None:
        """Remove the display."""
        self._over = True
        if self._begun:
            self._progress.tokens.pop(self._token, None)
            self._progress.end(self._token, types.WorkDoneProgressEnd(message=message))

    async def _begin(self) -> None:
        try:
            await self._progress.create_async(self._token)
        except JsonRpcException as error:
            _log.info("the client shows no progress: %s", error)
            return
        if self._over:
            # LSP allows a created token that never begins.
            self._progress.tokens.pop(self._token, None)
            return

        def cancelled(token: futures.Future[Any]) -> None:
            if token.cancelled():
                self._cancel()

        self._progress.tokens[self._token].add_done_callback(cancelled)
        begin = types.WorkDoneProgressBegin(title="Fullgraph", cancellable=True, message=self._message)
        self._progress.begin(self._token, begin)
        self._begun = True

    @property
    def _progress(self) -> ServerProgress:
        return self._server.work_done_progress


class ProgressDisplay(RunObserver):
    """A progress display for each run."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._shown: dict[int, WorkDoneProgress] = {}

    def started(self, target: Target, generation: int, cancel: Callable[[], None]) -> None:
        """Show that a run has started."""
        token, message = f"fullgraph-{generation}", target.label
        self._shown[generation] = WorkDoneProgress(self._server, token, message, cancel)

    def progressed(self, generation: int, message: str) -> None:
        """Show the current step of a run."""
        if shown := self._shown.get(generation):
            shown.report(message)

    def finished(self, target: Target, generation: int, status: Status) -> None:
        """Remove the display of a finished run."""
        if shown := self._shown.pop(generation, None):
            shown.end(f"{target.label}: {status}")


class StatusNotifications(RunObserver):
    """Observer that sends ``fullgraph/status``, if the client supports it."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server

    def changed(self, target: str, state: TargetState) -> None:
        """Notify the client of a target's new state."""
        if experimental_capability(self._server, "fullgraphStatus"):
            params = StatusParams(target, state.generation, state.stale, state.run_on_save, state.run)
            self._server.protocol.notify(STATUS, params)
