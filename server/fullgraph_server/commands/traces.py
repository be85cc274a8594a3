"""Traces in the editor: opened as targets, reread as they grow, and compared."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from ..client.arguments import misuse, named_target, refusal
from ..client.documents import ClientDocuments
from ..compare.comparison import compare
from ..compare.comparison_texts import markdown, place
from ..compare.fingerprint import FingerprintedFinding
from ..features.context import ServerContext
from ..features.explanation import place_link
from ..protocol.names import COMPARISON_SCHEME, READ_TRACE, TRACE_DIFF
from ..protocol.runs import RunSummary
from ..report.model import Report
from ..runs.schedule import RunSchedule
from ..text.markdown import code_span, escaped
from ..traces.logs import stamp
from ..workspace.targets import Target, Trace, trace_of, trace_target
from .run import summary

_LOOK_SECONDS = 1.0
"""Seconds between two checks whether a log has grown."""
_READING_SHARE = 0.1
"""The share of time that may be spent on reading a growing log."""
_GONE = "These traces are not open any more: open both, and compare them again.\n"


def register(context: ServerContext) -> None:
    """Register the commands that read and compare traces."""
    growing = _TraceFollower(context.runs)

    @context.server.command(READ_TRACE)
    async def read_trace(*args: Any) -> RunSummary:
        target = named_target(context.targets, _trace_name(args, context.documents))
        return summary(target.id, await growing.read(target))

    @context.server.command(TRACE_DIFF)
    async def trace_diff(*args: Any) -> str:
        if len(args) != 2 or not all(isinstance(arg, str) for arg in args):
            raise misuse(f"{TRACE_DIFF} takes two arguments: the ids of two traces.")
        names = [named_target(context.targets, name).id for name in args]
        # The comparison includes kernels and times, which are read from a large log only at this depth.
        reports = await asyncio.gather(*(context.runs.start(name, "build") for name in names))
        if None in reports:
            raise refusal("The traces were not read: the comparison was stopped.")
        query = json.dumps([[report.target, report.generation] for report in reports if report])
        return f"{COMPARISON_SCHEME}:/{quote('Comparison of traces.md')}?{quote(query)}"


def read_comparison(uri: str, documents: ClientDocuments, runs: RunSchedule) -> str | None:
    """Return the text of the comparison at a URI; ``None`` for any other URI."""
    try:
        names = [name for name, _ in json.loads(unquote(urlsplit(uri).query))]
    except (ValueError, TypeError):
        return None
    before, after = map(runs.report, names)
    if before is None or after is None:
        return _GONE
    root = documents.workspaces()[0].root
    gone = {id(finding) for finding in before.findings}

    def link(item: FingerprintedFinding) -> str:
        if item.finding.of_run:
            return code_span(place(item))
        report = before if id(item.finding) in gone else after
        return place_link(report, item.finding.span.filename, item.finding.span.row, documents)

    title = ", then ".join(escaped(_label(report.target)) for report in (before, after))
    return f"# {title}\n\n{markdown(compare(before, after, root, root), link)}"


class _TraceFollower:
    """Reader of traces that reads a trace again whenever its log has grown."""

    def __init__(self, runs: RunSchedule) -> None:
        self._runs = runs
        self._watched: dict[str, asyncio.Task[None]] = {}

    async def read(self, target: Target) -> Report | None:
        """Read a trace, and watch it until its target is cleared."""
        if isinstance(target.program, Trace) and target.id not in self._watched:
            watch = asyncio.create_task(self._watch(target.id, target.program.path))
            self._watched[target.id] = watch
            watch.add_done_callback(lambda _: self._watched.pop(target.id, None))
        return await self._runs.start(target.id)

    async def _watch(self, name: str, path: Path) -> None:
        read, pause = await asyncio.to_thread(stamp, path), _LOOK_SECONDS
        while True:
            await asyncio.sleep(pause)
            if self._runs.state(name).run is None:  # closed
                return
            now = await asyncio.to_thread(stamp, path)
            if now is not None and now != read:
                read, begun = now, time.monotonic()
                await self._runs.start(name)
                pause = max(_LOOK_SECONDS, (time.monotonic() - begun) / _READING_SHARE)


def _trace_name(args: tuple[Any, ...], documents: ClientDocuments) -> str:
    place, *rest = args or ("",)
    rank = rest[0] if rest else None
    if not isinstance(place, str) or not place or not isinstance(rank, (int, type(None))) or len(rest) > 1:
        raise misuse(f"{READ_TRACE} takes a path or URI, and optionally the number of a rank.")
    path = documents.filename(place) if "://" in place else place
    if path is None:
        raise refusal(f"A trace is read from a file or folder on disk: {place} is neither.")
    return trace_target(Path(path), Path(path), rank).id


def _label(target: str) -> str:
    trace = trace_of(target)
    return trace_target(trace.path, trace.path, trace.rank).label
