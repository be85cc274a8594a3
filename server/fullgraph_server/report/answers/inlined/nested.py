"""Compiled functions that compiled code calls: Dynamo ignores their options.

Dynamo inlines the called function (``torch/_dynamo/variables/functions.py``, 2.11 to 2.15).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from fullgraph_compiler.facts import GraphCaptured, StackFrame

from ....text.markdown import code_span
from ...facts_by_type import FactsByType
from ...finding_builder import FindingBuilder
from ...source_locator import FactLocator
from ..marks import MarkUse, MarkUses, mark_around
from ..words import row_of
from .cached import call_of

_OPTIONS: Final = ("backend", "mode", "options", "dynamic")
"""The parameters of ``torch.compile`` that determine how a graph is compiled; ``fullgraph`` does not."""
_DEFAULTS: Final = ("None", "'default'", "'inductor'")
_MEANING: Final = (
    "Dynamo traces a compiled function that compiled code calls like any other function: its operations are "
    "in the caller's graph, which is compiled with the caller's options. The options on {line} apply only "
    "where uncompiled code calls {name}."
)
_ADVICE: Final = (
    "Give these options to the outer `torch.compile`, or call {name} from a function with "
    "`@torch.compiler.disable(recursive=False)`: it then has a graph of its own."
)


def nested_builders(facts: FactsByType, places: FactLocator) -> Iterator[FindingBuilder]:
    """Build a finding for each inlined compiled function whose options are ignored.

    The finding is on the function's call in the compiled code.
    """
    builders: dict[MarkUse, FindingBuilder] = {}
    for graph in facts.of(GraphCaptured):
        for mark, (frame, lost) in _nested(graph, places).items():
            if mark not in builders:
                call = call_of(graph, mark.name, places.workspace)
                stack = (call[0] if call else frame,)
                name, options = code_span(mark.name), " and ".join(map(code_span, lost))
                line = row_of(mark.source, mark.row, stack[0].filename)
                builders[mark] = places.finding(
                    "perf-hint",
                    "information",
                    f"{name} is traced into this graph, without its own {options}",
                    stack,
                    graph.compile_id,
                    explanation=_MEANING.format(line=line, name=name),
                    hints=(_ADVICE.format(name=name),),
                )
            builders[mark].compile_ids.add(graph.compile_id)
    yield from builders.values()


def _nested(graph: GraphCaptured, places: FactLocator) -> Mapping[MarkUse, tuple[StackFrame, Sequence[str]]]:
    """Map compiled functions inlined into a graph to a frame and the lost options.

    The frame is that of an operation of the inlined function. Functions that lose no option are left out.
    """
    compiled = places.functions.get(graph.compile_id)
    source = places.workspace.source(compiled.filename) if compiled is not None else None
    if compiled is None or source is None:
        return {}
    own = MarkUses(lambda: (source,)).compiling(compiled.name)
    if not own:
        return {}
    found: dict[MarkUse, tuple[StackFrame, Sequence[str]]] = {}
    for node in graph.nodes:
        mark = mark_around("compile", node.frame, places.workspace)
        if mark is not None and mark not in found and mark.name != compiled.name:
            found[mark] = node.frame, [name for name in _OPTIONS if _is_lost(name, mark, own)]
    return {mark: (frame, lost) for mark, (frame, lost) in found.items() if lost}


def _is_lost(option: str, mark: MarkUse, own: Sequence[MarkUse]) -> bool:
    """Return whether an option of an inlined function differs from the caller's.

    ``own`` are the uses of ``torch.compile`` for the caller.
    """
    value = _value(mark, option)
    return bool(value) and value not in {_value(item, option) for item in own}


def _value(mark: MarkUse, option: str) -> str:
    """Return the source of an option's value; empty for its default."""
    text = ast.unparse(mark.keywords[option]) if option in mark.keywords else ""
    return "" if text in _DEFAULTS else text
