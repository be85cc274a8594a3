"""The profile of recompilations as a Markdown document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from ..client.documents import ClientDocuments
from ..protocol.names import PROFILE_SCHEME
from ..report.model import FrameCompilation, Report
from ..report.profile import RecompileCause, RecompileProfile, cost, profiles, sentence
from ..runs.schedule import RunSchedule
from ..text.markdown import code_span, escaped, table
from ..text.messages import what_changed
from ..workspace.positions import Span
from ..workspace.targets import PYTEST
from .explanation import place_link

_GONE = "The last run of this target did not profile recompilations: profile them again.\n"
_MOST_ROWS = 200


def profile_uri(report: Report) -> str:
    """Return the URI of a run's profile of recompilations.

    Each run's profile has a different URI, since editors cache texts by URI.
    """
    name = quote(f"Recompilations of {_short_name(report)}.md", safe="", errors="replace")
    return f"{PROFILE_SCHEME}:/{name}?{quote(json.dumps([report.target, report.generation]))}"


def read_profile(uri: str, documents: ClientDocuments, runs: RunSchedule) -> str | None:
    """Return the text of a profile; ``None`` for any other URI."""
    try:
        target, _ = json.loads(unquote(urlsplit(uri).query))
    except ValueError:
        return None
    report = runs.report(target, "recompiles")
    if report is None:
        return _GONE
    return _ProfilePage(report, documents).text()


class _ProfilePage:
    def __init__(self, report: Report, documents: ClientDocuments) -> None:
        self._report = report
        self._documents = documents

    def text(self) -> str:
        report = self._report
        torch = f" With torch {report.torch}." if report.torch else ""
        parts = [f"# Recompilations of {escaped(_short_name(report))}", escaped(sentence(report) + torch)]
        errors = [finding for finding in report.findings if finding.severity == "error"]
        for item in errors:
            place = "" if item.of_run else f"{self._place(item.span)}: "
            parts.append(place + escaped(item.message))
        for profile in profiles(report):
            parts += self._function(profile)
        return "\n\n".join(parts) + "\n"

    def _function(self, profile: RecompileProfile) -> Iterator[str]:
        frame = profile.frame
        place = place_link(self._report, frame.filename, frame.row, self._documents)
        yield f"## {code_span(frame.qualname)}, {place}"
        yield escaped(f"{cost(profile)}.")
        rows = [(*self._cause(item), escaped(what_changed(item.finding.message))) for item in profile.causes]
        yield table([("Times", "First used", "What changed"), *rows], "<<<")
        hints = dict.fromkeys(hint for item in profile.causes for hint in item.finding.hints)
        if hints:
            yield "### What to do"
            yield "\n".join(f"- {escaped(hint)}" for hint in hints)
        if profile.breaks:
            yield "### Graph breaks"
            rows = [
                (*self._cause(item), escaped(f"{item.finding.code}: {item.finding.message}"))
                for item in profile.breaks
            ]
            yield table([("Times", "Where", "What stopped the graph"), *rows], "<<<")
        yield "### Each recompilation"
        again = profile.recompilations
        instances = [self._recompilation(item) for item in again[:_MOST_ROWS]]
        yield table([("Compilation", "Called from", "What changed", "Seconds"), *instances], "<<<<")
        if len(again) > _MOST_ROWS:
            yield f"And {len(again) - _MOST_ROWS} more."

    def _cause(self, item: RecompileCause) -> tuple[str, str]:
        return str(item.count), self._place(item.finding.span)

    def _recompilation(self, item: FrameCompilation) -> tuple[str, ...]:
        called = self._place(item.caller) if item.caller else ""
        return escaped(item.compile_id), called, escaped(item.reason), f"{item.seconds:.2f}"

    def _place(self, span: Span) -> str:
        return place_link(self._report, span.filename, span.row, self._documents)


def _short_name(report: Report) -> str:
    """Return the target's id without folders: ``model.py::Block``."""
    path, colons, name = report.target.removeprefix(PYTEST).partition("::")
    return f"{Path(path).name}{colons}{name}"
