"""What statements read, bind and change, and which of them can change places.

All is judged by the syntax: a method changes its object if its name says so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from ...workspace.syntax import COMPREHENSIONS, SCOPES, bound, called, dotted, free, names, nodes_of, stored
from ..rules.expressions import is_changing

_QUIET = frozenset(
    {"len", "float", "int", "bool", "str", "round", "max", "min", "sum", "abs", "print", "range"}
)
_OPERATIONS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript)
_JUMPS = (ast.Break, ast.Continue)


def operations(statement: ast.stmt, without: Iterable[ast.stmt] = ()) -> int:
    """Count the calls and operators in a statement, except those of some statements inside it."""
    left_out = {node for item in without for node in ast.walk(item)}
    return sum(isinstance(node, _OPERATIONS) for node in ast.walk(statement) if node not in left_out)


def reads(node: ast.AST) -> set[str]:
    """Return the variables whose values a node reads, in all functions and comprehensions inside it."""
    found = {item.id for item in nodes_of(ast.Name, node) if isinstance(item.ctx, ast.Load)}
    found |= {item.target.id for item in nodes_of(ast.AugAssign, node) if isinstance(item.target, ast.Name)}
    return found & free(node)


def binds(statement: ast.stmt, *, surely: bool = False) -> set[str]:
    """Return the variables that a statement binds, or may bind."""
    inside = {name for item in nodes_of(ast.comprehension, statement) for name in names(item.target)}
    found = bound(statement) if surely else stored(statement)
    return found - (inside - free(statement))


def first_reads(statements: Iterable[ast.stmt]) -> list[str]:
    """Return the variables that statements read before they bind them, in this order."""
    found: dict[str, None] = {}
    known: set[str] = set()
    for node in (item for statement in statements for item in _evaluated(statement)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            known.add(node.id)
        elif isinstance(node, ast.Name):
            found |= {} if node.id in known else {node.id: None}
        else:
            found |= dict.fromkeys(name for name in sorted(reads(node)) if name not in known)
            known |= binds(node) if isinstance(node, ast.stmt) else set()
    return list(found)


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """Yield variables, and inner functions and comprehensions, in the order of their evaluation."""
    if isinstance(node, (ast.Name, *SCOPES, *COMPREHENSIONS)):
        yield node
        return
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For)):
        value = node.iter if isinstance(node, ast.For) else node.value
        children = [
            *([value] if value is not None else []),
            *(item for item in children if item is not value),
        ]
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield ast.Name(node.target.id, ast.Load())
    for child in children:
        yield from _evaluated(child)


def needs(later: ast.stmt, earlier: ast.stmt) -> bool:
    """Tell whether a statement reads what an earlier statement binds or changes."""
    return bool(free(later) & binds(earlier)) or _overlap(_mentioned(later), _written(earlier))


def conflict(first: ast.stmt, second: ast.stmt, *, names: bool = True) -> bool:
    """Tell whether two statements cannot change places."""
    of_names = bool(
        free(first) & binds(second) or free(second) & binds(first) or binds(first) & binds(second)
    )
    return (names and of_names) or (
        _overlap(_mentioned(first), _written(second)) or _overlap(_mentioned(second), _written(first))
    )


def _written(statement: ast.stmt) -> set[str]:
    """Return the variables and attributes whose objects a statement may change, as dotted names."""
    found: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            owner = node if isinstance(node, ast.Attribute) else node.value
            found.add(_path(owner))
        elif isinstance(node, ast.Call) and is_changing(node) and called(node) != "backward":
            found.add(_path(node.func.value) if isinstance(node.func, ast.Attribute) else "")
    return found - {""}


def _mentioned(statement: ast.stmt) -> set[str]:
    return {_path(node) for node in ast.walk(statement) if isinstance(node, (ast.Name, ast.Attribute))} - {""}


def _path(node: ast.expr) -> str:
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return dotted(node)


def _overlap(mentioned: set[str], written: set[str]) -> bool:
    """Tell whether a written object may be one of the mentioned ones: ``a.b`` for ``a.b.c`` and ``a.b``."""
    return any(one == other or one.startswith(f"{other}.") for one in mentioned for other in written)


def has_effects(statement: ast.stmt) -> bool:
    """Tell whether a statement changes more than variables of its function."""
    calls = (node for node in nodes_of(ast.Call, statement))
    return bool(_written(statement)) or any(
        called(node).endswith("_")
        or called(node) == "backward"
        or (isinstance(statement, ast.Expr) and called(node) not in _QUIET)
        for node in calls
    )


def leaves(statement: ast.stmt) -> bool:
    """Tell whether a statement may end its function or the loop around it."""
    return jumps(statement) or any(
        isinstance(node, (ast.Return, ast.Raise, ast.Assert)) for node in ast.walk(statement)
    )


def jumps(statement: ast.AST) -> bool:
    """Tell whether a statement may end the loop around it, or its turn."""
    if isinstance(statement, (*_JUMPS, *SCOPES)):
        return isinstance(statement, _JUMPS)
    if isinstance(statement, (ast.For, ast.While)):
        return any(map(jumps, statement.orelse))
    return any(map(jumps, ast.iter_child_nodes(statement)))


def returns(statements: Iterable[ast.stmt]) -> bool:
    """Tell whether any of some statements may return from the function."""
    return any(isinstance(node, ast.Return) for item in statements for node in ast.walk(item))


def in_order(wanted: Iterable[str], statements: Sequence[ast.stmt]) -> list[str]:
    """Return variables in the order in which statements first bind them."""
    nodes = sorted(
        (node.lineno, node.col_offset, node.id)
        for item in statements
        for node in nodes_of(ast.Name, item)
        if isinstance(node.ctx, ast.Store)
    )
    own = set(wanted)
    return list(dict.fromkeys(name for _, _, name in nodes if name in own))
