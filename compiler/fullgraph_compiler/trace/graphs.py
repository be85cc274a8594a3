"""A captured graph as torch prints it (``GraphModule.print_readable``), with its user lines.

Each group of operations stands under ``# File: /path/model.py:12 in forward, code: x = a + b``;
each operation reads ``name: "f32[8, 16][16, 1]cpu" = ...``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import GraphNode, StackFrame

_PLACE = re.compile(r"^\s*# File: (?P<file>.+):(?P<row>\d+) in (?P<function>\S+), code: ")
_NODE = re.compile(r"""^\s*(?P<name>\w+)(?:: "(?P<tensor>[^"]*)")? = """)
_STRIDE_AND_DEVICE = re.compile(r"^(\w+\[[^\]]*\])(?:\[[^\]]*\])?(\w*(?::\d+)?)$")


def parse_nodes(text: str) -> Iterator[GraphNode]:
    """The operations of a printed graph that carry a user line, in order."""
    frame: StackFrame | None = None
    for line in text.splitlines():
        place = _PLACE.match(line)
        if place:
            frame = StackFrame(place["file"], int(place["row"]), place["function"])
            continue
        node = _NODE.match(line)
        if node and frame:
            yield GraphNode(node["name"], _tensor(node["tensor"] or ""), frame)


def _tensor(annotation: str) -> str:
    """``f32[8, 16][16, 1]cpu`` without its strides: ``f32[8, 16] cpu``."""
    found = _STRIDE_AND_DEVICE.match(annotation)
    return f"{found[1]} {found[2]}".strip() if found else annotation
