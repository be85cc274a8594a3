"""Hints if nothing is compiled: unused results of ``torch.compile``, generators."""

from __future__ import annotations

import ast
from typing import Final

from fullgraph_compiler.facts import CallsWithoutGraph

from ...text.markdown import code_span
from ...workspace.definitions import definitions, nodes_of_scope
from ...workspace.source import SourceFile
from ...workspace.syntax import covers
from ...workspace.workspace import Workspace
from .marks import MarkUse, MarkUses
from .words import line_of, written

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def uncompiled_hints(fact: CallsWithoutGraph, marks: MarkUses, workspace: Workspace) -> tuple[str, ...]:
    """Return hints for a program without compiled calls, or a function without graphs."""
    if not fact.function:
        return tuple(dict.fromkeys(map(_dropped, filter(_is_dropped, marks.all("compile")))))
    source = workspace.source(fact.filename) if fact.calls and not fact.off else None
    function = _at(source, fact.row) if source else None
    if function is None or not any(
        isinstance(node, (ast.Yield, ast.YieldFrom)) for node in nodes_of_scope(function)
    ):
        return ()
    name = code_span(fact.function)
    return (
        f"{name} is a generator function, which Dynamo does not compile: compile the functions it calls.",
    )


def _at(source: SourceFile, row: int) -> ast.AST | None:
    """Return the function whose ``def`` or decorator is at a row."""
    for node in ast.walk(source.tree) if source.tree else ():
        if isinstance(node, _FUNCTIONS) and row in (
            node.lineno,
            *(item.lineno for item in node.decorator_list),
        ):
            return node
    return None


def _dropped(mark: MarkUse) -> str:
    given = written(mark.argument, "module")
    return (
        f"The result of `torch.compile` on {line_of(mark, '')} is not used: store it, and call the result. A "
        f"module can be compiled in place instead: {code_span(f'{given}.compile()')}, with the same options."
    )


def _is_dropped(mark: MarkUse) -> bool:
    """Return whether the result of a call of ``torch.compile`` is not used."""
    if mark.definition is not None or mark.in_place or mark.argument is None:
        return False
    for statement in mark.source.nodes_at(mark.row):
        if isinstance(statement, ast.Expr) and mark.argument in getattr(statement.value, "args", ()):
            return True
        if (
            isinstance(statement, ast.Assign)
            and mark.argument in getattr(statement.value, "args", ())
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Name)
        ):
            return not _is_read(mark, statement.targets[0].id, statement.end_lineno or mark.row)
    return False


def _is_read(mark: MarkUse, name: str, row: int) -> bool:
    """Return whether a variable might be read after a row.

    A global variable might be read anywhere.
    """
    function = definitions(mark.source).function_at(mark.row)
    if function is None:
        return True
    inside = list(ast.walk(function))
    if any(isinstance(node, (ast.Global, ast.Nonlocal)) for node in inside):
        return True
    loops = [node for node in inside if isinstance(node, (ast.For, ast.AsyncFor, ast.While))]
    if any(covers(node, row) for node in loops):
        return True
    # A nested function might run later.
    inner = [node for node in inside if isinstance(node, (*_FUNCTIONS, ast.Lambda)) and node is not function]
    later = {item for node in inner for item in ast.walk(node)}
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        and (node.lineno > row or node in later)
        for node in inside
    )
