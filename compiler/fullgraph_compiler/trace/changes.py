"""What differs between the compilations of a function: their guards, side by side.

A reason for a recompilation says what a guard expected, and not always what it found: that shows in the
guards of the compilation that follows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..facts import GuardFailure, GuardInstalled
from .guards import state_change
from .record import frame_of

VALUES = ("EQUALS_MATCH", "CONSTANT_MATCH")
"""Guards on a value itself."""
TYPE = "type "
"""How guards on a type begin what they expect."""
_LENGTH = "length "
_SAYS_VALUE = (*VALUES, "NONE_MATCH", "TRUE_MATCH", "FALSE_MATCH", "BOOL_MATCH", "RANGE_ITERATOR_MATCH")


def completed(
    failure: GuardFailure, before: Sequence[GuardInstalled], after: Sequence[GuardInstalled]
) -> GuardFailure:
    """The failure with the actual value, where the guards of the next compilation tell it."""
    if failure.kind == "GLOBAL_STATE":
        codes = [next((g.code for g in part if g.kind == failure.kind), "") for part in (before, after)]
        expected, actual = state_change(failure.changed, *codes)
        return replace(failure, expected=expected, actual=actual)
    if failure.actual or not failure.expected or not failure.source or failure.kind == "OBJECT_ALIASING":
        return failure
    guards = [guard for guard in after if guard.source == failure.source]
    return replace(failure, actual=_actual(failure, guards))


def versions(guards: Mapping[str, Sequence[GuardInstalled]]) -> int:
    """How many compilations a cache would hold that drops none, of the frame that has most.

    ``guards`` are those of each compilation, by its id. Two with the same guards are one, compiled again
    since the first was dropped.
    """
    frames: dict[str, set[frozenset[tuple[str, str]]]] = defaultdict(set)
    for compile_id, installed in guards.items():
        frames[frame_of(compile_id)].add(frozenset((guard.kind, guard.code) for guard in installed))
    return max(map(len, frames.values()), default=0)


def _actual(failure: GuardFailure, guards: Sequence[GuardInstalled]) -> str:
    told = {guard.kind: guard.expected for guard in guards}
    if "TENSOR_MATCH" in told:
        return "" if failure.changed else "a tensor"
    if failure.changed == "length":
        return told.get("LENGTH_CHECK", "").removeprefix(_LENGTH)
    value = next((told[kind] for kind in told if kind in _SAYS_VALUE and told[kind] != failure.expected), "")
    if not value and failure.kind in VALUES and told.get("TYPE_MATCH") in ("type int", "type float"):
        return f"any {told['TYPE_MATCH'].removeprefix(TYPE)}"
    return value.removeprefix("is ") or ("" if failure.kind in VALUES else told.get("TYPE_MATCH", ""))
