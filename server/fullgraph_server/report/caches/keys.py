"""The differences between two cache keys."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from fullgraph_compiler.facts import CacheKeyPart, CacheLookup, StackFrame
from fullgraph_compiler.trace.graphs import parse_inputs

from ...text import caches as words
from ...workspace.positions import Span
from .model import KeyDifference

_MOST_COMPARED: Final = 16
Parts: TypeAlias = Mapping[str, CacheKeyPart]
"""The parts of cache keys, by the digest of the part."""
Locate: TypeAlias = Callable[[StackFrame], Span | None]
"""A function that returns the place of a frame's user code; ``None`` for code of a library."""
_Items: TypeAlias = dict[tuple[str, str], tuple[str, str]]
"""The hash and the text of each item, by the name of the component and the name of the item."""


def nearest_key(lookup: CacheLookup, others: Sequence[CacheLookup], parts: Parts) -> CacheLookup:
    """Return the one of ``others`` whose key has the fewest differences to ``lookup``.

    Only the newest of ``others`` are compared.
    """
    newest = others[-_MOST_COMPARED:]
    return min(reversed(newest), key=lambda other: len(differing(other, lookup, parts)))


def differing(before: CacheLookup, after: CacheLookup, parts: Parts) -> list[tuple[str, str]]:
    """List the items whose hashes differ in two keys: pairs of component and item."""
    one, other = _items(before, after, parts), _items(after, before, parts)
    return [name for name in {**one, **other} if one.get(name, ("",))[0] != other.get(name, ("",))[0]]


def _items(lookup: CacheLookup, beside: CacheLookup, parts: Parts) -> _Items:
    """Return the items in those parts of a key that the key of ``beside`` lacks."""
    items: _Items = {}
    for digest in lookup.parts:
        part = parts.get(digest)
        if part is None or digest in beside.parts:
            continue
        for name, value, text in part.items:
            items[(part.name, name) if part.name else (name, "")] = (value, text)
    return items


def differences(
    before: CacheLookup, after: CacheLookup, parts: Parts, locate: Locate
) -> tuple[KeyDifference, ...]:
    """Describe how two keys differ; differences that cause other ones come first."""
    one, other = _items(before, after, parts), _items(after, before, parts)
    inputs = _group(before, "example_inputs", parts), _group(after, "example_inputs", parts)
    names = differing(before, after, parts)
    if sum(component == "system_info" for component, _ in names) > 1:
        names = [name for name in names if name != ("system_info", "hash")]  # a hash of the other items
    if ("torch_version", "") in names:
        names = [name for name in names if name in one and name in other]  # versions differ in items
    other_inputs = len(inputs[0]) != len(inputs[1])
    if other_inputs:
        names = [name for name in names if name[0] != "example_inputs"] + [("example_inputs", "")]
    labels = parse_inputs(_code(after, parts))
    found = []
    for component, item in sorted(names, key=lambda name: words.order_of(name[0])):
        old, new = (items.get((component, item), ("", None))[1] for items in (one, other))
        if component == "gm":
            if not (other_inputs and words.same_operations(old or "", new or "")):
                found.append(_graph(old or "", new or "", after, locate))
        elif component == "example_inputs" and not item:
            found.append(KeyDifference(*words.number_of_inputs(*inputs)))
        else:
            label = item
            if component == "example_inputs" and item.isdigit() and int(item) < len(labels):
                label = labels[int(item)]
            found.append(KeyDifference(*words.difference(component, label, old, new)))
    return tuple(found)


def _graph(before: str, after: str, lookup: CacheLookup, locate: Locate) -> KeyDifference:
    """Describe the first operation in which two graphs differ, with the user's code."""
    old, new, name = words.operations_apart(before, after)
    frame = next((node.frame for node in lookup.nodes if node.name == name), None)
    span = locate(frame) if frame else None
    at = f" ({os.path.basename(span.filename)}:{span.row})" if span else ""
    return KeyDifference(
        "the graph", old, new, words.graph_sentence(old, new, same_code=before == after) + at, span
    )


def _group(lookup: CacheLookup, name: str, parts: Parts) -> tuple[str, ...]:
    """Return the texts of the items in one component of a key."""
    found = (part for digest in lookup.parts if (part := parts.get(digest)) and part.name == name)
    return tuple(text for part in found for _, _, text in part.items)


def _code(lookup: CacheLookup, parts: Parts) -> str:
    """Return the code of the graph in a lookup's key; empty if unknown."""
    alone = (part for digest in lookup.parts if (part := parts.get(digest)) and not part.name)
    return next((text for part in alone for name, _, text in part.items if name == "gm"), "")
