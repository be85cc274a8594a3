"""What cannot be traced at all, made an operator of torch: as it is seen in the run, and checked."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fullgraph_compiler.facts import CallsSeen

from ...report.model import Finding
from ...text.messages import counted
from ...workspace.positions import Span
from ..model import Context, Edit, Fix, Operator
from ..rules.calls import BUILTINS
from ..rules.offering import base
from ..rules.syntax import Code, Function, bound, called, code_of, dotted, parameters, stored
from .sizes import sizes_seen
from .text import Called, NoOperatorError, operator_text

_OPERATOR = base(
    "custom-operator",
    "Make it an operator of torch",
    "Compiled code calls the function as it is; its results have the sizes that the new lines say.",
    "safe",
    "https://docs.pytorch.org/docs/stable/library.html#torch.library.custom_op",
)
_NONSTRICT = base(
    "nonstrict-trace",
    "Trace only what it computes with tensors",
    "What the function reads beside its arguments is fixed when it is compiled, and its Python runs no more.",
    "unsafe",
    "https://docs.pytorch.org/docs/stable/compile/programming_model.dynamo_nonstrict_trace.html",
)
_OTHERS = frozenset(
    [
        *("GB0025", "GB0030", "GB4297", "GB0275", "GB0291", "GB0296", "GB0069"),
        *("GB0142", "GB0066", "GB0262", "GB0221", "GB0263", "GB4315", "GB0119"),
    ]
)
"""Breaks at what is no computation: they are asked for, print, import, or enter a context."""
_SKIPPED = frozenset(["GB0007", "GB0008", "GB0009", "GB0098", "GB0099", "GB0147"])
"""Breaks at functions of which Dynamo does not trace the Python."""


def calls_wanted(finding: Finding, context: Context) -> tuple[Span, ...]:
    """Return the calls that have to be observed, to tell whether what they call can be an operator.

    They are of functions of the module, the innermost first: the one at the finding, and those around it.
    """
    if finding.kind != "graph-break" or finding.code in _OTHERS:
        return ()
    return tuple(dict.fromkeys(code.span(call) for code, call in _places(finding, context)))


def operators(finding: Finding, context: Context) -> Iterator[Fix]:
    """Make the innermost function that can be one an operator, and call that."""
    for code, call in _places(finding, context):
        seen = context.calls.get(code.span(call))
        if seen is None:
            continue
        try:
            fixes = list(_fixes(code, call, seen, finding.code))
        except NoOperatorError:
            continue
        yield from fixes
        return


def refusal(finding: Finding, context: Context) -> str:
    """Say why no function around a finding can be an operator; empty if that is not known."""
    reason = ""
    for code, call in _places(finding, context):
        seen = context.calls.get(code.span(call))
        if seen is None:
            continue
        try:
            list(_fixes(code, call, seen, finding.code))
        except NoOperatorError as problem:
            reason = f"`{dotted(call.func)}` {problem}"
    return reason


# -- places --------------------------------------------------------------------------------------------


def _places(finding: Finding, context: Context) -> Iterator[tuple[Code, ast.Call]]:
    source = context.source(finding)
    code = code_of(source) if source else None
    node = code.at(finding.span) if code else None
    if code is None or node is None:
        return
    for item in code.around(node):
        if isinstance(item, ast.stmt) and item is not node:
            break
        if isinstance(item, ast.Call) and _is_of_module(code, item):
            yield code, item
        elif isinstance(item, (ast.Expr, ast.Return, ast.Assign)) and _is_of_module(code, item.value):
            yield code, item.value  # type: ignore[misc]
    stack = finding.stack
    begin = _first_compiled(finding, context)
    for index in range(len(stack) - 2, begin - 1, -1):
        frame, inner = stack[index], stack[index + 1]
        own = context.files.get(frame.filename)
        outer = code_of(own) if own is not None and own.tree is not None else None
        for call in outer.all(ast.Call) if outer is not None else ():
            is_there = call.lineno <= frame.row <= (call.end_lineno or call.lineno)
            if (
                outer is not None
                and is_there
                and called(call) == inner.function
                and _is_of_module(outer, call)
            ):
                yield outer, call


def _first_compiled(finding: Finding, context: Context) -> int:
    """Return the place in the stack of the function that is compiled: calls of it are not compiled."""
    names = {
        item.function.rpartition(".")[2]
        for item in context.report.compilations
        if item.compile_id in finding.compile_ids
    }
    found = (index for index, frame in enumerate(finding.stack) if frame.function in names)
    return next(found, len(finding.stack))


def _is_of_module(code: Code, call: ast.AST | None) -> bool:
    """Tell whether a node calls a function of the module or of an imported one, which torch has not made."""
    if not isinstance(call, ast.Call) or not (written := dotted(call.func)):
        return False
    root, function = written.partition(".")[0], code.function(call)
    if function is None or root not in code.module_names or root in ("torch", code.torch, *BUILTINS):
        return False
    for outer in code.around(function):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
            root in parameters(outer) or any(root in stored(item) for item in outer.body)
        ):
            return False
    if any(isinstance(item, ast.Starred) for item in call.args) or any(
        word.arg is None for word in call.keywords
    ):
        return False
    made = _definition(code, root)
    is_operator = made is not None and any("custom_op" in code.text(item) for item in made.decorator_list)
    return not is_operator


def _definition(code: Code, name: str) -> Function | None:
    return next((item for item in code.tree.body if isinstance(item, Function) and item.name == name), None)


# -- edits ---------------------------------------------------------------------------------------------


def _fixes(code: Code, call: ast.Call, seen: CallsSeen, torch_code: str) -> Iterator[Fix]:
    if seen.problem:
        raise NoOperatorError(seen.problem)
    if not seen.calls:
        return
    base_name = called(call)
    name = code.new_name(f"{base_name}_op")
    library_name = _library_name(code, base_name)
    written = _as_called(code, call)
    text = code.of_torch(operator_text(written, seen, name, library_name))
    is_traceable = not any(
        tensor.changed for one in seen.calls for value in one.arguments for tensor in value.tensors
    )
    if torch_code in _SKIPPED and seen.is_python and is_traceable and written.is_used:
        traced = code.new_name(f"{base_name}_traced")
        own = f"{traced} = torch._dynamo.nonstrict_trace({written.function})"
        yield _fix(code, call, _NONSTRICT, traced, code.of_torch(own) + "\n", blank=1)
    fix = _fix(code, call, _OPERATOR, name, text, blank=2)
    title = f"Make `{written.function}` an operator of torch"
    yield replace(fix, title=title, operator=Operator(name, text, _basis(seen)))


def _fix(code: Code, call: ast.Call, fix: Fix, name: str, text: str, blank: int) -> Fix:
    edits = (*_inserted(code, call, text, blank), code.replaced(call.func, name))
    return replace(fix, edits=edits, operator=Operator("", text))


def _basis(seen: CallsSeen) -> str:
    ran, sizes = len([call for call in seen.calls if not call.made]), sizes_seen(seen.calls)
    if sizes == 1:
        return "only one size was seen"
    return f"{counted(ran, 'call')} of it and {counted(len(seen.calls) - ran, 'other')} with other values"


def _library_name(code: Code, name: str) -> str:
    """Return a name in torch's library that the file does not have yet."""
    stem = re.sub(r"\W", "_", Path(code.source.filename).stem, flags=re.ASCII)
    space = stem if stem[:1].isalpha() and stem not in _TAKEN else f"own_{stem}"
    wanted, number = f"{space}::{name}", 1
    while f'"{wanted}"' in code.source.text:
        number += 1
        wanted = f"{space}::{name}_{number}"
    return wanted


