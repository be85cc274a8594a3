"""Findings while further facts may still add to them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..text.visible import without_addresses
from .model import Finding


@dataclass(slots=True)
class FindingBuilder:
    """A finding, and what several facts add to it."""

    finding: Finding
    compile_ids: set[str] = field(default_factory=set)
    eager: str = ""
    """What runs eagerly because of it, as a clause."""


def finished(builder: FindingBuilder) -> Finding:
    """Build the finding."""
    compile_ids = frozenset(builder.compile_ids)
    finding = builder.finding
    message = f"{finding.message.rstrip('.')}; {builder.eager}" if builder.eager else finding.message
    return replace(
        finding,
        message=without_addresses(message),
        explanation=without_addresses(finding.explanation),
        hints=tuple(map(without_addresses, finding.hints)),
        text=without_addresses(finding.text),
        count=max(len(compile_ids), 1),
        compile_ids=compile_ids,
    )


def by_place(finding: Finding) -> tuple[str, int, int, str, str]:
    """Return the sort key of a finding: by file and place."""
    span = finding.span
    return (span.filename, span.row, span.column, finding.code, finding.message)
