"""The limits that a test sets: the arguments of the marker and of the fixture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class CompileLimits:
    """A test's allowed graph breaks and recompilations, and required graph count."""

    breaks: int = 0
    recompiles: int = 0
    graphs: int | None = None
    """The required number of graphs; ``None`` for one or more."""
    own_code: bool = False
    """Whether graph breaks in libraries are not counted."""


def limits_of(positional: Sequence[Any], named: Mapping[str, Any]) -> CompileLimits:
    """Return the limits that the arguments of marker or fixture set.

    Raises ``TypeError`` with a message for the user.
    """
    __tracebackhide__ = True
    known = [field.name for field in fields(CompileLimits)]
    if positional:
        raise TypeError(f"fullgraph takes only keyword arguments, such as breaks={positional[0]!r}")
    for name, value in named.items():
        if name not in known:
            raise TypeError(f"fullgraph has no argument {name!r}: it has {', '.join(known)}")
        if wanted := _wanted(name, value):
            raise TypeError(f"{name} of fullgraph must be {wanted}, not {value!r}")
    return CompileLimits(**named)


def _wanted(name: str, value: Any) -> str:
    """Describe the values that an argument accepts; empty if ``value`` is valid."""
    if name == "own_code":
        return "" if isinstance(value, bool) else "True or False"
    if name == "graphs" and value is None:
        return ""
    is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return "" if is_number else "a whole number, 0 or more"
