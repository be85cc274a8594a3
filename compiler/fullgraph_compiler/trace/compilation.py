"""The state of one compilation of a frame, while its records are read."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..facts import CompileFailure, FrameStarted, GraphBreak, GraphCaptured, GuardInstalled
from .graphs import parse_nodes
from .inductor.code import CodeReader
from .inputs import InputReader
from .record import TraceRecord
from .shapes import ShapeReader


@dataclass
class CompileState:
    """The state of one compilation, from the records that have been read so far.

    If only findings are wanted, graph and guards stay undecoded in their records until they are needed.
    """

    started: FrameStarted
    name: str
    """The name of its code. For a resume function, this is not the name of the user's function."""
    code: CodeReader
    shapes: ShapeReader
    inputs: InputReader
    graph: GraphCaptured | TraceRecord | None = None
    filenames: tuple[str, ...] | None = None
    """The files that the graph names; ``None`` until they are needed."""
    guards: list[GuardInstalled] | TraceRecord = field(default_factory=list)
    wants_guards: bool = False
    """Whether the frame was compiled again, so that the guards are needed as an explanation."""
    yielded_guards: bool = False
    pending_break: GraphBreak | None = None
    broke: bool = False
    error: TraceRecord | None = None
    skips_cudagraph: bool = False


def graph_of(compilation: CompileState | None) -> GraphCaptured | None:
    """Return the captured graph of a compilation; decode its record if necessary."""
    graph = compilation.graph if compilation else None
    return read_graph(graph) if isinstance(graph, TraceRecord) else graph


def read_graph(record: TraceRecord) -> GraphCaptured:
    """Decode the graph of a record."""
    text = record.payload
    return GraphCaptured(record.compile_id, tuple(parse_nodes(text)), text, record.seen.get("calls", ()))


def as_break(failure: CompileFailure) -> GraphBreak:
    """Convert a failure that Dynamo caught to a graph break: the frame runs eagerly."""
    return GraphBreak(
        compile_id=failure.compile_id,
        code=failure.code,
        reason=failure.message,
        explanation=failure.explanation,
        hints=failure.hints,
        context="",
        url=failure.url,
        stack=failure.stack,
        skips_frame=True,
        text=failure.text,
        kernel=failure.kernel,
    )
