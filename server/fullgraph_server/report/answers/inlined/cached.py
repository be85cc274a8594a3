"""Cached functions whose operations run in every call of a graph.

Dynamo ignores ``functools.lru_cache`` and ``functools.cache``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from fullgraph_compiler.facts import GraphCaptured, StackFrame

from ....text.markdown import code_span
from ....text.messages import counted
from ....workspace.syntax import callee
from ....workspace.workspace import Workspace
from ...facts_by_type import FactsByType
from ...finding_builder import FindingBuilder
from ...source_locator import FactLocator
from ..marks import MarkUse, dotted, mark_around
from ..words import row_of, written

_MEANING: Final = (
    "{decorator} ({line}) caches results of uncompiled calls only. Dynamo traces the decorated function: its "
    "operations run in every call of the graph. torch's warning about `functools.lru_cache` means this."
)


def cached_builders(facts: FactsByType, places: FactLocator) -> Iterator[FindingBuilder]:
    """Build a finding for each cached function whose operations are in a graph.

    The finding is on the first call of the cached function in the traced code.
    """
    builders: dict[tuple[str, int, str], FindingBuilder] = {}
    for graph in facts.of(GraphCaptured):
        for mark, frames in _cached(graph, places):
            name = mark.name
            share = f"{len(frames)} of the {counted(len(graph.nodes), 'operation')}"
            call = call_of(graph, name, places.workspace)
            stack = (call[0] if call else frames[0],)
            filename = stack[0].filename
            message = f"Dynamo ignores the cache of {code_span(name)}: {share} in this graph come from it"
            builder = places.finding(
                "perf-hint",
                "information",
                message,
                stack,
                graph.compile_id,
                explanation=_MEANING.format(
                    decorator=code_span(_decorator(mark)), line=row_of(mark.source, mark.row, filename)
                ),
                hints=(_advice(name, call[1] if call else None),),
            )
            key = (mark.source.filename, mark.row, message)
            builders.setdefault(key, builder).compile_ids.add(graph.compile_id)
    yield from builders.values()


def _cached(graph: GraphCaptured, places: FactLocator) -> Iterator[tuple[MarkUse, list[StackFrame]]]:
    """Yield the cached functions traced into a graph, with their operations' frames.

    The compiled function itself is left out: a cache around compiled code works.
    """
    compiled = places.functions.get(graph.compile_id)
    found: dict[MarkUse, list[StackFrame]] = {}
    for node in graph.nodes:
        mark = mark_around("cached", node.frame, places.workspace)
        if mark is not None and (compiled is None or mark.name != compiled.name):
            found.setdefault(mark, []).append(node.frame)
    yield from found.items()


def call_of(graph: GraphCaptured, name: str, workspace: Workspace) -> tuple[StackFrame, ast.Call] | None:
    """Find the first call of ``name`` on the stacks of a graph's operations."""
    for frame in graph.calls:
        source = workspace.own_source(frame.filename)
        for node in source.nodes_at(frame.row) if source else ():
            if (
                isinstance(node, ast.Call)
                and dotted(node.func).rpartition(".")[2] == name
                and frame.column in (None, node.col_offset)
            ):
                # A frame on the stack of an operation can lack columns.
                column, end_row, end_column = node.col_offset, node.end_lineno, node.end_col_offset
                return replace(frame, column=column, end_row=end_row, end_column=end_column), node
    return None


def _advice(name: str, call: ast.Call | None) -> str:
    """Advise to call a cached function outside of compiled code.

    If the arguments of ``call`` are constants, the advice is to call the function once.
    """
    given = [*call.args, *(item.value for item in call.keywords)] if call else []
    text = written(call, "")
    if text and all(isinstance(item, ast.Constant) for item in given):
        return f"Compute it once, outside of compiled code, and use the result: {code_span(text)}."
    return f"Call {code_span(name)} outside of compiled code, where its cache works, and pass the result."


def _decorator(mark: MarkUse) -> str:
    definition = mark.definition
    nodes = definition.decorator_list if definition else ()
    node = next((item for item in nodes if item.lineno == mark.row), None)
    return f"@{dotted(callee(node))}" if node else "@"
