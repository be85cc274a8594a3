"""Answers about functions that ``torch.cond`` and other higher-order operators are given."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from fullgraph_compiler.facts import CompileFailure, GraphBreak, StackFrame

from ...text.hints import RETURNS_ALIAS
from ...text.markdown import code_span
from ...workspace.definitions import definitions
from ...workspace.source import SourceFile
from ...workspace.workspace import Workspace
from .marks import dotted
from .words import Answer

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_BRANCHES: Final = {"true_fn": "true", "false_fn": "false"}
_LOOP: Final = re.compile(
    r"target=torch\.ops\.higher_order\.while_loop\]\(args = \(\S{1,100}, \S{1,100}, "
    r"\((?P<carried>[^)]{0,500})\), \((?P<captured>[^)]{0,500})\)\)"
)
"""The operation that an error of a backend names: ``torch.fx`` writes the node so."""
_NODE: Final = re.compile(r"%(\w+)")
_INPUT: Final = re.compile(r"^l_(?:self_|)(\w+?)_$")


def branch_answer(
    fact: GraphBreak | CompileFailure, own: Sequence[StackFrame], workspace: Workspace
) -> Answer:
    """Tell which function of a higher-order operator returns what it is given, and what to write."""
    source = workspace.source(own[-1].filename) if own and RETURNS_ALIAS in fact.text else None
    function = _function(source, own[-1]) if source else None
    if source is None or function is None or len(own) < 2:
        return Answer()
    returned = _returned(function, own[-1].row)
    parameters = {node.arg for node in (*function.args.posonlyargs, *function.args.args)}
    same = [node.id for node in returned if isinstance(node, ast.Name) and node.id in parameters]
    if not same:
        return Answer()
    branch = _branch(workspace.source(own[-2].filename), own[-2].row, function)
    name = "" if isinstance(function, ast.Lambda) else f" {code_span(function.name)}"
    who = f"The {branch} branch{name}" if branch else f"The function{name}"
    listed = " and ".join(map(code_span, same))
    copies = " and ".join(code_span(f"{item}.clone()") for item in same)
    return Answer(
        f"{who} returns its input {listed} itself.",
        (f"Return a copy: {copies} instead of {listed}.",),
        instead=True,
    )


def loop_answer(failure: CompileFailure) -> Answer:
    """Tell which tensor a ``while_loop`` carries and its functions take from around them at once."""
    found = _LOOP.search(failure.text)
    if "might be aliasing" not in failure.message or found is None:
        return Answer()
    captured = _NODE.findall(found["captured"])
    both = [name for name in _NODE.findall(found["carried"]) if name in captured]
    if not both:
        return Answer()
    names = " and ".join(code_span(_INPUT.sub(r"\1", name)) for name in both)
    they = "it" if len(both) == 1 else "them"
    return Answer(
        f"The loop carries {names}, and its functions read {they} from around them, too: the operator gets "
        "one tensor twice, which its check refuses. The function that torch names need not be at fault.",
        (f"Let the functions read a copy of {names}, made with `.clone()` ahead of the loop.",),
        instead=True,
    )


def _function(source: SourceFile, frame: StackFrame) -> _Function | None:
    """Return the function that a frame is of; of several in a line, the one that its column is in."""
    if frame.function != "<lambda>":
        return definitions(source).function_at(frame.row)
    column = frame.column or 0
    return next(
        (
            node
            for node in source.nodes_at(frame.row)
            if isinstance(node, ast.Lambda) and node.col_offset <= column < (node.end_col_offset or 0)
        ),
        None,
    )


def _returned(function: ast.AST, row: int) -> Sequence[ast.expr]:
    """List what a function returns at a row."""
    if isinstance(function, ast.Lambda):
        value: ast.expr | None = function.body
    else:
        nodes = (node for node in ast.walk(function) if isinstance(node, ast.Return))
        value = next((node.value for node in nodes if node.lineno <= row <= (node.end_lineno or row)), None)
    if isinstance(value, (ast.Tuple, ast.List)):
        return value.elts
    return [value] if value is not None else []


def _branch(source: SourceFile | None, row: int, function: ast.AST) -> str:
    """Tell whether a function is the one for true or for false of the ``cond`` at a row; else nothing."""
    name = getattr(function, "name", "")
    for call in source.nodes_at(row) if source else ():
        if isinstance(call, ast.Call) and dotted(call.func).rpartition(".")[2] == "cond":
            given = dict(zip(("true", "false"), call.args[1:3], strict=False))
            given |= {_BRANCHES[item.arg]: item.value for item in call.keywords if item.arg in _BRANCHES}
            found = [key for key, node in given.items() if _is(node, function, name)]
            return found[0] if len(found) == 1 else ""
    return ""


def _is(node: ast.expr, function: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Lambda):
        return (
            isinstance(function, ast.Lambda)
            and node.lineno == function.lineno
            and (node.col_offset == function.col_offset)
        )
    return bool(name) and dotted(node).rpartition(".")[2] == name
