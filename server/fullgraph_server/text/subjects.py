"""The code that breaks a graph, as the user wrote it.

The title of the finding begins with this code.
"""

from __future__ import annotations

import ast
import re

from .markdown import code_span

_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_LONGEST = 60
_BRANCHES_ON_DATA = "GB0170"
_ALIASES = "GB0040"
"""The break at the result of a function passed to a higher-order operator, if Dynamo stopped there."""
_OF_NO_LINE = frozenset({
    "GB0019", "GB0039", "GB0092", "GB0093", "GB0199", "GB0209", "GB0212", "GB0219", "GB0274", "GB0279",
    "GB0295", "GB0370", "GB1297", "GB1319", "GB2533", "GB3343", "GB4501", "GB8335", "GB9528",
})  # fmt: skip
"""Breaks that Dynamo finds when it ends a graph, so that the current line is not the cause.

Examples are a backend that fails, and a value that is still needed and cannot be rebuilt.
"""


def break_subject(node: ast.AST, line: str, code: str, said: str, *, innermost: bool) -> str:
    """Return a noun for the syntax node at which Dynamo stopped.

    The result is empty if the node is not the cause, or its text is too long. ``line`` is the node's first
    line, ``code`` the id of the break. ``said`` is torch's text: a call is named by its function only if
    torch's text names this function, because otherwise an argument might be the cause. A node that is not
    ``innermost`` calls a function in which Dynamo stopped.
    """
    if code in _OF_NO_LINE:
        return ""
    if code == _BRANCHES_ON_DATA and innermost:
        text = _text(_compared(node), line)
        return f"a branch on the data of {code_span(text)}" if text else ""
    if code == _ALIASES and innermost:
        text = _text(node, line)
        return (
            f"the result {code_span(text)}: it shares memory with an input or another result" if text else ""
        )
    if isinstance(node, ast.Call):
        name = _text(node.func, line)
        last = re.escape(name.rpartition(".")[2])
        if _DOTTED.fullmatch(name) and re.search(rf"[`. ]{last}[`(>]", said):
            return code_span(name)
    text = _text(node, line)
    if not text:
        return ""
    context = getattr(node, "ctx", None)
    if isinstance(context, ast.Store):
        return f"the assignment to {code_span(text)}"
    return code_span(f"del {text}" if isinstance(context, ast.Del) else text)


def _compared(node: ast.AST) -> ast.AST:
    """Return what a condition compares with constants; otherwise the whole condition."""
    if isinstance(node, ast.Compare) and all(map(_is_constant, node.comparators)):
        return node.left
    return node


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def _text(node: ast.AST, line: str) -> str:
    """Return the text of a node; empty if the text is long or has several lines."""
    start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
    if getattr(node, "lineno", 0) != getattr(node, "end_lineno", None) or end - start > _LONGEST:
        return ""
    return line.encode("utf-8", "surrogatepass")[start:end].decode("utf-8", "replace")
