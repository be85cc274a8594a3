"""Runs in the client's progress display, where the user can cancel them, and as status notifications."""

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

from ..engine.runs import RunObserver, TargetState
from ..protocol import STATUS, StatusParams
from ..workspace.targets import Target
from .capabilities import experimental_capability

_log = logging.getLogger(__name__)


class Progress(RunObserver):
    """One work-done progress for each run, in a client that shows them."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._running: dict[int, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def started(self, target: Target, generation: int, cancel: Callable[[], None]) -> None:
        """Show that a run is on."""
        window = self._server.client_capabilities.window
        if window is None or not window.work_done_progress:
            return
        token = self._running[generation] = f"fullgraph-{generation}"
        # Beside the run, and never cancelled: the client may take its time, or refuse.
        task = asyncio.create_task(self._begin(target, generation, token, cancel))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def finished(self, target: Target, generation: int, status: Status) -> None:
        """Take the display of a run away."""
        token = self._running.pop(generation, None)
        progress = self._server.work_done_progress
        if token is not None and progress.tokens.pop(token, None) is not None:
            progress.end(token, types.WorkDoneProgressEnd(message=f"{target.label}: {status}"))

    async def _begin(self, target: Target, generation: int, token: str, cancel: Callable[[], None]) -> None:
        progress = self._server.work_done_progress
        try:
            await progress.create_async(token)
        except JsonRpcException as error:
            _log.info("the client shows no progress: %s", error)
            return
        if generation not in self._running:
            # Over already. A token that was created needs no begin.
            progress.tokens.pop(token, None)
            return

        def cancelled(token: futures.Future[Any]) -> None:
            if token.cancelled():
                cancel()

        progress.tokens[token].add_done_callback(cancelled)
        begin = types.WorkDoneProgressBegin(
            title="Fullgraph", cancellable=True, message=f"running {target.label}"
        )
        progress.begin(token, begin)


class StatusNotifications(RunObserver):
    """``fullgraph/status``, for a client that asked for it."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server

    def changed(self, target: str, state: TargetState) -> None:
        """Tell the client."""
        if experimental_capability(self._server, "fullgraphStatus"):
            params = StatusParams(target, state.generation, state.stale, state.run_on_save, state.run)
            self._server.protocol.notify(STATUS, params)
