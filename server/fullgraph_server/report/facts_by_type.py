"""Facts of a run, grouped by their type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Protocol, TypeVar

from fullgraph_compiler.facts import Fact


class _CompilationFact(Protocol):
    @property
    def compile_id(self) -> str: ...


_T = TypeVar("_T")
_C = TypeVar("_C", bound=_CompilationFact)


class FactsByType:
    """The facts of a run: ``all`` facts, and the facts of each type, in order."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.all = tuple(facts)
        self._by_type: dict[type, list[Fact]] = {}
        for fact in self.all:
            self._by_type.setdefault(type(fact), []).append(fact)

    def of(self, kind: type[_T]) -> tuple[_T, ...]:
        """Return the facts of a type, in order."""
        return tuple(self._by_type.get(kind, ()))  # type: ignore[arg-type]

    def first(self, kind: type[_T]) -> _T | None:
        """Return the first fact of a type."""
        return next(iter(self.of(kind)), None)

    def last(self, kind: type[_T]) -> _T | None:
        """Return the last fact of a type, which is the most complete."""
        return next(reversed(self.of(kind)), None)

    def by_compile_id(self, kind: type[_C]) -> dict[str, _C]:
        """Map compile ids to facts of a type.

        If a compilation has several facts of the type, because it was attempted again, the last fact counts.
        """
        return {fact.compile_id: fact for fact in self.of(kind)}

    def lists_by_compile_id(self, kind: type[_C]) -> defaultdict[str, list[_C]]:
        """Map each compile id to all of its facts of a type."""
        lists: defaultdict[str, list[_C]] = defaultdict(list)
        for fact in self.of(kind):
            lists[fact.compile_id].append(fact)
        return lists
