"""Fixes where a value of a tensor becomes a Python number or a size, and of sizes that depend on data."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ...report.model import Finding
from ..model import Context, Edit, Fix
from .branches import branches
from .expressions import is_pure
from .syntax import Code, called, code_of, dotted

_CONFIG = "torch/_dynamo/config.py"
_STAY = Fix(
    "stay-tensor",
    "Keep it a tensor",
    "The value stays a tensor instead of a Python number, in the tensor's own precision.",
    "safe",
    "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html",
    (),
)
_SCALARS = Fix(
    "capture-scalars",
    "Let torch capture numbers that depend on data",
    "The setting holds for everything that is compiled afterwards.",
    "safe",
    _CONFIG,
    (),
    replaces=False,
)
_CHECKED = replace(
    _SCALARS,
    rule="capture-checked-scalars",
    title="Let torch capture the number, and check that it can be a size",
    change="The setting holds for everything that is compiled afterwards; a negative number raises an error.",
    safety="unsafe",
)
_SHAPES = replace(
    _SCALARS, rule="capture-dynamic-shapes", title="Let torch capture operations whose size depends on data"
)
_UNBIND = Fix(
    "unbind",
    "Take the elements as tensors with `unbind`",
    "The elements stay tensors instead of Python numbers.",
    "safe",
    "https://docs.pytorch.org/docs/stable/generated/torch.unbind.html",
    (),
)
_FILL = Fix(
    "masked-fill",
    "Write through the mask without an index",
    "All elements are computed, and those under the mask are taken.",
    "safe",
    "https://docs.pytorch.org/docs/stable/generated/torch.where.html",
    (),
)
_SUM = replace(
    _FILL,
    rule="masked-sum",
    title="Sum over the mask with `torch.where`",
    change="All elements are summed, with zero outside of the mask.",
)
_BINCOUNT = Fix(
    "scatter-bincount",
    "Count with `scatter_add`",
    "There are as many counts as `minlength` says; a larger number raises an error.",
    "unsafe",
    "https://docs.pytorch.org/docs/stable/generated/torch.scatter_add.html",
    (),
)
_CLASSES = Fix(
    "one-hot-classes",
    "Give the number of classes",
    "The number of classes is computed from the data by itself.",
    "safe",
    "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html",
    (),
)
_SIZES = frozenset(
    {
        "range", "view", "reshape", "expand", "zeros", "ones", "empty", "full", "arange", "narrow",
        "split", "chunk", "repeat", "new_zeros", "new_ones", "new_empty", "new_full", "linspace", "eye",
        "topk",
    }
)  # fmt: skip


def scalars(finding: Finding, context: Context) -> Iterator[Fix]:
    """Offer what keeps ``x.item()``, ``float(x)`` and the like from breaking a graph."""
    code, node = _place(finding, context)
    if code is None or node is None:
        return
    yield from branches(finding, context)
    setting = _setting(code, "capture_scalar_outputs")
    kept = _kept(code, node)
    as_size = _is_size(code, node)
    if kept is not None and not as_size:
        yield replace(_STAY, edits=(kept,))
    if setting is not None:
        checked = _checked(code, node) if as_size else None
        if checked is not None:
            yield replace(_CHECKED, edits=(setting, checked, *code.importing_torch()))
        yield replace(_SCALARS, edits=(setting,))
    if kept is not None and as_size:
        yield replace(_STAY, edits=(kept,), safety="unsafe")


def lists(finding: Finding, context: Context) -> Iterator[Fix]:
    """Offer what keeps ``x.tolist()`` from breaking a graph."""
    code, node = _place(finding, context)
    if code is None or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    setting = _setting(code, "capture_scalar_outputs")
    if node.func.attr == "tolist":
        value = code.operand(node.func.value)
        yield replace(_UNBIND, edits=(code.replaced(node, f"{value}.unbind()"),))
    if setting is not None:
        yield replace(_SCALARS, edits=(setting,))


def shapes(finding: Finding, context: Context) -> Iterator[Fix]:
    """Offer what keeps ``nonzero``, masks as indices and the like from breaking a graph."""
    code, node = _place(finding, context)
    if code is None or node is None:
        return
    yield from _masked(code, node)
    yield from _counted(code, node)
    setting = _setting(code, "capture_dynamic_output_shape_ops")
    if setting is not None:
        yield replace(_SHAPES, edits=(setting,))
        scalar = _setting(code, "capture_scalar_outputs")
        if scalar is not None:
            both = "torch._dynamo.config.capture_scalar_outputs = True"
            text = setting.text.rstrip("\n") + f"\n{code.of_torch(both)}\n"
            yield replace(_SHAPES, edits=(replace(setting, text=text),))


def one_hot(finding: Finding, context: Context) -> Iterator[Fix]:
    """Offer the number of classes for ``one_hot``, which otherwise looks at the data."""
    code, node = _place(finding, context)
    if code is None or not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return
    setting = _setting(code, "capture_scalar_outputs")
    argument = node.args[0]
    if setting is not None and is_pure(argument) and not isinstance(argument, ast.GeneratorExp):
        count = f"int({code.operand(argument)}.max()) + 1"
        edit = code.replaced(argument, f"{code.text(argument)}, {count}")
        yield replace(_CLASSES, edits=(setting, edit))


def _place(finding: Finding, context: Context) -> tuple[Code | None, ast.expr | None]:
    source = context.source(finding)
    code = code_of(source) if source else None
    node = code.at(finding.span) if code else None
    node = node.value if isinstance(node, (ast.Expr, ast.Return)) else node
    return code, node if isinstance(node, ast.expr) else None


def _setting(code: Code, name: str) -> Edit | None:
    """Turn a setting on behind the imports, unless the file speaks of it."""
    return None if code.mentions(name) else code.setting(f"torch._dynamo.config.{name} = True")


# -- numbers -------------------------------------------------------------------------------------------


def _kept(code: Code, node: ast.expr) -> Edit | None:
    """Leave a conversion out."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        span, end = code.span(node), code.span(node.func.value)
        value = node.func.value
        if code.operand(value) != code.text(value):
            return code.replaced(node, code.operand(value))
        return Edit(replace(span, row=end.end_row, column=end.end_column), "")
    if isinstance(node.func, ast.Name) and node.func.id in ("float", "int", "bool") and len(node.args) == 1:
        types = {"int": ".long()", "bool": ".bool()"}
        return code.replaced(node, code.operand(node.args[0]) + types.get(node.func.id, ""))
    return None


