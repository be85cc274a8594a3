"""Reader of records about the compiler's caches.

``torch/_inductor/compile_fx.py`` emits ``fx_graph_cache_...``, ``torch/_functorch/_aot_autograd`` emits
``aotautograd_cache_...`` and, for a graph in its own cache, ``fx_graph_cache_...``. ``torch/_dynamo/pgo.py``
emits the profiles of sizes: 2.11 to 2.15. A key's components have the form ``[hash] name[item]: text``; the
components of AOTAutograd's keys are recorded only if its logger has the level ``DEBUG``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, Final, TypeAlias

from ...facts import (
    CacheKeyPart,
    CacheLookup,
    CacheName,
    CacheState,
    Fact,
    GraphNode,
    SizesRemembered,
)
from ..decoding import read_object
from ..graphs import parse_nodes
from ..record import TraceRecord

_LOOKUPS: Final[Mapping[str, tuple[CacheName, CacheState]]] = {
    "fx_graph_cache_hit": ("fx-graph", "hit"),
    "fx_graph_cache_miss": ("fx-graph", "miss"),
    "fx_graph_cache_bypass": ("fx-graph", "bypass"),
    "aotautograd_cache_hit": ("aot-autograd", "hit"),
    "aotautograd_cache_miss": ("aot-autograd", "miss"),
    "aotautograd_cache_bypass": ("aot-autograd", "bypass"),
    "aotautograd_cache_pickle_failure": ("aot-autograd", "unsaved"),
    "precompile_cache_bypass": ("precompile", "bypass"),
    "dynamo_cache_bypass": ("precompile", "bypass"),
}
_PROFILES: Final = {
    "get_local_code_state": ("read", "local"),
    "get_remote_code_state": ("read", "remote"),
    "get_extra_remote_code_state": ("read", "remote"),
    "put_local_code_state": ("written", "local"),
    "put_remote_code_state": ("written", "remote"),
    "put_extra_remote_code_state": ("written", "remote"),
}
LOWERED_RECORDS: Final = frozenset({"aot_forward_graph", "aot_backward_graph", "aot_inference_graph"})
"""The graphs that torch looks up in ``FxGraphCache``; they name the user's lines."""
CACHE_RECORDS: Final = frozenset((*_LOOKUPS, *_PROFILES))
"""The records that :class:`CacheReader` converts to facts."""

_COMPONENT: Final = re.compile(r"\[(\w+)\] (\w+)(?:\[([^\]]*)\])?: (.*)", re.DOTALL)
_KEY: Final = re.compile(r'"key": "(\w+)"')
_FUNCTION: Final = re.compile(r"^\S.*:$", re.MULTILINE)
"""The line of a profile that names a function; the lines with the values of the function are indented."""
_GUARDED: Final = "guard_miss"


_Item: TypeAlias = tuple[str, str, str]
_Component: TypeAlias = tuple[str, _Item]


