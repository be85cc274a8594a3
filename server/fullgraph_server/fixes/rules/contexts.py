"""Fixes for context managers that torch does not trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ...workspace.syntax import free, names
from ..model import Edit, Fix
from .calls import CompiledFunction, compiled_rule, is_at_once
from .offering import INDEX, node_rule
from .syntax import Node, ParsedFile

_AROUND = Fix(
    "around-call", "Enter the `with` around the call", "The whole call runs within the context.", source=INDEX
)
_UNWRAP = Fix("without-context", "Remove the `with`", "The block runs without its context manager.")


@compiled_rule
def around(made: CompiledFunction, node: Node) -> Iterator[Fix]:
    """Offer to enter a context manager around each call instead of in the function."""
    code = made.code
    block = next((item for item in code.around(node) if isinstance(item, ast.With)), None)
    if block is None or block not in (made.function.body if made.function is not None else ()):
        return
    if len(block.items) != 1 or block.items[0].optional_vars is not None:
        return
    manager = block.items[0].context_expr
    kept = unwrapped(code, block)
    if not free(manager) <= code.module_names or kept is None:
        return
    edits = [kept]
    for call in made.calls:
        statement = code.statement(call)
        if statement is None or not code.is_alone(statement) or statement.end_lineno != statement.lineno:
            return
        if isinstance(statement, (ast.For, ast.If, ast.While, ast.With)) or not is_at_once(
            code, call, statement
        ):
            return
        edit = code.under(f"with {code.text(manager)}", statement)
        if edit not in edits:
            edits.append(edit)
    yield replace(_AROUND, edits=tuple(edits))


@node_rule(ast.AST)
def contexts(code: ParsedFile, node: ast.AST) -> Iterator[Fix]:
    """Remove a ``with`` whose context manager torch does not trace."""
    statement = next((item for item in code.around(node) if isinstance(item, ast.With)), None)
    if (
        statement is None
        or len(statement.items) != 1
        or not any(node is item or node is statement for item in ast.walk(statement.items[0]))
    ):
        return
    item = statement.items[0]
    if item.optional_vars is not None and any(
        names(item.optional_vars) & names(inner) for inner in statement.body
    ):
        return
    edit = unwrapped(code, statement)
    if edit is not None:
        yield replace(_UNWRAP, edits=(edit,))


def unwrapped(code: ParsedFile, block: ast.With) -> Edit | None:
    """Replace a ``with`` block by its statements.

    Return ``None`` if the lines cannot be dedented.
    """
    if not code.is_first(block) or block.body[0].lineno == block.lineno:
        return None
    outer, inner = code.indentation(block), code.indentation(block.body[0])
    first, last = code.span(block.body[0]).row, code.span(block).end_row
    texts = (ast.JoinedStr, ast.Constant)
    if any(isinstance(part, texts) and part.end_lineno != part.lineno for part in ast.walk(block)):
        return None
    lines = [code.source.line(row) for row in range(first, last + 1)]
    if any(line.strip() and not line.startswith(inner) for line in lines):
        return None
    written = [f"{outer}{comment}" for comment in code.comments(block.lineno, block.body[0].lineno - 1)]
    written += [outer + line.removeprefix(inner) if line.strip() else line for line in lines]
    span = code.span(block)
    return Edit(replace(span, column=1, end_column=len(code.source.line(last)) + 1), "\n".join(written))
