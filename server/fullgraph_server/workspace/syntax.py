"""Helpers on syntax trees: nodes of a kind, first rows, parameters, dotted and imported names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TypeAlias, TypeVar

AnyFunction: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Kind = TypeVar("_Kind", bound=ast.AST)


def nodes_of(kind: type[_Kind], within: ast.AST | None) -> Iterator[_Kind]:
    """Yield all nodes of a kind in a node, itself included, outer ones first; none in ``None``."""
    return (node for node in ast.walk(within) if isinstance(node, kind)) if within else iter(())


def first_row(node: ast.expr | ast.stmt | ast.arg) -> int:
    """Return the row in which a node begins, or its first decorator."""
    return min((item.lineno for item in getattr(node, "decorator_list", ())), default=node.lineno)


def positional(function: AnyFunction) -> list[ast.arg]:
    """Return the parameters of a function that can be given by position, without ``*args``."""
    return [*function.args.posonlyargs, *function.args.args]


def parameters(function: AnyFunction, *, rest: bool = True) -> list[ast.arg]:
    """Return all parameters of a function, those of the ``rest``, ``*args`` and ``**kwargs``, last."""
    given = function.args
    several = (given.vararg, given.kwarg) if rest else ()
    return [*positional(function), *given.kwonlyargs, *filter(None, several)]


def dotted(node: ast.AST | None) -> str:
    """Return a dotted name as it is written (``torch.nn.functional``); empty for anything else."""
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return node.id if isinstance(node, ast.Name) else ""


def imports(node: ast.AST) -> dict[str, str]:
    """Map the names that imports anywhere in a node bind to full names, relative ones with their dots."""
    found: dict[str, str] = {}
    for item in ast.walk(node):
        if isinstance(item, ast.Import):
            for alias in item.names:
                root = alias.name.partition(".")[0]
                found[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(item, ast.ImportFrom):
            module = "." * item.level + (item.module or "")
            found.update({alias.asname or alias.name: f"{module}.{alias.name}" for alias in item.names})
    return found


def resolved(node: ast.AST | None, imported: Mapping[str, str]) -> str:
    """Write a dotted name from the module on that its first name was imported from, if that is absolute."""
    root, dot, rest = dotted(node).partition(".")
    path = imported.get(root, root)
    return f"{root if path.startswith('.') else path}{dot}{rest}"
