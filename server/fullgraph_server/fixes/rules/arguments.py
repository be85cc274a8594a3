"""Fixes for recompilations that make arguments alike in every call."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...workspace.syntax import called, dotted, free
from ..model import Edit, Fix
from .calls import BUILTINS, CompiledFunction, before_calls
from .expressions import is_pure
from .syntax import ParsedFile

_NEUTRAL = Fix(
    "neutral-tensor",
    "Pass a neutral tensor, of ones or zeros",
    "The compiled code computes with one more tensor: ones where it multiplies, zeros where it adds.",
    source="torch/_dynamo/guards.py",
)
_STACK = Fix(
    "stack",
    "Pass one tensor instead of a list",
    "The list is copied into one tensor, whose first dimension is dynamic; an empty list raises an error.",
    source="https://docs.pytorch.org/docs/stable/generated/torch.stack.html",
    replaces=False,  # the new lines take a tensor, the old lines a list: no value suits both
)
_WHOLE = Fix(
    "whole-tensor",
    "Compute on the whole tensor",
    "One operation replaces one operation per row: results may differ by rounding.",
    "safe",
    "https://docs.pytorch.org/docs/stable/generated/torch.sum.html",
)


def neutral_tensors(made: CompiledFunction, name: str) -> Iterator[Fix]:
    """Pass ones or zeros instead of ``None``, in the shape of another call's tensor."""
    code, kind = made.code, _neutral(made, name)
    passed = [made.arguments(call).get(name) for call in made.calls]
    like = next((value for value in passed if value is not None and not _is_none(value)), None)
    if like is None or not kind or not is_pure(like):
        return
    edits: list[Edit] = []
    for call, value in zip(made.calls, passed, strict=True):
        if value is None or _is_none(value):
            if not _is_known(code, call, like):
                return
            text = code.of_torch(f"torch.{kind}({code.argument(like)})")
            edits.append(
                code.appended(call, f"{name}={text}") if value is None else code.replaced(value, text)
            )
    if edits:
        yield replace(_NEUTRAL, edits=tuple(edits))


def neutral_entries(made: CompiledFunction, name: str) -> Iterator[Fix]:
    """Add missing keys to the dicts that calls pass, with neutral tensors as values."""
    code = made.code
    dicts = [made.arguments(call).get(name) for call in made.calls]
    given = [
        value
        for value in dicts
        if isinstance(value, ast.Dict) and all(isinstance(key, ast.Constant) for key in value.keys)
    ]
    if not given or len(given) != len(dicts):
        return
    known = {key.value: value for item in given for key, value in zip(item.keys, item.values, strict=True)
             if isinstance(key, ast.Constant)}  # fmt: skip
    kind = _neutral(made, name) or "zeros_like"
    edits: list[Edit] = []
    for call, item in zip(made.calls, given, strict=True):
        own = {key.value for key in item.keys if isinstance(key, ast.Constant)}
        missing = [key for key in known if key not in own]
        if any(not is_pure(known[key]) or not _is_known(code, call, known[key]) for key in missing):
            return
        texts = [
            f"{key!r}: torch.{kind}({code.argument(known[key])})".replace("'", '"', 2) for key in missing
        ]
        if texts:
            inner = code.text(item)[1:-1].strip().rstrip(",")
            edits.append(
                code.replaced(item, "{" + code.of_torch(", ".join(filter(None, [inner, *texts]))) + "}")
            )
    if edits:
        yield replace(_NEUTRAL, edits=tuple(edits))


def stacked(made: CompiledFunction, name: str) -> Iterator[Fix]:
    """Pass a list as one tensor, if the code only sums over the list."""
    code, function = made.code, made.function
    if function is None:
        return
    uses = [node for node in code.all(ast.Name, function) if node.id == name]
    sums = [code.parent(node) for node in uses]
    if not sums or not all(isinstance(node, ast.Call) and dotted(node.func) == "sum" for node in sums):
        return
    edits = [code.replaced(node, f"{name}.sum(0)") for node in sums if isinstance(node, ast.Call)]
    new = code.new_name(name)
    lines: dict[ast.Call, list[str]] = {}
    for call in made.calls:
        value = made.arguments(call).get(name)
        if value is None:
            return
        lines[call] = [
            code.of_torch(f"{new} = torch.stack({code.argument(value)})"),
            code.of_torch(f"torch._dynamo.mark_dynamic({new}, 0)"),
        ]
        edits.append(code.replaced(value, new))
    added = before_calls(made, lines)
    if added is not None:
        yield replace(_STACK, edits=(*edits, *added, *code.importing_torch()))


def whole_tensors(made: CompiledFunction, dynamic: Sequence[Edit]) -> Iterator[Fix]:
    """Compute a sum or mean over all rows of a tensor at once, instead of row by row."""
    code, function = made.code, made.function
    edits: list[Edit] = []
    for call in code.all(ast.Call, function) if function is not None else ():
        if dotted(call.func) == "sum" and len(call.args) == 1 and isinstance(call.args[0], ast.GeneratorExp):
            rows = _rows(call.args[0])
            edits += [code.replaced(call, f"{code.operand(rows)}.sum(0)")] if rows is not None else []
        elif called(call) == "avg_pool1d" and len(call.args) == 2 and not call.keywords:
            value, size = call.args
            if code.text(size) == f"{code.text(value)}.shape[-1]":
                edits.append(code.replaced(call, f"{code.operand(value)}.mean(-1, keepdim=True)"))
    if edits:
        yield replace(_WHOLE, edits=(*edits, *dynamic))


def _rows(generator: ast.GeneratorExp) -> ast.expr | None:
    """Return the tensor whose rows a generator yields; ``None`` if there is none.

    Example: ``x`` for ``(x[i] for i in range(x.shape[0]))``.
    """
    (part, *others), element = generator.generators, generator.elt
    if others or part.ifs or not isinstance(part.target, ast.Name):
        return None
    if isinstance(element, ast.Name) and element.id == part.target.id:
        return part.iter if isinstance(part.iter, ast.Name) else None
    if not isinstance(element, ast.Subscript) or dotted(element.slice) != part.target.id:
        return None
    value = element.value
    if not isinstance(value, ast.Name):
        return None
    sizes = (f"range({value.id}.shape[0])", f"range(len({value.id}))", f"range({value.id}.size(0))")
    return value if ast.unparse(part.iter) in sizes else None


def _neutral(made: CompiledFunction, name: str) -> str:
    """Return the name of the torch function that makes a parameter's neutral tensor.

    Multiplication requires ones, addition zeros. Return "" if the function does neither or both.
    """
    kinds: set[str] = set()
    for node in made.code.all(ast.BinOp, made.function) if made.function is not None else ():
        for side in (node.left, node.right):
            value = side.value if isinstance(side, ast.Subscript) else side
            if dotted(value) == name:
                kinds.add({ast.Mult: "ones_like", ast.Add: "zeros_like"}.get(type(node.op), ""))
    return kinds.pop() if len(kinds) == 1 else ""


def _is_known(code: ParsedFile, call: ast.Call, value: ast.expr) -> bool:
    """Tell whether the variables of an expression are assigned before a call."""
    statement = code.statement(call)
    return statement is not None and all(
        name in BUILTINS or code.is_bound_before(statement, name) or name in code.imported_names
        for name in free(value)
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
