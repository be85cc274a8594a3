"""Tensors that variables hold, by assignment and compilation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fullgraph_compiler.facts import NamedTensor, StackFrame, TensorsNamed
from fullgraph_compiler.trace import frame_of

from ...text.source_names import compile_number
from ...workspace.names import AssignmentTarget, name_targets
from ...workspace.workspace import Workspace
from ..facts_by_type import FactsByType
from ..model import HeldTensors, TensorName


@dataclass(slots=True)
class _AssignedTensors:
    """An assignment target, with the tensors that each compilation assigns to it."""

    target: AssignmentTarget
    held: dict[str, list[NamedTensor]] = field(default_factory=dict)


def tensor_names(facts: FactsByType, workspace: Workspace) -> tuple[TensorName, ...]:
    """Return the workspace's variables that hold tensors, sorted by file and place."""
    named = facts.by_compile_id(TensorsNamed)
    places: dict[tuple[StackFrame, str, bool], _AssignedTensors | None] = {}
    for compile_id in sorted(named, key=compile_number):
        for tensor in named[compile_id].tensors:
            key = (tensor.frame, tensor.name, tensor.parameter)
            if key not in places:
                target = _target(tensor, workspace)
                places[key] = _AssignedTensors(target) if target else None
            if (place := places[key]) is not None:
                place.held.setdefault(compile_id, []).append(tensor)
    names = (_name(place, named) for place in places.values() if place is not None)
    return tuple(
        sorted(filter(None, names), key=lambda name: (name.span.filename, name.span.row, name.span.column))
    )


def _target(tensor: NamedTensor, workspace: Workspace) -> AssignmentTarget | None:
    frame = tensor.frame
    source = workspace.own_source(frame.filename)
    if source is None:
        return None
    targets = name_targets(source)
    if tensor.parameter:
        return targets.parameter(frame.row, frame.function, tensor.name)
    return targets.stored(frame.row, frame.column, tensor.name)


def _name(place: _AssignedTensors, named: Mapping[str, TensorsNamed]) -> TensorName | None:
    """Return the tensors to show at an assignment target.

    Return ``None`` if the newest compilation of a frame also assigns a value that is not a tensor.
    """
    # A recompilation replaces earlier compilations of the frame; several frames can run the same code.
    newest = {frame_of(compile_id): compile_id for compile_id in place.held}
    held = {
        compile_id: HeldTensors(compile_id, tuple(tensors), named[compile_id].symbols)
        for compile_id, tensors in place.held.items()
        if all(tensor.tensor for tensor in tensors)
    }
    if not all(compile_id in held for compile_id in newest.values()):
        return None
    shown = dict.fromkeys(tensor for compile_id in newest.values() for tensor in held[compile_id].tensors)
    target = place.target
    return TensorName(target.span, target.annotated, target.statement, tuple(shown), tuple(held.values()))
