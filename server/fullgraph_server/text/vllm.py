"""The parts of a graph that vLLM compiled, and the sizes they were compiled for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from fullgraph_compiler.facts import VllmConfigured, VllmPartCompiled, VllmSplit

from .messages import counted
from .tables import aligned

_MOST_NAMES = 3
Sizes: TypeAlias = tuple[tuple[int, int], ...]
"""Ranges of sizes: pairs of the first and the last size."""


@dataclass(frozen=True, slots=True)
class VllmGraph:
    """A graph that vLLM split.

    ``parts`` are the graph's submodules in order, each with the sizes it was compiled for.
    """

    configured: VllmConfigured
    parts: tuple[tuple[str, Sizes], ...] = ()


def vllm_graphs(facts: Iterable[object]) -> tuple[VllmGraph, ...]:
    """Return the graphs that vLLM split, in the order of their compilations."""
    graphs: dict[str, VllmGraph] = {}
    for fact in facts:
        if isinstance(fact, VllmConfigured):
            graphs[fact.compile_id] = VllmGraph(fact)
        elif isinstance(fact, (VllmSplit, VllmPartCompiled)) and fact.compile_id in graphs:
            graph = graphs[fact.compile_id]
            graphs[fact.compile_id] = replace(graph, parts=_parts(dict(graph.parts), fact))
    return tuple(graphs.values())


def _parts(parts: dict[str, Sizes], fact: VllmSplit | VllmPartCompiled) -> tuple[tuple[str, Sizes], ...]:
    if isinstance(fact, VllmSplit):
        return tuple((name, parts.get(name, ())) for name in fact.submodules)
    sizes = parts.get(fact.submodule, ())
    parts[fact.submodule] = tuple(dict.fromkeys((*sizes, (fact.first, fact.last))))
    return tuple(parts.items())


def vllm_lines(graph: VllmGraph) -> Iterator[str]:
    """Yield a heading, then a line for each group of parts with the same sizes."""
    configured = graph.configured
    name = " ".join(filter(None, ("vLLM:", configured.model, configured.prefix and f"({configured.prefix})")))
    splits = f", split at {', '.join(configured.splitting)}" if configured.splitting else ""
    yield f"{name} in {counted(len(graph.parts), 'part')}{splits}; CUDA graphs: {configured.cudagraphs}"
    alike: dict[Sizes, list[str]] = {}
    for part, sizes in graph.parts:
        alike.setdefault(sizes, []).append(part)
    rows = [(f"  {_names(parts)}", size_words(sizes)) for sizes, parts in alike.items()]
    yield from aligned(rows, "<<") if rows else ()


def size_words(sizes: Sizes) -> str:
    """Write ``compiled for the sizes 1 to 8192, 8``, or ``not compiled``."""
    if not sizes:
        return "not compiled"
    words = ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in sizes)
    return f"compiled for the sizes {words}"


def _names(parts: list[str]) -> str:
    more = len(parts) - _MOST_NAMES
    return ", ".join(parts) if more <= 1 else f"{', '.join(parts[:_MOST_NAMES])} and {more} more"
