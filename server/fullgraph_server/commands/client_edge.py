"""How the parts of a report leave to the client: places in its own units, texts that control nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lsprotocol.types import Location

from ..client.documents import Documents
from ..client.shown_text import shown
from ..features.artifacts import ArtifactDocuments, ShownDocument
from ..protocol.wire import camel_case
from ..report.model import Report
from ..shapes.shape import Edge
from ..workspace.positions import Span


@dataclass(frozen=True)
class ReportEdge(Edge, ABC):
    """The edge of a report to JavaScript: names are in camel case, and keys without a value are left out."""

    report: Report
    artifacts: ArtifactDocuments
    stale: bool = field(default=False, kw_only=True)
    """Whether a file that the report depends on has changed since its run."""
    left_out: Sequence[str] = field(default=(), kw_only=True)
    """The parts of the compiler that were not run since, either."""

    def key(self, name: str) -> str:
        """Return the name in camel case."""
        return camel_case(name)

    def leaves(self, value: object) -> bool:
        """Tell whether a key with this value is written."""
        return value is not None

    @abstractmethod
    def place(self, span: Span) -> Location:
        """Locate a span of the report."""

    @abstractmethod
    def line(self, filename: str, row: int) -> Location:
        """Locate a line of the report."""

    @cached_property
    def documents(self) -> list[ShownDocument]:
        """The documents of the report."""
        return self.artifacts.of_report(self.report)

    @cached_property
    def begin(self) -> float:
        """When the first step of the compiler began."""
        return min((phase.start for phase in self.report.phases), default=0.0)


@dataclass(frozen=True)
class ClientEdge(ReportEdge):
    """The edge of a report to the client."""

    files: Documents

    def place(self, span: Span) -> Location:
        """Locate a span in the text as it is now."""
        return self.files.location(self.report, span)

    def line(self, filename: str, row: int) -> Location:
        """Locate a line in the text as it is now."""
        return self.files.line_location(self.report, filename, row)

    def text(self, name: str, text: str) -> str:
        """Escape what people read."""
        return shown(name, text)
