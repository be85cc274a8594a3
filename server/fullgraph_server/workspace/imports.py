"""Names as they are written, and as the modules have them that they were imported from."""

from __future__ import annotations

import ast
from collections.abc import Mapping


def dotted(node: ast.AST | None) -> str:
    """Return a dotted name as it is written (``torch.nn.functional``); empty for anything else."""
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return node.id if isinstance(node, ast.Name) else ""


def resolved(node: ast.AST | None, imported: Mapping[str, str]) -> str:
    """Write a dotted name from the module on that its first name was imported from."""
    root, dot, rest = dotted(node).partition(".")
    return f"{imported.get(root, root)}{dot}{rest}"


def imports(tree: ast.Module) -> dict[str, str]:
    """Return what the names stand for that a module imports under another one, or from another module."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update({item.asname: item.name for item in node.names if item.asname})
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.update({item.asname or item.name: f"{node.module}.{item.name}" for item in node.names})
    return names
