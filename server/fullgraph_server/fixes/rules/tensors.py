"""Fixes for code that makes or changes tensors in ways that torch does not trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ...workspace.syntax import called, dotted, last_row, names
from ..model import Edit, Fix
from .expressions import is_pure
from .offering import node_rule
from .syntax import ParsedFile, defined, parameters

_CLONE = Fix(
    "clone",
    "Copy the tensor with `clone`",
    "The copy is part of the graph; it requires no gradient, even if the tensor does.",
    source="https://docs.pytorch.org/docs/stable/generated/torch.clone.html",
)
_COPY = Fix(
    "write-through",
    "Write into the tensor with `copy_`",
    "The values are copied into the memory of the tensor.",
    "safe",
)
_NEW = Fix("new-tensor", "Make a new tensor", "The name refers to a new tensor; the old tensor is unchanged.")
_RANDINT = Fix("randint-like", "Draw with `torch.randint_like`", "The numbers are in a new tensor.", "safe")
_POSITIONAL = Fix("positional", "Pass the bounds by position", "It draws the same numbers.", "safe")


_NOT_SHARED = " The tensor does not take over the memory, shape or dtype of the value."


@node_rule(ast.Call)
def deepcopies(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    """Copy a tensor with ``clone`` instead of ``copy.deepcopy``."""
    if called(node) == "deepcopy" and len(node.args) == 1:
        yield replace(_CLONE, edits=(code.replaced(node, f"{code.operand(node.args[0])}.detach().clone()"),))


@node_rule(ast.Call)
def out_arguments(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    """Replace ``out=`` by ``copy_`` or an assignment of the result."""
    statement, plain = code.parent(node), _without(code, node, "out")
    if not plain or not isinstance(statement, (ast.Expr, ast.Assign)):
        return
    given = node.keywords[-1].value
    targets = list(given.elts) if isinstance(given, (ast.Tuple, ast.List)) else [given]
    if not all(isinstance(target, ast.Name) for target in targets):
        return
    left = ", ".join(map(code.text, targets))
    if isinstance(statement, ast.Assign):
        if len(targets) > 1 or len(statement.targets) > 1:
            return
        head = f"{code.text(statement.targets[0])} = "
    else:
        head = ""
    if len(targets) == 1:
        yield replace(_COPY, edits=(code.replaced(statement, f"{head}{left}.copy_({plain})"),))
    yield replace(_NEW, edits=(code.replaced(statement, f"{head}{left} = {plain}"),))


def _without(code: ParsedFile, call: ast.Call, name: str) -> str:
    """Return a call's text without its last keyword; "" unless that is ``name``.

    Return "", too, if the keyword is the only argument.
    """
    kept = [*call.args, *(word.value for word in call.keywords[:-1])]
    if not call.keywords or call.keywords[-1].arg != name or not kept:
        return ""
    value = kept[-1]
    start, end, rows = code.span(call), code.span(value), code.text(call).split("\n")
    within = end.end_row - start.row
    column = end.end_column - (start.column if within == 0 else 1)
    return "\n".join([*rows[:within], rows[within][:column]]) + ")"


@node_rule(ast.AST)
def data_assignments(code: ParsedFile, node: ast.AST) -> Iterator[Fix]:
    """Replace ``x.data = y`` by ``copy_``, or by an assignment of a new tensor."""
    statement = code.statement(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target = statement.targets[0]
    if not isinstance(target, ast.Attribute) or target.attr != "data":
        return
    owner, value = code.operand(target.value), code.argument(statement.value)
    edits = (code.replaced(statement, f"{owner}.detach().copy_({value})"),)
    yield replace(_COPY, edits=edits, change=_COPY.change + _NOT_SHARED, safety="unsafe")
    if isinstance(target.value, ast.Name):
        yield replace(_NEW, edits=(code.replaced(statement, f"{owner} = {value}"),))


@node_rule(ast.Call)
def resized(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    """Reshape a tensor instead of using ``resize_``."""
    if not isinstance(node.func, ast.Attribute):
        return
    methods = {"resize_": "reshape", "resize_as_": "reshape_as"}
    value = node.func.value
    if node.func.attr not in methods or node.keywords or not node.args:
        return
    arguments = ", ".join(map(code.argument, node.args))
    text = f"{code.operand(value)}.{methods[node.func.attr]}({arguments})"
    if isinstance(code.parent(node), ast.Expr):
        if not isinstance(value, ast.Name):
            return
        text = f"{value.id} = {text}"
    yield replace(_NEW, edits=(code.replaced(node, text),))


@node_rule(ast.Call)
def random_fills(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    """Draw with ``torch.randint_like`` instead of ``random_``."""
    if not isinstance(node.func, ast.Attribute) or node.keywords:
        return
    if node.func.attr != "random_" or not 1 <= len(node.args) <= 2 or not is_pure(node.func.value):
        return
    value, bounds = node.func.value, ", ".join(map(code.argument, node.args))
    drawn = code.of_torch(f"torch.randint_like({code.argument(value)}, {bounds})")
    is_new = called(value) in ("empty_like", "empty", "zeros", "zeros_like", "new_empty")
    text = drawn if is_new else f"{code.operand(value)}.copy_({drawn})"
    yield replace(_RANDINT, edits=(code.replaced(node, text), *code.importing_torch()))


@node_rule(ast.Call)
def uniform_fills(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    """Pass the ``from`` and ``to`` of ``uniform_`` by position."""
    if node.args or len(node.keywords) != 1:
        return
    given = node.keywords[0].value
    if node.keywords[0].arg is None and isinstance(given, ast.Dict):
        values = {
            key.value: value
            for key, value in zip(given.keys, given.values, strict=True)
            if isinstance(key, ast.Constant)
        }
        if list(values) == ["from", "to"]:
            text = ", ".join(code.argument(value) for value in values.values())
            span = code.span(given)
            yield replace(_POSITIONAL, edits=(Edit(replace(span, column=span.column - 2), text),))


_LOCAL = Fix(
    "local-copy", "Assign the moved tensor to a variable", "The attribute keeps its device and dtype."
)


@node_rule(ast.AST)
def moved_attributes(code: ParsedFile, node: ast.AST) -> Iterator[Fix]:
    """Assign ``self.x.to(...)`` to a local variable instead of ``self.x``.

    The rest of the function then reads the variable instead of ``self.x``.
    """
    statement, function = code.statement(node), code.function(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or function is None:
        return
    target, owner = statement.targets[0], getattr(getattr(statement.value, "func", None), "value", None)
    if called(statement.value) != "to" or not dotted(target) or dotted(target) != dotted(owner):
        return
    wanted = dotted(target).rpartition(".")[2]
    taken = {*names(function), *parameters(function), *code.module_names}
    name = code.new_name(wanted) if wanted in taken else wanted
    later = [
        item
        for item in code.all(ast.Attribute, function)
        if dotted(item) == dotted(target) and item.lineno > last_row(statement)
    ]
    edits = [code.replaced(item, name) for item in (target, *later)]
    yield replace(_LOCAL, edits=tuple(edits))


_NO_GRADIENT = Fix(
    "without-requires-grad",
    "Make the tensor without `requires_grad`",
    "The new tensor accumulates no gradient.",
)
_NOT_REQUIRED = Fix("without-requires-grad", "Remove `requires_grad`", "The tensor accumulates no gradient.")
_REQUIRED = Fix(
    "require-later", "Call `requires_grad_()` on the tensor", "A separate call requests gradients.", "safe"
)
_PLAIN = Fix("no-parameter", "Use a plain tensor", "The value is a tensor, not a parameter.")


@node_rule(ast.Call)
def created(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    """Replace ``requires_grad=True`` by ``requires_grad_()``, or remove it."""
    if plain := _without(code, node, "requires_grad"):
        yield replace(_REQUIRED, edits=(code.replaced(node, f"{plain}.requires_grad_()"),))
        yield replace(_NO_GRADIENT, edits=(code.replaced(node, plain),))


@node_rule(ast.AST)
def required(code: ParsedFile, node: ast.AST) -> Iterator[Fix]:
    """Remove ``x.requires_grad = True`` and ``x.requires_grad_()``."""
    statement = code.statement(node)
    if isinstance(statement, ast.Assign) and dotted(statement.targets[0]).endswith(".requires_grad"):
        yield replace(_NOT_REQUIRED, edits=(code.removed(statement),))
        return
    call = next((item for item in code.around(node) if called(item) == "requires_grad_"), None)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return
    if isinstance(statement, ast.Expr) and statement.value is call:
        yield replace(_NOT_REQUIRED, edits=(code.removed(statement),))
    else:
        yield replace(_NOT_REQUIRED, edits=(code.replaced(call, code.text(call.func.value)),))


@node_rule(ast.Call)
def new_parameters(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    """Use the tensor ``x`` instead of ``nn.Parameter(x)``."""
    if called(node) == "Parameter":
        if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
            text = f"{code.operand(node.args[0])}.detach()"
            yield replace(_PLAIN, edits=(code.replaced(node, text),))
        elif not node.args and not node.keywords:
            yield replace(
                _PLAIN, edits=(code.replaced(node, code.of_torch("torch.empty(0)")), *code.importing_torch())
            )


_INITIAL = Fix(
    "parameter-in-init",
    "Make the parameter in `__init__`",
    "The parameter is made once, with the module.",
)


@node_rule(ast.AST)
def registered(code: ParsedFile, node: ast.AST) -> Iterator[Fix]:
    """Make a parameter in ``__init__`` that a method makes from constants."""
    statement, cls = code.statement(node), code.definition(node)
    function = code.function(node)
    if statement is None or cls is None or function is None or not code.is_alone(statement):
        return
    init = defined(cls.body, "__init__")
    is_set = isinstance(statement, ast.Expr) and called(statement.value) == "register_parameter"
    is_assigned = isinstance(statement, ast.Assign) and dotted(statement.targets[0]).startswith("self.")
    if init is None or init is function or not (is_set or is_assigned):
        return
    allowed = code.module_names | {"self"}
    if (
        names(statement) <= allowed
        and (edit := code.after(init.body[-1], [code.text(statement)])) is not None
    ):
        yield replace(_INITIAL, edits=(edit, code.removed(statement)))
