"""Source ranges for the lines that torch reports.

Torch reports a row, and byte columns if CPython has them (3.11 and later); the end row may be missing. The
syntax tree extends the range to the statement, or to the expression in the header of a compound statement,
but never to a whole function.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from fullgraph_compiler.facts import StackFrame

from .positions import Span
from .source import SourceFile
from .syntax import AnyFunction, first_row, last_row, nodes_of, parameters, positional

_Node: TypeAlias = ast.expr | ast.stmt | ast.arg
_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_DEFINITION = re.compile(r"(?:async\s+)?(?:def|class)\s+")


def frame_span(source: SourceFile | None, frame: StackFrame) -> Span:
    """Return a stack frame's range: its columns if known, otherwise its statement.

    Without a source, the range is empty, at the first column of the row.
    """
    if source is None:
        return Span(frame.filename, frame.row, 1, frame.row, 1)
    if frame.column is not None and frame.end_column is not None:
        span = _column_span(source, frame.row, frame.column, frame.end_row, frame.end_column)
        if span is not None:
            return span
    return row_span(source, frame.row)


def row_span(source: SourceFile, row: int) -> Span:
    """Return the range of the statement at ``row``, or of the part that begins there."""
    statement = _statement_at(source.tree.body, row) if source.tree else None
    if statement is None:
        return line_span(source, row)
    if not _suites(statement):
        if row == statement.lineno:
            return node_span(source, statement)
        inner = next((node for node in source.nodes_at(row) if isinstance(node, ast.expr)), None)
        return node_span(source, inner or statement)
    if any(suite[0].lineno == row for suite in _suites(statement)):
        return line_span(source, row)  # `if x: y` on one line: the row can be that of either part
    decorator = next(
        (item for item in getattr(statement, "decorator_list", ()) if item.lineno <= row <= last_row(item)),
        None,
    )
    if decorator is not None:
        return node_span(source, decorator)
    header = header_span(source, statement)
    return header if header.row <= row <= header.end_row else line_span(source, row)


def statement_span(source: SourceFile, row: int) -> Span:
    """Return the range of the statement at ``row``.

    For a compound statement it is the range of the header. If no statement is there, it is the range of the
    line.
    """
    return _statement_spans(source).get(row) or line_span(source, row)


def body_spans(source: SourceFile, row: int, name: str) -> Iterator[Span]:
    """Yield the ranges of a function's statements.

    The ranges are those of :func:`statement_span`. ``row`` is the row of the first decorator or of the
    ``def`` of the function ``name``. The docstring and the bodies of inner functions and classes are left
    out.
    """
    for node in _definitions(source):
        if node.name == name and first_row(node) <= row <= node.lineno:
            yield from _spans(source, node.body, inside=False)
            return


def line_span(source: SourceFile, row: int) -> Span:
    """Return the range of a line's text, without indentation and trailing spaces."""
    line = source.line(row)
    start = len(line) - len(line.lstrip()) + 1
    return Span(source.filename, row, start, row, max(len(line.rstrip()) + 1, start))


def definition_span(source: SourceFile | None, filename: str, row: int, name: str) -> Span:
    """Return the range of a function's name.

    ``row`` is the row of the function's first decorator or of its ``def``.
    """
    if source is None:
        return Span(filename, row, 1, row, 1)
    for node in _definitions(source):
        if node.name == name and first_row(node) <= row <= node.lineno:
            return header_span(source, node)
    # For an exported function, torch reports a row inside of the function.
    around = [
        node for node in _definitions(source) if node.name == name and node.lineno <= row <= last_row(node)
    ]
    return header_span(source, around[-1]) if around else row_span(source, row)


def parameter_names(source: SourceFile, row: int, name: str) -> set[str]:
    """Return the names of a function's parameters, without ``*args`` and ``**kwargs``."""
    found = (
        node
        for node in _definitions(source)
        if not isinstance(node, ast.ClassDef)
        and node.name == name
        and first_row(node) <= row <= last_row(node)
    )
    return {item.arg for node in found for item in parameters(node, rest=False)}


