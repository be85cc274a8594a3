"""Facts about the compiler's caches: what was found, what was not, and what a key is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .capture import GraphNode
from .registry import Fact

CacheName: TypeAlias = Literal["fx-graph", "aot-autograd", "precompile"]
"""A cache of graphs: TorchInductor's ``FxGraphCache``, ``AOTAutogradCache``, the packages of precompiling."""
CacheState: TypeAlias = Literal["hit", "miss", "bypass", "unsaved"]
"""What came of a graph in a cache: ``bypass`` is one that is not looked for, ``unsaved`` one not stored."""


@dataclass(frozen=True, slots=True)
class CacheKeyPart(Fact):
    """A part of keys, reported ahead of the first key that has it: ``items`` are name, hash and text of each.

    ``name`` is torch's (``inductor_config``), empty for what stands alone. Two items are the same if their
    hashes are; their texts may have addresses in them.
    """

    digest: str
    name: str
    items: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class CacheLookup(Fact):
    """A look into a cache for one graph; ``parts`` are the digests of its key's parts, if the key is known.

    ``backward`` is ``None`` where that is not known. ``reason`` is torch's reason for a bypass, and for a
    miss the condition on sizes of the entry that has this key. ``seconds`` of compiling were saved by a hit,
    and taken after a miss. ``nodes`` are the operations of the graph that was missed.
    """

    compile_id: str
    cache: CacheName
    state: CacheState
    key: str = ""
    parts: tuple[str, ...] = ()
    backward: bool | None = None
    reason: str = ""
    has_entry: bool = False
    """Whether a miss found an entry with this key that does not fit."""
    seconds: float | None = None
    nodes: tuple[GraphNode, ...] = ()
    warm: bool = False
    """Whether the program had run just before, and what it stored then is there."""


@dataclass(frozen=True, slots=True)
class SizesRemembered(Fact):
    """A profile of sizes (PGO) that was ``read`` from an earlier run, or ``written``, with its functions."""

    action: Literal["read", "written"]
    place: Literal["local", "remote"]
    functions: int
