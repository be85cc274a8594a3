"""What is known of one compilation of a frame, while its records come."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..facts import FrameStarted, GraphBreak, GraphCaptured, GuardInstalled
from .code import CodeReader
from .graphs import parse_nodes
from .record import TraceRecord
from .shapes import ShapeReader


@dataclass
class Compilation:
    """What is known of one compile id so far.

    Where findings alone are wanted, its graph and guards stay in their records until somebody asks.
    """

    started: FrameStarted
    code: CodeReader
    shapes: ShapeReader
    graph: GraphCaptured | TraceRecord | None = None
    outline: str = ""
    filenames: tuple[str, ...] | None = None
    """Those that its graph names, once somebody has asked."""
    guards: list[GuardInstalled] | TraceRecord = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    """The sources whose guards are wanted, since they failed."""
    told: set[str] = field(default_factory=set)
    pending_break: GraphBreak | None = None
    broke: bool = False
    error: TraceRecord | None = None
    skips_cudagraph: bool = False


def graph_of(compilation: Compilation | None) -> GraphCaptured | None:
    """What was captured, read from its record if it is still there."""
    graph = compilation.graph if compilation else None
    return read_graph(graph) if isinstance(graph, TraceRecord) else graph


def read_graph(record: TraceRecord) -> GraphCaptured:
    """The graph that a record prints."""
    text = record.payload
    return GraphCaptured(record.compile_id, tuple(parse_nodes(text)), text, record.seen.get("calls", ()))
