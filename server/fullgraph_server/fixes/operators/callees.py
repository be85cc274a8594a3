"""Functions called around a finding that may become operators, with their calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from fullgraph_compiler.facts import CallsSeen

from ...report.model import Finding
from ...workspace.positions import Span
from ...workspace.syntax import called, callee, covers, dotted, positional, stored
from ..model import RuleContext
from ..rules.calls import BUILTINS
from ..rules.offering import code_at
from ..rules.syntax import Function, ParsedFile, code_of, defined, parameters, unused
from .text import WrittenCall

_OWN = ("torch", "ctx", "results", "found", "item", "tuple", "len", "sum", "min")
"""The names that the text of an operator uses itself."""
_MADE = ("compile", "custom_op", "triton_op")
"""Decorators of functions that are compiled on their own, or that are operators already."""


@dataclass(frozen=True)
class Callee:
    """A function of a module, with its calls in one file.

    All calls pass the same parameters.
    """

    code: ParsedFile
    written: WrittenCall
    calls: tuple[ast.Call, ...]

    @property
    def name(self) -> str:
        """The dotted name by which the calls refer to the function."""
        return self.written.function

    @property
    def spans(self) -> tuple[Span, ...]:
        """The places of the calls."""
        return tuple(self.code.span(call) for call in self.calls)

    def passed(self, call: ast.Call) -> list[tuple[str, ast.expr]]:
        """Return each parameter name with the argument that a call passes for it."""
        return list(
            zip(_names(self.code, call), [*call.args, *(item.value for item in call.keywords)], strict=True)
        )

    def ordered(self, call: ast.Call, seen: CallsSeen) -> CallsSeen:
        """Return the observations of a call, with arguments in the parameters' order."""
        given = _names(self.code, call)
        if set(given) != set(self.written.names):
            return seen  # a function of another module: all calls have the same form
        order = [given.index(name) for name in self.written.names]
        calls = [replace(one, arguments=tuple(one.arguments[index] for index in order)) for one in seen.calls]
        return replace(seen, calls=tuple(calls))


def functions(finding: Finding, context: RuleContext) -> Iterator[Callee]:
    """Yield the functions called around a finding: the innermost first, then callers."""
    for code, call in dict.fromkeys(_calls(finding, context)):
        names, definition = _names(code, call), defined(code.tree.body, dotted(call.func))
        if len(set(names)) < len(names):
            continue
        count = len(call.args)
        if definition is not None and set(names) <= set(parameters(definition)):
            own = [item.arg for item in positional(definition)]
            names = [name for name in parameters(definition) if name in names]
            count = sum(mine == name for mine, name in zip(own, names, strict=False))
        else:
            names = _names(code, call, [dotted(item).rpartition(".")[2] for item in call.args])
        same = [item for item in code.all(ast.Call) if _is_same(code, item, call, definition)]
        written = WrittenCall(dotted(call.func), tuple(names), count, is_used=True)
        yield Callee(code, written, tuple(same))


def method(finding: Finding, context: RuleContext) -> str:
    """Return the ``self`` method that a finding's code calls, or ``""``."""
    code, node = code_at(finding, context)
    own = [item for item in code.around(node) if isinstance(item, ast.Call)] if code and node else []
    for call in own:
        if dotted(call.func).startswith("self."):
            return dotted(call.func)
    return ""


def _is_same(code: ParsedFile, item: ast.Call, call: ast.Call, definition: Function | None) -> bool:
    """Tell whether two calls pass the same parameters to the same function.

    ``item`` must not be a recursive call, in the function itself.
    """
    return (
        dotted(item.func) == dotted(call.func)
        and _is_of_module(item, code)
        and sorted(_names(code, item)) == sorted(_names(code, call))
        and (definition is not None or len(item.args) == len(call.args))
        and (definition is None or definition not in code.around(item))
    )


def _names(code: ParsedFile, call: ast.Call, wanted_names: Sequence[str] = ()) -> list[str]:
    """Return the parameter name for each argument of a call, in source order."""
    function = dotted(call.func)
    definition = defined(code.tree.body, function)
    own = list(wanted_names)
    if definition is not None:
        own = [item.arg for item in positional(definition)]
    names: list[str] = []
    taken = {*_OWN, function.partition(".")[0], code.torch}
    for index in range(len(call.args)):
        wanted = (own[index] if index < len(own) else "") or "x"
        names.append(unused(wanted, lambda name: name in names or name in taken))
    return names + [word.arg for word in call.keywords if word.arg]


def _calls(finding: Finding, context: RuleContext) -> Iterator[tuple[ParsedFile, ast.Call]]:
    """Yield calls of functions of modules at and above a finding, innermost first."""
    code, node = code_at(finding, context)
    if code is None or node is None:
        return
    inner = getattr(node, "value", None) if isinstance(node, ast.stmt) else node
    for item in code.around(inner) if isinstance(inner, ast.expr) else ():
        if isinstance(item, ast.stmt):
            break
        if _is_of_module(item, code):
            yield code, item
    stack = finding.stack
    for index in range(len(stack) - 2, _first_compiled(finding, context) - 1, -1):
        frame, name = stack[index], stack[index + 1].function
        outer = code_of(context.files.get(frame.filename))
        for call in outer.all(ast.Call) if outer is not None else ():
            is_there = covers(call, frame.row)
            if outer is not None and is_there and called(call) == name and _is_of_module(call, outer):
                yield outer, call


def _first_compiled(finding: Finding, context: RuleContext) -> int:
    """Return the stack index of the compiled function.

    Its callers are not compiled.
    """
    names = {
        item.function.rpartition(".")[2]
        for item in context.report.compilations
        if item.compile_id in finding.compile_ids
    }
    found = (index for index, frame in enumerate(finding.stack) if frame.function in names)
    return next(found, len(finding.stack))


def _is_of_module(call: ast.AST, code: ParsedFile) -> TypeGuard[ast.Call]:
    """Tell whether a node in a function calls a function of a module.

    The called function's module is this file or an imported module, but not torch.
    """
    if not isinstance(call, ast.Call) or not (written := dotted(call.func)):
        return False
    root, function = written.partition(".")[0], code.function(call)
    if function is None or root not in code.module_names or root in ("torch", code.torch, *BUILTINS):
        return False
    is_star = any(isinstance(item, ast.Starred) for item in call.args)
    if is_star or any(word.arg is None for word in call.keywords):
        return False
    for outer in code.around(function):
        if isinstance(outer, Function):
            own = set[str]().union(*(stored(item) for item in outer.body))
            if root in own or root in parameters(outer):
                return False
    made = defined(code.tree.body, root)
    return made is None or not any(
        dotted(callee(item)).rpartition(".")[2] in _MADE for item in made.decorator_list
    )
