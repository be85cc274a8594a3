"""Texts with which a run records the calls of split functions.

A run records the calls of compiled functions. After a split only a part of the function is compiled, but the
results to compare are those of the function. So the text of such a run has a line after the function that
passes it to the recorder (``compiler/fullgraph_compiler/verify/recording.py``). It takes the place of the
blank line there, or stands before the statement in the next line, so that all other lines keep their numbers.
"""

from __future__ import annotations

import ast

from fullgraph_compiler.facts import WATCHER

from ...workspace.source import SourceFile
from ...workspace.syntax import blocks, last_row
from ..rules.syntax import Function, code_of, is_simple
from .sites import compiles

_PREFIX = "compiled_"
_WATCH = f'getattr(__import__("builtins"), "{WATCHER}", lambda function, *_: function)'
"""The recorder; in other processes of a program, which have none, a function that returns the function."""


def part_name(name: str) -> str:
    """Return the name of the compiled part of a function: ``compiled_step`` for ``step``."""
    return f"{_PREFIX}{name.lstrip('_')}" if not name.startswith("__") else f"{_PREFIX}{name.strip('_')}"


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def with_watches(before: SourceFile | None, text: str) -> str:
    """Return a text that passes the functions to the recorder that were split since ``before``."""
    code = code_of(SourceFile("", text))
    if code is None or before is None or _PREFIX not in text:
        return text
    olds = [item for item in ast.walk(before.tree or ast.Module([], [])) if isinstance(item, Function)]
    known = {item.name for item in olds}
    decorated = {item.name for item in olds if any(map(compiles, item.decorator_list))}
    lines = text.split("\n")
    for node in ast.walk(code.tree):
        for block in blocks(node):
            functions = {item.name: item for item in block if isinstance(item, Function)}
            for name, function in functions.items():
                part = part_name(name)
                row = last_row(function)
                if part not in functions or part in known:
                    continue
                is_method = isinstance(node, ast.ClassDef) and name not in decorated
                line = f"{code.indentation(function)}{name} = {_WATCH}({name}, {part}, {is_method})"
                if row == len(lines):
                    lines.append(line)
                elif not lines[row].strip():
                    lines[row] = line
                elif is_simple(lines[row].strip()) and code.indentation(function) == _indentation(lines[row]):
                    lines[row] = f"{line}; {lines[row].strip()}"
    return "\n".join(lines)
