"""What a test asks for: the arguments of the marker, and of the fixture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Limits:
    """How often the graph may break and be compiled again, and how many graphs there have to be."""

    breaks: int = 0
    recompiles: int = 0
    graphs: int | None = None
    """``None`` for any number but none."""
    own_code: bool = False
    """Whether breaks in libraries do not count."""


def limits_of(positional: Sequence[Any], named: Mapping[str, Any]) -> Limits:
    """Return the limits that arguments set. Raises ``TypeError`` with a sentence for the user."""
    __tracebackhide__ = True
    known = [field.name for field in fields(Limits)]
    if positional:
        raise TypeError(f"fullgraph takes its arguments by name, such as breaks={positional[0]!r}")
    for name, value in named.items():
        if name not in known:
            raise TypeError(f"fullgraph has no argument {name!r}: it has {', '.join(known)}")
        if wanted := _wanted(name, value):
            raise TypeError(f"{name} of fullgraph is {wanted}, not {value!r}")
    return Limits(**named)


def _wanted(name: str, value: Any) -> str:
    """Return what an argument has to be, if the value is something else."""
    if name == "own_code":
        return "" if isinstance(value, bool) else "True or False"
    if name == "graphs" and value is None:
        return ""
    is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return "" if is_number else "a number from 0 on"
