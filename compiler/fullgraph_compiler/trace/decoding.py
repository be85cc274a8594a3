"""JSON and Python out of texts of a log: what is too long, or nests too deep to be torch's, is not read."""

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
"""Levels of a syntax tree: within them, whatever walks it later has room on the stack."""


def read_json(text: str) -> Any:
    """What a text says. Raises ``ValueError`` alone, also for what nests too deep."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def read_object(text: str) -> Mapping[str, Any]:
    """The JSON object that a text is. Raises ``ValueError`` for anything else."""
    found = read_json(text)
    if not isinstance(found, Mapping):
        raise ValueError("no object")
    return found


def parse_expression(text: str) -> ast.expr | None:
    """The syntax tree of an expression; ``None`` for a text that is none."""
    tree = _parsed(text, "eval", _LONGEST_EXPRESSION, _DEEPEST_EXPRESSION)
    return tree.body if isinstance(tree, ast.Expression) else None


def parse_code(text: str) -> ast.Module | None:
    """The syntax tree of generated code; ``None`` for a text that is no Python."""
    tree = _parsed(text, "exec", _LONGEST_CODE, _DEEPEST_CODE)
    return tree if isinstance(tree, ast.Module) else None


def read_literal(text: str) -> object:
    """The value of a literal; ``None`` for a text that is none."""
    tree = parse_expression(text)
    try:
        return None if tree is None else ast.literal_eval(tree)
    except (ValueError, TypeError):
        return None


def _parsed(text: str, mode: str, longest: int, deepest: int) -> ast.AST | None:
    if len(text) > longest:
        return None
    try:
        with warnings.catch_warnings():  # of escapes in strings, which say nothing to anybody
            warnings.simplefilter("ignore")
            tree: ast.AST = ast.parse(text, mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if _is_within(tree, deepest) else None


def _is_within(tree: ast.AST, deepest: int) -> bool:
    """Whether a tree has no more levels than this."""
    level = [tree]
    for _ in range(deepest):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return True
    return False
