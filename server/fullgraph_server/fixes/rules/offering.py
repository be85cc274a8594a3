"""Rules that look at the node where a finding stands."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ...report.model import Finding
from ..model import Context, Edit, Fix, Rule
from .syntax import Code, Node, code_of

INDEX = "https://docs.pytorch.org/docs/stable/compile/programming_model.graph_breaks_index.html"

_Rewrite = Callable[[Code, Node], Iterator[Fix]]


def node_rule(rewrite: _Rewrite) -> Rule:
    """Make a rule of a function of the node that a finding stands at."""

    def rule(finding: Finding, context: Context) -> Iterator[Fix]:
        source = context.source(finding)
        code = code_of(source) if source else None
        node = code.at(finding.span) if code else None
        if code is not None and node is not None:
            yield from rewrite(code, node)

    return rule


def place_in_file(finding: Finding, context: Context) -> tuple[Code | None, ast.expr | None]:
    """Return the file of a finding, and the expression that it stands at."""
    source = context.source(finding)
    code = code_of(source) if source else None
    node = code.at(finding.span) if code else None
    node = node.value if isinstance(node, (ast.Expr, ast.Return)) else node
    return code, node if isinstance(node, ast.expr) else None


def in_library(finding: Finding) -> bool:
    """Tell whether a finding is about a library's code: it stands at the user's own call that leads there."""
    return bool(finding.stack) and finding.stack[-1].filename != finding.span.filename


def setting(code: Code, name: str) -> Edit | None:
    """Turn a setting of Dynamo on behind the imports, unless the file speaks of it."""
    return None if code.mentions(name) else code.setting(f"torch._dynamo.config.{name} = True")
