"""What is wrong with something that a person wrote for Fullgraph: a value, never an exception."""

from __future__ import annotations

from dataclasses import dataclass

from .positions import Span


@dataclass(frozen=True, slots=True)
class Problem:
    """One clear sentence, and where it belongs."""

    message: str
    span: Span
