"""Names in a source: what assignments, loops and parameters give values, and what imported ones are."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from .positions import Span
from .ranges import header_span, node_span
from .source import SourceFile

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Target:
    """A name that gets a value: its range, with its annotation if it has one, and its statement's range.

    The range of a compound statement is that of its header.
    """

    span: Span
    annotated: bool
    statement: Span


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets of a source: by row, byte column and name; parameters by function and name."""

    _stored: Mapping[tuple[int, str], Mapping[int, Target]]
    _parameters: Mapping[tuple[int, str, str], Target]

    def stored(self, row: int, column: int | None, name: str) -> Target | None:
        """Return the target of an instruction; without a column, the only one of its name in the row."""
        targets = self._stored.get((row, name), {})
        if column is not None:
            return targets.get(column)
        return next(iter(targets.values())) if len(targets) == 1 else None

    def parameter(self, row: int, function: str, name: str) -> Target | None:
        """Return a parameter of the function whose code (first decorator, or ``def``) begins at ``row``."""
        return self._parameters.get((row, function, name))


@lru_cache(maxsize=256)
def name_targets(source: SourceFile) -> Targets:
    """Find the targets of a source."""
    targets: dict[tuple[int, str], dict[int, Target]] = {}
    parameters: dict[tuple[int, str, str], Target] = {}
    for node in ast.walk(source.tree) if source.tree else ():
        if isinstance(node, ast.stmt):
            for expression, name, annotation in stored(node):
                span = node_span(source, expression, annotation)
                target = Target(span, annotation is not None, _extent(source, node))
                targets.setdefault((expression.lineno, name), {})[expression.col_offset] = target
        if isinstance(node, _Function):
            row = min((item.lineno for item in node.decorator_list), default=node.lineno)
            for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                span = node_span(source, parameter)
                annotated = parameter.annotation is not None
                parameters[row, node.name, parameter.arg] = Target(span, annotated, span)
    return Targets(targets, parameters)


def stored(statement: ast.stmt) -> Iterator[tuple[ast.expr, str, ast.expr | None]]:
    """Yield the variables and attributes that a statement assigns, with name and annotation.

    Those in its blocks are left out.
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
    """Return the range of a statement, of a compound one that of its header."""
    if hasattr(statement, "body"):
        return header_span(source, statement)
    return node_span(source, statement)


def dotted(node: ast.AST | None) -> str:
    """Return a dotted name as it is written (``torch.nn.functional``); empty for anything else."""
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return node.id if isinstance(node, ast.Name) else ""


def resolved(node: ast.AST | None, imported: Mapping[str, str]) -> str:
    """Write a dotted name from the module on that its first name was imported from."""
    root, dot, rest = dotted(node).partition(".")
    return f"{imported.get(root, root)}{dot}{rest}"


def imports(tree: ast.Module) -> dict[str, str]:
    """Return what the names stand for that a module imports under another one, or from another module."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update({item.asname: item.name for item in node.names if item.asname})
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.update({item.asname or item.name: f"{node.module}.{item.name}" for item in node.names})
    return names
