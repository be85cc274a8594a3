"""Rules that look at the node where a finding stands, and the fixes that they offer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...report.model import Finding
from ..model import Context, Fix, Rule, Safety
from .syntax import Code, Node, code_of

INDEX = "https://docs.pytorch.org/docs/stable/compile/programming_model.graph_breaks_index.html"
REGISTRY = "torch/_dynamo/graph_break_registry.json"


def base(rule: str, title: str, change: str, safety: Safety = "unsafe", source: str = REGISTRY) -> Fix:
    """Make a fix without edits, of which a rule makes those that it offers."""
    return Fix(rule, title, change, safety, source, ())


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
