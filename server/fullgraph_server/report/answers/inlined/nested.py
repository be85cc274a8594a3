"""Compiled functions that another compiled function calls: Dynamo traces them, without their own options.

So does torch 2.11 to 2.15 (``torch/_dynamo/variables/functions.py``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from fullgraph_compiler.facts import Fact, GraphCaptured, StackFrame

from ....text.markdown import code_span
from ....workspace.workspace import Workspace
from ...finding_builder import FindingBuilder, MakeFinding
from ...source_locator import Places
from ..marks import Mark, mark_around
from ..words import row_of
from .cached import call_of

_OPTIONS: Final = ("backend", "mode", "options", "dynamic")
"""The parameters of ``torch.compile`` that say how a graph is made; ``fullgraph`` is none."""
_MEANING: Final = (
    "A compiled function that compiled code calls is traced as any other: its operations are in the graph of "
    "the caller, which is compiled with the caller's options. Those of {line} hold where uncompiled code "
    "calls {name}."
)
_ADVICE: Final = (
    "Give these options to the outer `torch.compile`, or call {name} from a function with "
    "`@torch.compiler.disable(recursive=False)`: it then has a graph of its own."
)


def nested_builders(
    facts: Sequence[Fact], finding: MakeFinding, places: Places, workspace: Workspace
) -> Iterator[FindingBuilder]:
    """Build a finding for each compiled function with options that a graph goes through, on its call."""
    builders: dict[Mark, FindingBuilder] = {}
    for graph in facts:
        if not isinstance(graph, GraphCaptured):
            continue
        for mark, frame in _nested(graph, places, workspace):
            given = ", ".join(
                f"{key}={ast.unparse(value)}" for key, value in mark.keywords.items() if key in _OPTIONS
            )
            call = call_of(graph, mark.name, workspace)
            stack = (call[0] if call else frame,)
            name = code_span(mark.name)
            made = finding(
                "perf-hint",
                "information",
                f"{name} is traced into this graph, without its own {code_span(given)}",
                stack,
                graph.compile_id,
                explanation=_MEANING.format(line=row_of(mark.source, mark.row, stack[0].filename), name=name),
                hints=(_ADVICE.format(name=name),),
            )
            builders.setdefault(mark, FindingBuilder(made)).compile_ids.add(graph.compile_id)
    yield from builders.values()


def _nested(graph: GraphCaptured, places: Places, workspace: Workspace) -> Iterator[tuple[Mark, StackFrame]]:
    """Yield the compiled functions that a graph goes through, but the one that it is of."""
    compiled = places.functions.get(graph.compile_id)
    found: dict[Mark, StackFrame] = {}
    for node in graph.nodes:
        mark = mark_around("compile", node.frame, workspace)
        is_own = mark is not None and compiled is not None and mark.name == compiled.name
        if mark is not None and not is_own and any(key in mark.keywords for key in _OPTIONS):
            found.setdefault(mark, node.frame)
    yield from found.items()
