"""Parsers of a captured graph as torch prints it (``GraphModule.print_readable``), with its user lines.

Each group of operations stands under ``# File: /path/model.py:12 in forward, code: x = a + b`` (since
torch 2.15 with other words before it in a backward graph), or under a comment that there is no line;
each operation reads ``name: "f32[8, 16][16, 1]cpu" = ...``.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..facts import GraphNode, KernelNode, StackFrame

_PLACE = re.compile(
    r"^\s*# (?:Backward of forward node: )?File: (?P<file>.+):(?P<row>\d+) in (?P<function>\S+), code: "
)
_COLLECTIVE = re.compile(r" = (torch\.ops\._?c10d_functional\.\w+)\(")
_NO_PLACE = re.compile(r"^\s*# No stacktrace found")
_NODE = re.compile(
    r"""^\s*(?P<name>\w+)(?:: "(?P<tensor>[^"]*)")? = """
    r"""(?:torch\.ops\.(?P<call>[\w.]+)\((?P<arguments>[^;]*)|(?P<whole>\w+)\[\d+\])?"""
)
_NAME = re.compile(r"\b[a-zA-Z_]\w*\b(?!\s*[=.(])")
"""A name in the arguments of a call that is no keyword, function or module."""
_SIGNATURE = re.compile(r"^[ \t]*def forward\(self, (.*)\):", re.MULTILINE)
_PARAMETER = re.compile(r"\b(\w+)(?:: \"[^\"]*\")?(?:, |$)")
_SHAPE = re.compile(r'\b(\w+): "\w+\[([^\]"]*)\]')
_STRIDE_AND_DEVICE = re.compile(r"^(\w+\[[^\]]*\])(?:\[[^\]]*\])?(\w*(?::\d+)?)$")


def parse_collectives(text: str) -> tuple[str, ...]:
    """List the collective operations that a printed graph calls, in order."""
    return collectives(_COLLECTIVE.findall(text))


def collectives(operators: Iterable[str]) -> tuple[str, ...]:
    """Shorten ``torch.ops._c10d_functional.all_reduce_.default`` to ``all_reduce``; leave out waits."""
    names = (operator.partition("c10d_functional.")[2].partition(".")[0] for operator in operators)
    return tuple(name.removesuffix("_") for name in names if name and name != "wait_tensor")


def outline(sizes: Mapping[str, Any]) -> str:
    """Return a checksum of a graph: of the names of its operations and the sizes of their results."""
    text = json.dumps(sizes, sort_keys=False, default=str)
    return f"{zlib.crc32(text.encode()):08x}"


def parse_nodes(text: str) -> Iterator[GraphNode]:
    """Yield the operations of a printed graph that have a user line, in order."""
    for _, node, frame in _nodes(text):
        if frame is not None:
            yield GraphNode(node["name"], _tensor(node["tensor"] or ""), frame)


def parse_operators(text: str) -> Iterator[KernelNode]:
    """Yield the operators of torch that a printed graph calls, in order.

    One of several results of an operator stands for the operator itself.
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
    """List the names of a printed graph's inputs."""
    signature = _SIGNATURE.search(text)
    return tuple(_PARAMETER.findall(signature[1])) if signature else ()


def parse_shapes(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the inputs of a printed graph that are tensors, with their sizes as torch writes them."""
    signature = _SIGNATURE.search(text)
    for name, sizes in _SHAPE.findall(signature[1] if signature else ""):
        yield name, tuple(size.strip() for size in sizes.split(","))


def parse_places(text: str) -> Iterator[tuple[int, StackFrame]]:
    """Yield the 1-based rows of a printed graph that hold an operation, with the user line it came from."""
    for row, _, frame in _nodes(text):
        if frame is not None:
            yield row, frame


def _nodes(text: str) -> Iterator[tuple[int, re.Match[str], StackFrame | None]]:
    """Yield each operation with its row and the user line above it, if there is one."""
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
    """Remove the strides: ``f32[8, 16] cpu`` for ``f32[8, 16][16, 1]cpu``."""
    parts = _STRIDE_AND_DEVICE.match(annotation)
    return f"{parts[1]} {parts[2]}".strip() if parts else annotation
