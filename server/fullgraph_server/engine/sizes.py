"""What traces take for granted of symbolic sizes, in the words of the user's code.

Torch writes such a condition as SymPy prints it (``Eq(Mod(s77, 2), 0)``), which is Python: read as that, its
symbols become the sizes that they stand for, its functions operators.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from fullgraph_compiler.facts import Fact, GuardFailure, ShapeGuard, Specialization, Stack, Symbol

from .names import written_name
from .places import Places
from .report import Call, SizeCondition

_PROPERTY = re.compile(r"\.(size|stride)\(\)\[(\d+)\]$")
_COMPARISONS: Mapping[str, ast.cmpop] = {"Eq": ast.Eq(), "Ne": ast.NotEq()}
_OPERATORS: Mapping[str, ast.operator] = {
    "Mod": ast.Mod(),
    "PythonMod": ast.Mod(),
    "FloorDiv": ast.FloorDiv(),
    "CleanDiv": ast.FloorDiv(),
}
"""``torch/utils/_sympy/functions.py``."""


def size_conditions(facts: Iterable[Fact], places: Places) -> tuple[SizeCondition, ...]:
    """What every compilation takes for granted, in the order in which it came to that."""
    return tuple(_conditions(facts, places))


def written_size(source: str) -> str:
    """What gives a size, as it stands in the code: ``x.shape[0]`` for ``L['x'].size()[0]``."""
    name = written_name(source)
    found = _PROPERTY.search(name)
    if found is None:
        return name
    part = f".shape[{found[2]}]" if found[1] == "size" else f".stride({found[2]})"
    return name[: found.start()] + part


def written_condition(expression: str, symbols: Iterable[Symbol]) -> str:
    """A condition with what its symbols stand for: ``x.shape[0] % 2 == 0`` for ``Eq(Mod(s77, 2), 0)``."""
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError:
        return expression
    sizes = {symbol.name: size for symbol in symbols if (size := written_size(symbol.source))}
    return ast.unparse(_Writer(sizes).visit(tree))


def condition_behind(failure: GuardFailure, guards: Sequence[ShapeGuard]) -> ShapeGuard | None:
    """The condition of a trace that a failed relation of sizes comes from, if that can be told.

    Torch simplifies conditions before it checks them: a bound can be one more than what the code says.
    """
    relation = _relation(failure.reason)
    if relation is None:
        return None
    written = [(guard, _relation(written_condition(guard.expression, guard.symbols))) for guard in guards]
    for guard, own in written:
        if own is not None and _sides(own) == _sides(relation):
            return guard
    sizes, numbers = _parts(relation)
    near = {number + step for number in numbers for step in (-1, 0, 1)}
    for guard, own in written:
        if own is not None and not isinstance(own.ops[0], (ast.Eq, ast.NotEq)):
            own_sizes, own_numbers = _parts(own)
            if own_sizes == sizes and near & own_numbers:
                return guard
    return None


def specialization_behind(
    failure: GuardFailure, constants: Iterable[Specialization]
) -> Specialization | None:
    """What made a number of a size that changed."""
    if failure.changed != "size":
        return None
    source = f"{failure.source}.size()[{failure.dimension}]"
    return next((constant for constant in constants if source in constant.sources), None)


def _relation(text: str) -> ast.Compare | None:
    """A comparison of sizes, as torch or :func:`written_condition` writes it."""
    written = re.sub(r"\.size\(\)\[(\d+)\]", r".shape[\1]", text.partition(" # ")[0].strip())
    try:
        tree = ast.parse(written, mode="eval").body
    except SyntaxError:
        return None
    return tree if isinstance(tree, ast.Compare) and ".shape[" in written else None


def _sides(relation: ast.Compare) -> tuple[str, ...]:
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


def _parts(relation: ast.Compare) -> tuple[set[str], set[int]]:
    """The sizes and the numbers that a comparison is of."""
    sides = (relation.left, *relation.comparators)
    numbers = {side.value for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, int)}
    return {ast.unparse(side) for side in sides if not isinstance(side, ast.Constant)}, numbers


class _Writer(ast.NodeTransformer):
    def __init__(self, sizes: Mapping[str, str]) -> None:
        self._sizes = sizes

    def visit_Name(self, node: ast.Name) -> ast.expr:
        size = self._sizes.get(node.id)
        return node if size is None else ast.parse(size, mode="eval").body

    def visit_Call(self, node: ast.Call) -> ast.AST:
        arguments = [self.visit(argument) for argument in node.args]
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if len(arguments) == 2 and name in _COMPARISONS:
            return ast.Compare(arguments[0], [_COMPARISONS[name]], [arguments[1]])
        if len(arguments) == 2 and name in _OPERATORS:
            return ast.BinOp(arguments[0], _OPERATORS[name], arguments[1])
        return ast.Call(node.func, arguments, node.keywords)


def _conditions(facts: Iterable[Fact], places: Places) -> Iterator[SizeCondition]:
    for fact in facts:
        if isinstance(fact, ShapeGuard):
            yield SizeCondition(
                fact.compile_id,
                written_condition(fact.expression, fact.symbols),
                fact.expression,
                fact.symbols,
                places.own_span(fact.stack),
                calls=_calls(fact.torch_stack),
                cpp_stack=fact.cpp_stack,
            )
        elif isinstance(fact, Specialization):
            source = fact.sources[0] if fact.sources else ""
            yield SizeCondition(
                fact.compile_id,
                f"{written_size(source) or fact.symbol} == {fact.value}",
                f"{fact.symbol} = {fact.value}",
                (Symbol(fact.symbol, source, None),),
                places.own_span(fact.stack),
                reason=fact.reason,
                calls=_calls(fact.torch_stack),
            )


def _calls(stack: Stack) -> tuple[Call, ...]:
    return tuple(Call(frame.filename, frame.row, frame.function) for frame in stack)
