"""Messages about places and lines of source."""

from __future__ import annotations

from typing import Literal, TypeAlias

import attrs
from fullgraph_compiler.facts import Severity
from lsprotocol import types

LineSectionKind: TypeAlias = Literal[
    "findings", "graphs", "shapes", "guards", "sizes", "kernels", "compilations"
]


@attrs.frozen
class CounterpartsParams:
    """A request for the places in other documents that belong to a place in source or generated code."""

    text_document: types.TextDocumentIdentifier
    position: types.Position
    among: list[str]
    """The URIs of those other documents."""


@attrs.frozen
class GraphLinesParams:
    """A request for the graph of each line of a document, and for the lines that ran eagerly."""

    text_document: types.TextDocumentIdentifier


@attrs.frozen
class GraphLinesItem:
    """Consecutive lines that ran in the same way. Lines that add nothing to a graph are left out."""

    start_line: int
    end_line: int
    """The last line."""
    graphs: list[int]
    """The numbers of their graphs, counted from 1 in the order of the program."""
    label: str
    """Descriptions of those graphs, as Markdown, a line each; empty if there are none."""
    eager: bool
    """Whether they ran eagerly, always or sometimes."""
    reason: str
    """The causes of that, as Markdown, a line each."""


@attrs.frozen
class AtLineParams:
    """A request for everything that is known of a line."""

    text_document: types.TextDocumentIdentifier
    position: types.Position
    """A place in the line; its column does not matter."""


@attrs.frozen
class LineEntry:
    """One thing that is known of a line."""

    label: str
    """Plain text, as is ``description``, which goes on with it."""
    description: str = ""
    details: str = ""
    """All that is known of it, as Markdown; empty if that is the label and the description."""
    notes: list[str] = attrs.field(factory=list)
    """Plain sentences that belong below it: the reason of a finding, then what to do."""
    severity: Severity | None = None
    """That of a finding."""
    location: types.Location | None = None
    """The place that it leads to: in the source, or in generated code."""
    explanation: str | None = None
    """The URI of the full explanation of a finding."""


@attrs.frozen
class LineSection:
    """The things of one kind that are known of a line."""

    kind: LineSectionKind
    title: str
    entries: list[LineEntry]
    description: str = ""


@attrs.frozen
class AtLineItem:
    """Everything that is known of a line."""

    sections: list[LineSection]
    nothing: str | None = None
    """A sentence that says why there are no sections."""