def _name_of(code: Code, node: ast.expr) -> tuple[ast.stmt, str] | None:
    """Return the assignment that gives a value a name, and the name."""
    statement = code.parent(node)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        name = dotted(statement.targets[0])
        return (statement, name) if name.isidentifier() else None
    return None


def _is_size(code: Code, node: ast.expr) -> bool:
    """Tell whether a number, or the variable that it is assigned to, is used for a size or an index."""
    named = _name_of(code, node)
    if named is None:
        return _used_as_size(code, node)
    statement, name = named
    function = code.function(node) or code.tree
    return any(
        isinstance(item, ast.Name)
        and item.id == name
        and isinstance(item.ctx, ast.Load)
        and _used_as_size(code, item)
        for item in ast.walk(function)
    ) and isinstance(statement, ast.Assign)


def _used_as_size(code: Code, node: ast.expr) -> bool:
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


def _checked(code: Code, node: ast.expr) -> Edit | None:
    named = _name_of(code, node)
    return code.after(named[0], [code.of_torch(f"torch._check({named[1]} >= 0)")]) if named else None


# -- sizes ---------------------------------------------------------------------------------------------


def _masked(code: Code, node: ast.expr) -> Iterator[Fix]:
    """Write ``x[mask] = y[mask]`` and ``x[mask].sum()`` without an index."""
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, (ast.Slice, ast.Tuple, ast.Constant)):
        return
    value, mask = code.operand(node.value), code.argument(node.slice)
    parent = code.parent(node)
    if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
        target = parent.targets[0]
        if isinstance(target, ast.Subscript) and code.text(target.slice) == code.text(node.slice):
            into = code.operand(target.value)
            text = f"{into}.copy_(torch.where({mask}, {code.argument(node.value)}, {into}))"
            yield replace(_FILL, edits=(code.replaced(parent, code.of_torch(text)), *code.importing_torch()))
            return
    chosen = code.of_torch(f"torch.where({mask}, {value}, 0)")
    if _is_summed(code, node):
        yield replace(_SUM, edits=(code.replaced(node, chosen), *code.importing_torch()))
        return
    named = _name_of(code, node)
    if named is None:
        return
    statement, name = named
    function = code.function(node) or code.tree
    uses = [item for item in ast.walk(function) if isinstance(item, ast.Name) and item.id == name]
    reads = [item for item in uses if isinstance(item.ctx, ast.Load)]
    if len(uses) == len(reads) + 1 and reads and all(_is_summed(code, item) for item in reads):
        yield replace(_SUM, edits=(code.replaced(node, chosen), *code.importing_torch()))
    assert statement


def _is_summed(code: Code, node: ast.expr) -> bool:
    method = code.parent(node)
    call = code.parent(method) if method is not None else None
    return (
        isinstance(method, ast.Attribute)
        and method.attr == "sum"
        and isinstance(call, ast.Call)
        and not call.args
        and not call.keywords
    )


def _counted(code: Code, node: ast.expr) -> Iterator[Fix]:
    """Write ``torch.bincount(x, minlength=n)`` by ``scatter_add``."""
    if called(node) != "bincount" or not isinstance(node, ast.Call):
        return
    values = {word.arg: word.value for word in node.keywords}
    if set(values) != {"minlength"} or len(node.args) > 1:
        return
    counted = node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else None
    if counted is None or not is_pure(counted):
        return
    owner, size = code.operand(counted), code.argument(values["minlength"])
    text = (
        f"torch.zeros({size}, dtype=torch.long, device={owner}.device)"
        f".scatter_add(0, {owner}, torch.ones_like({owner}))"
    )
    yield replace(_BINCOUNT, edits=(code.replaced(node, code.of_torch(text)), *code.importing_torch()))
