"""Parsers of JSON and Python in a log, with limits on length and nesting depth."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Mapping
from typing import Any, Final

_LONGEST_EXPRESSION: Final = 10_000
_LONGEST_CODE: Final = 16 << 20
_DEEPEST_EXPRESSION: Final = 50
_DEEPEST_CODE: Final = 100
"""Limits on the levels of a syntax tree: code that walks a tree within these limits does not overflow the
stack."""


def read_json(text: str) -> Any:
    """Decode JSON.

    Raise only ``ValueError``, also for text that is nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def read_object(text: str) -> Mapping[str, Any]:
    """Decode a JSON object. Raise ``ValueError`` for any other value."""
    value = read_json(text)
    if not isinstance(value, Mapping):
        raise ValueError("no object")
    return value


_CONSTANTS = ("torch", "inf", "nan")
"""Names in the expected values of guards that stand for constants."""


def parse_expression(text: str) -> ast.expr | None:
    """Parse an expression; return ``None`` for text that is not an expression."""
    tree = _parsed(text, "eval", _LONGEST_EXPRESSION, _DEEPEST_EXPRESSION)
    return tree.body if isinstance(tree, ast.Expression) else None


def is_formula(text: str) -> bool:
    """Return whether an expression is a name, or computed from a name.

    An example is ``8 // (8 // p)``.
    """
    tree = parse_expression(text)
    nodes = [*ast.walk(tree)] if tree is not None else []
    is_relation = isinstance(tree, (ast.Name, ast.Subscript)) or any(
        isinstance(node, ast.BinOp) for node in nodes
    )
    return is_relation and any(isinstance(node, ast.Name) and node.id not in _CONSTANTS for node in nodes)


def parse_code(text: str) -> ast.Module | None:
    """Parse generated code; return ``None`` for text that is not Python."""
    tree = _parsed(text, "exec", _LONGEST_CODE, _DEEPEST_CODE)
    return tree if isinstance(tree, ast.Module) else None


def read_literal(text: str) -> object:
    """Evaluate a literal; return ``None`` for text that is not a literal."""
    tree = parse_expression(text)
    try:
        return None if tree is None else ast.literal_eval(tree)
    except (ValueError, TypeError):
        return None


def _parsed(text: str, mode: str, longest: int, deepest: int) -> ast.AST | None:
    if len(text) > longest:
        return None
    try:
        with warnings.catch_warnings():  # about escapes in strings, which do not matter here
            warnings.simplefilter("ignore")
            tree: ast.AST = ast.parse(text, mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if _is_within(tree, deepest) else None


def _is_within(tree: ast.AST, deepest: int) -> bool:
    """Return whether a tree has at most ``deepest`` levels."""
    level = [tree]
    for _ in range(deepest):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return True
    return False
