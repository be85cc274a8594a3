"""Calls in the source with a constant for a size that should be dynamic."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final

from fullgraph_compiler.facts import Stack

from ...workspace.ranges import node_at
from ...workspace.syntax import called, nodes_of
from ..source_locator import FactLocator

_OF_ONE_TENSOR: Final = ("view", "reshape", "expand", "broadcast_to", "unflatten", "resize_", "repeat")
_MAKING: Final = ("zeros", "ones", "empty", "full", "rand", "randn", "new_zeros", "new_ones", "new_empty")
_LONGEST: Final = 60


@dataclass(frozen=True, slots=True)
class SizeCode:
    """The code that specializes a size to a constant.

    ``call`` is the call that contains the constant, as in ``.view(4, -1)``; empty if there is no such call.
    ``alone`` is true for an operation on a single tensor.
    """

    call: str = ""
    alone: bool = False


def size_code(stack: Stack, value: str, places: FactLocator) -> SizeCode:
    """Describe the code at the end of a stack, which specializes a size to ``value``."""
    frame = next(reversed(places.own(stack)), None)
    source = places.workspace.source(frame.filename) if frame and frame.column is not None else None
    node = node_at(source, places.span(frame)) if frame and source else None
    if node is None:
        return SizeCode()
    writing = (item for item in nodes_of(ast.Call, node) if _writes(item, value))
    call = _call(next(writing, None))
    return SizeCode(call, isinstance(node, ast.Call) and called(node) in _OF_ONE_TENSOR)


def _writes(call: ast.Call, value: str) -> bool:
    """Return whether a call takes sizes as arguments, one of which is ``value``."""
    parts = (part for item in call.args for part in (item.elts if isinstance(item, ast.Tuple) else (item,)))
    is_given = any(isinstance(part, ast.Constant) and str(part.value) == value for part in parts)
    return is_given and called(call) in (*_OF_ONE_TENSOR, *_MAKING)


def _call(call: ast.Call | None) -> str:
    """Return the source of a call without its receiver: ``.view(4, -1)``."""
    if call is None:
        return ""
    text = f"{called(call)}({', '.join(map(ast.unparse, (*call.args, *call.keywords)))})"
    text = f".{text}" if isinstance(call.func, ast.Attribute) else text
    return text if len(text) <= _LONGEST else f".{called(call)}(...)"
