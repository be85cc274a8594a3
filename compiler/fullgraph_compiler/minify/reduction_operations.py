"""Reductions that remove operations and make the graph well-formed again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from ..cases.case import (
    CaseGraph,
    CaseInput,
    CaseOperation,
    FailureCase,
    ResultRef,
    TensorSpec,
    Value,
    references,
    substitute,
    takes_item,
    uses,
)
from .reduction_graph import filled, sensible, substituted, tidy, writes


def removable(case: FailureCase) -> list[str]:
    """Return the names of the operations that can be removed.

    ``get_attr`` operations and items of tuples are not among them: they disappear together with the
    operations that use or produce them.
    """
    many = {item.name for item in case.graph.operations if isinstance(item.spec, (tuple, list))}
    return [
        operation.name
        for operation in case.graph.operations
        if operation.kind != "get_attr" and not (takes_item(operation) and many & set(uses(operation)))
    ]


def without(case: FailureCase, names: Collection[str], *, near: bool) -> FailureCase | None:
    """Return a case without some operations, in which every operation is still used.

    Results of removed operations that are still needed are replaced by new inputs or, with ``near``, by an
    argument of the removed operation with the same spec, if there is one.
    """
    kept = _kept(case.graph, names)
    stand_ins = _ResultReplacements(case, near)
    operations: list[CaseOperation] = []
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


def _with_stand_ins(
    case: FailureCase, operations: list[CaseOperation], stand_ins: _ResultReplacements
) -> FailureCase | None:
    """Return a case with the remaining operations; removed results are replaced."""
    computed = {operation.name for operation in operations}
    outputs: list[Value] = []
    for output in case.graph.outputs:
        value = substitute(output, stand_ins.values)
        gone = any(name in stand_ins.values for name in references(output))
        if not gone or (computed.intersection(references(value)) and value not in outputs):
            outputs.append(value)
    outputs += _unseen(case.graph, operations, outputs)
    if operations and not outputs:
        # All remaining operations write to inputs.
        outputs += [ResultRef(name) for name in uses(operations[-1])][:1]
    # Eager mode forbids in-place writes to a leaf that requires a gradient.
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


class _ResultReplacements:
    """The replacements for results of removed operations, and their new inputs."""

    def __init__(self, case: FailureCase, near: bool) -> None:
        self.specs = {given.name: given.spec for given in case.inputs}
        self.values: dict[str, Value] = {}
        self.inputs: list[CaseInput] = []
        self._near = near
        self._names = {*case.graph.parameters, *(operation.name for operation in case.graph.operations)}
        self._gradient = any(given.spec is not None and given.spec.requires_grad for given in case.inputs)

    def add(self, operation: CaseOperation) -> None:
        """Choose the replacement for the result of a removed operation."""
        near = (
            name for name in uses(operation) if self._near and _alike(self.specs.get(name), operation.spec)
        )
        name = next(near, None)
        self.values[operation.name] = (
            self._new(operation.name, operation.spec) if name is None else ResultRef(name)
        )

    def _new(self, name: str, spec: Any) -> Value:
        """Return a reference to a new input with this spec; return a number unchanged."""
        if isinstance(spec, (tuple, list)):
            return tuple(self._new(self._unused(f"{name}_{i}"), item) for i, item in enumerate(spec))
        if not isinstance(spec, TensorSpec):
            return spec
        spec = replace(spec, requires_grad=spec.requires_grad and self._gradient)
        self.specs[name] = spec
        self.inputs.append(CaseInput(name, spec, filled(spec)))
        return ResultRef(name)

    def _unused(self, name: str) -> str:
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name


def _kept(graph: CaseGraph, names: Collection[str]) -> set[str]:
    """Return the names of the operations that stay.

    An operation in ``names`` stays, too, if its result is used and has no known spec.
    """
    kept: set[str] = set()
    needed: set[str] = set()
    for operation in reversed(graph.operations):
        if operation.name not in names or (operation.spec is None and operation.name in needed):
            kept.add(operation.name)
            needed.update(uses(operation))
    return kept


def _unseen(graph: CaseGraph, operations: list[CaseOperation], outputs: list[Value]) -> list[Value]:
    """Return results that must become outputs so that their operations remain used."""
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
            unseen.append(ResultRef(operation.name))
        seen.update(uses(operation))
    return unseen[::-1]


def _alike(spec: Any, other: Any) -> bool:
    return (
        isinstance(spec, TensorSpec)
        and isinstance(other, TensorSpec)
        and (spec.shape, spec.dtype, spec.device) == (other.shape, other.dtype, other.device)
    )
