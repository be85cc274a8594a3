"""Parsers of a captured graph as torch prints it, with the user's lines.

torch prints a graph with ``GraphModule.print_readable``. Above each group of operations is a comment
``# File: /path/model.py:12 in forward, code: x = a + b`` (since torch 2.15, with a prefix in a backward
graph), or a comment that there is no stack trace. Each operation has the form
``name: "f32[8, 16][16, 1]cpu" = ...``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..facts import GraphNode, KernelNode, StackFrame

_PLACE = re.compile(
    r"^\s*# (?:Backward of forward node: )?File: (?P<file>.+):(?P<row>\d+) in (?P<function>\S+), code: "
)
_NO_PLACE = re.compile(r"^\s*# No stacktrace found")
_NODE = re.compile(
    r"""^\s*(?P<name>\w+)(?:: "(?P<tensor>[^"]*)")? = """
    r"""(?:torch\.ops\.(?P<call>[\w.]+)\((?P<arguments>[^;]*)|(?P<whole>\w+)\[\d+\])?"""
)
_NAME = re.compile(r"\b[a-zA-Z_]\w*\b(?!\s*[=.(])")
"""A name in the arguments of a call that is not a keyword, function or module."""
_SIGNATURE = re.compile(r"^[ \t]*def forward\(self, (.*)\):", re.MULTILINE)
_PARAMETER = re.compile(r'\b(\w+)(?:: "([^"]*)")?(?:, |$)')
_SIZES = re.compile(r"^\w+\[([^\]]*)\]")
_STRIDE_AND_DEVICE = re.compile(r"^(\w+\[[^\]]*\])(?:\[[^\]]*\])?(\w*(?::\d+)?)$")


def parse_nodes(text: str) -> Iterator[GraphNode]:
    """Yield the operations of a printed graph that have a user's line, in order."""
    for _, node, frame in _nodes(text):
        if frame is not None:
            yield GraphNode(node["name"], _tensor(node["tensor"] or ""), frame)


def parse_operators(text: str) -> Iterator[KernelNode]:
    """Yield the operators of torch that a printed graph calls, in order.

    ``inputs`` of a result are names of operators and graph inputs: an item of an operator's tuple of results
    counts as the operator itself.
    """
    known = {name: name for name in parse_inputs(text)}
    for _, node, frame in _nodes(text):
        name = node["name"]
        if node["call"]:
            inputs = (known[word] for word in _NAME.findall(node["arguments"]) if word in known)
            operator = ".".join(node["call"].split(".")[:2])
            known[name] = name
            yield KernelNode(name, operator, frame, tuple(dict.fromkeys(inputs)))
        elif node["whole"] in known:
            known[name] = known[node["whole"]]


def parse_inputs(text: str) -> tuple[str, ...]:
    """Return the names of a printed graph's inputs."""
    return tuple(name for name, _ in parse_typed_inputs(text))


def parse_shapes(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the tensor inputs of a printed graph, with sizes in torch's notation."""
    for name, tensor in parse_typed_inputs(text):
        if found := _SIZES.match(tensor):
            yield name, tuple(size.strip() for size in found[1].split(","))


def parse_typed_inputs(text: str) -> tuple[tuple[str, str], ...]:
    """Return the inputs of a printed graph with their tensor types.

    The type is empty for inputs that are not tensors.
    """
    signature = _SIGNATURE.search(text)
    return tuple(_PARAMETER.findall(signature[1])) if signature else ()


@dataclass(frozen=True, slots=True)
class PrintedOperation:
    """An operation of a printed graph: its tensor type, and the operator it calls.

    ``tensor`` is empty for a result that is not a tensor. ``call`` is, for example, ``aten.mm.default``; it
    is empty if the operation does not call an operator.
    """

    name: str
    tensor: str
    call: str
    arguments: str
    frame: StackFrame | None


def parse_operations(text: str) -> Iterator[PrintedOperation]:
    """Yield the operations of a printed graph, in order."""
    for _, node, frame in _nodes(text):
        call, arguments = node["call"] or "", node["arguments"] or ""
        yield PrintedOperation(node["name"], node["tensor"] or "", call, arguments, frame)


def parse_places(text: str) -> Iterator[tuple[int, StackFrame]]:
    """Yield the 1-based row and the user's line of each operation in a printed graph.

    Operations without a user's line are left out.
    """
    for row, _, frame in _nodes(text):
        if frame is not None:
            yield row, frame


def _nodes(text: str) -> Iterator[tuple[int, re.Match[str], StackFrame | None]]:
    """Yield each operation with its row, and the user's line above it, if any."""
    frame: StackFrame | None = None
    for row, line in enumerate(text.splitlines(), 1):
        place = _PLACE.match(line)
        if place:
            frame = StackFrame(place["file"], int(place["row"]), place["function"])
        elif _NO_PLACE.match(line):
            frame = None
        elif node := _NODE.match(line):
            yield row, node, frame


def _tensor(annotation: str) -> str:
    """Return a tensor type without strides.

    For example, ``f32[8, 16][16, 1]cpu`` becomes ``f32[8, 16] cpu``.
    """
    parts = _STRIDE_AND_DEVICE.match(annotation)
    return f"{parts[1]} {parts[2]}".strip() if parts else annotation
