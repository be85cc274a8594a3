"""Findings while further facts may still add to them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..text.markdown import code_span
from .model import Finding


@dataclass(slots=True)
class FindingBuilder:
    """A finding, and what several facts add to it."""

    finding: Finding
    compile_ids: set[str] = field(default_factory=set)
    eager: str = ""
    """The function that runs eagerly because of it."""


def finished(builder: FindingBuilder) -> Finding:
    """Build the finding."""
    compile_ids = frozenset(builder.compile_ids)
    finding = replace(builder.finding, count=max(len(compile_ids), 1), compile_ids=compile_ids)
    if builder.eager:
        finding = replace(
            finding,
            message=f"{finding.message.rstrip('.')}; the whole of {code_span(builder.eager)} runs eagerly",
        )
    return finding


def by_place(finding: Finding) -> tuple[str, int, int, str, str]:
    """Return the sort key of a finding: by file and place."""
    span = finding.span
    return (span.filename, span.row, span.column, finding.code, finding.message)
