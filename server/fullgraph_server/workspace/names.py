"""Names in a source to which assignments, loops and parameters give values."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from .positions import Span
from .ranges import header_span, node_span
from .source import SourceFile
from .syntax import first_row, parameters

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class AssignmentTarget:
    """A name that gets a value, with its range and the range of its statement.

    The name's range includes an annotation. The range of a compound statement covers only the header.
    """

    span: Span
    annotated: bool
    statement: Span


@dataclass(frozen=True, slots=True)
class AssignmentTargets:
    """The assignment targets of a source, by row, byte column and name.

    Parameters are found by function and name.
    """

    _stored: Mapping[tuple[int, str], Mapping[int, AssignmentTarget]]
    _parameters: Mapping[tuple[int, str, str], AssignmentTarget]

    def stored(self, row: int, column: int | None, name: str) -> AssignmentTarget | None:
        """Return the assignment target of an instruction at a row and byte column.

        Without a column, return the target if the row has only one of this name.
        """
        targets = self._stored.get((row, name), {})
        if column is not None:
            return targets.get(column)
        return next(iter(targets.values())) if len(targets) == 1 else None

    def parameter(self, row: int, function: str, name: str) -> AssignmentTarget | None:
        """Return a parameter of the function that begins at ``row``.

        ``row`` is the row of the function's first decorator, or of its ``def`` if it has no decorator.
        """
        return self._parameters.get((row, function, name))


@lru_cache(maxsize=256)
def name_targets(source: SourceFile) -> AssignmentTargets:
    """Return the assignment targets of a source."""
    targets: dict[tuple[int, str], dict[int, AssignmentTarget]] = {}
    of_functions: dict[tuple[int, str, str], AssignmentTarget] = {}
    for node in ast.walk(source.tree) if source.tree else ():
        if isinstance(node, ast.stmt):
            for expression, name, annotation in stored(node):
                span = node_span(source, expression, annotation)
                target = AssignmentTarget(span, annotation is not None, _extent(source, node))
                targets.setdefault((expression.lineno, name), {})[expression.col_offset] = target
        if isinstance(node, _Function):
            row = first_row(node)
            for parameter in parameters(node, rest=False):
                span = node_span(source, parameter)
                annotated = parameter.annotation is not None
                of_functions[row, node.name, parameter.arg] = AssignmentTarget(span, annotated, span)
    return AssignmentTargets(targets, of_functions)


def stored(statement: ast.stmt) -> Iterator[tuple[ast.expr, str, ast.expr | None]]:
    """Yield the variables and attributes that a statement assigns.

    Each item has the target, its name, and its annotation or ``None``. Assignments inside the statement's
    blocks are left out.
    """
    annotated = statement if isinstance(statement, ast.AnnAssign) else None
    for node in _own(statement):
        annotation = annotated.annotation if annotated and node is annotated.target else None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node, node.id, annotation
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node, node.attr, annotation


def _own(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt):
            yield child
            yield from _own(child)


def _extent(source: SourceFile, statement: ast.stmt) -> Span:
    """Return the range of a statement, or of the header of a compound statement."""
    if hasattr(statement, "body"):
        return header_span(source, statement)
    return node_span(source, statement)
