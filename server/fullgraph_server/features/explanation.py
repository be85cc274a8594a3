"""The full explanation of a finding: a Markdown document with its own URI.

The finding's diagnostic, hover and entry in the targets view link to this document.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from fullgraph_compiler.facts import RecipeTried
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from ..client.arguments import refusal
from ..client.capabilities import client_command
from ..client.documents import ClientDocuments
from ..client.findings import newest_first
from ..kinds import KINDS
from ..protocol.names import EXPLANATION_SCHEME, SHOW_EXPLANATION
from ..report.model import Finding, Report
from ..report.recipes import recipe_table, what_helps
from ..runs.observers import RunObserver
from ..runs.schedule import RunSchedule
from ..runs.slot import TargetState
from ..text.markdown import code_span, escaped, fenced, link, paragraphs
from ..workspace.positions import StackCall

_log = logging.getLogger(__name__)

_GONE = "**The last run no longer has this finding.**\n"
_CLEARED = "**The target of this finding no longer has a result.**\n"
_MOST_PAGES = 32
"""The most explanations that are kept and updated after runs; the least recently read is dropped first."""


class ExplanationDocuments(RunObserver):
    """The explanations that the client has read, updated after each run.

    An explanation stays readable after its finding is gone.
    """

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._pages: dict[str, str] = {}
        """The last text of each explanation, by URI."""
        self._asking: set[asyncio.Task[None]] = set()

    def read(
        self, uri: str, documents: ClientDocuments, runs: RunSchedule, tries: Callable[[str, Finding], str]
    ) -> str | None:
        """Return the text of an explanation; ``None`` for any other URI.

        ``tries`` says which fixes of a target's finding were tried, if none is verified.
        """
        try:
            found = explained(uri, runs)
        except ValueError:
            return None
        text = explain(*found, documents, tries) if found else ""
        before = self._pages.pop(uri, "")
        self._pages[uri] = text or before
        while len(self._pages) > _MOST_PAGES:
            self._pages.pop(next(iter(self._pages)))
        if text:
            return text
        gone = _GONE if runs.results(_key_of(uri)[0]) else _CLEARED
        return f"{gone}\nIt was:\n\n---\n\n{before}" if before else gone

    def changed(self, target: str, state: TargetState) -> None:
        """Ask the client to reload a target's explanations once the target's run is over."""
        workspace = self._server.client_capabilities.workspace
        if state.run in ("queued", "running") or not (workspace and workspace.text_document_content):
            return
        for uri in [uri for uri in self._pages if _key_of(uri)[0] == target]:
            task = asyncio.get_running_loop().create_task(self._ask(uri))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)

    async def _ask(self, uri: str) -> None:
        try:
            params = types.TextDocumentContentRefreshParams(uri)
            await self._server.workspace_text_document_content_refresh_async(params)
        except JsonRpcException as error:
            _log.info("the client did not read %s again: %s", uri, error)


def explanation_uri(target: str, finding: Finding) -> str:
    """Return the URI of a finding's explanation.

    If a later run has the same finding, its URI is the same.
    """
    name = quote(f"{finding.code} in {Path(finding.span.filename).name}.md", errors="replace")
    key = [target, _identity(finding), finding.span.row]
    return f"{EXPLANATION_SCHEME}:/{name}?{quote(json.dumps(key))}"


def explanation_link(server: LanguageServer, uri: str) -> str:
    """Return a Markdown link for a hover; empty if the client cannot follow it."""
    command = client_command(server, SHOW_EXPLANATION, "Full explanation", uri)
    if command is None:
        return ""
    return link(command.title, f"command:{command.command}?{quote(json.dumps(command.arguments))}")


def explained(uri: str, runs: RunSchedule) -> tuple[Report, Finding] | None:
    """Return the finding that the explanation at a URI explains, with its report.

    Returns ``None`` if the finding is gone. Raises ``ValueError`` if the URI is not that of an explanation.
    """
    target, identity, row = _key_of(uri)
    # The newest report says most: it may contain the results of stages or recipes.
    for report in newest_first(runs.results(target)):
        findings = [item for item in report.findings if _identity(item) == identity]
        if findings:
            return report, min(findings, key=lambda item: abs(item.span.row - row))
    return None


def asked_finding(command: str, uri: Any, runs: RunSchedule) -> tuple[Report, Finding]:
    """Return the finding that a command's argument names; raise an error if there is none."""
    try:
        found = explained(uri, runs) if isinstance(uri, str) else None
    except ValueError:
        found = None
    if found is None:
        raise refusal(f"{command} takes the URI of the explanation of a finding of the last run.")
    return found


