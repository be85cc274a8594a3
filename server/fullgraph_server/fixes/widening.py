"""Edits extended to the rest of their functions, for trials of whole functions.

Trials of single statements do not suffice if they cannot show that the old and the new text are equivalent.
Here, a value that an edit changes (for example, to a tensor instead of a number) is followed to the end of
the function. If an edit computes a value outside the function, for a new parameter or a new global, the value
is computed at the beginning of the function instead, with the function's parameters in place of the
arguments.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

from ..workspace.source import SourceFile
from ..workspace.syntax import first_row, nodes_of, parameters
from .editing import ReplacedBlock, edited, touches
from .model import Edit
from .rules.syntax import Function


def replaced_widely(source: SourceFile, edits: Sequence[Edit]) -> list[ReplacedBlock]:
    """Return the rest of each edited function, from the first changed statement on.

    If a function is called with new values in different ways, there is one item for each way.
    """
    try:
        text = edited(source, edits)
        after = ast.parse(text)
    except SyntaxError:
        return []
    if source.tree is None:
        return []
    found = []
    functions = dict(_functions(after))
    lines = SourceFile(source.filename, text).lines
    for name, function in _functions(source.tree):
        touched = [item for item in function.body if any(touches(item, edit) for edit in edits)]
        if not touched or name not in functions:
            continue
        prefixes = _prefixes(source.tree, after, function)
        has_docstring = ast.get_docstring(function) is not None and len(function.body) > 1
        index = function.body.index(touched[0]) if prefixes == [""] else int(has_docstring)
        last = function.body[-1].end_lineno or function.lineno
        new = functions[name].body
        rows = lines[first_row(new[index]) - 1 : new[-1].end_lineno] if index < len(new) else ()
        indent = rows[0][: len(rows[0]) - len(rows[0].lstrip(" \t"))] if rows else ""
        for prefix in prefixes:
            before = [f"{indent}{line}" for line in prefix.splitlines()]
            made = "".join(f"{line}\n" for line in (*before, *rows))
            found.append(ReplacedBlock(first_row(function.body[index]), last, made))
    return found


def _functions(tree: ast.AST, path: str = "") -> Iterator[tuple[str, Function]]:
    """Yield functions with their full names, without nested functions."""
    for child in ast.iter_child_nodes(tree):
        name = f"{path}.{getattr(child, 'name', '')}"
        if isinstance(child, Function):
            yield name, child
        else:
            yield from _functions(child, name)


def _prefixes(before: ast.Module, after: ast.Module, function: Function) -> list[str]:
    """Return assignments of the values that edits compute outside a function.

    Each item has the assignments for one way in which the function is called.
    """
    every = (item for item in ast.walk(after) if isinstance(item, Function))
    matching = [item for item in every if item.name == function.name]
    if len(matching) != 1:
        return [""]
    read = {item.id for item in nodes_of(ast.Name, matching[0])}
    known = {item.id for item in nodes_of(ast.Name, before)}
    shared = [
        ast.unparse(item)
        for item in after.body
        if isinstance(item, ast.Assign)
        and isinstance(item.targets[0], ast.Name)
        and item.targets[0].id in read - known
    ]
    old = {item.arg for item in parameters(function, rest=False)}
    new = {item.arg for item in parameters(matching[0], rest=False)} - old
    calls = [
        call for call in nodes_of(ast.Call, after) if new & {item.arg for item in call.keywords if item.arg}
    ]
    ways = list(dict.fromkeys(_assigned(call, matching[0], new) for call in calls)) if new else []
    return ["\n".join((*shared, *way)) for way in ways or [()]]


def _assigned(call: ast.Call, function: Function, new: set[str]) -> tuple[str, ...]:
    """Return assignments that give new parameters the values that a call passes."""
    names = [item.arg for item in parameters(function, rest=False)]
    if names[:1] == ["self"]:
        names = names[1:]
    given = dict(zip((ast.dump(item) for item in call.args), names, strict=False))
    given |= {ast.dump(item.value): item.arg for item in call.keywords if item.arg and item.arg not in new}
    return tuple(
        f"{item.arg} = {ast.unparse(_ParameterWriter(given).visit(copy.deepcopy(item.value)))}"
        for item in call.keywords
        if item.arg in new
    )


class _ParameterWriter(ast.NodeTransformer):
    """A transformer that replaces the arguments of a call by the parameters."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit(self, node: ast.AST) -> ast.AST:
        name = self._names.get(ast.dump(node))
        return ast.Name(name, ast.Load()) if name else self.generic_visit(node)
