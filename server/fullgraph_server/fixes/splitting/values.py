"""Values that a compiled part computes for a statement that runs after it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from keyword import iskeyword

from ...workspace.syntax import called, dotted, nodes_of, own_nodes
from ..rules.syntax import ParsedFile

_CONVERSIONS = frozenset({"item", "tolist", "cpu", "numpy"})
"""Methods that copy a tensor to Python or to the CPU."""
_BUILTINS = frozenset({"float", "int", "bool"})


@dataclass(frozen=True)
class MovedValue:
    """A value that the compiled part computes for a statement after it.

    ``node`` is the expression in the statement, ``name`` the new variable that holds its value.
    """

    node: ast.expr
    name: str


def conversions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the tensors that a statement converts, and its conditions, the outermost first."""
    found: list[ast.expr] = []
    for node in own_nodes(statement):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in _CONVERSIONS:
                found.append(_detached(node.func.value))
            elif isinstance(node.func, ast.Name) and node.func.id in _BUILTINS and len(node.args) == 1:
                found.append(_detached(node.args[0]))
        elif isinstance(node, (ast.If, ast.Assert, ast.While, ast.IfExp)):
            found += [item for item in _leaves_of(node.test) if isinstance(item, ast.Call)]
    inside: set[ast.AST] = set()
    for node in found:
        if node not in inside:
            inside.update(ast.walk(node))
            yield node


def _detached(node: ast.expr) -> ast.expr:
    """Return the tensor of a chain such as ``x.detach().cpu()``."""
    while isinstance(node, ast.Call) and called(node) in ("detach", "cpu") and not node.args:
        assert isinstance(node.func, ast.Attribute)
        node = node.func.value
    return node


def _leaves_of(test: ast.expr) -> Iterator[ast.expr]:
    """Yield the operands of ``and``, ``or`` and ``not`` in a condition."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _leaves_of(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _leaves_of(test.operand)
    elif called(test) not in (*_CONVERSIONS, *_BUILTINS, "isinstance", "hasattr", "getattr", "len"):
        yield test


def is_always(code: ParsedFile, node: ast.expr, statement: ast.stmt) -> bool:
    """Tell whether a statement evaluates an expression exactly once, whatever the values are."""
    inner: ast.AST = node
    for outer in code.around(node):
        if isinstance(outer, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return False
        if isinstance(outer, (ast.If, ast.IfExp)) and inner is not outer and inner is not outer.test:
            return False
        if isinstance(outer, ast.BoolOp) and inner is not outer and inner is not outer.values[0]:
            return False
        if isinstance(outer, ast.Compare) and inner is not outer and inner in outer.comparators[1:]:
            return False
        if isinstance(outer, ast.Assert) and inner is outer.msg:
            return False
        if isinstance(outer, (ast.For, ast.While, ast.Try, ast.With, ast.Match)):
            return False
        if outer is statement:
            return True
        inner = outer
    return True


def elements_of(statement: ast.stmt) -> list[ast.expr]:
    """Return the values of a returned tuple that are computed in the ``return`` itself."""
    value = statement.value if isinstance(statement, ast.Return) else None
    items = value.elts if isinstance(value, ast.Tuple) else []
    numbers = [call for call in nodes_of(ast.Call, value) if called(call) in (*_CONVERSIONS, *_BUILTINS)]
    if numbers or any(isinstance(item, ast.Starred) for item in items):
        return []
    return [item for item in items if isinstance(item, (ast.BinOp, ast.UnaryOp, ast.Call, ast.Subscript))]


def variable_of(statement: ast.stmt, node: ast.expr) -> str:
    """Return the variable to which a statement assigns the number of a tensor: ``n`` for ``n = x.item()``.

    Return "" for any other statement.
    """
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    value, target = statement.value, statement.targets[0]
    is_plain = isinstance(node, (ast.Name, ast.Attribute))
    is_number = isinstance(value, ast.Call) and node in (*value.args, getattr(value.func, "value", None))
    return target.id if isinstance(target, ast.Name) and is_number and not is_plain else ""


def name_of(node: ast.expr) -> str:
    """Name a value after its tensor and the functions applied to it: ``loss_mean``, ``grad_isfinite_all``."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Call):
            parts.append(called(node))
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            is_method = owner is not None and dotted(owner) not in ("torch", "F", "torch.nn.functional")
            if is_method and owner is not None:
                node = owner
            elif node.args:
                node = node.args[0]
            else:
                break
        elif isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, (ast.BinOp, ast.Compare)):
            node = node.left
        elif isinstance(node, ast.UnaryOp):
            node = node.operand
        else:
            break
    root = dotted(node).rpartition(".")[2] if dotted(node) else ""
    words = [root, *reversed(parts[:3])]
    name = "_".join(
        word.strip("_") for word in words if word.strip("_") not in ("", "item", "float", "detach")
    )
    is_name = name.isidentifier() and not iskeyword(name)
    return name if is_name and name != root else f"{root or 'value'}_now"
