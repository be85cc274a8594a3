"""Helpers for rules that inspect the node of a finding."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

from ...report.model import Finding
from ..model import Edit, Fix, Rule, RuleContext
from .syntax import Node, ParsedFile, code_of

INDEX = "https://docs.pytorch.org/docs/stable/compile/programming_model.graph_breaks_index.html"

_Kind = TypeVar("_Kind", bound=ast.AST)
_Decorator: TypeAlias = Callable[[Callable[[ParsedFile, _Kind], Iterator[Fix]]], Rule]


def code_at(finding: Finding, context: RuleContext) -> tuple[ParsedFile | None, Node | None]:
    """Return the file of a finding, if it parses, and the node at the finding's range."""
    code = code_of(context.files.get(finding.span.filename))
    return code, code.at(finding.span) if code else None


def node_rule(kind: type[_Kind], *, is_value: bool = False) -> _Decorator[_Kind]:
    """Turn a function that takes a node of type ``kind`` into a rule for findings.

    With ``is_value``, the function gets the value of an expression statement or a ``return``.
    """

    def decorated(rewrite: Callable[[ParsedFile, _Kind], Iterator[Fix]]) -> Rule:
        def rule(finding: Finding, context: RuleContext) -> Iterator[Fix]:
            code, node = code_at(finding, context)
            inner = node.value if is_value and isinstance(node, (ast.Expr, ast.Return)) else node
            if code is not None and isinstance(inner, kind):
                yield from rewrite(code, inner)

        return rule

    return decorated


def quoted(text: str) -> str:
    """Return a text as a string literal."""
    return json.dumps(text, ensure_ascii=False)


def in_library(finding: Finding) -> bool:
    """Tell whether a finding is about code of a library.

    Such a finding is shown at the user's call that leads to the library.
    """
    return bool(finding.stack) and finding.stack[-1].filename != finding.span.filename


def setting(code: ParsedFile, name: str) -> Edit | None:
    """Turn on a Dynamo setting after the imports; ``None`` if the file mentions it."""
    return None if code.mentions(name) else code.setting(f"torch._dynamo.config.{name} = True")
