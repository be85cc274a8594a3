"""TorchInductor's records of one compilation: forms of graphs, generated code.

The records of a graph come in this order: its forms before and after AOTAutograd, then for each pass the
lowered graph, the intermediate representation, the code, and the operations of its kernels. They are
emitted by ``torch/_inductor/compile_fx.py`` and ``torch/_functorch/_aot_autograd/graph_compile.py`` (2.11
to 2.15). Fullgraph adds the ``ir_...`` records (:mod:`..compat.kernel_compat`), which torch itself only
writes to a folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ...facts import (
    Artifact,
    ArtifactKind,
    CodeGenerated,
    Cost,
    Fact,
    GraphCaptured,
    KernelNode,
    Phase,
    Stack,
)
from ..export.aot import HEADER, KERNELS, WRAPPER, parse_aot_launches
from ..graphs import parse_inputs, parse_operators
from ..messages import Source
from ..record import TraceRecord
from .kernels import called, is_cpp_wrapper, parse_launches, parse_nodes_of, parse_stacks, phase_of

KERNEL_STACKS: Final = "inductor_provenance_tracking_kernel_stack_traces"
"""The last record about a piece of generated code."""

NODE_MAPPINGS: Final = "inductor_provenance_tracking_node_mappings"
_LOWERED: Final[dict[str, ArtifactKind]] = {
    "fx_graph_runnable": "fx_graph_runnable",
    "before_post_grad_graph": "fx_graph_readable",
    "inductor_post_grad_graph": "fx_graph_transformed",
    "ir_pre_fusion": "ir_pre_fusion",
    "ir_post_fusion": "ir_post_fusion",
}
"""Records with forms of the graph of one pass."""
_PASSES: Final[dict[str, tuple[ArtifactKind, Phase]]] = {
    "aot_forward_graph": ("forward_graph", "forward"),
    "aot_backward_graph": ("backward_graph", "backward"),
    "aot_inference_graph": ("inference_graph", "inference"),
}
_WHOLE: Final[dict[str, ArtifactKind]] = {
    "before_pre_grad_graph": "before_pre_grad_graph",
    "after_pre_grad_graph": "after_pre_grad_graph",
    "aot_joint_graph": "joint_graph",
    "before_joint_graph": "before_joint_graph",
    "after_joint_graph": "after_joint_graph",
}
"""Records with forms of the graph of all passes."""
_AOT: Final = "graph_dump"
"""The record of a piece of the C++ code that AOTInductor writes."""
_OF_CODE: Final = ("inductor_output_code", _AOT, NODE_MAPPINGS, KERNEL_STACKS)

CODE_RECORDS = frozenset((*_LOWERED, *_PASSES, *_WHOLE, *_OF_CODE))
"""The records that :class:`CodeReader` reads."""


class CodeReader:
    """A reader of TorchInductor's records of one compilation.

    Code is held back until the records about the operations of its kernels have been read.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._trains = False
        self._phase: Phase = "inference"
        self._lowered: list[Artifact] = []
        self._nodes: Mapping[str, KernelNode] = {}
        self._written: TraceRecord | None = None
        self._computed: Mapping[str, Sequence[str]] = {}
        self._costs: Mapping[str, Cost] = {}
        self._stacks: Mapping[str, Stack] = {}

    def feed(self, record: TraceRecord, graph: GraphCaptured | None) -> Iterator[Fact]:
        """Yield the facts that ``record`` completes.

        ``graph`` is the graph that Dynamo captured.
        """
        name, text = record.name, record.payload
        if name == KERNEL_STACKS:
            self._computed = record.seen.get("nodes") or self._computed
            self._costs = record.seen.get("costs", {})
            self._stacks = record.seen.get("node_stacks", {})
            yield from self._code(graph, parse_stacks(text, self._source))
        elif name == NODE_MAPPINGS:
            self._computed = parse_nodes_of(text)
            if self._computed:
                yield Artifact(record.compile_id, self._phase, NODE_MAPPINGS, text)
        elif name == _AOT:
            yield from self._ahead_of_time(record)
        else:
            yield from self._code(graph)
            if name == "inductor_output_code":
                self._written, self._phase = record, phase_of(text, self._phase)
                yield from self._forms()
            elif name in _PASSES:
                kind, phase = _PASSES[name]
                yield Artifact(record.compile_id, phase, kind, text)
            elif name in _WHOLE:
                self._trains = self._trains or name == "aot_joint_graph"
                yield Artifact(record.compile_id, None, _WHOLE[name], text)
            else:
                if name == "fx_graph_runnable":
                    yield from self._forms()  # forms of a graph for which no code was generated
                self._lower(record)

    def finish(self, graph: GraphCaptured | None) -> Iterator[Fact]:
        """Yield the facts that were held back: forms of a graph, and the last code.

        The forms are those of a graph for which no code was generated.
        """
        yield from self._forms()
        yield from self._code(graph)

    def _forms(self) -> Iterator[Artifact]:
        forms, self._lowered = self._lowered, []
        yield from (replace(form, phase=self._phase) for form in forms)

    def _ahead_of_time(self, record: TraceRecord) -> Iterator[Fact]:
        """Read a piece of AOTInductor's code.

        The wrapper comes first; its kernels are appended to the wrapper.
        """
        piece = record.body["name"]
        if piece == WRAPPER:
            yield from self._forms()
            self._written = record
        elif piece == KERNELS and self._written:
            # AOTInductor also writes both to one file for people to read (`output_code.cpp`).
            self._written = replace(self._written, text=f"{self._written.payload}\n{record.payload}\n")
        elif piece == HEADER:
            yield Artifact(record.compile_id, self._phase, HEADER, record.payload)

    def _code(
        self, graph: GraphCaptured | None, stacks: Mapping[str, tuple[Stack, ...]] | None = None
    ) -> Iterator[CodeGenerated]:
        """Yield the last generated code, if any.

        ``stacks`` are the stacks of its launches; without them, lines come from the nodes of Dynamo's graph.
        """
        record, self._written = self._written, None
        if record is None:
            return
        captured = {node.name: node.frame for node in graph.nodes} if graph else {}
        kernels = []
        is_cpp = record.name == _AOT or is_cpp_wrapper(record.payload)
        launches = parse_aot_launches(record.payload) if is_cpp else parse_launches(record.payload)
        for launch in launches.found:
            names = self._computed.get(launch.handle, ())
            nodes = tuple(map(self._placed, (self._nodes[name] for name in names if name in self._nodes)))
            behind = (stacks or {}).get(launch.handle) or tuple(
                dict.fromkeys((captured[name],) for name in launch.sources if name in captured)
            )
            cost = self._costs.get(launch.handle)
            kernels.append(called(replace(launch.kernel, nodes=nodes, stacks=behind, cost=cost)))
        lowered = tuple(self._nodes.values())
        self._nodes, self._computed, self._costs, self._stacks = {}, {}, {}, {}
        filename = str(record.body.get("file_path") or record.body.get("filename") or "")
        text, language = record.payload, "cpp" if record.name == _AOT else "python"
        yield CodeGenerated(
            record.compile_id,
            phase_of(text, self._phase),
            filename,
            text,
            tuple(kernels),
            lowered,
            language,
            launches.unread,
        )

    def _placed(self, node: KernelNode) -> KernelNode:
        return replace(node, stack=self._stacks.get(node.name, ()))

    def _lower(self, record: TraceRecord) -> None:
        kind, text = _LOWERED[record.name], record.payload
        if kind == "fx_graph_transformed":
            self._nodes = {node.name: node for node in parse_operators(text)}
        if not kind.startswith("ir_"):
            # AOTAutograd's prefix for the gradients with which a backward graph starts.
            backward = any(name.startswith("tangents_") for name in parse_inputs(text))
            self._phase = "inference" if not self._trains else "backward" if backward else "forward"
        self._lowered.append(Artifact(record.compile_id, self._phase, kind, text))
