"""Facts about the compiler's caches: hits, misses, bypasses, and parts of keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .capture import GraphNode
from .registry import Fact

CacheName: TypeAlias = Literal["fx-graph", "aot-autograd", "precompile"]
"""A cache of graphs: TorchInductor's ``FxGraphCache``, ``AOTAutogradCache``, or packages of precompile."""
CacheState: TypeAlias = Literal["hit", "miss", "bypass", "unsaved"]
"""The outcome for a graph: ``bypass`` if the cache is not searched, ``unsaved`` if the graph is not
stored."""


@dataclass(frozen=True, slots=True)
class CacheKeyPart(Fact):
    """A part of cache keys, reported before the first key that contains the part.

    Each of ``items`` is a name, a hash and a text. ``name`` is torch's name of the part
    (``inductor_config``), empty for an item that belongs to no named part. Two items are equal if their
    hashes are; their texts may contain addresses.
    """

    digest: str
    name: str
    items: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class CacheLookup(Fact):
    """A lookup of one graph in a cache.

    ``parts`` are the digests of the parts of the graph's key, if the key is known. ``backward`` is ``None``
    if unknown. ``reason`` is torch's reason for a bypass; for a miss, it is the condition on sizes of the
    cache entry with the same key. ``seconds`` is the compile time that a hit saved or that followed a miss.
    ``nodes`` are the operations of a graph that missed.
    """

    compile_id: str
    cache: CacheName
    state: CacheState
    key: str = ""
    parts: tuple[str, ...] = ()
    backward: bool | None = None
    reason: str = ""
    has_entry: bool = False
    """Whether a miss found an entry with the same key whose condition on sizes does not hold."""
    seconds: float | None = None
    nodes: tuple[GraphNode, ...] = ()
    warm: bool = False
    """Whether an earlier run of the program had just filled the cache."""


@dataclass(frozen=True, slots=True)
class SizesRemembered(Fact):
    """A profile of sizes (PGO), ``read`` from an earlier run or ``written``.

    ``functions`` is the number of functions in the profile.
    """

    action: Literal["read", "written"]
    place: Literal["local", "remote"]
    functions: int
