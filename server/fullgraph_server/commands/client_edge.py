"""Conversion of reports for the client: places in its units, texts escaped."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lsprotocol.types import Location

from ..client.documents import ClientDocuments
from ..client.shown_text import shown
from ..features.artifacts import ArtifactDocuments, ShownDocument
from ..protocol.wire import camel_case
from ..report.model import Report
from ..shapes.shape import JsonEdge
from ..workspace.positions import Span


@dataclass(frozen=True)
class ReportEdge(JsonEdge, ABC):
    """Converter of a report for JavaScript: camel case, and no keys without a value."""

    report: Report
    artifacts: ArtifactDocuments
    stale: bool = field(default=False, kw_only=True)
    """Whether a file that the report depends on has changed since its run."""
    left_out: Sequence[str] = field(default=(), kw_only=True)
    """The parts of the compiler that neither this run nor a later run has executed."""

    def key(self, name: str) -> str:
        """Return the name in camel case."""
        return camel_case(name)

    def leaves(self, value: object) -> bool:
        """Tell whether keys with this value are written."""
        return value is not None

    @abstractmethod
    def place(self, span: Span) -> Location:
        """Locate a span of the report."""

    @abstractmethod
    def line(self, filename: str, row: int) -> Location:
        """Locate a line of the report."""

    @cached_property
    def documents(self) -> list[ShownDocument]:
        """The documents with the report's artifacts, such as generated code."""
        return self.artifacts.of_report(self.report)

    @cached_property
    def begin(self) -> float:
        """The start of the compiler's first step, in the seconds of the report's phases."""
        return min((phase.start for phase in self.report.phases), default=0.0)


@dataclass(frozen=True)
class ClientEdge(ReportEdge):
    """Converter of a report for the client, with places in the current text."""

    files: ClientDocuments

    def place(self, span: Span) -> Location:
        """Locate a span in the current text."""
        return self.files.location(self.report, span)

    def line(self, filename: str, row: int) -> Location:
        """Locate a line in the current text."""
        return self.files.line_location(self.report, filename, row)

    def text(self, name: str, text: str) -> str:
        """Escape invisible characters in a text that people read."""
        return shown(name, text)
