"""The search for the installed guard that a reason for a recompilation is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..facts import GuardInstalled, Stack
from .guards import strip_locals
from .reasons import RecompileReason

NUMBER: Final = "LAMBDA_GUARD"
"""The kind of a guard on a dynamic number."""


def guard_behind(reason: RecompileReason, guards: Sequence[GuardInstalled]) -> GuardInstalled | None:
    """Return the guard that a reason quotes, else the guard on the tensor it names.

    The reason quotes the code of the guard.
    """
    same = (guard for guard in guards if reason.text in (guard.code, strip_locals(guard.code)))
    return next(same, None) or guard_on(reason.change.name, guards, kind="TENSOR_MATCH")


def guarded_value(guard: GuardInstalled) -> str:
    """Return the guarded expression.

    For a guard on a dynamic number, only the code of the guard contains it.
    """
    number = guard.code.removesuffix(f" == {guard.expected}")
    return number if guard.kind == NUMBER and number != guard.code else guard.source


def guard_on(name: str, guards: Sequence[GuardInstalled], kind: str = "") -> GuardInstalled | None:
    """Return the first guard on an expression.

    ``name`` is the expression in torch's shortened form, as in a reason.
    """
    named = (guard for guard in guards if name and strip_locals(guard.source) == name)
    return next((guard for guard in named if kind in ("", guard.kind)), None)


def stack_around(name: str, guards: Sequence[GuardInstalled]) -> Stack:
    """Return the stack of the first use of a value without a guard.

    The guards on its owner or parts show it.
    """
    if not name:
        return ()
    stacks = {strip_locals(guard.source): guard.stack for guard in guards if guard.stack}
    holders = [s for s in stacks if not s.isidentifier() and name.startswith((f"{s}.", f"{s}["))]
    parts = [source for source in stacks if name in source]
    nearest = max(holders, key=len, default="") or next(iter(parts), "")
    return stacks.get(nearest, ())
