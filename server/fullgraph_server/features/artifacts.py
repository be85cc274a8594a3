"""What the compiler made of graphs, as documents: their URIs, their texts, and the user's code behind rows.

A document's URI has the hash of its text, so an old tab stays what it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from urllib.parse import quote

from ..engine.artifacts import Document, Mark, documents_of, marks_of
from ..engine.report import Report
from ..protocol import KERNEL_SCHEME

_MOST = 4000
"""How many documents can be read again, the newest ones."""


@dataclass(frozen=True)
class ShownDocument:
    """A document that the client may ask for, and the report that has it.

    ``previous`` is the URI of the same document of an earlier run that said something else.
    """

    uri: str
    document: Document
    report: Report
    previous: str | None = None

    @cached_property
    def marks(self) -> list[Mark]:
        """The user's code behind its rows. Most documents are never looked at."""
        return marks_of(self.document, self.report)


@dataclass(frozen=True)
class _OfTarget:
    """The documents of a target's last report, by name those of the run before."""

    report: Report
    before: Mapping[str, ShownDocument]
    shown: list[ShownDocument]


class ArtifactDocuments:
    """The documents of reports, by URI. What was shown once can be read again."""

    def __init__(self) -> None:
        self._known: dict[str, ShownDocument] = {}
        self._of_target: dict[str, _OfTarget] = {}

    def of_report(self, report: Report) -> list[ShownDocument]:
        """All documents of a report."""
        last = self._of_target.get(report.target)
        if last is None or last.report is not report:
            before = _documents_before(report, last)
            last = _OfTarget(report, before, _shown(report, before))
            self._of_target[report.target] = last
            for shown in last.shown:
                self._known.pop(shown.uri, None)
                self._known[shown.uri] = shown
            for uri in list(self._known)[:-_MOST]:
                del self._known[uri]
        return last.shown

    def get(self, uri: str) -> ShownDocument | None:
        """A document that was shown."""
        return self._known.get(uri)

    def text(self, uri: str) -> str:
        """What a document says."""
        known = self._known.get(uri)
        return known.document.text if known else "This is of an earlier session: run its target again.\n"


def is_artifact(uri: str) -> bool:
    """Whether a document is one of these."""
    return uri.startswith(f"{KERNEL_SCHEME}:")


def _documents_before(report: Report, last: _OfTarget | None) -> Mapping[str, ShownDocument]:
    """By name the documents of the run before; a run that is still on has several reports."""
    if last is None:
        return {}
    if last.report.generation == report.generation:
        return last.before
    return {shown.document.name: shown for shown in last.shown}


def _shown(report: Report, before: Mapping[str, ShownDocument]) -> list[ShownDocument]:
    shown = []
    for document in documents_of(report):
        uri, earlier = _uri(document), before.get(document.name)
        same = earlier is not None and earlier.uri == uri
        previous = earlier.previous if earlier and same else earlier.uri if earlier else None
        shown.append(ShownDocument(uri, document, report, previous))
    return shown


def _uri(document: Document) -> str:
    key = sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{KERNEL_SCHEME}:/{key}/{quote(document.name)}"
