"""Keys that compiled code looks for in a dict or a set that it gets."""

from __future__ import annotations

import ast
from typing import Final

from fullgraph_compiler.facts import Stack

from ....text.source_names import written_name
from ....workspace.definitions import definitions
from ....workspace.workspace import Workspace

_LONGEST: Final = 40


def lookup(stack: Stack, source: str, workspace: Workspace) -> str:
    """Return the code at the end of a stack that asks whether a variable key is in a value: ``key in cache``.

    Empty where the function also reads or writes its items: the answer alone would not do then.
    """
    file = workspace.source(stack[-1].filename) if stack else None
    name = written_name(source)
    if file is None or not name.isidentifier():
        return ""
    function = definitions(file).function_at(stack[-1].row)
    if function is None or _uses(function, name):
        return ""
    return next((text for node in file.nodes_at(stack[-1].row) if (text := _question(node, name))), "")


def _question(node: ast.AST, name: str) -> str:
    if not isinstance(node, ast.Compare) or len(node.ops) > 1 or isinstance(node.left, ast.Constant):
        return ""
    asked = node.comparators[0]
    is_lookup = isinstance(node.ops[0], (ast.In, ast.NotIn)) and isinstance(asked, ast.Name)
    text = ast.unparse(node) if is_lookup and getattr(asked, "id", "") == name else ""
    return text if len(text) <= _LONGEST else ""


def _uses(function: ast.AST, name: str) -> bool:
    """Tell whether a function needs more of a variable than whether something is in it."""
    owners = (node.value for node in ast.walk(function) if isinstance(node, (ast.Subscript, ast.Attribute)))
    return any(isinstance(owner, ast.Name) and owner.id == name for owner in owners)
