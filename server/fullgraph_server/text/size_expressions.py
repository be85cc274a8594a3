"""Conditions on sizes, written as in the user's code.

Torch writes a condition in SymPy's notation, as in ``Eq(Mod(s77, 2), 0)``. The text is parsed as Python; each
symbol is replaced by the size that the symbol stands for, each function by an operator.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import add, eq, floordiv, ge, gt, le, lt, mod, mul, ne, sub, truediv
from typing import Any

from fullgraph_compiler.facts import Symbol
from fullgraph_compiler.trace.decoding import parse_expression

from .source_names import written_name

_PROPERTY = re.compile(r"\.(size|stride)\(\)\[(\d+)\]$")
_SIZE = re.compile(r"\.size\(\)\[(\d+)\]")
_COMPARISONS: Mapping[str, ast.cmpop] = {"Eq": ast.Eq(), "Ne": ast.NotEq()}
_OPERATORS: Mapping[str, ast.operator] = {
    "Mod": ast.Mod(),
    "PythonMod": ast.Mod(),
    "FloorDiv": ast.FloorDiv(),
    "CleanDiv": ast.FloorDiv(),
}
"""Functions in ``torch/utils/_sympy/functions.py`` for which Python has operators."""
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], int | float]] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.FloorDiv: floordiv,
    ast.Div: truediv,
    ast.Mod: mod,
}
_ORDER: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: eq,
    ast.NotEq: ne,
    ast.Lt: lt,
    ast.LtE: le,
    ast.Gt: gt,
    ast.GtE: ge,
}


def written_size(source: str) -> str:
    """Write a size as in the user's code: ``x.shape[0]`` for ``L['x'].size()[0]``."""
    name = written_name(source)
    match = _PROPERTY.search(name)
    if match is None:
        return name
    part = f".shape[{match[2]}]" if match[1] == "size" else f".stride({match[2]})"
    return name[: match.start()] + part


@lru_cache(maxsize=16384)
def written_condition(expression: str, symbols: tuple[Symbol, ...]) -> str:
    """Write a condition as in the user's code.

    Example: ``x.shape[0] % 2 == 0`` for ``Eq(Mod(s77, 2), 0)``.
    """
    sizes = {symbol.name: size for symbol in symbols if (size := written_size(symbol.source))}
    tree = parse_expression(expression)
    return expression if tree is None else ast.unparse(_SizeWriter(sizes).visit(tree))


def written_guard(text: str) -> str:
    """Write a guard, given as torch's Python code, as in the user's code.

    Example: ``4 <= x.shape[0]`` for ``4 <= L['x'].size()[0]``.
    """
    parts = [part for part in written_name(text).split(" and ") if "IntInfinity()" not in part]
    if len(parts) == 2 and parts[0].rpartition(" <= ")[2] == parts[1].partition(" <= ")[0]:
        parts = [f"{parts[0]} <= {parts[1].partition(' <= ')[2]}"]
    return _SIZE.sub(r".shape[\1]", " and ".join(parts))


@lru_cache(maxsize=16384)
def comparison_of(text: str) -> ast.Compare | None:
    """Parse a comparison; return ``None`` if ``text`` is not a comparison.

    The text comes from torch or from :func:`written_condition`.
    """
    tree = parse_expression(_SIZE.sub(r".shape[\1]", text.partition(" # ")[0].strip()))
    return tree if isinstance(tree, ast.Compare) else None


@lru_cache(maxsize=16384)
def relation_of(text: str) -> ast.Compare | None:
    """Parse a comparison of sizes; return ``None`` if ``text`` is not one.

    The text comes from torch or from :func:`written_condition`.
    """
    tree = comparison_of(text)
    return tree if tree is not None and ".shape[" in ast.unparse(tree) else None


def readable_condition(text: str) -> str:
    """Write torch's comparison of sizes or values as in the user's code.

    The result is empty for a check of torch's own state, and for text that is not a comparison.
    """
    tree = relation_of(text) or parse_expression(text)
    own = any(
        isinstance(node, ast.Name) and node.id.startswith(("_", "torch"))
        for node in ast.walk(tree or ast.Pass())
    )
    return ast.unparse(tree) if isinstance(tree, ast.Compare) and not own else ""


@lru_cache(maxsize=16384)
def sides_of(relation: ast.Compare) -> tuple[str, ...]:
    """Return a normal form of a comparison, equal for ``a < b`` and ``b > a``."""
    if len(relation.ops) > 1:
        return (ast.unparse(relation),)
    left, right = ast.unparse(relation.left), ast.unparse(relation.comparators[0])
    operator = type(relation.ops[0])
    if operator in (ast.Gt, ast.GtE):
        left, right, operator = right, left, ast.Lt if operator is ast.Gt else ast.LtE
    if operator in (ast.Eq, ast.NotEq):
        left, right = sorted((left, right))
    return operator.__name__, left, right


@lru_cache(maxsize=16384)
def parts_of(relation: ast.Compare) -> tuple[set[str], set[int]]:
    """Return a comparison's sides that are expressions, and those that are integers."""
    sides = (relation.left, *relation.comparators)
    numbers = {side.value for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, int)}
    return {ast.unparse(side) for side in sides if not isinstance(side, ast.Constant)}, numbers


def held(condition: str, values: Mapping[str, int | float]) -> bool | None:
    """Return whether a guard's condition holds for given values; ``None`` if unknown.

    ``values`` maps sources in torch's notation to values.
    """
    tree = parse_expression(condition)
    try:
        return bool(_value(tree, values)) if isinstance(tree, ast.Compare) else None
    except (KeyError, ArithmeticError):
        return None


def _value(node: ast.expr, values: Mapping[str, int | float]) -> int | float:
    """Evaluate a condition; raise ``KeyError`` for an unknown value or operator."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, values)
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, values), _value(node.right, values)
        return _ARITHMETIC[type(node.op)](left, right)
    if isinstance(node, ast.Compare):
        sides = [_value(side, values) for side in (node.left, *node.comparators)]
        pairs = zip(node.ops, sides, sides[1:], strict=False)
        return all(_ORDER[type(relation)](left, right) for relation, left, right in pairs)
    return values[ast.unparse(node)]


class _SizeWriter(ast.NodeTransformer):
    def __init__(self, sizes: Mapping[str, str]) -> None:
        self._sizes = sizes

    def visit_Name(self, node: ast.Name) -> ast.expr:
        # torch invents names for values that have no name in the program.
        return parse_expression(self._sizes.get(node.id, "")) or node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        arguments = [self.visit(argument) for argument in node.args]
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if len(arguments) == 2 and name in _COMPARISONS:
            return ast.Compare(arguments[0], [_COMPARISONS[name]], [arguments[1]])
        if len(arguments) == 2 and name in _OPERATORS:
            return ast.BinOp(arguments[0], _OPERATORS[name], arguments[1])
        return ast.Call(node.func, arguments, node.keywords)
