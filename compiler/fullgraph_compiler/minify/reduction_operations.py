"""Smaller graphs: without some operations, whose results come from elsewhere, and well formed again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from ..cases.case import Case, Graph, Input, Operation, Ref, TensorSpec, Value, references, substitute, uses
from .reduction_graph import filled, sensible, substituted, takes_item, tidy, writes


def removable(case: Case) -> list[str]:
    """The operations that can be removed by themselves: subgraphs and items of results go with others."""
    many = {name for name, spec in _specs(case).items() if isinstance(spec, (tuple, list))}
    return [
        operation.name
        for operation in case.graph.operations
        if operation.kind != "get_attr" and not (takes_item(operation) and many & set(uses(operation)))
    ]


def with_inputs_instead(case: Case, names: Collection[str]) -> Case | None:
    """A case without some operations: new inputs stand for the results that are still needed."""
    return _without(case, set(names), near=False)


def with_arguments_instead(case: Case, names: Collection[str]) -> Case | None:
    """A case without some operations: an argument of the same shape stands for a result, or else an input."""
    return _without(case, set(names), near=True)


# -- the way to do it --------------------------------------------------------------------------


def _without(case: Case, names: set[str], near: bool) -> Case | None:
    """A case without some operations, where all others are still there and can be seen from outside."""
    kept = _kept(case.graph, names)
    stand_ins = _StandIns(case, near)
    operations: list[Operation] = []
    for operation in case.graph.operations:
        current = substituted(operation, stand_ins.values)
        if operation.name not in kept:
            stand_ins.add(current)
        elif takes_item(current) and isinstance(current.args[0], tuple):
            stand_ins.values[current.name] = current.args[0][current.args[1]]
        else:
            stand_ins.specs[current.name] = current.spec
            operations.append(current)
    return _with_stand_ins(case, operations, stand_ins)


def _with_stand_ins(case: Case, operations: list[Operation], stand_ins: _StandIns) -> Case | None:
    """The case with these operations left, and what stands for the others."""
    computed = {operation.name for operation in operations}
    outputs: list[Value] = []
    for output in case.graph.outputs:
        value = substitute(output, stand_ins.values)
        gone = any(name in stand_ins.values for name in references(output))
        if not gone or (computed.intersection(references(value)) and value not in outputs):
            outputs.append(value)
    outputs += _unseen(case.graph, operations, outputs)
    if operations and not outputs:
        # All that is left writes to inputs.
        outputs += [Ref(name) for name in uses(operations[-1])][:1]
    # Eager does not let an operation write to a leaf that requires a gradient.
    written = {name for operation in operations if writes(operation) for name in list(uses(operation))[:1]}
    added = tuple(
        replace(given, spec=replace(given.spec, requires_grad=False))
        if given.spec and given.name in written
        else given
        for given in stand_ins.inputs
    )
    graph = replace(
        case.graph,
        parameters=case.graph.parameters + tuple(given.name for given in added),
        operations=tuple(operations),
        outputs=tuple(outputs),
    )
    return sensible(tidy(replace(case, graph=graph, inputs=case.inputs + added)))


class _StandIns:
    """What stands for the results of removed operations, and the inputs made for that."""

    def __init__(self, case: Case, near: bool) -> None:
        self.specs = {given.name: given.spec for given in case.inputs}
        self.values: dict[str, Value] = {}
        self.inputs: list[Input] = []
        self._near = near
        self._names = {*case.graph.parameters, *(operation.name for operation in case.graph.operations)}
        self._gradient = any(given.spec is not None and given.spec.requires_grad for given in case.inputs)

    def add(self, operation: Operation) -> None:
        """Find what stands for the result of an operation."""
        near = (
            name for name in uses(operation) if self._near and _alike(self.specs.get(name), operation.spec)
        )
        name = next(near, None)
        self.values[operation.name] = self._new(operation.name, operation.spec) if name is None else Ref(name)

    def _new(self, name: str, spec: Any) -> Value:
        """A new input, or for a number the number."""
        if isinstance(spec, (tuple, list)):
            return tuple(self._new(self._unused(f"{name}_{i}"), item) for i, item in enumerate(spec))
        if not isinstance(spec, TensorSpec):
            return spec
        spec = replace(spec, requires_grad=spec.requires_grad and self._gradient)
        self.specs[name] = spec
        self.inputs.append(Input(name, spec, filled(spec)))
        return Ref(name)

    def _unused(self, name: str) -> str:
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name


def _kept(graph: Graph, names: set[str]) -> set[str]:
    """The operations that stay: also those of which nobody knows what could stand for their result."""
    kept: set[str] = set()
    needed: set[str] = set()
    for operation in reversed(graph.operations):
        if operation.name not in names or (operation.spec is None and operation.name in needed):
            kept.add(operation.name)
            needed.update(uses(operation))
    return kept


def _unseen(graph: Graph, operations: list[Operation], outputs: list[Value]) -> list[Value]:
    """The results that must become outputs, or else what computes them would have no use any more."""
    used = set(references(graph.outputs))
    for operation in reversed(graph.operations):
        if operation.name in used:
            used.update(uses(operation))
    seen = set(references(outputs))
    unseen: list[Value] = []
    for operation in reversed(operations):
        if operation.name not in seen:
            if operation.name not in used or operation.spec is None:
                continue
            unseen.append(Ref(operation.name))
        seen.update(uses(operation))
    return unseen[::-1]


def _specs(case: Case) -> dict[str, Any]:
    """What each input and each operation makes."""
    specs: dict[str, Any] = {given.name: given.spec for given in case.inputs}
    return specs | {operation.name: operation.spec for operation in case.graph.operations}


def _alike(one: Any, other: Any) -> bool:
    return (
        isinstance(one, TensorSpec)
        and isinstance(other, TensorSpec)
        and (one.shape, one.dtype, one.device) == (other.shape, other.dtype, other.device)
    )
