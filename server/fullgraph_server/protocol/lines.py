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
    """A request for the places in other documents that correspond to a place."""

    text_document: types.TextDocumentIdentifier
    position: types.Position
    among: list[str]
    """The URIs of the other documents."""


@attrs.frozen
class GraphLinesParams:
    """A request for the graph of each line, and for the lines that ran eagerly."""

    text_document: types.TextDocumentIdentifier


@attrs.frozen
class GraphLinesItem:
    """Consecutive lines that ran alike; lines that add nothing to graphs are left out."""

    start_line: int
    end_line: int
    """The last line, inclusive."""
    graphs: list[int]
    """The 1-based numbers of the lines' graphs, in the order of the program."""
    label: str
    """Descriptions of these graphs in Markdown, one line each; empty without graphs."""
    eager: bool
    """Whether the lines ran eagerly, always or sometimes."""
    reason: str
    """The reasons why the lines ran eagerly, in Markdown, one line each."""


@attrs.frozen
class AtLineParams:
    """A request for everything known about a line."""

    text_document: types.TextDocumentIdentifier
    position: types.Position
    """A place in the line; its column does not matter."""


@attrs.frozen
class LineEntry:
    """One thing known about a line."""

    label: str
    """Plain text; ``description``, also plain, follows it."""
    description: str = ""
    details: str = ""
    """All details in Markdown; empty if label and description already say everything."""
    notes: list[str] = attrs.field(factory=list)
    """Plain sentences to show below the entry: the reason of a finding, then what to do."""
    severity: Severity | None = None
    """The severity of a finding; absent for other entries."""
    location: types.Location | None = None
    """The place to open, in the source or in generated code."""
    explanation: str | None = None
    """The URI of the full explanation of a finding."""


@attrs.frozen
class LineSection:
    """The things of one kind known about a line."""

    kind: LineSectionKind
    title: str
    entries: list[LineEntry]
    description: str = ""


@attrs.frozen
class AtLineItem:
    """Everything known about a line."""

    sections: list[LineSection]
    nothing: str | None = None
    """A sentence that says why there are no sections."""