class CacheReader:
    """A reader of the cache lookups of one process.

    With ``held``, all lookups are read at the end, and components of keys only if there were both hits and
    misses: otherwise no finding needs them. A damaged record still yields the outcome of its lookup.
    """

    def __init__(self, *, held: bool) -> None:
        self._waiting: list[TraceRecord] | None = [] if held else None
        self._lowered: dict[tuple[str, str], TraceRecord] = {}
        # Most components of a key also occur in earlier keys.
        self._components: dict[str, _Component] = {}
        self._parts: dict[tuple[str, tuple[_Item, ...]], CacheKeyPart] = {}

    def feed(self, record: TraceRecord) -> Iterator[Fact]:
        """Yield the facts of a record, unless held; store a graph for later lookups."""
        if record.name in LOWERED_RECORDS:
            self._lowered[record.compile_id, record.name] = record
        elif self._waiting is None:
            yield from self._facts(record, with_key=True)
        else:
            self._waiting.append(record)

    def finish(self) -> Iterator[Fact]:
        """Yield the facts of all records that were held back."""
        waiting, self._waiting = self._waiting or [], []
        states = {_LOOKUPS[record.name][1] for record in waiting if record.name in _LOOKUPS}
        for record in waiting:
            try:
                yield from self._facts(record, with_key=states >= {"hit", "miss"})
            except (ValueError, TypeError, AttributeError, OverflowError):
                yield CacheLookup(record.compile_id, *_LOOKUPS[record.name])

    def _facts(self, record: TraceRecord, *, with_key: bool) -> Iterator[Fact]:
        if profile := _PROFILES.get(record.name):
            action, place = profile
            yield SizesRemembered(action, place, len(_FUNCTION.findall(record.payload)))  # type: ignore[arg-type]
            return
        cache, state = _LOOKUPS[record.name]
        if state in ("hit", "miss") and not with_key:
            found = _KEY.search(record.payload)
            yield CacheLookup(record.compile_id, cache, state, key=found[1] if found else "")
            return
        body = read_object(record.payload)
        known = len(self._parts)
        parts = [self._part(*group) for group in self._groups(body.get("components") or ())]
        yield from [*self._parts.values()][known:]
        options = {name: text for part in parts if part.name == "fx_kwargs" for name, _, text in part.items}
        backward = {"True": True, "False": False}.get(options.get("is_backward", ""))
        yield CacheLookup(
            compile_id=record.compile_id,
            cache=cache,
            state=state,
            key=str(body.get("key") or ""),
            parts=tuple(part.digest for part in parts),
            backward=backward,
            reason=_reason(body),
            has_entry=body.get("cache_status_detailed") == _GUARDED,
            seconds=_seconds(body),
            nodes=self._nodes(record.compile_id, backward) if state == "miss" and cache == "fx-graph" else (),
        )

    def _groups(self, components: Iterable[Any]) -> Iterable[tuple[str, tuple[_Item, ...]]]:
        groups: defaultdict[str, list[_Item]] = defaultdict(list)
        for text in map(str, components):
            if text not in self._components:
                self._components[text] = _component(text)
            name, item = self._components[text]
            groups[name].append(item)
        return ((name, tuple(items)) for name, items in groups.items())

    def _part(self, name: str, items: tuple[_Item, ...]) -> CacheKeyPart:
        if (name, items) not in self._parts:
            self._parts[name, items] = CacheKeyPart(_digest(name, items), name, items)
        return self._parts[name, items]

    def _nodes(self, compile_id: str, backward: bool | None) -> tuple[GraphNode, ...]:
        names = ("aot_backward_graph",) if backward else ("aot_forward_graph", "aot_inference_graph")
        records = (self._lowered.get((compile_id, name)) for name in names)
        record = next((record for record in records if record), None)
        return tuple(parse_nodes(record.payload)) if record else ()


def _component(text: str) -> _Component:
    """Split a component into its group and an item: name, hash and text."""
    found = _COMPONENT.match(text)
    if found is None:
        return "", (text, text, "")
    digest, name, item, value = found.groups()
    return ("", (name, digest, value)) if item is None else (name, (item, digest, value))


def _digest(group: str, items: Iterable[_Item]) -> str:
    content = repr([group, *((name, digest) for name, digest, _ in items)])
    return blake2b(content.encode(), digest_size=8).hexdigest()


def _reason(body: Mapping[str, Any]) -> str:
    """Return torch's reason for a bypass or a failed store, or the failed guard."""
    for name in ("cache_bypass_reason", "_reason", "error"):
        if body.get(name):
            return str(body[name])
    if "missing_backend" in body:
        return "Backend not found"  # torch's log message for it
    guarded = body.get("cache_status_detailed") == _GUARDED
    return str(body.get("cache_status_guard_expr") or "") if guarded else ""


def _seconds(body: Mapping[str, Any]) -> float | None:
    for name, unit in (("time_saved_ns", 1e-9), ("time_saved_ms", 1e-3), ("time_taken_ns", 1e-9)):
        if isinstance(value := body.get(name), (int, float)):
            return value * unit
    return None
