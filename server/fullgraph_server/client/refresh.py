"""Refresh of what the client shows in the text, when a target's state has changed."""

from __future__ import annotations

import asyncio
import logging
from typing import Literal

from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from ..runs.observers import RunObserver
from ..runs.slot import TargetState

_log = logging.getLogger(__name__)

_LONG_SECONDS = 0.5
"""Time that a run takes before its lens changes."""


class Refresh(RunObserver):
    """Requests to a client that supports them to fetch one kind of thing again."""

    def __init__(self, server: LanguageServer, kind: Literal["code_lens", "inlay_hint"]) -> None:
        self._server = server
        self._kind = kind
        self._asked: asyncio.Task[None] | None = None
        self._again = False
        self._timer: asyncio.TimerHandle | None = None

    def changed(self, target: str, state: TargetState) -> None:  # noqa: ARG002
        """Send a request; changes before the client has answered it lead to one more."""
        support = getattr(self._server.client_capabilities.workspace, self._kind, None)
        if support is None or not support.refresh_support:
            return
        # A run that is over at once needs no lens that stops it.
        delay = _LONG_SECONDS if state.run in ("queued", "running") else 0.0
        loop = asyncio.get_running_loop()
        if self._timer is not None:
            if self._timer.when() <= loop.time() + delay:
                return  # then it is told, too: what begins delays nothing that has ended
            self._timer.cancel()
        self._timer = loop.call_later(delay, self._refresh)

    def _refresh(self) -> None:
        self._timer = None
        self._again = True
        if self._asked is None or self._asked.done():
            self._asked = asyncio.create_task(self._ask())

    async def _ask(self) -> None:
        while self._again:
            self._again = False
            try:
                await getattr(self._server, f"workspace_{self._kind}_refresh_async")(None)
            except JsonRpcException as error:
                _log.info("the client did not ask again: %s", error)
