"""The search for the installed guard to which a reason for a recompilation refers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..facts import GuardInstalled, Stack
from .guards import strip_locals
from .reasons import RecompileReason

NUMBER: Final = "LAMBDA_GUARD"
"""The kind of a guard on a dynamic number."""


def guard_behind(reason: RecompileReason, guards: Sequence[GuardInstalled]) -> GuardInstalled | None:
    """Return the guard that a reason quotes, or else the guard on the named tensor.

    The reason quotes the code of the guard, or names the tensor.
    """
    same = (guard for guard in guards if reason.text in (guard.code, strip_locals(guard.code)))
    return next(same, None) or guard_on(reason.change.name, guards, kind="TENSOR_MATCH")


def guarded_value(guard: GuardInstalled) -> str:
    """Return the expression that a guard checks.

    For a guard on a dynamic number, the expression is only in the code of the guard.
    """
    number = guard.code.removesuffix(f" == {guard.expected}")
    return number if guard.kind == NUMBER and number != guard.code else guard.source


def guard_on(name: str, guards: Sequence[GuardInstalled], kind: str = "") -> GuardInstalled | None:
    """Return the first guard on an expression, of any kind or of ``kind``.

    ``name`` is the expression in torch's shortened form, as in a reason.
    """
    named = (guard for guard in guards if name and strip_locals(guard.source) == name)
    return next((guard for guard in named if kind in ("", guard.kind)), None)


def stack_around(name: str, guards: Sequence[GuardInstalled]) -> Stack:
    """Return the stack of the first use of a value that has no guard.

    The stack is that of a guard on the value's owner, or else on a part of the value.
    """
    if not name:
        return ()
    stacks = {strip_locals(guard.source): guard.stack for guard in guards if guard.stack}
    holders = [s for s in stacks if not s.isidentifier() and name.startswith((f"{s}.", f"{s}["))]
    parts = [source for source in stacks if name in source]
    nearest = max(holders, key=len, default="") or next(iter(parts), "")
    return stacks.get(nearest, ())