def assignment_frame(source: SourceFile, function: str, attribute: str) -> StackFrame | None:
    """Find where a function of this name assigns an attribute, or an item of it.

    ``attribute`` is a path (``self.last``), of which only the last part is compared, because a module may
    have the attribute under another path. If no statement assigns the attribute, return the place of its
    first use, for example of an ``append`` to a list.
    """
    name = attribute.partition("[")[0].rpartition(".")[2]
    used = [
        node
        for scope in _definitions(source)
        if not isinstance(scope, ast.ClassDef) and scope.name == function
        for node in nodes_of(ast.Attribute, scope)
        if node.attr == name
    ]
    stored = (node for node in used if isinstance(node.ctx, ast.Store))
    node = next(stored, next(iter(used), None))
    if node is None:
        return None
    columns = (node.col_offset, node.end_lineno, node.end_col_offset)
    return StackFrame(source.filename, node.lineno, function, *columns)


def passed_as(call: ast.Call, function: AnyFunction, item: str, length: int) -> str:
    """Return the variable that a call passes for an item of ``*args`` or ``**kwargs``.

    ``item`` is ``args[0]`` or ``kwargs['mask']``; ``length`` is the length of ``*args``. Return "" if the
    call passes something else than a variable, or if the item is not in the call, such as the object of a
    bound method.
    """
    name, _, key = item.removesuffix("]").partition("[")
    names, keywords = function.args.vararg, function.args.kwarg
    passed: list[ast.expr] = []
    if keywords is not None and name == keywords.arg:
        passed = [node.value for node in call.keywords if node.arg == key.strip("'\"")]
    elif names is not None and name == names.arg and key.isdecimal():
        before = len(positional(function))
        hidden = before + length - len(call.args)  # 1 for a bound method, whose object is not in the call
        place = before + int(key) - hidden
        if hidden in (0, 1) and place >= 0 and not any(isinstance(node, ast.Starred) for node in call.args):
            passed = call.args[place : place + 1]
    variables = [ast.unparse(node) for node in passed if isinstance(node, (ast.Name, ast.Attribute))]
    return next(iter(variables), "")


def name_span(source: SourceFile | None, row: int, name: str) -> Span | None:
    """Find a variable or path (``a``, ``self.scale``) in the statement at ``row``.

    If the statement does not contain the path, look for ``self.`` and its last part, because an inlined
    method has another name for ``self``; then for ever shorter prefixes, because a guard on
    ``self.linear.weight`` comes from a call of ``self.linear``. Return ``None`` if nothing matches.
    """
    if source is None:
        return None
    names = _names_at(source, row)
    _, dot, last = name.rpartition(".")
    inlined = f"self.{last}"
    if dot and name not in names and inlined in names:
        return names[inlined]
    while name:
        if name in names:
            return names[name]
        name = _shorter(name)
    return None


# -- columns -----------------------------------------------------------------------------------


def _column_span(
    source: SourceFile, row: int, column: int, end_row: int | None, end_column: int
) -> Span | None:
    matching = [
        node
        for node in source.nodes_at(row)
        if node.col_offset == column
        and node.end_col_offset == end_column
        and (end_row is None or node.end_lineno == end_row)
    ]
    if matching:
        # A node on a single row is likelier than one on several; among equals, the outer node comes first.
        node = min(matching, key=lambda node: node.end_lineno != row)
        return (
            header_span(source, node)
            if isinstance(node, ast.stmt) and _suites(node)
            else node_span(source, node)
        )
    if end_row is None:
        end_row = row
    start, end = source.column(row, column), source.column(end_row, end_column)
    if (end_row, end) <= (row, start):
        return None
    return Span(source.filename, row, start, end_row, end)


def node_span(source: SourceFile, node: _Node, last: _Node | None = None) -> Span:
    """Return the range of a syntax node, or from it to the later node ``last``."""
    last = last or node
    end_row = last_row(last)
    end = source.column(end_row, last.end_col_offset or 0)
    return Span(source.filename, node.lineno, source.column(node.lineno, node.col_offset), end_row, end)


def node_at(source: SourceFile, span: Span) -> _Node | None:
    """Return the innermost syntax node with exactly this range; ``None`` if none."""
    nodes = [node for node in source.nodes_at(span.row) if node_span(source, node) == span]
    return nodes[-1] if nodes else None


# -- statements --------------------------------------------------------------------------------


