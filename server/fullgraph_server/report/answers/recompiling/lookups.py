"""Keys that compiled code looks up in a dict or a set."""

from __future__ import annotations

import ast
from typing import Final

from fullgraph_compiler.facts import Stack

from ....text.source_names import written_name
from ....workspace.definitions import definitions
from ....workspace.workspace import Workspace

_LONGEST: Final = 40


def lookup(stack: Stack, source: str, workspace: Workspace) -> str:
    """Return the ``key in cache`` test at a stack's end, if the key is a variable.

    ``source`` is torch's name for the dict or set. Return an empty string if the function also uses items of
    the dict or set, since it then needs more than the outcome of the test.
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
    """Return whether a function uses a variable's items or attributes.

    A test with ``in`` is not such a use.
    """
    owners = (node.value for node in ast.walk(function) if isinstance(node, (ast.Subscript, ast.Attribute)))
    return any(isinstance(owner, ast.Name) and owner.id == name for owner in owners)
