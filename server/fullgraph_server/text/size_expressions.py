"""Conditions on sizes, in the words of the user's code.

Torch writes such a condition as SymPy prints it (``Eq(Mod(s77, 2), 0)``), which is Python: read as that, its
symbols become the sizes that they stand for, its functions operators.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import lru_cache

from fullgraph_compiler.facts import Symbol
from fullgraph_compiler.trace.decoding import parse_expression

from .source_names import written_name

_PROPERTY = re.compile(r"\.(size|stride)\(\)\[(\d+)\]$")
_COMPARISONS: Mapping[str, ast.cmpop] = {"Eq": ast.Eq(), "Ne": ast.NotEq()}
_OPERATORS: Mapping[str, ast.operator] = {
    "Mod": ast.Mod(),
    "PythonMod": ast.Mod(),
    "FloorDiv": ast.FloorDiv(),
    "CleanDiv": ast.FloorDiv(),
}
"""``torch/utils/_sympy/functions.py``."""


def written_size(source: str) -> str:
    """What gives a size, as it stands in the code: ``x.shape[0]`` for ``L['x'].size()[0]``."""
    name = written_name(source)
    found = _PROPERTY.search(name)
    if found is None:
        return name
    part = f".shape[{found[2]}]" if found[1] == "size" else f".stride({found[2]})"
    return name[: found.start()] + part


@lru_cache(maxsize=16384)
def written_condition(expression: str, symbols: tuple[Symbol, ...]) -> str:
    """A condition with what its symbols stand for: ``x.shape[0] % 2 == 0`` for ``Eq(Mod(s77, 2), 0)``."""
    sizes = {symbol.name: size for symbol in symbols if (size := written_size(symbol.source))}
    tree = parse_expression(expression)
    return expression if tree is None else ast.unparse(_Writer(sizes).visit(tree))


@lru_cache(maxsize=16384)
def relation_of(text: str) -> ast.Compare | None:
    """A comparison of sizes, as torch or :func:`written_condition` writes it."""
    written = re.sub(r"\.size\(\)\[(\d+)\]", r".shape[\1]", text.partition(" # ")[0].strip())
    tree = parse_expression(written)
    return tree if isinstance(tree, ast.Compare) and ".shape[" in written else None


def written_relation(text: str) -> str:
    """A comparison of sizes that torch has written, in the words of the code; other text as it is."""
    relation = relation_of(text)
    return text if relation is None else ast.unparse(relation)


@lru_cache(maxsize=16384)
def sides_of(relation: ast.Compare) -> tuple[str, ...]:
    """A comparison in one form, whichever way round it is written."""
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
    """The sizes and the numbers that a comparison is of."""
    sides = (relation.left, *relation.comparators)
    numbers = {side.value for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, int)}
    return {ast.unparse(side) for side in sides if not isinstance(side, ast.Constant)}, numbers


class _Writer(ast.NodeTransformer):
    def __init__(self, sizes: Mapping[str, str]) -> None:
        self._sizes = sizes

    def visit_Name(self, node: ast.Name) -> ast.expr:
        # torch has names of its own for values that have none.
        return parse_expression(self._sizes.get(node.id, "")) or node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        arguments = [self.visit(argument) for argument in node.args]
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if len(arguments) == 2 and name in _COMPARISONS:
            return ast.Compare(arguments[0], [_COMPARISONS[name]], [arguments[1]])
        if len(arguments) == 2 and name in _OPERATORS:
            return ast.BinOp(arguments[0], _OPERATORS[name], arguments[1])
        return ast.Call(node.func, arguments, node.keywords)
