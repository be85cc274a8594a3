"""Changes to all parts of a case: inputs, operations, and subgraphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import Any

from ..cases.case import (
    CaseGraph,
    CaseInput,
    ExactValues,
    FailureCase,
    TensorSpec,
    Value,
    all_operations,
    leaves,
    mapped,
)
from .reduction_graph import filled


def constants(graph: CaseGraph) -> Iterator[Value]:
    """Yield the leaves of all arguments of operations, including subgraphs."""
    for operation in all_operations(graph):
        yield from leaves((operation.args, dict(operation.kwargs)))


def rewritten(
    case: FailureCase, leaf: Callable[[Value], Value], tensor: Callable[[TensorSpec], TensorSpec]
) -> FailureCase:
    """Return a case with changed constants and tensor specs.

    ``leaf`` changes a constant, ``tensor`` changes a spec.
    """
    inputs = tuple(
        replace(given, value=leaf(given.value))
        if given.spec is None
        else _refilled(given, given.spec, tensor(given.spec))
        for given in case.inputs
    )
    return replace(case, graph=_rewritten_graph(case.graph, leaf, tensor), inputs=inputs)


def _refilled(given: CaseInput, old: TensorSpec, new: TensorSpec) -> CaseInput:
    """Return an input with another spec, with as many of its recorded values as fit."""
    if not isinstance(given.value, ExactValues) or old.shape == new.shape:
        same = not isinstance(given.value, ExactValues) or old.dtype == new.dtype
        return replace(given, spec=new, value=given.value if same else filled(new))
    length = len(given.value.data) * prod(new.shape) // max(prod(old.shape), 1)
    return replace(given, spec=new, value=ExactValues(given.value.data[:length]))


def _rewritten_graph(
    graph: CaseGraph, leaf: Callable[[Value], Value], tensor: Callable[[TensorSpec], TensorSpec]
) -> CaseGraph:
    def made(spec: Any) -> Any:
        return tensor(spec) if isinstance(spec, TensorSpec) else leaf(spec)

    operations = tuple(
        replace(
            operation,
            args=mapped(operation.args, leaf),
            kwargs=tuple((key, mapped(value, leaf)) for key, value in operation.kwargs),
            spec=mapped(operation.spec, made),
        )
        for operation in graph.operations
    )
    subgraphs = tuple((name, _rewritten_graph(sub, leaf, tensor)) for name, sub in graph.subgraphs)
    return replace(graph, operations=operations, subgraphs=subgraphs)
