"""Fixes for code that converts tensor data to Python numbers or sizes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...workspace.syntax import called, dotted
from ..model import Edit, Fix
from .branches import of_condition
from .expressions import is_pure
from .offering import node_rule, setting
from .printing import as_numbers, later_as_numbers
from .syntax import ParsedFile

_CONFIG = "torch/_dynamo/config.py"
_STAY = Fix(
    "stay-tensor",
    "Keep the value a tensor",
    "The value stays a tensor instead of a Python number, in the tensor's own precision.",
    "safe",
    "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html",
)
_SCALARS = Fix(
    "capture-scalars",
    "Let torch capture numbers that depend on data",
    "The setting holds for everything that is compiled afterwards.",
    "safe",
    _CONFIG,
    replaces=False,
)
_CHECKED = replace(
    _SCALARS,
    rule="capture-checked-scalars",
    title="Let torch capture the number, and check that it can be a size",
    change="The setting holds for everything that is compiled afterwards; a negative number raises an error.",
    safety="unsafe",
)
_UNBIND = Fix(
    "unbind",
    "Take the elements as tensors with `unbind`",
    "The elements stay tensors instead of Python numbers.",
    "safe",
    "https://docs.pytorch.org/docs/stable/generated/torch.unbind.html",
)
_CLASSES = Fix(
    "one-hot-classes",
    "Pass the number of classes",
    "A separate operation computes the number of classes from the data.",
    "safe",
    "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html",
)
_CONVERSIONS: Mapping[str, tuple[str, ...]] = {
    "float": ("", ".detach()", ".detach().clone()"),
    "int": (".long()",),
    "bool": (".bool()",),
}
"""By conversion: what to append to a tensor that stays a tensor, in the order to try."""
_INTEGERS = frozenset({"argmax", "argmin", "count_nonzero", "long", "randint", "randperm"})
"""Functions and methods whose results are integers, if no dtype is given."""
MATH = frozenset({
    "acos", "asin", "atan", "cos", "cosh", "erf", "exp", "expm1", "isfinite", "isinf", "isnan", "log",
    "log10", "log1p", "log2", "sin", "sinh", "sqrt", "tan", "tanh",
})  # fmt: skip
"""Functions of ``math`` that are methods of tensors, too."""
_SIZES = frozenset(
    {
        "range", "view", "reshape", "expand", "zeros", "ones", "empty", "full", "arange", "narrow",
        "split", "chunk", "repeat", "new_zeros", "new_ones", "new_empty", "new_full", "linspace", "eye",
        "topk",
    }
)  # fmt: skip


@node_rule(ast.expr, is_value=True)
def scalars(code: ParsedFile, node: ast.expr) -> Iterator[Fix]:
    """Offer fixes for graph breaks at ``x.item()``, ``float(x)`` and similar calls."""
    yield from of_condition(code, node)
    scalar = setting(code, "capture_scalar_outputs")
    as_size = _is_size(code, node)
    kept = list(_kept(code, node))
    if not as_size:
        printed = tuple(_printed(code, node)) if kept else ()
        yield from (replace(_STAY, edits=(edit, *printed)) for edit in kept)
    if scalar is not None:
        checked = _checked(code, node) if as_size else None
        if checked is not None:
            yield replace(_CHECKED, edits=(scalar, checked, *code.importing_torch()))
        yield replace(_SCALARS, edits=(scalar,))
    if as_size:
        yield from (replace(_STAY, edits=(edit,), safety="unsafe") for edit in kept[:1])


@node_rule(ast.Call, is_value=True)
def lists(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    """Offer fixes that stop ``x.tolist()`` from breaking a graph."""
    scalar = setting(code, "capture_scalar_outputs")
    if isinstance(node.func, ast.Attribute) and node.func.attr == "tolist":
        value = code.operand(node.func.value)
        yield replace(_UNBIND, edits=(code.replaced(node, f"{value}.unbind()"),))
    if scalar is not None:
        yield replace(_SCALARS, edits=(scalar,))


@node_rule(ast.Call, is_value=True)
def one_hot(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    """Offer to pass the number of classes to ``one_hot``.

    Without this number, ``one_hot`` reads the data.
    """
    if len(node.args) != 1 or node.keywords:
        return
    scalar = setting(code, "capture_scalar_outputs")
    argument = node.args[0]
    if scalar is not None and is_pure(argument) and not isinstance(argument, (ast.GeneratorExp, ast.Starred)):
        count = f"int({code.operand(argument)}.max()) + 1"
        edit = code.replaced(argument, f"{code.text(argument)}, {count}")
        yield replace(_CLASSES, edits=(scalar, edit))


# -- numbers -------------------------------------------------------------------------------------------


def _kept(code: ParsedFile, node: ast.expr) -> Iterator[Edit]:
    """Remove a conversion to a Python number, in several ways; nothing for any other node.

    A number has no gradient, which the second way keeps, and no memory that others may change, which the
    third way keeps, too.
    """
    if not isinstance(node, ast.Call) or node.keywords:
        return
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        value, endings = node.func.value, _CONVERSIONS["float"]
    elif isinstance(node.func, ast.Name) and node.func.id in _CONVERSIONS and len(node.args) == 1:
        value, endings = node.args[0], _CONVERSIONS[node.func.id]
    else:
        return
    outer = code.parent(node)
    module, _, name = dotted(outer.func).rpartition(".") if isinstance(outer, ast.Call) else ("", "", "")
    whole, method = node, ""
    if isinstance(outer, ast.Call) and outer.args == [node] and module == "math" and name in MATH:
        whole, method = outer, f".{name}()"  # `math.exp` takes no tensor
    if endings == _CONVERSIONS["int"] and is_integer(value):
        endings = ("",)
    is_detached = called(value) == "detach"
    for ending in endings:
        is_needless = (is_detached and ending == ".detach()") or (method and ending.endswith(".clone()"))
        if not is_needless:
            kept = ending.removeprefix(".detach()") if is_detached else ending
            yield code.replaced(whole, f"{code.operand(value)}{kept}{method}")


def is_integer(node: ast.expr) -> bool:
    """Tell whether an expression is certainly a tensor of integers."""
    is_given = any(word.arg in ("dtype", "out", None) for word in getattr(node, "keywords", ()))
    return called(node) in _INTEGERS and not is_given


def _printed(code: ParsedFile, node: ast.expr) -> Iterator[Edit]:
    """Yield edits of output that prints the variable, or the attribute, that is made of a number."""
    kind = dotted(node.func) if isinstance(node, ast.Call) else ""
    kind = kind if kind in ("int", "float") else "float"
    outer = code.parent(node)
    if isinstance(outer, ast.AugAssign) and isinstance(outer.target, ast.Attribute):
        named = [item for item in code.all(ast.Attribute) if item.attr == outer.target.attr]
        owners = {_class_of(code, item) for item in named if not isinstance(item.ctx, ast.Load)}
        if len(owners) == 1 and None not in owners:  # no other class of the file sets it
            yield from as_numbers(code, named, kind)
    elif assigned := _name_of(code, node):
        yield from later_as_numbers(code, *assigned, kind)


def _class_of(code: ParsedFile, node: ast.AST) -> ast.ClassDef | None:
    return next((item for item in code.around(node) if isinstance(item, ast.ClassDef)), None)


def _name_of(code: ParsedFile, node: ast.expr) -> tuple[ast.stmt, str] | None:
    """Return the assignment of a value to a variable, with the variable's name.

    Return ``None`` if the value is not assigned to a variable.
    """
    statement = code.parent(node)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        name = dotted(statement.targets[0])
        return (statement, name) if name.isidentifier() else None
    return None


def _is_size(code: ParsedFile, node: ast.expr) -> bool:
    """Tell whether a number, or the variable that holds it, is a size or an index."""
    named = _name_of(code, node)
    if named is None:
        return _used_as_size(code, node)
    _, name = named
    read = (item for item in code.all(ast.Name, code.function(node)) if isinstance(item.ctx, ast.Load))
    return any(item.id == name and _used_as_size(code, item) for item in read)


def _used_as_size(code: ParsedFile, node: ast.expr) -> bool:
    inner: ast.AST = node
    for outer in code.around(node):
        if isinstance(outer, ast.stmt):
            return False
        if isinstance(outer, ast.Call) and inner is not outer and called(outer) in _SIZES:
            return inner is not outer.func
        if isinstance(outer, (ast.Slice, ast.Subscript)) and inner is not outer:
            return not isinstance(outer, ast.Subscript) or inner is outer.slice
        inner = outer
    return False


def _checked(code: ParsedFile, node: ast.expr) -> Edit | None:
    named = _name_of(code, node)
    return code.after(named[0], [code.of_torch(f"torch._check({named[1]} >= 0)")]) if named else None
