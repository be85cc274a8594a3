"""Lookups by parameter name that fail for a compiled module.

The names of a compiled module begin with `_orig_mod.`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from ...workspace.source import SourceFile
from ...workspace.syntax import called, nodes_of, positional

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_NAMED: Final = ("named_parameters", "named_buffers", "state_dict")


@dataclass(frozen=True, slots=True)
class NameLookup:
    """A test for a parameter name, in a function that gets a compiled module.

    ``call`` is a call that passes a compiled module to the function. Both rows count from 1.
    """

    test: str
    row: int
    call: str
    call_row: int


def name_lookups(source: SourceFile, compiled: frozenset[str]) -> Iterator[NameLookup]:
    """Yield the lookups in functions that are called with a compiled module.

    ``compiled`` are the names of variables with compiled modules.
    """
    calls = list(nodes_of(ast.Call, source.tree))
    for function in ast.walk(source.tree) if source.tree else ():
        tests = list(_tests(function)) if isinstance(function, _Function) else []
        call = next((item for item in calls if tests and _passes(item, function, compiled)), None)
        if call is not None:
            for test in tests:
                yield NameLookup(ast.unparse(test), test.lineno, ast.unparse(call), call.lineno)


def _tests(function: _Function) -> Iterator[ast.Compare]:
    """Yield the tests ``if name in ...`` in loops over the names of a module.

    The module is a parameter of the function.
    """
    given = {node.arg for node in positional(function)}
    for loop in nodes_of(ast.For, function):
        if _is_of_names(loop.iter, given):
            targets = loop.target.elts[:1] if isinstance(loop.target, ast.Tuple) else [loop.target]
            name = next((target.id for target in targets if isinstance(target, ast.Name)), "")
            for node in loop.body:
                test = node.test if isinstance(node, ast.If) else None
                if (
                    isinstance(test, ast.Compare)
                    and isinstance(test.ops[0], ast.In)
                    and isinstance(test.left, ast.Name)
                    and test.left.id == name
                ):
                    yield test


def _is_of_names(node: ast.expr, given: Collection[str]) -> bool:
    """Return whether an expression lists the names of a module in ``given``.

    ``given`` are names of variables.
    """
    called = list(nodes_of(ast.Call, node))
    return any(
        isinstance(item.func, ast.Attribute)
        and item.func.attr in _NAMED
        and isinstance(item.func.value, ast.Name)
        and item.func.value.id in given
        for item in called
    )


def _passes(call: ast.Call, function: ast.AST, compiled: frozenset[str]) -> bool:
    passed = (item.id for item in call.args if isinstance(item, ast.Name))
    return called(call) == getattr(function, "name", None) and not compiled.isdisjoint(passed)
