"""Fixes for code that converts tensor data to Python numbers or sizes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from ...workspace.syntax import called, dotted, own_statements
from ..model import Edit, Fix
from .branches import of_condition
from .expressions import is_pure
from .offering import node_rule, setting
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
_CHAIN = replace(
    _STAY,
    rule="tensor-chain",
    title="Keep the number a tensor, and what is computed from it",
    change="The values stay tensors instead of Python numbers, in the tensors' own precision.",
)
_OF_NUMBERS: Mapping[str, str] = {
    "abs": ".abs()",
    "round": ".round()",
    "int": ".long()",
    "float": "",
}
"""By Python function: the method of a tensor that does the same to its elements."""
_OF_MATH = frozenset(
    {"sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "tanh", "isfinite", "isnan"}
)
"""The functions of `math` that torch has under the same name."""
_CONVERSIONS: Mapping[str, tuple[str, ...]] = {
    "float": ("", ".detach()"),
    "int": (".long()",),
    "bool": (".bool()",),
}
"""By conversion: what to append to a tensor that stays a tensor, in the order to try."""
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
        yield from (replace(_STAY, edits=(edit,)) for edit in kept)
        yield from _chain(code, node)
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

    A number has no gradient: the second way keeps that.
    """
    if not isinstance(node, ast.Call) or node.keywords:
        return
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        value, endings = node.func.value, _CONVERSIONS["float"]
    elif isinstance(node.func, ast.Name) and node.func.id in _CONVERSIONS and len(node.args) == 1:
        value, endings = node.args[0], _CONVERSIONS[node.func.id]
    else:
        return
    is_detached = called(value) == "detach"
    for ending in endings:
        if not (is_detached and ending == ".detach()"):
            yield code.replaced(node, code.operand(value) + ending)


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


# -- chains --------------------------------------------------------------------------------------------


def _chain(code: ParsedFile, node: ast.expr) -> Iterator[Fix]:
    """Keep a number and all that is computed from it tensors, up to the end of the function."""
    function, first = code.function(node), code.statement(node)
    if function is None or first is None:
        return
    for ending in ("", ".detach()"):
        chain = _NumberChain(code, ending)
        edits = chain.edits(item for item in own_statements(function) if item.lineno >= first.lineno)
        if len(edits) > 1:
            yield replace(_CHAIN, edits=(*edits, *code.importing_torch()))


@dataclass
class _NumberChain:
    """Statements rewritten so that numbers read from tensors stay tensors."""

    code: ParsedFile
    ending: str
    """What to append to each tensor of which a number is read: empty, or ``.detach()``."""
    kept: set[str] = field(default_factory=set)
    """The variables that now hold tensors."""

    def edits(self, statements: Iterable[ast.stmt]) -> list[Edit]:
        """Return the edits of statements in their order; empty if a number is needed."""
        edits: list[Edit] = []
        for statement in statements:
            for value in (item for item in ast.iter_child_nodes(statement) if isinstance(item, ast.expr)):
                text, is_kept = self._written(value)
                is_test = isinstance(statement, (ast.If, ast.While, ast.For, ast.Assert))
                if text is None or (is_kept and is_test):
                    return []
                edits += [self.code.replaced(value, text)] if text != self.code.text(value) else []
            if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                self._assign(statement)
        return edits

    def _assign(self, statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            is_several = isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple)
            values = zip(_elements(target), _elements(statement.value), strict=False)
            for name, value in values if is_several else [(target, statement.value)]:
                is_kept = value is not None and self._written(value)[1]
                if isinstance(name, ast.Name):
                    (self.kept.add if is_kept else self.kept.discard)(name.id)

    def _written(self, node: ast.expr) -> tuple[str | None, bool]:
        """Return an expression's new text, and whether its value is now a tensor instead of a number.

        The text is ``None`` if a number is needed.
        """
        code = self.code
        if isinstance(node, ast.Name):
            return node.id, node.id in self.kept
        if isinstance(node, ast.Call) and called(node) == "item" and not node.args:
            assert isinstance(node.func, ast.Attribute)
            return code.operand(node.func.value) + self.ending, True
        inner: dict[ast.AST, str] = {}
        kept: set[ast.AST] = set()
        for child in _operands(node):
            text, is_kept = self._written(child)
            if text is None:
                return None, False
            inner |= {child: text} if text != code.text(child) else {}
            kept |= {child} if is_kept else set()
        if isinstance(node, ast.Call) and kept & set(node.args):
            return self._call(node, inner, kept)
        if kept and isinstance(node, (ast.BoolOp, ast.FormattedValue, ast.Slice)):
            return None, False
        if isinstance(node, ast.IfExp) and node.test in kept:
            parts = (inner.get(item) or code.argument(item) for item in (node.test, node.body, node.orelse))
            return code.of_torch(f"torch.where({', '.join(parts)})"), True
        is_number = isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp))
        return code.text(node, inner), bool(kept) and is_number

    def _operand(self, node: ast.expr, inner: Mapping[ast.AST, str]) -> str:
        return self.code.operand(node, {node: inner[node]} if node in inner else None)

    def _call(
        self, node: ast.Call, inner: Mapping[ast.AST, str], kept: Set[ast.AST]
    ) -> tuple[str | None, bool]:
        """Write a call of which an argument is now a tensor."""
        code, name = self.code, dotted(node.func)
        first = node.args[0]
        if name in ("min", "max") and len(node.args) == 2:
            one, other = node.args if first in kept else node.args[::-1]
            if other in kept:
                parts = ", ".join(inner.get(item) or code.argument(item) for item in node.args)
                return code.of_torch(f"torch.{name}imum({parts})"), True
            bound = "max" if name == "min" else "min"
            return (
                f"{self._operand(one, inner)}.clamp({bound}={inner.get(other) or code.argument(other)})",
                True,
            )
        if len(node.args) == 1 and name in _OF_NUMBERS:
            return self._operand(first, inner) + _OF_NUMBERS[name], True
        if len(node.args) == 1 and name.startswith("math.") and name[5:] in _OF_MATH:
            return code.of_torch(f"torch.{name[5:]}({inner.get(first) or code.argument(first)})"), True
        if name in ("print", "str", "format", "range", "len", "isinstance") or name.startswith("math."):
            return None, False
        return code.text(node, inner), False


def _elements(node: ast.expr | None) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else []


def _operands(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the outermost expressions inside a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, (ast.keyword, ast.comprehension, ast.Slice)):
            yield from _operands(child)