def _key_of(uri: str) -> tuple[str, str, int]:
    """Return target, identity and row of the finding from an explanation's URI.

    Raises ``ValueError`` if the URI is not that of an explanation.
    """
    key = json.loads(unquote(urlsplit(uri).query))
    if not isinstance(key, list) or [*map(type, key)] != [str, str, int]:
        raise ValueError(uri)
    target, identity, row = key
    return target, identity, row


def _identity(finding: Finding) -> str:
    """Return a hash of a finding's file, kind, code and message.

    Unlike the row, these properties stay the same from run to run.
    """
    parts = (finding.span.filename, finding.kind, finding.code, finding.message)
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def explain(
    report: Report, finding: Finding, documents: ClientDocuments, tries: Callable[[str, Finding], str]
) -> str:
    """Render a finding with all its details as Markdown."""
    title = finding.message if finding.code == finding.kind else f"{finding.code}: {finding.message}"
    parts = [f"# {escaped(title)}", _place(report, finding, documents), paragraphs(finding.explanation)]
    if finding.hints:
        parts.append("## What to do\n\n" + "\n".join(f"- {escaped(hint)}" for hint in finding.hints))
    if tried := tries(report.target, finding):
        parts.append(f"## Fixes that were tried\n\n{tried}")
    if finding.stack:
        calls = [_call(report, call, documents) for call in reversed(finding.stack)]
        parts.append("## How it got there\n\nThe innermost call first.\n\n" + "\n".join(calls))
    if finding.also_from:
        calls = [_call(report, call, documents) for call in finding.also_from]
        parts.append("Other recompilations were called from:\n\n" + "\n".join(calls))
    if finding.kind == "graph-break":
        parts += [_graph_before(report, finding)]
    if (recipes := report.of(RecipeTried)) and finding.kind == "target-error":
        table = fenced("text", "\n".join(recipe_table(recipes)))
        parts.append(f"## What was tried\n\n{table}\n\n{escaped(what_helps(report))}")
    if finding.text:
        parts.append("## torch's whole message\n\n" + fenced("text", finding.text))
    if finding.url:
        parts.append(f"More about {escaped(finding.code)}: {link(finding.url, finding.url)}")
    return "\n\n".join(part for part in parts if part) + "\n"


def _place(report: Report, finding: Finding, documents: ClientDocuments) -> str:
    filename, row = finding.span.filename, finding.span.row
    at = "" if finding.of_run else f" at {place_link(report, filename, row, documents)}"
    times = f", seen by {KINDS[finding.kind].seen_in(finding.count)}" if finding.count > 1 else ""
    torch = f", torch {escaped(report.torch)}" if report.torch else ""
    code = "" if finding.of_run else _code(report, filename, row, documents)
    return f"{finding.severity.capitalize()}{at}{times}{torch}\n\n" + (fenced("python", code) if code else "")


def _call(report: Report, call: StackCall, documents: ClientDocuments) -> str:
    code = _code(report, call.filename, call.row, documents)
    shown = f": {code_span(code)}" if code else ""
    at = place_link(report, call.filename, call.row, documents)
    return f"1. {at} in {code_span(call.function)}{shown}"


def _code(report: Report, filename: str, row: int, documents: ClientDocuments) -> str:
    """Return a line of the text that ran."""
    ran = report.files.get(filename)
    if ran is None and not report.may_read(filename):
        return ""
    return (ran.line(row) if ran else documents.line(filename, row)).strip()


def place_link(report: Report, filename: str, row: int, documents: ClientDocuments) -> str:
    """Link to the current place of a line of the text that ran."""
    row, _ = documents.drift(report, filename).line(row)
    path = Path(filename)
    root = documents.workspace_of(filename).root if report.may_read(filename) else None
    name = path.relative_to(root).as_posix() if root and path.is_relative_to(root) else path.name
    return link(f"{name}:{documents.shown_row(filename, row)}", documents.line_uri(filename, row))


def _graph_before(report: Report, finding: Finding) -> str:
    """Render the graphs captured before a graph break, one for each compilation."""
    title = "## The graph before the break\n\n"
    graphs = [graph for graph in report.graphs if graph.compile_id in finding.compile_ids]
    if not graphs:
        return title + "None: no operation was captured before the break."
    return title + "\n\n".join(
        f"Compilation {escaped(graph.compile_id)}:\n\n{fenced('python', graph.text)}" for graph in graphs
    )
