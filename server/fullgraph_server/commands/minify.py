"""The command that shrinks a failure of a target to a repro, and shows it."""

from __future__ import annotations

import asyncio
import itertools
import logging
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from ..client.arguments import named_target, refusal
from ..client.capabilities import client_command, member
from ..client.documents import Documents
from ..client.messages import show_message
from ..client.progress import WorkDone
from ..client.targets import Targets
from ..protocol import MINIFY, OPEN_REPRO, MinifySummary
from ..runs.minification import Failing, Minification, Minified
from ..runs.plan import Plan
from ..runs.planner import Planner
from ..runs.schedule import Runs
from ..runs.suitability import unsuited

_log = logging.getLogger(__name__)


class Minifications:
    """The minification that is on: one at a time, since it keeps several processes busy by itself."""

    def __init__(self, server: LanguageServer, plan: Planner, documents: Documents, runs: Runs) -> None:
        self._server = server
        self._documents = documents
        self._plan = plan
        self._runs = runs
        self._generations = itertools.count(1)
        self._turn = asyncio.Lock()
        self._target = ""
        self._stopped = False
        self._minification: Minification | None = None
        self._repros: dict[str, Path] = {}

    def repro(self, target: str) -> Path | None:
        """The last repro of a target."""
        return self._repros.get(target)

    def stop(self, target: str | None = None) -> None:
        """Stop what is on, if it is of this target or of any; its best repro so far stays."""
        if self._turn.locked() and target in (None, self._target):
            self._stopped = True
            if self._minification is not None:
                self._minification.cancel()

    async def close(self) -> None:
        """Stop what is on, and wait until it is over."""
        self.stop()
        async with self._turn:
            pass

    async def minify(self, target: str, failing: Failing) -> Minified:
        """Shrink a failure of a target, shown as progress that the user can cancel."""
        if self._turn.locked():
            raise refusal("Another failure is being minified: stop that first, or wait for it.")
        async with self._turn:
            self._target, self._stopped = target, False
            plan = await self._plan(target)
            if plan is None:
                raise refusal(f"There is no target {target} any more.")
            if problem := unsuited(plan.target, "minify"):
                raise refusal(problem)
            try:
                minified = await self._execute(plan, failing)
            except OSError as error:
                raise refusal(f"The repro cannot be written: {error}.") from error
            finally:
                self._minification = None
        if minified.size is not None:
            self._repros[target] = minified.output
        return minified

    async def _execute(self, plan: Plan, failing: Failing) -> Minified:
        root = self._documents.keeping_root(plan.target.filename)
        if root is None:
            raise refusal("A repro is kept in the folder that is open: open one first.")
        generation = next(self._generations)
        minification = self._minification = Minification(self._runs, plan, failing, generation, root)
        if self._stopped:
            minification.cancel()
        token, message = f"fullgraph-minify-{generation}", f"minifying a failure of {plan.target.label}"
        shown = WorkDone(self._server, token, message, minification.cancel)
        try:
            return await minification.execute(shown.report)
        finally:
            shown.end(f"{plan.target.label}: minified")


def register(
    server: LanguageServer, targets: Targets, documents: Documents, minifications: Minifications
) -> None:
    """Serve the command."""

    @server.command(MINIFY)
    async def minify(*args: Any) -> MinifySummary:
        target, failing = _arguments(args)
        name = named_target(targets, target).id
        minified = await minifications.minify(name, failing)
        uri = documents.uri(str(minified.output)) if minified.size else None
        kind = types.MessageType.Info if uri else types.MessageType.Warning
        show_message(server, kind, minified.message)
        if uri is not None:
            await _show(uri)
        size, written = minified.size, minified.written
        return MinifySummary(
            target=name,
            status=minified.status or "crashed",
            nodes=size.nodes if size else 0,
            nodes_at_first=size.nodes_at_first if size else 0,
            queries=size.queries if size else 0,
            seconds=size.seconds if size else 0.0,
            reproduces=written is not None and written.reproduces,
            message=minified.message,
            repro=uri,
        )

    async def _show(uri: str) -> None:
        window = server.client_capabilities.window
        supported = window is not None and window.show_document is not None and window.show_document.support
        if client_command(server, OPEN_REPRO, "") is not None or not supported:
            return  # the client opens it in its own way, or cannot
        try:
            await server.window_show_document_async(types.ShowDocumentParams(uri))
        except JsonRpcException as error:
            _log.info("the client did not show %s: %s", uri, error)


def _arguments(args: tuple[Any, ...]) -> tuple[str, Failing]:
    """The target, and which of its failures is meant."""
    target, options = (*args, None, None)[:2]
    fault, compile_id = member(options, "fault") or 0, member(options, "compileId") or ""
    if (
        not isinstance(target, str)
        or not target
        or len(args) > 2
        or not isinstance(fault, int)
        or not isinstance(compile_id, str)
    ):
        raise refusal(
            f"{MINIFY} takes the URI of a file or the id of a target, "
            "and after it the failure that is meant: {fault: number, compileId: string}."
        )
    return target, Failing(fault, compile_id)
