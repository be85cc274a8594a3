"""Mistakes in text that the user wrote for Fullgraph: values, never exceptions."""

from __future__ import annotations

from dataclasses import dataclass

from .positions import Span


@dataclass(frozen=True, slots=True)
class Problem:
    """One clear sentence, and its place."""

    message: str
    span: Span
