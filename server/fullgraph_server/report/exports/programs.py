"""Exported programs, and the sizes that they accept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fullgraph_compiler.facts import GraphCaptured, ProgramExported, SizeRange

from ...text.size_expressions import written_size
from ..facts_by_type import FactsByType
from ..model import ExportedProgram
from ..source_locator import FactLocator

_UNLIMITED: Final = "int_oo"


def exported_programs(facts: FactsByType, places: FactLocator) -> tuple[ExportedProgram, ...]:
    """List the exported programs of a run, in the order of the exports."""
    ops = {fact.compile_id: len(fact.nodes) for fact in facts.of(GraphCaptured)}
    return tuple(
        ExportedProgram(
            fact.compile_id,
            places.name_of(fact.compile_id),
            ops.get(fact.compile_id, 0),
            tuple(_sizes(fact)),
        )
        for fact in facts.of(ProgramExported)
    )


def _sizes(fact: ProgramExported) -> Iterator[str]:
    """Yield the range of each size that has a name in user code: ``2 <= x.shape[0]``."""
    for item in fact.ranges:
        if name := written_size(item.symbol.source):
            yield _range(name, item)


def _range(name: str, item: SizeRange) -> str:
    lower = f"{item.lower} <= " if item.lower not in ("0", f"-{_UNLIMITED}") else ""
    upper = f" <= {item.upper}" if item.upper != _UNLIMITED else ""
    return f"{lower}{name}{upper}" if lower or upper else f"any {name}"