_TAKEN = ("aten", "at", "prim", "prims", "onnx", "torch", "c10", "inductor", "quantized", "profiler")


def _as_called(code: Code, call: ast.Call) -> Called:
    """Return how a call is written, with names for parameters of its arguments."""
    function = dotted(call.func)
    taken = {
        function.partition(".")[0], code.torch, "torch", "ctx", "grad", "grads", "inputs", "output",
        "results", "found", "item", "tuple", "len", "sum", "min",
    }  # fmt: skip
    definition = _definition(code, function)
    given = [item.arg for item in definition.args.args] if definition is not None else []
    names: list[str] = []
    for index, value in enumerate(call.args):
        own = dotted(value).rpartition(".")[2]
        names.append(_unused(given[index] if index < len(given) else own or "x", {*names, *taken}))
    names += [word.arg for word in call.keywords if word.arg]
    if len(set(names)) != len(names) or set(names[len(call.args) :]) & taken:
        raise NoOperatorError("has arguments whose names an operator cannot have")
    is_used = not isinstance(code.parent(call), ast.Expr)
    return Called(function, tuple(names), len(call.args), is_used)


def _unused(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def _inserted(code: Code, call: ast.Call, text: str, blank: int) -> tuple[Edit, ...]:
    """Insert definitions behind what makes the function: its definition, its import, or its assignment."""
    root = dotted(call.func).partition(".")[0]
    makers = [item for item in code.tree.body if root in bound(item) or root in stored(item)]
    made = makers[-1]
    imports = code.importing_torch()
    last = max((edit.span.row - 1 for edit in imports), default=0)
    end = max(made.end_lineno or made.lineno, last)
    if imports and end == last:  # one insertion, in this order
        return (replace(imports[0], text=f"{imports[0].text}{chr(10) * blank}{text}"),)
    lines = code.source.lines
    if end >= len(lines):
        place = Span(code.source.filename, end, len(lines[-1]) + 1, end, len(lines[-1]) + 1)
        return (*imports, Edit(place, "\n" + "\n" * blank + text))
    following = 0
    while end + following < len(lines) and not lines[end + following].strip():
        following += 1
    is_last = end + following >= len(lines)
    after = "" if is_last else "\n" * max(blank - following, 0)
    place = Span(code.source.filename, end + 1, 1, end + 1, 1)
    return (*imports, Edit(place, "\n" * blank + text + after))
