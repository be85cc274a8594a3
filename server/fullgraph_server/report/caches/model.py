"""What came of each graph in the compiler's caches: a part of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from fullgraph_compiler.facts import CacheKeyPart, CacheLookup, CacheName, CacheState, SizesRemembered

from ...text.caches import CACHE_NAMES
from ...text.messages import counted
from ...workspace.positions import Span

_MOST_LABELS: Final = 4


@dataclass(frozen=True, slots=True)
class KeyDifference:
    """A component in which a key differs from the nearest earlier one, in a clause.

    ``before`` and ``after`` are both values in short; they are empty where torch's texts of them say nothing.
    ``span`` is the user's code behind the first operation in which graphs differ.
    """

    name: str
    before: str
    after: str
    words: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class CacheUse:
    """A look into a cache for one graph of a function.

    ``reason`` is what is known of a miss, in sentences, or a clause about a bypass; ``hint`` is what to do.
    ``nearest`` is the compilation whose key ``differences`` compare it with: of the same function and pass,
    the one with the fewest differences. ``of_setting`` says that a bypass is due to a setting, not the graph.
    """

    lookup: CacheLookup
    function: str
    span: Span
    reason: str = ""
    hint: str = ""
    nearest: str = ""
    differences: tuple[KeyDifference, ...] = ()
    of_setting: bool = False

    @property
    def compile_id(self) -> str:
        """The compilation of its graph."""
        return self.lookup.compile_id

    @property
    def cache(self) -> CacheName:
        """The cache."""
        return self.lookup.cache

    @property
    def state(self) -> CacheState:
        """What came of it."""
        return self.lookup.state

    @property
    def label(self) -> str:
        """Which graph it is of: ``Net.forward (0/0, backward)``."""
        words = [self.compile_id] if self.compile_id else []
        words += ["backward"] if self.lookup.backward else []
        return f"{self.function} ({', '.join(words)})" if words else self.function

    @property
    def sentences(self) -> str:
        """What came of it, and why."""
        name = CACHE_NAMES[self.cache]
        if self.state == "hit":
            return f"Found in the {name}."
        if self.state == "miss":
            return f"Not in the {name}. {self.reason}".rstrip()
        what = "Not stored in" if self.state == "unsaved" else "Left out of"
        return f"{what} the {name}: {self.reason}. {self.hint}".rstrip()


@dataclass(frozen=True, slots=True)
class CacheCount:
    """The number of graphs by what came of them in a cache."""

    cache: CacheName
    hits: int
    misses: int
    bypasses: int

    @property
    def name(self) -> str:
        """The name of the cache."""
        return CACHE_NAMES[self.cache]


@dataclass(frozen=True, slots=True)
class Caches:
    """All uses of caches, in their order: of a start with warm caches only those, if there was one."""

    uses: tuple[CacheUse, ...] = ()
    sizes: tuple[SizesRemembered, ...] = ()
    """The profiles of sizes (PGO) that were read or written."""
    parts: Mapping[str, CacheKeyPart] = field(default_factory=dict, compare=False, repr=False)
    """The parts of keys by digest, of a report that can be compared with another one."""

    @property
    def counts(self) -> tuple[CacheCount, ...]:
        """The counts of each cache that was used; a graph that cannot be stored counts as a bypass."""
        states = Counter((use.cache, use.state) for use in self.uses)
        used = {cache for cache, _ in states}
        return tuple(
            CacheCount(
                cache,
                states[cache, "hit"],
                states[cache, "miss"],
                states[cache, "bypass"] + states[cache, "unsaved"],
            )
            for cache in CACHE_NAMES
            if cache in used
        )

    @property
    def explained(self) -> Mapping[str, tuple[CacheUse, ...]]:
        """The misses and bypasses of which something is known, by what that is."""
        uses: dict[str, tuple[CacheUse, ...]] = {}
        for use in self.lacking:
            if use.reason:
                uses[use.sentences] = (*uses.get(use.sentences, ()), use)
        return uses

    @property
    def notes(self) -> tuple[str, ...]:
        """What was read of earlier runs beside graphs."""
        return tuple(
            "Sizes that changed in an earlier run are dynamic from the start: "
            f"a {item.place} profile (PGO) of {counted(item.functions, 'function')} was read."
            for item in self.sizes
            if item.action == "read"
        )

    @property
    def warm(self) -> bool:
        """Whether these are the uses of a start with the caches of the start before."""
        return any(use.lookup.warm for use in self.uses)

    @property
    def stored(self) -> frozenset[str]:
        """The keys that this process missed, and then stored."""
        return frozenset(use.lookup.key for use in self.uses if use.state == "miss")

    def has_others(self, stored: Collection[str]) -> bool:
        """Tell whether a cache had entries at the start: of other keys than those ``stored`` since."""
        found = {use.lookup.key for use in self.uses if use.state == "hit"}
        return self.warm or bool(found.difference(stored, ("",)))

    @property
    def lacking(self) -> tuple[CacheUse, ...]:
        """The misses and bypasses, without AOTAutograd's where the other cache says the same."""
        said = {(use.compile_id, use.state, _cause(use)) for use in self.uses if use.cache == "fx-graph"}
        return tuple(
            use
            for use in self.uses
            if use.state != "hit"
            and not (use.cache == "aot-autograd" and (use.compile_id, use.state, _cause(use)) in said)
        )


def labels(uses: Sequence[CacheUse]) -> str:
    """List graphs, the first ones by name."""
    more = len(uses) - _MOST_LABELS
    return ", ".join(use.label for use in uses[:_MOST_LABELS]) + (f" and {more} more" if more > 0 else "")


def _cause(use: CacheUse) -> str:
    return use.reason if use.state == "bypass" else ""
