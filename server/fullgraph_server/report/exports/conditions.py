"""The user's code and variables of a condition that an export cannot decide."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final, TypeAlias

from fullgraph_compiler.facts import ExportProblem, Symbol
from fullgraph_compiler.trace.decoding import parse_expression

from ...text.exports import ConditionKind
from ...text.size_expressions import written_condition
from ...workspace.positions import Span
from ...workspace.ranges import node_at, node_span
from ...workspace.source import SourceFile
from ..source_locator import FactLocator

_OPPOSITE: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}
_Deciding: TypeAlias = ast.If | ast.While | ast.IfExp | ast.Assert
_CONDITIONS: Final = ("Eq", "Ne", "And", "Or", "Not", "Xor")
"""Functions of SymPy whose values are true or false."""


@dataclass(frozen=True, slots=True)
class ExportCondition:
    """A condition as the user would write it.

    ``opposite`` is the negation of the condition; empty if the negation is not simple. ``value`` is the
    condition as an expression that can be a tensor or a symbol, for example for ``torch.cond``; empty if more
    than this condition decides. ``reads`` has, for each number in the condition that is read from a tensor,
    the variable (empty for none) and the place of the read. ``unnamed`` are torch's names of numbers without
    a variable.
    """

    text: str
    opposite: str
    value: str
    reads: tuple[tuple[str, Span | None], ...]
    kind: ConditionKind
    unnamed: tuple[str, ...]


def condition_of(problem: ExportProblem, span: Span, places: FactLocator) -> ExportCondition:
    """Describe the condition of a ``data-dependent`` problem, whose code is ``span``."""
    # A number that a library reads has no place in the user's code.
    reads = [
        (item, places.own_span(item.stack) if places.own(item.stack[-1:]) else None)
        for item in problem.symbols
    ]
    here = {
        item.name
        for item, place in reads
        if place is not None
        and place.filename == span.filename
        and place.row <= span.end_row
        and span.row <= place.end_row
    }
    names = {item.name: "" if item.name in here else _variable(place, places) for item, place in reads}
    source = places.workspace.source(span.filename)
    node = node_at(source, span) if source else None
    code = node if isinstance(node, ast.expr) else None
    around = _deciding(source, span) if source else None
    test = around.test if around else None
    tested = code if test is not None and isinstance(code, ast.Compare) else test
    value = _value(test) if test is not None and (tested is test or _code(tested) == _code(test)) else ""
    # torch expresses the truth value of a tensor as a comparison with 1.
    truths = [f"{relation}({item.name}, 1)" for item in problem.symbols for relation in ("Eq", "Ne")]
    asks_truth = problem.subject in truths
    kind: ConditionKind = "operation"
    if _is_number(problem.subject):
        kind, tested = "number", code
    elif isinstance(around, ast.While):
        kind = "loop"
    elif here and asks_truth and (test or (code is not None and ".item(" not in _code(code))):
        kind = "assertion" if isinstance(around, ast.Assert) else "tensor"
        tested = tested or code
    elif tested is not None:
        kind = "branch"
        tested = parse_expression(value or (_code(tested) if _value(tested) else _written(problem, names)))
    text = ast.unparse(tested) if tested else _written(problem, names)
    nameless = [name for name in names if not names[name] and (kind == "operation" or name in here)]
    return ExportCondition(
        text,
        _opposite(tested or parse_expression(text)),
        value,
        tuple((names[item.name], place) for item, place in reads),
        kind,
        tuple(nameless),
    )


def _is_number(expression: str) -> bool:
    """Return whether an expression of torch is a number, not a condition."""
    tree = parse_expression(expression)
    if isinstance(tree, ast.Call):
        return not (isinstance(tree.func, ast.Name) and tree.func.id in _CONDITIONS)
    return isinstance(tree, (ast.Name, ast.BinOp, ast.UnaryOp)) and not (
        isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not)
    )


def _written(problem: ExportProblem, names: dict[str, str]) -> str:
    numbers = (Symbol(symbol, f"L['{name}']", None) for symbol, name in names.items() if name)
    return written_condition(problem.subject, (*numbers, *problem.sizes))


def _deciding(source: SourceFile, span: Span) -> _Deciding | None:
    """Return the ``if``, ``while`` or ``assert`` whose condition contains ``span``.

    Return ``None`` if ``span`` is not part of a condition.
    """
    for around in source.nodes_at(span.row):
        if isinstance(around, _Deciding):
            # Python gives a failing assert the place of the whole statement.
            whole = node_span(source, around if isinstance(around, ast.Assert) else around.test)
            start, end = (whole.row, whole.column), (whole.end_row, whole.end_column)
            if start <= (span.row, span.column) and (span.end_row, span.end_column) <= end:
                return around
    return None


def _value(test: ast.expr | None) -> str:
    """Rewrite a test as a comparison, whose value can be a tensor or a symbol.

    Return an empty string if that is not possible.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = test.operand
        return _opposite(inner) if isinstance(inner, ast.Compare) else _compared(inner, ast.Eq())
    if isinstance(test, ast.Compare):
        return ast.unparse(test) if _opposite(test) else ""
    return _compared(test, ast.NotEq())


def _compared(number: ast.expr | None, op: ast.cmpop) -> str:
    if number is None or isinstance(number, (ast.BoolOp, ast.UnaryOp, ast.NamedExpr, ast.IfExp)):
        return ""
    return ast.unparse(ast.Compare(number, [op], [ast.Constant(0)]))


def _code(node: ast.expr | None) -> str:
    return ast.unparse(node) if node else ""


def _variable(place: Span | None, places: FactLocator) -> str:
    """Return the variable that the statement at a place assigns; empty for none."""
    source = places.workspace.source(place.filename) if place else None
    for node in source.nodes_at(place.row) if source and place else ():
        targets = node.targets if isinstance(node, ast.Assign) else ()
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            return targets[0].id
    return ""


def _opposite(condition: ast.expr | None) -> str:
    """Return the negation of a simple comparison; empty for other conditions."""
    if not isinstance(condition, ast.Compare) or len(condition.ops) != 1:
        return ""
    opposite = _OPPOSITE.get(type(condition.ops[0]))
    if opposite is None:
        return ""
    return ast.unparse(ast.Compare(condition.left, [opposite()], condition.comparators))
