"""The compiler's artifacts as documents, whose rows are linked to the user's code.

The URI of a document contains a hash of its text, so a tab of an earlier run still shows the same text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TypeAlias
from urllib.parse import quote

from ..protocol.names import KERNEL_SCHEME
from ..report.artifacts import CompilerDocument, DocumentMark, documents_of, marks_of
from ..report.model import Layer, Report

_MOST_CHARACTERS = 64_000_000
"""The most characters in texts of earlier runs that stay in memory; the oldest texts are dropped first."""


@dataclass(frozen=True)
class ShownDocument:
    """A document that the client may request, and the report that contains it.

    ``previous`` is the URI of the document of the same name in the run before, if the texts differ.
    """

    uri: str
    document: CompilerDocument
    report: Report
    previous: str | None = None

    @cached_property
    def marks(self) -> list[DocumentMark]:
        """The user code of each row, computed on demand: most documents are never opened."""
        return marks_of(self.document, self.report)


_Uris: TypeAlias = Mapping[tuple[str, str], str]
"""URIs by a document's name and the GPU of the preview (empty for runs without a preview)."""


@dataclass(frozen=True)
class _TargetDocuments:
    """The documents of a target's or layer's last report, and URIs of the run before."""

    report: Report
    before: _Uris
    shown: list[ShownDocument]


class ArtifactDocuments:
    """The documents of reports, by URI.

    The texts of earlier reports' documents stay readable, up to a memory limit.
    """

    def __init__(self) -> None:
        self._documents: dict[str, ShownDocument] = {}
        self._of_target: dict[tuple[str, Layer], _TargetDocuments] = {}
        self._earlier: dict[str, str] = {}

    def of_report(self, report: Report) -> list[ShownDocument]:
        """Return all documents of a report."""
        key = report.target, report.layer
        last = self._of_target.get(key)
        if last is None or not _has_same_documents(last.report, report):
            before = _documents_before(report, last)
            new = _TargetDocuments(report, before, _shown(report, before))
            self._of_target[key] = new
            if last is not None:
                self._retire(last.shown)
            self._documents.update((shown.uri, shown) for shown in new.shown)
            last = new
        return last.shown

    def get(self, uri: str) -> ShownDocument | None:
        """Return the document with this URI in the last report of any target or layer."""
        return self._documents.get(uri)

    def text(self, uri: str) -> str:
        """Return the text of a document, or a message that the text is lost."""
        shown = self._documents.get(uri)
        if shown is not None:
            return shown.document.text
        return self._earlier.get(uri, "This document is from an earlier session: run its target again.\n")

    def _retire(self, documents: list[ShownDocument]) -> None:
        """Forget documents of an earlier report, except their texts."""
        for shown in documents:
            if self._documents.get(shown.uri) is shown:  # another result may have the same document
                del self._documents[shown.uri]
            self._earlier.pop(shown.uri, None)
            self._earlier[shown.uri] = shown.document.text
        too_many = sum(map(len, self._earlier.values())) - _MOST_CHARACTERS
        while too_many > 0:
            too_many -= len(self._earlier.pop(next(iter(self._earlier))))


def _has_same_documents(one: Report, other: Report) -> bool:
    same = (
        one.codes is other.codes
        and one.artifacts is other.artifacts
        and one.records is other.records
        and one.dry is other.dry
    )
    return one is other or (same and one.generation == other.generation)


def is_artifact(uri: str) -> bool:
    """Tell whether a URI is that of an artifact."""
    return uri.startswith(f"{KERNEL_SCHEME}:")


def _documents_before(report: Report, last: _TargetDocuments | None) -> _Uris:
    """Return the document URIs of the run before a report's run.

    ``last`` are the documents of the previous report, which may be of the same run.
    """
    if last is None:
        return {}
    if last.report.generation == report.generation:
        return last.before
    # A run that failed or was stopped may lack some documents, so older URIs stay.
    return {**last.before, **{_key(shown.document, last.report): shown.uri for shown in last.shown}}


def _key(document: CompilerDocument, report: Report) -> tuple[str, str]:
    return document.name, report.dry.device if report.dry else ""


def _shown(report: Report, before: _Uris) -> list[ShownDocument]:
    shown = []
    for document in documents_of(report):
        uri, earlier = _uri(document), before.get(_key(document, report))
        shown.append(ShownDocument(uri, document, report, earlier if earlier != uri else None))
    return shown


def _uri(document: CompilerDocument) -> str:
    key = sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{KERNEL_SCHEME}:/{key}/{quote(document.name, errors='replace')}"
