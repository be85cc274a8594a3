"""The lookups of graphs in the compiler's caches, as a part of a report."""

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
    """A component in which a key differs from the most similar earlier key.

    ``words`` is a clause that describes the difference. ``before`` and ``after`` are short forms of the
    values; they are empty if torch does not log the values. If the graphs differ, ``span`` is the user's code
    at the first different operation.
    """

    name: str
    before: str
    after: str
    words: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class CacheUse:
    """A lookup in a cache for one graph of a function.

    ``reason`` explains a miss in sentences, or a bypass in a clause; ``hint`` advises what to do.
    ``differences`` compare the key with that of the earlier compilation ``nearest``, which has the fewest
    differences among compilations of the same function and pass. ``of_setting`` is true if a setting, not the
    graph, causes a bypass.
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
        """The id of the compilation that the graph belongs to."""
        return self.lookup.compile_id

    @property
    def cache(self) -> CacheName:
        """The cache in which the graph was looked up."""
        return self.lookup.cache

    @property
    def state(self) -> CacheState:
        """The outcome of the lookup: hit, miss, bypass or unsaved."""
        return self.lookup.state

    @property
    def label(self) -> str:
        """The function and compilation of the graph: ``Net.forward (0/0, backward)``."""
        words = [self.compile_id] if self.compile_id else []
        words += ["backward"] if self.lookup.backward else []
        return f"{self.function} ({', '.join(words)})" if words else self.function

    @property
    def sentences(self) -> str:
        """The outcome of the lookup and the reason, as sentences."""
        name = CACHE_NAMES[self.cache]
        if self.state == "hit":
            return f"Found in the {name}."
        if self.state == "miss":
            return f"Not in the {name}. {self.reason}".rstrip()
        what = "Not stored in" if self.state == "unsaved" else "Left out of"
        return f"{what} the {name}: {self.reason}. {self.hint}".rstrip()


@dataclass(frozen=True, slots=True)
class CacheCount:
    """The numbers of hits, misses and bypasses in one cache."""

    cache: CacheName
    hits: int
    misses: int
    bypasses: int

    @property
    def name(self) -> str:
        """The name of the cache."""
        return CACHE_NAMES[self.cache]


@dataclass(frozen=True, slots=True)
class CacheUses:
    """The lookups of a run in the compiler's caches, in order.

    If the program was started again with warm caches, only the lookups of that start are included.
    """

    uses: tuple[CacheUse, ...] = ()
    sizes: tuple[SizesRemembered, ...] = ()
    """The profiles of sizes (PGO) that the program read or wrote."""
    parts: Mapping[str, CacheKeyPart] = field(default_factory=dict, compare=False, repr=False)
    """The parts of keys by digest; empty if the report will not be compared with another report."""

    @property
    def counts(self) -> tuple[CacheCount, ...]:
        """The numbers of hits, misses and bypasses of each cache that was used.

        A graph that cannot be stored counts as a bypass.
        """
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
        """The misses and bypasses with a known reason, grouped by their sentences."""
        uses: dict[str, tuple[CacheUse, ...]] = {}
        for use in self.lacking:
            if use.reason:
                uses[use.sentences] = (*uses.get(use.sentences, ()), use)
        return uses

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the profiles of sizes (PGO) that were read."""
        return tuple(
            "Sizes that changed in an earlier run are dynamic from the start: "
            f"a {item.place} profile (PGO) of {counted(item.functions, 'function')} was read."
            for item in self.sizes
            if item.action == "read"
        )

    @property
    def warm(self) -> bool:
        """Whether the program was started with caches that its previous start filled."""
        return any(use.lookup.warm for use in self.uses)

    @property
    def stored(self) -> frozenset[str]:
        """The keys that this process did not find in a cache, and then stored."""
        return frozenset(use.lookup.key for use in self.uses if use.state == "miss")

    def has_others(self, stored: Collection[str]) -> bool:
        """Return whether a cache already had entries when the run started.

        ``stored`` are the keys that the run itself stored: a hit with another key shows such an entry.
        """
        found = {use.lookup.key for use in self.uses if use.state == "hit"}
        return self.warm or bool(found.difference(stored, ("",)))

    @property
    def lacking(self) -> tuple[CacheUse, ...]:
        """The misses and bypasses of caches.

        An outcome of the AOTAutograd cache is left out if the FX graph cache has the same outcome and reason.
        """
        said = {(use.compile_id, use.state, _cause(use)) for use in self.uses if use.cache == "fx-graph"}
        return tuple(
            use
            for use in self.uses
            if use.state != "hit"
            and not (use.cache == "aot-autograd" and (use.compile_id, use.state, _cause(use)) in said)
        )


def labels(uses: Sequence[CacheUse]) -> str:
    """List the labels of the first graphs, and the number of further graphs."""
    more = len(uses) - _MOST_LABELS
    return ", ".join(use.label for use in uses[:_MOST_LABELS]) + (f" and {more} more" if more > 0 else "")


def _cause(use: CacheUse) -> str:
    return use.reason if use.state == "bypass" else ""
