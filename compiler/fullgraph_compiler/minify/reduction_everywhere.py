"""Changes that go through a whole case: through its inputs, its operations, and those of its subgraphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import Any

from .case import Case, Exact, Graph, Input, TensorSpec, Value
from .reduction_graph import filled


def leaves(value: Any) -> Iterator[Value]:
    """The constants among the arguments of a graph's operations."""
    if isinstance(value, Graph):
        for operation in value.operations:
            yield from leaves(operation.args)
            yield from leaves([argument for _, argument in operation.kwargs])
        for _, graph in value.subgraphs:
            yield from leaves(graph)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        yield from leaves(list(value.values()))
    elif isinstance(value, slice):
        yield from leaves((value.start, value.stop, value.step))
    else:
        yield value


def rewritten(case: Case, leaf: Callable[[Value], Value], tensor: Callable[[TensorSpec], TensorSpec]) -> Case:
    """A case with other constants and other kinds of tensors, in its inputs and in all its graphs."""
    inputs = tuple(
        replace(given, value=leaf(given.value))
        if given.spec is None
        else _refilled(given, given.spec, tensor(given.spec))
        for given in case.inputs
    )
    return replace(case, graph=_rewritten_graph(case.graph, leaf, tensor), inputs=inputs)


def _refilled(given: Input, old: TensorSpec, new: TensorSpec) -> Input:
    """An input of another shape or type, with as much of its recorded numbers as it still can have."""
    if not isinstance(given.value, Exact) or old.shape == new.shape:
        same = not isinstance(given.value, Exact) or old.dtype == new.dtype
        return replace(given, spec=new, value=given.value if same else filled(new))
    length = len(given.value.data) * prod(new.shape) // max(prod(old.shape), 1)
    return replace(given, spec=new, value=Exact(given.value.data[:length]))


def _rewritten_graph(
    graph: Graph, leaf: Callable[[Value], Value], tensor: Callable[[TensorSpec], TensorSpec]
) -> Graph:
    def made(spec: Any) -> Any:
        return tensor(spec) if isinstance(spec, TensorSpec) else leaf(spec)

    operations = tuple(
        replace(
            operation,
            args=_mapped(operation.args, leaf),
            kwargs=tuple((key, _mapped(value, leaf)) for key, value in operation.kwargs),
            spec=_mapped(
                operation.spec, lambda spec: tensor(spec) if isinstance(spec, TensorSpec) else leaf(spec)
            ),
        )
        for operation in graph.operations
    )
    subgraphs = tuple((name, _rewritten_graph(sub, leaf, tensor)) for name, sub in graph.subgraphs)
    return replace(graph, operations=operations, subgraphs=subgraphs)


def _mapped(value: Value, leaf: Callable[[Value], Value]) -> Value:
    """A value with every constant in it replaced."""
    if isinstance(value, (tuple, list)):
        return type(value)(_mapped(item, leaf) for item in value)
    if isinstance(value, dict):
        return {key: _mapped(item, leaf) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(*(_mapped(part, leaf) for part in (value.start, value.stop, value.step)))
    return leaf(value)
