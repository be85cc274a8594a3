"""A captured graph as torch prints it (``GraphModule.print_readable``), with its user lines.

Each group of operations stands under ``# File: /path/model.py:12 in forward, code: x = a + b`` (since
torch 2.15 with other words before it in a backward graph), or under a comment that no line is known;
each operation reads ``name: "f32[8, 16][16, 1]cpu" = ...``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import GraphNode, KernelNode, StackFrame

_PLACE = re.compile(
    r"^\s*# (?:Backward of forward node: )?File: (?P<file>.+):(?P<row>\d+) in (?P<function>\S+), code: "
)
_NO_PLACE = re.compile(r"^\s*# No stacktrace found")
_NODE = re.compile(r"""^\s*(?P<name>\w+)(?:: "(?P<tensor>[^"]*)")? = (?:torch\.ops\.(?P<call>[\w.]+)\()?""")
_STRIDE_AND_DEVICE = re.compile(r"^(\w+\[[^\]]*\])(?:\[[^\]]*\])?(\w*(?::\d+)?)$")


def parse_nodes(text: str) -> Iterator[GraphNode]:
    """The operations of a printed graph that carry a user line, in order."""
    for node, frame in _nodes(text):
        if frame is not None:
            yield GraphNode(node["name"], _tensor(node["tensor"] or ""), frame)


def parse_operators(text: str) -> Iterator[KernelNode]:
    """The operators of torch that a printed graph calls, in order."""
    for node, frame in _nodes(text):
        if node["call"]:
            yield KernelNode(node["name"], ".".join(node["call"].split(".")[:2]), frame)


def _nodes(text: str) -> Iterator[tuple[re.Match[str], StackFrame | None]]:
    frame: StackFrame | None = None
    for line in text.splitlines():
        place = _PLACE.match(line)
        if place:
            frame = StackFrame(place["file"], int(place["row"]), place["function"])
        elif _NO_PLACE.match(line):
            frame = None
        elif node := _NODE.match(line):
            yield node, frame


def _tensor(annotation: str) -> str:
    """``f32[8, 16][16, 1]cpu`` without its strides: ``f32[8, 16] cpu``."""
    found = _STRIDE_AND_DEVICE.match(annotation)
    return f"{found[1]} {found[2]}".strip() if found else annotation
