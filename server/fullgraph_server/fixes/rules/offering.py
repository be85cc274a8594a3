"""Rules that look at the node where a finding stands."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

from ...report.model import Finding
from ..model import Context, Edit, Fix, Rule
from .syntax import Code, Node, code_of

INDEX = "https://docs.pytorch.org/docs/stable/compile/programming_model.graph_breaks_index.html"

_Kind = TypeVar("_Kind", bound=ast.AST)
_Decorator: TypeAlias = Callable[[Callable[[Code, _Kind], Iterator[Fix]]], Rule]


def code_at(finding: Finding, context: Context) -> tuple[Code | None, Node | None]:
    """Return the file of a finding, if it parses, and the node that the finding stands at."""
    code = code_of(context.files.get(finding.span.filename))
    return code, code.at(finding.span) if code else None


def node_rule(kind: type[_Kind], *, is_value: bool = False) -> _Decorator[_Kind]:
    """Make a rule of a function of the node that a finding stands at, where that is of a kind.

    With ``is_value``, an expression that is a statement, or is returned, stands for its statement.
    """

    def decorated(rewrite: Callable[[Code, _Kind], Iterator[Fix]]) -> Rule:
        def rule(finding: Finding, context: Context) -> Iterator[Fix]:
            code, node = code_at(finding, context)
            inner = node.value if is_value and isinstance(node, (ast.Expr, ast.Return)) else node
            if code is not None and isinstance(inner, kind):
                yield from rewrite(code, inner)

        return rule

    return decorated


def in_library(finding: Finding) -> bool:
    """Tell whether a finding is about a library's code: it stands at the user's own call that leads there."""
    return bool(finding.stack) and finding.stack[-1].filename != finding.span.filename


def setting(code: Code, name: str) -> Edit | None:
    """Turn a setting of Dynamo on behind the imports, unless the file speaks of it."""
    return None if code.mentions(name) else code.setting(f"torch._dynamo.config.{name} = True")
