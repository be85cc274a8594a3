"""The user's code behind a condition that an export cannot decide, and the variables behind its symbols."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final

from fullgraph_compiler.facts import DataSymbol, ExportProblem, Symbol
from fullgraph_compiler.trace.decoding import parse_expression

from ...text.exports import ConditionKind
from ...text.size_expressions import written_condition
from ...workspace.positions import Span
from ...workspace.ranges import node_at, node_span
from ...workspace.source import SourceFile
from ...workspace.workspace import Workspace
from ..source_locator import Places

_OPPOSITE: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}
_CONDITIONS: Final = ("Eq", "Ne", "And", "Or", "Not", "Xor")
"""Functions of SymPy that are true or false."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as the user would write it.

    ``opposite`` is its negation, empty where there is no simple one. ``reads`` are the places that read its
    numbers from tensors, with their variables (empty for none). ``unnamed`` are torch's names of the numbers
    that no variable keeps.
    """

    text: str
    opposite: str
    reads: tuple[tuple[str, Span | None], ...]
    kind: ConditionKind
    unnamed: tuple[str, ...]


def condition_of(problem: ExportProblem, span: Span, places: Places, workspace: Workspace) -> Condition:
    """Describe the condition of a ``data-dependent`` problem that shows at ``span``."""
    reads = [(item, _own_reading(item, places, workspace)) for item in problem.symbols]
    names = {item.name: _variable(place, workspace) for item, place in reads}
    here = {item.name for item, place in reads if place is not None and _rows_meet(place, span)}
    source = workspace.source(span.filename)
    tested = _tested(source, span) if source else None
    kind: ConditionKind = "operation"
    if _is_number(problem.subject):
        node = node_at(source, span) if source else None
        kind, tested = "number", node if isinstance(node, ast.expr) else None
    elif tested is not None:
        kind = "tensor" if here and _is_truth_of(problem.symbols, problem.subject) else "branch"
    text = ast.unparse(tested) if tested else _written(problem, names)
    nameless = [name for name in names if not names[name] and (kind == "operation" or name in here)]
    return Condition(
        text,
        _opposite(tested or parse_expression(text)),
        tuple((names[item.name], place) for item, place in reads),
        kind,
        tuple(nameless),
    )


def _is_number(expression: str) -> bool:
    """Tell whether torch's expression is that of a number, and no condition."""
    tree = parse_expression(expression)
    if isinstance(tree, ast.Call):
        return not (isinstance(tree.func, ast.Name) and tree.func.id in _CONDITIONS)
    return isinstance(tree, (ast.Name, ast.BinOp, ast.UnaryOp)) and not (
        isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not)
    )


def _own_reading(item: DataSymbol, places: Places, workspace: Workspace) -> Span | None:
    """Return where the user's own code reads a number; ``None`` if a library does."""
    own = bool(item.stack) and workspace.contains(item.stack[-1].filename)
    return places.own_span(item.stack) if own else None


def _written(problem: ExportProblem, names: dict[str, str]) -> str:
    numbers = (Symbol(symbol, f"L['{name}']", None) for symbol, name in names.items() if name)
    return written_condition(problem.subject, (*numbers, *problem.sizes))


def _tested(source: SourceFile, span: Span) -> ast.expr | None:
    """Return what the statement or expression around ``span`` decides by; ``None`` if it decides nothing."""
    node = node_at(source, span)
    for around in source.nodes_at(span.row):
        test = getattr(around, "test", None)
        if isinstance(around, (ast.If, ast.While, ast.IfExp, ast.Assert)) and isinstance(test, ast.expr):
            whole = node_span(source, test)
            start, end = (whole.row, whole.column), (whole.end_row, whole.end_column)
            if start <= (span.row, span.column) and (span.end_row, span.end_column) <= end:
                return node if isinstance(node, ast.Compare) else test
    return None


def _variable(place: Span | None, workspace: Workspace) -> str:
    """Return the variable that a statement assigns; empty for another statement."""
    source = workspace.source(place.filename) if place else None
    for node in source.nodes_at(place.row) if source and place else ():
        targets = node.targets if isinstance(node, ast.Assign) else ()
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            return targets[0].id
    return ""


def _rows_meet(one: Span, other: Span) -> bool:
    return one.filename == other.filename and one.row <= other.end_row and other.row <= one.end_row


def _is_truth_of(symbols: tuple[DataSymbol, ...], expression: str) -> bool:
    """Tell whether an expression is that of a tensor's truth: torch asks whether it is 1."""
    return any(expression in (f"Eq({item.name}, 1)", f"Ne({item.name}, 1)") for item in symbols)


def _opposite(condition: ast.expr | None) -> str:
    """Write the opposite of a simple comparison."""
    if not isinstance(condition, ast.Compare) or len(condition.ops) != 1:
        return ""
    opposite = _OPPOSITE.get(type(condition.ops[0]))
    if opposite is None:
        return ""
    return ast.unparse(ast.Compare(condition.left, [opposite()], condition.comparators))
