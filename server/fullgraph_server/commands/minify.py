"""The command ``fullgraph.minify``: shrinks a failure to a repro and shows it."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ..client.arguments import misuse, named_target, refusal
from ..client.capabilities import client_command, member
from ..client.messages import show_message
from ..client.progress import WorkDoneProgress
from ..features.context import ServerContext
from ..protocol.names import MINIFY, OPEN_REPRO
from ..protocol.runs import MinifySummary
from ..runs.minification import CannotMinifyError, FailureChoice, Minification, MinifyResult

_log = logging.getLogger(__name__)


def register(context: ServerContext) -> None:
    """Register the command ``fullgraph.minify``."""
    numbers = itertools.count(1)

    @context.server.command(MINIFY)
    async def minify(*args: Any) -> MinifySummary:
        target, failing = _arguments(args)
        name = named_target(context.targets, target).id
        try:
            minified = await context.minifications.minify(name, failing, display)
        except CannotMinifyError as error:
            raise refusal(str(error)) from error
        uri = context.documents.uri(str(minified.output)) if minified.size else None
        kind = types.MessageType.Info if uri else types.MessageType.Warning
        show_message(context.server, kind, minified.message)
        if uri is not None:
            await open_repro(uri)
        return _summary(name, minified, uri)

    @contextmanager
    def display(minification: Minification) -> Iterator[Callable[[str], None]]:
        """Show a minification as progress that the user can cancel."""
        label = minification.target.label
        token, message = f"fullgraph-minify-{next(numbers)}", f"minifying a failure of {label}"
        progress = WorkDoneProgress(context.server, token, message, minification.cancel)
        try:
            yield progress.report
        finally:
            progress.end(f"{label}: minified")

    async def open_repro(uri: str) -> None:
        window = context.server.client_capabilities.window
        supported = window is not None and window.show_document is not None and window.show_document.support
        if client_command(context.server, OPEN_REPRO, "") is not None or not supported:
            return  # the client opens the repro by its own command, or cannot
        try:
            await context.server.window_show_document_async(types.ShowDocumentParams(uri))
        except JsonRpcException as error:
            _log.info("the client did not show %s: %s", uri, error)


def _summary(target: str, minified: MinifyResult, repro: str | None) -> MinifySummary:
    size, written = minified.size, minified.written
    return MinifySummary(
        target=target,
        status=minified.status or "crashed",
        nodes=size.nodes if size else 0,
        nodes_at_first=size.nodes_at_first if size else 0,
        queries=size.queries if size else 0,
        seconds=size.seconds if size else 0.0,
        reproduces=written is not None and written.reproduces,
        message=minified.message,
        repro=repro,
    )


def _arguments(args: tuple[Any, ...]) -> tuple[str, FailureChoice]:
    """Check the command's arguments; return the target and the failure to minify."""
    target, options = (*args, None, None)[:2]
    fault, compile_id = member(options, "fault") or 0, member(options, "compileId") or ""
    if (
        not isinstance(target, str)
        or not target
        or len(args) > 2
        or not isinstance(fault, int)
        or not isinstance(compile_id, str)
    ):
        raise misuse(
            f"{MINIFY} takes the URI of a file or the id of a target, "
            "and optionally which failure to minify: {fault: number, compileId: string}."
        )
    return target, FailureChoice(fault, compile_id)