def _statement_at(body: Sequence[ast.stmt], row: int) -> ast.stmt | None:
    for statement in body:
        if first_row(statement) <= row <= last_row(statement):
            for suite in _suites(statement):
                inner = _statement_at(suite, row)
                if inner is not None and suite[0].lineno != statement.lineno:
                    return inner
            return statement
    return None


def _suites(node: ast.AST) -> list[list[ast.stmt]]:
    """Return the blocks of a compound statement; none for a simple statement."""
    blocks = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    parts = (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))
    return [block for block in (*blocks, *(part.body for part in parts)) if block]


def header_span(source: SourceFile, node: ast.stmt) -> Span:
    """Return the range of a compound statement's header, or of a definition's name."""
    if isinstance(node, (ast.If, ast.While)):
        return node_span(source, node.test)
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return node_span(source, node.iter)
    if isinstance(node, (ast.With, ast.AsyncWith)):
        last = node.items[-1]
        return node_span(source, node.items[0].context_expr, last.optional_vars or last.context_expr)
    if isinstance(node, ast.Match):
        return node_span(source, node.subject)
    start = source.column(node.lineno, node.col_offset)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        keyword = _DEFINITION.match(source.line(node.lineno), start - 1)
        if keyword:
            column = keyword.end() + 1
            return Span(source.filename, node.lineno, column, node.lineno, column + len(node.name))
    return line_span(source, node.lineno)


@lru_cache(maxsize=256)
def _statement_spans(source: SourceFile) -> Mapping[int, Span]:
    """Map each row to the range of the first statement in the row."""
    rows: dict[int, Span] = {}
    for span in _spans(source, source.tree.body if source.tree else ()):
        for row in range(span.row, span.end_row + 1):
            rows.setdefault(row, span)
    return rows


def _spans(source: SourceFile, body: Sequence[ast.stmt], *, inside: bool = True) -> Iterator[Span]:
    """Yield the ranges of statements, including those in their blocks.

    With ``inside``, statements in functions and classes are included, too.
    """
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # a docstring or another constant does nothing
        yield _own_span(source, statement)
        if inside or not isinstance(statement, _Definition):
            for suite in _suites(statement):
                yield from _spans(source, suite, inside=inside)


def _own_span(source: SourceFile, statement: ast.stmt) -> Span:
    """Return the range of a statement.

    The range of a compound statement extends from its keyword to the end of its header.
    """
    if not _suites(statement):
        return node_span(source, statement)
    header = header_span(source, statement)
    column = source.column(statement.lineno, statement.col_offset)
    return Span(source.filename, statement.lineno, column, header.end_row, header.end_column)


@lru_cache(maxsize=256)
def _definitions(source: SourceFile) -> Sequence[_Definition]:
    nodes = ast.walk(source.tree) if source.tree else ()
    return [node for node in nodes if isinstance(node, _Definition)]


# -- names -------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _names_at(source: SourceFile, row: int) -> Mapping[str, Span]:
    """Map every name and path in the statement at ``row`` to its range.

    Of equal names, the one in the row itself takes priority.
    """
    names: dict[str, Span] = {}
    for candidate in (row, *_statement_rows(source, row)):
        for node in source.nodes_at(candidate):
            written = _written(node)
            if written is not None:
                names.setdefault(written, _name_part(source, node))
    return names


def _statement_rows(source: SourceFile, row: int) -> range:
    """Return the rows of the statement at ``row``, or of its header if it is compound."""
    statement = _statement_at(source.tree.body, row) if source.tree else None
    if statement is None:
        return range(0)
    suites = _suites(statement)
    last = suites[0][0].lineno - 1 if suites else last_row(statement)
    return range(statement.lineno, last + 1) if first_row(statement) <= row <= last else range(0)


def _written(node: _Node) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return ast.unparse(node)
    return None


def _name_part(source: SourceFile, node: _Node) -> Span:
    span = node_span(source, node)
    if isinstance(node, ast.arg):  # the annotation is not part of the name
        return Span(span.filename, span.row, span.column, span.row, span.column + len(node.arg))
    return span


def _shorter(name: str) -> str:
    if name.endswith("]"):
        return name[: name.rfind("[")] if "[" in name else ""
    return name.rpartition(".")[0]
