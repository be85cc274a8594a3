"""Variables that a function reads in addition to its arguments.

The module also finds out whether the variables may change.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...workspace.syntax import nodes_of
from ..rules.calls import BUILTINS
from ..rules.syntax import Function, ParsedFile, defined, parameters

_CONSTANT_MODULES = ("torch", "math", "numpy", "np")
"""Modules whose values do not change."""
_CHANGING_MODULES = ("os", "sys", "time", "datetime", "random", "secrets", "uuid")
"""Modules whose functions may return different values for the same arguments."""
_CHANGING_BUILTINS = ("open", "input", "globals", "vars")


def reads_state(code: ParsedFile, name: str) -> bool:
    """Tell whether a function of a module reads a value that may change.

    Reads in called functions of the same module count, too. Functions of other modules are not inspected;
    they count as reading no such value.
    """
    found, pending = set[str](), [name]
    while pending:
        function = defined(code.tree.body, pending.pop())
        if function is None or function.name in found:
            continue
        found.add(function.name)
        for node in _read(function):
            if defined(code.tree.body, node.id) is not None:
                pending.append(node.id)
            elif not _stays(code, node):
                return True
    return False


def _read(function: Function) -> Iterator[ast.Name]:
    """Yield the names that a function's body reads but does not bind."""
    inside = [node for statement in function.body for node in ast.walk(statement)]
    names = [node for node in inside if isinstance(node, ast.Name)]
    own = {*parameters(function), *(node.arg for node in inside if isinstance(node, ast.arg))}
    own |= {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    own -= {name for node in inside if isinstance(node, ast.Global) for name in node.names}
    yield from (node for node in names if node.id not in own)


def _stays(code: ParsedFile, node: ast.Name) -> bool:
    """Tell whether a name has the same value in every call, because it is a constant."""
    outer: ast.expr = node
    while isinstance(parent := code.parent(outer), ast.Attribute):
        outer = parent
    is_called = isinstance(parent, ast.Call) and parent.func is outer
    if node.id in code.imported_names:
        root = "torch" if node.id == code.torch else node.id
        return root in _CONSTANT_MODULES or (is_called and root not in _CHANGING_MODULES)
    if is_called and any(isinstance(item, ast.ClassDef) and item.name == node.id for item in code.tree.body):
        return outer is node
    if node.id in BUILTINS and node.id not in code.module_names:
        return node.id not in _CHANGING_BUILTINS
    bound = [item for item in ast.walk(code.tree) if node.id in _bound(item)]
    return len(bound) == 1 and isinstance(bound[0], ast.Assign) and _is_constant(bound[0].value)


def _bound(node: ast.AST) -> set[str]:
    """Return the names that a statement or an expression binds, in any scope."""
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.withitem, ast.NamedExpr)):
        names = list(nodes_of(ast.Name, node))
        return {item.id for item in names if isinstance(item.ctx, ast.Store)}
    return set()


def _is_constant(node: ast.expr) -> bool:
    kinds = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.Load)
    return all(isinstance(item, kinds) for item in ast.walk(node))
