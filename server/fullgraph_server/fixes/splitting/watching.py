"""Texts with which a run records the calls of split functions.

A run records the calls of compiled functions. After a split only a part of the function is compiled, but the
results to compare are those of the function. So the text of such a run has a line after the function that
passes it to the recorder (``compiler/fullgraph_compiler/verify/recording.py``). It takes the place of the
blank line there, or stands before the statement in the next line, so that all other lines keep their numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable

from fullgraph_compiler.facts import WATCHER

from ...workspace.source import SourceFile
from ...workspace.syntax import blocks, called, last_row, nodes_of
from ..rules.calls import compiles
from ..rules.syntax import Function, ParsedFile, code_of, is_simple, unused

_PREFIX = "compiled_"
_WATCH = f'getattr(__import__("builtins"), "{WATCHER}", lambda function, *_: function)'
"""The recorder; in other processes of a program, which have none, a function that returns the function."""


def part_name(name: str, is_used: Callable[[str], bool]) -> str:
    """Return a name for the compiled part of a function: ``compiled_step`` for ``step``."""
    return unused(f"{_PREFIX}{name.strip('_')}", is_used)


def whole_name(qualname: str) -> str:
    """Return the qualified name of the function of which a function may be the compiled part.

    Underscores around the name are left out.
    """
    owner, dot, name = qualname.rpartition(".")
    return f"{owner}{dot}{name.removeprefix(_PREFIX).strip('_')}"


def part_of(function: Function, block: Iterable[ast.stmt], known: Container[str]) -> Function | None:
    """Return the compiled part of a function: a new function beside it that it calls.

    ``known`` are the names of the functions before the edit.
    """
    names = {called(node) for node in nodes_of(ast.Call, function)}
    parts = (item for item in block if isinstance(item, Function) and item.name in names)
    prefix = f"{_PREFIX}{function.name.strip('_')}"
    return next((item for item in parts if item.name.startswith(prefix) and item.name not in known), None)


def _path(code: ParsedFile, function: Function) -> tuple[str, str]:
    """Return the names of a function's class and of the function."""
    owner = code.parent(function)
    return owner.name if isinstance(owner, ast.ClassDef) else "", function.name


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def with_watches(before: SourceFile | None, after: SourceFile) -> str:
    """Return a file's text that passes the functions to the recorder that were split since ``before``."""
    code, text = code_of(after), after.text
    if code is None or before is None or _PREFIX not in text:
        return text
    old = code_of(before)
    olds = list(old.functions()) if old is not None else []
    known = {item.name for item in olds}
    decorated = {
        _path(old, item) for item in olds if old is not None and any(map(compiles, item.decorator_list))
    }
    lines = text.split("\n")
    for node in ast.walk(code.tree):
        for block in blocks(node):
            for function in (item for item in block if isinstance(item, Function)):
                part, name, row = part_of(function, block, known), function.name, last_row(function)
                if part is None:
                    continue
                is_method = isinstance(node, ast.ClassDef) and _path(code, function) not in decorated
                line = f"{code.indentation(function)}{name} = {_WATCH}({name}, {part.name}, {is_method})"
                if row == len(lines):
                    lines.append(line)
                elif not lines[row].strip():
                    lines[row] = line
                elif is_simple(lines[row].strip()) and code.indentation(function) == _indentation(lines[row]):
                    lines[row] = f"{line}; {lines[row].strip()}"
    return "\n".join(lines)
