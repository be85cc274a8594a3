"""Requests to the client to fetch lenses or inlay hints again."""

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
"""Seconds until a run changes its lens: a shorter run needs no lens to stop it."""


class RefreshRequests(RunObserver):
    """Observer that asks a client to fetch its lenses or inlay hints again."""

    def __init__(self, server: LanguageServer, kind: Literal["code_lens", "inlay_hint"]) -> None:
        self._server = server
        self._kind = kind
        self._asked: asyncio.Task[None] | None = None
        self._again = False
        self._timer: asyncio.TimerHandle | None = None

    def changed(self, target: str, state: TargetState) -> None:  # noqa: ARG002
        """Request a refresh.

        All changes that come before the client has answered lead to one more request.
        """
        support = getattr(self._server.client_capabilities.workspace, self._kind, None)
        if support is None or not support.refresh_support:
            return
        # A run that ends at once needs no lens to stop it.
        delay = _LONG_SECONDS if state.run in ("queued", "running") else 0.0
        loop = asyncio.get_running_loop()
        if self._timer is not None:
            if self._timer.when() <= loop.time() + delay:
                return  # the pending refresh comes sooner, and covers this change, too
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
                _log.info("the client refused to refresh: %s", error)
