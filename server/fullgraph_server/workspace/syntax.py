"""Helpers on syntax trees: nodes of a kind, first rows, parameters, names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TypeAlias, TypeVar

AnyFunction: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Placed: TypeAlias = ast.expr | ast.stmt | ast.arg | ast.keyword
_Kind = TypeVar("_Kind", bound=ast.AST)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
COMPOUND = (*SCOPES, ast.If, ast.For, ast.While, ast.With, ast.Try)
"""The nodes that contain statements."""
_BLOCKS = ("body", "orelse", "finalbody")


def nodes_of(kind: type[_Kind], within: ast.AST | None) -> Iterator[_Kind]:
    """Yield all nodes of a kind in ``within``, itself included, outer nodes first."""
    return (node for node in ast.walk(within) if isinstance(node, kind)) if within else iter(())


def first_row(node: _Placed) -> int:
    """Return the first row of a node, including its decorators."""
    return min((item.lineno for item in getattr(node, "decorator_list", ())), default=node.lineno)


def last_row(node: _Placed) -> int:
    """Return the last row of a node."""
    return node.end_lineno or node.lineno


def covers(node: _Placed, row: int) -> bool:
    """Return whether a row is in a node; the node's decorators do not count."""
    return node.lineno <= row <= last_row(node)


def callee(node: ast.expr) -> ast.expr:
    """Return the function expression of a call; return any other expression unchanged."""
    return node.func if isinstance(node, ast.Call) else node


def positional(function: AnyFunction) -> list[ast.arg]:
    """Return the positional parameters of a function, without ``*args``."""
    return [*function.args.posonlyargs, *function.args.args]


def parameters(function: AnyFunction, *, rest: bool = True) -> list[ast.arg]:
    """Return a function's parameters.

    With ``rest``, ``*args`` and ``**kwargs`` are included, at the end.
    """
    given = function.args
    several = (given.vararg, given.kwarg) if rest else ()
    return [*positional(function), *given.kwonlyargs, *filter(None, several)]


def dotted(node: ast.AST | None) -> str:
    """Return a dotted name as written (``torch.nn.functional``); "" for other nodes."""
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return node.id if isinstance(node, ast.Name) else ""


def last_name(node: ast.AST | None) -> str:
    """Return the last part of a name: ``sum`` for ``x.abs().sum``; "" for other nodes."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def imports(node: ast.AST) -> dict[str, str]:
    """Return the full names of everything that a node imports, by local name.

    The names of relative imports begin with dots.
    """
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
    """Return the full form of a dotted name, with its first part resolved by imports.

    Relative imports are not resolved.
    """
    root, dot, rest = dotted(node).partition(".")
    path = imported.get(root, root)
    return f"{root if path.startswith('.') else path}{dot}{rest}"


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a compound statement or a module, as lists of statements."""
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list) and block:
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def names(node: ast.AST) -> set[str]:
    """Return all names that a node reads or binds."""
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}


def free(node: ast.AST) -> set[str]:
    """Return a node's names, except those that its functions and comprehensions bind."""
    own: set[str] = set()
    for item in ast.walk(node):
        if isinstance(item, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
            own.update(parameter.arg for parameter in parameters(item))
        elif isinstance(item, ast.comprehension):
            own.update(names(item.target))
    return names(node) - own


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and its descendants, except inside inner functions and classes."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, SCOPES):
            yield child
        else:
            yield from own_nodes(child)


def own_statements(function: AnyFunction) -> Iterator[ast.stmt]:
    """Yield the statements of a function, the outer ones first, except inside inner functions."""
    inside = (item for child in ast.iter_child_nodes(function) for item in own_nodes(child))
    return (item for item in inside if isinstance(item, ast.stmt))


def stored(node: ast.AST) -> set[str]:
    """Return the names that a node binds in its scope."""
    found: set[str] = set()
    for item in own_nodes(node):
        if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load):
            found.add(item.id)
        elif isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(item.name)
        elif isinstance(item, ast.alias):
            found.add(item.asname or item.name.partition(".")[0])
        elif isinstance(item, ast.ExceptHandler) and item.name:
            found.add(item.name)
    return found


def bound(statement: ast.stmt) -> set[str]:
    """Return the names that certainly have a value after a statement."""
    if isinstance(statement, ast.If):
        arms = [statement.body, statement.orelse]
        sure = [set().union(*(bound(item) for item in arm)) for arm in arms]
        return sure[0] & sure[1]
    if isinstance(statement, (ast.For, ast.AsyncFor, ast.While, ast.Try, ast.Match)):
        return set()
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return set().union(*(bound(item) for item in statement.body))
    return set() if isinstance(statement, ast.Delete) else stored(statement)


def called(node: ast.AST | None) -> str:
    """Return the last name of a called function: ``sum`` for ``x.abs().sum()``.

    Return "" for nodes that are not calls.
    """
    return last_name(node.func) if isinstance(node, ast.Call) else ""
