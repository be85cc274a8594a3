"""Differences between the compilations of a function, derived from their guards.

A reason for a recompilation says what a guard expected, but not always the actual value. The guards of the
next compilation show the actual value.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..facts import GuardFailure, GuardInstalled
from .causes import NUMBER, guarded_value
from .decoding import is_formula
from .guards import METADATA, state_change
from .reasons import FREED
from .record import frame_of

VALUES = ("EQUALS_MATCH", "CONSTANT_MATCH")
"""Kinds of guards on a value itself."""
TYPE = "type "
"""The prefix of the expected value of a guard on a type."""
LENGTH = "length "
_ANY = {"type int": "any int", "type float": "any float"}
"""What a guard on a type accepts, in words, if the guard of the earlier compilation was on the value."""
_STEP = re.compile(r"[.\[]")
_SHAPE = re.compile(r"shape \[([^\[\]]*)\]")
_SAYS_VALUE = (
    *VALUES,
    "NONE_MATCH",
    "TRUE_MATCH",
    "FALSE_MATCH",
    "BOOL_MATCH",
    "RANGE_ITERATOR_MATCH",
    NUMBER,
)


_OF_IDENTITY = ("OBJECT_ALIASING", FREED)
"""Kinds of guards on the identity of a value: no later guard shows the new identity."""
SAME_TENSOR = ("the same object (torch.Tensor)", "the same object (torch.nn.parameter.Parameter)")
"""The expected values of guards on a tensor's identity, in code that uses ``id`` or the like."""


def completed(
    failure: GuardFailure, before: Sequence[GuardInstalled], after: Sequence[GuardInstalled]
) -> GuardFailure:
    """Return a failure, completed with its actual value.

    The value comes from the guards of the next compilation. If these do not show the value, the failure is
    unchanged.
    """
    if failure.kind == "GLOBAL_STATE":
        codes = [next((g.code for g in part if g.kind == failure.kind), "") for part in (before, after)]
        expected, actual = state_change(failure.changed, *codes)
        return replace(failure, expected=expected, actual=actual)
    if failure.actual or not failure.expected or not failure.source or failure.kind in _OF_IDENTITY:
        return failure
    guards = [guard for guard in after if guarded_value(guard) == failure.source]
    return replace(failure, actual=_actual(failure, guards))


def changed_with(
    failure: GuardFailure,
    before: Sequence[GuardInstalled],
    after: Sequence[GuardInstalled],
    *,
    follows: bool,
) -> list[GuardFailure]:
    """Return guards on other values that changed together with the failure's value.

    These guards would have failed if ``failure`` had not come first. ``before`` are the guards of the
    compilation that does not fit, ``after`` those of the next compilation. ``follows`` says that there was no
    compilation in between: only then a number that became dynamic has certainly changed. Sizes of tensors are
    left out.
    """
    later: dict[str, list[GuardInstalled]] = defaultdict(list)
    for guard in after:
        later[guarded_value(guard)].append(guard)
    found: dict[str, GuardFailure] = {}
    for guard in before:
        source = guarded_value(guard)
        if source and _tells_change(guard) and not _is_within(source, failure.source):
            length = guard.kind == "LENGTH_CHECK"
            expected = guard.expected.removeprefix(LENGTH) if length else guard.expected.removeprefix("is ")
            own = GuardFailure(
                failure.compile_id, source, guard.kind, guard.code, expected, stack=guard.stack
            )
            whole = completed(replace(own, changed="length" if length else ""), (), later[source])
            is_known = (follows and guard.kind in VALUES) or whole.actual not in _ANY.values()
            if is_known and whole.actual not in ("", expected):
                found.setdefault(source, whole)
    return [item for source, item in found.items() if found.keys().isdisjoint(_owners(source))]


def versions(guards: Mapping[str, Sequence[GuardInstalled]]) -> int:
    """Return the largest number of different compilations of one frame.

    Without a recompile limit, the program needs a cache of this size. ``guards`` has the guards of each
    compilation by its id. Compilations with the same guards count once: the later compilation was needed only
    because the cache had dropped the earlier one.
    """
    frames: dict[str, set[frozenset[tuple[str, str]]]] = defaultdict(set)
    for compile_id, installed in guards.items():
        frames[frame_of(compile_id)].add(frozenset((guard.kind, guard.code) for guard in installed))
    return max(map(len, frames.values()), default=0)


def _actual(failure: GuardFailure, guards: Sequence[GuardInstalled]) -> str:
    known = (guard for guard in guards if guard.kind != NUMBER or not is_formula(guard.expected))
    expected = {guard.kind: guard.expected for guard in known}
    if failure.kind == METADATA:
        return expected.get(METADATA, "")
    if "TENSOR_MATCH" in expected:
        if failure.changed == "size":
            return _size(expected["TENSOR_MATCH"], failure.dimension)
        return "" if failure.changed or failure.expected in SAME_TENSOR else "a tensor"
    if failure.changed == "length":
        length = expected.get("LENGTH_CHECK")
        return "0" if length == "" else (length or "").removeprefix(LENGTH)
    said = (value for kind, value in expected.items() if kind in _SAYS_VALUE or _is_member(kind, value))
    values = (value for value in said if value != failure.expected)
    value = next(values, "")
    if not value and failure.kind != "TYPE_MATCH":
        value = _ANY.get(expected.get("TYPE_MATCH", ""), "")
    return value.removeprefix("is ") or ("" if failure.kind in VALUES else expected.get("TYPE_MATCH", ""))


def _size(tensor: str, dimension: int | None) -> str:
    """Return the size that a guard on a tensor expects; empty for a dynamic size."""
    shape = _SHAPE.search(tensor)
    sizes = shape[1].split(", ") if shape else []
    size = sizes[dimension] if dimension is not None and dimension < len(sizes) else ""
    return size if size.isdecimal() else ""


def _is_member(kind: str, expected: str) -> bool:
    """Return whether a guard on an object's identity names the expected enum member."""
    return kind == "ID_MATCH" and not expected.startswith("the same ")


def _tells_change(guard: GuardInstalled) -> bool:
    """Return whether a guard shows its expected value, so that guards can be compared."""
    return guard.kind in (*_SAYS_VALUE, "LENGTH_CHECK") or _is_member(guard.kind, guard.expected)


def _is_within(source: str, other: str) -> bool:
    """Return whether two values are the same, or one value is a part of the other."""
    return source == other or source in _owners(other) or other in _owners(source)


def _owners(source: str) -> list[str]:
    """Return the owners of a value: ``L['x'].y`` and ``L['x']`` for ``L['x'].y[0]``."""
    return [source[: step.start()] for step in _STEP.finditer(source)]
