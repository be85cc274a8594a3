"""Cache lookups from facts, with explanations of misses, and findings about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from fullgraph_compiler.facts import CacheKeyPart, CacheLookup, CacheState, SizesRemembered

from ...text import caches as words
from ...text.markdown import code_span
from ...text.messages import counted, first_line
from ..facts_by_type import FactsByType
from ..finding_builder import FindingBuilder
from ..model import FrameReport, Report
from ..source_locator import FactLocator
from .keys import Locate, Parts, differences, nearest_key
from .model import CacheUse, CacheUses

_SAME_VALUE: Final = "Set it to the same value in all starts that should share their caches."
_ANEW_AOT: Final = "AOTAutograd traces it anew at each start of the program."
_CODE_CACHED: Final = " The code that TorchInductor generates for it can come from the FX graph cache."
_NOTHING_TO_COMPARE: Final = (
    "There is no earlier key of this function to compare its key with. `fullgraph trace diff` compares "
    "the keys of two runs."
)
_NOT_WRITTEN: Final = "torch logs the parts of this cache's keys only with `TORCH_LOGS=+aot`."
_ANEW: Final = "TorchInductor compiles it anew at each start of the program."
_NOT_PACKED: Final = "The package of precompiled code lacks it: it is compiled where the package is used."


def caches_of(facts: FactsByType, places: FactLocator, *, with_keys: bool) -> CacheUses:
    """Collect the lookups in caches.

    If the program was started again with warm caches, only lookups of that start are collected.
    ``with_keys`` keeps the parts of keys, which a comparison with another report needs.
    """
    parts = {fact.digest: fact for fact in facts.of(CacheKeyPart)}
    lookups = facts.of(CacheLookup)
    warm = any(lookup.warm for lookup in lookups)
    earlier: defaultdict[tuple[object, ...], list[CacheLookup]] = defaultdict(list)
    uses = []
    for lookup in lookups:
        function = places.functions.get(lookup.compile_id)
        same = earlier[lookup.cache, lookup.backward, function]
        if lookup.warm == warm:
            use = _use(lookup, same if function else (), parts, places)
            uses.append(use if with_keys else replace(use, lookup=replace(lookup, parts=(), nodes=())))
        if lookup.parts:
            same.append(lookup)
    return CacheUses(tuple(uses), facts.of(SizesRemembered), parts if with_keys else {})


def with_caches(frames: Sequence[FrameReport], caches: CacheUses) -> tuple[FrameReport, ...]:
    """Return the frames with the outcomes of their graphs' lookups.

    They are outcomes in the FX graph cache; for a compilation without any, in the AOTAutograd cache.
    """
    states: defaultdict[str, list[CacheState]] = defaultdict(list)
    lowered = {use.compile_id for use in caches.uses if use.cache == "fx-graph"}
    for use in caches.uses:
        if use.cache == "fx-graph" or (use.cache == "aot-autograd" and use.compile_id not in lowered):
            states[use.compile_id].append(use.state)
    if not states:
        return tuple(frames)
    return tuple(
        replace(frame, cached=tuple(state for name in frame.compile_ids for state in states[name]))
        for frame in frames
    )


def cache_builders(caches: CacheUses, places: FactLocator) -> Iterator[FindingBuilder]:
    """Build a finding for each function with graphs that a cache bypasses or misses.

    There are no findings on misses in caches that were empty, and a single one on bypasses due to a setting.
    """
    uses: defaultdict[tuple[object, str], list[CacheUse]] = defaultdict(list)
    shows_misses = caches.has_others(caches.stored)
    lowered = _lowered(caches)
    for use in caches.lacking:
        if use.state != "miss":
            uses["" if use.of_setting else (use.span, use.function), use.reason].append(use)
        elif shows_misses and (use.cache != "aot-autograd" or "bypass" not in lowered[use.compile_id]):
            uses[(use.span, use.function), ""].append(use)
    for (_, bypassed), same in uses.items():
        builder = _bypass(same, caches, places) if bypassed else _miss(same, caches, places)
        builder.compile_ids = {use.compile_id for use in same} - {""}
        yield builder


def without_unproven(report: Report, stored: frozenset[str]) -> Report:
    """Remove findings on misses if the caches may have been empty at the start.

    That is so if all hits of the report are entries that this run ``stored``.
    """
    if report.caches.has_others(stored):
        return report
    return replace(report, findings=tuple(item for item in report.findings if item.kind != "cache-miss"))


def _bypass(uses: Sequence[CacheUse], caches: CacheUses, places: FactLocator) -> FindingBuilder:
    first, hint = uses[0], next((use.hint for use in uses if use.hint), "")
    names = list(dict.fromkeys(use.function for use in uses))
    others = f" and of {counted(len(names) - 1, 'other function')}" if len(names) > 1 else ""
    subject = f"the graph of {code_span(first.function)}{others}" if first.function else "a graph"
    left = {use.cache for use in uses}
    states = _lowered(caches)
    has_code = all(states[use.compile_id] and "bypass" not in states[use.compile_id] for use in uses)
    traced_anew = _ANEW_AOT + (_CODE_CACHED if has_code else "")
    if "fx-graph" in left:
        message, explanation = f"{subject} cannot be cached: {first.reason}", _ANEW
    elif first.state == "unsaved":
        message, explanation = (
            f"{subject} is not stored in the AOTAutograd cache: {first.reason}",
            traced_anew,
        )
    elif "aot-autograd" in left:
        message, explanation = f"{subject} is left out of the AOTAutograd cache: {first.reason}", traced_anew
    else:
        message, explanation = f"{subject} cannot be precompiled: {first.reason}", _NOT_PACKED
    return places.finding(
        "cache-bypass",
        "information",
        message,
        (),
        first.compile_id,
        explanation=explanation,
        hints=(hint,) if hint else (),
    )


def _miss(uses: Sequence[CacheUse], caches: CacheUses, places: FactLocator) -> FindingBuilder:
    missed = [use for use in uses if use.cache == "fx-graph"]
    first = (missed or list(uses))[0]
    name = words.CACHE_NAMES[first.cache]
    has_code = not missed and "hit" in _lowered(caches)[first.compile_id]
    message = f"{code_span(first.function)} was {'traced' if has_code else 'compiled'} anew"
    if caches.warm:
        message += f" with warm caches: its graph was not in the {name}"
    elif has_code:
        message += f": its graph was not in the {name}, while the FX graph cache had the code"
    else:
        found = sum(use.state == "hit" and use.cache == first.cache for use in caches.uses)
        message += f": its graph was not in the {name}, which had {counted(found, 'other graph')} of this run"
    reasons: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for use in uses:
        if use.reason:
            reason = f"Backward: {use.reason}" if use.lookup.backward else use.reason
            reasons[reason][use.compile_id] = None
    ids = {use.compile_id for use in uses}
    lines = [
        reason if on.keys() == ids else f"Compilation {', '.join(on)}: {reason}"
        for reason, on in reasons.items()
    ]
    unknown = _NOTHING_TO_COMPARE if missed else _NOT_WRITTEN
    return places.finding(
        "cache-miss",
        "information",
        message,
        (),
        first.compile_id,
        explanation="\n".join(lines) or unknown,
        hints=tuple(dict.fromkeys(use.hint for use in uses if use.hint)),
    )


def _lowered(caches: CacheUses) -> Mapping[str, set[CacheState]]:
    """Map each compilation to the outcomes of its lookups in the FX graph cache."""
    states: defaultdict[str, set[CacheState]] = defaultdict(set)
    for use in caches.uses:
        if use.cache == "fx-graph":
            states[use.compile_id].add(use.state)
    return states


# -- one use -----------------------------------------------------------------------------------


def _use(lookup: CacheLookup, earlier: Sequence[CacheLookup], parts: Parts, places: FactLocator) -> CacheUse:
    span = places.place((), lookup.compile_id).span
    use = CacheUse(lookup, places.name_of(lookup.compile_id), span)
    if lookup.state == "unsaved":
        return replace(use, reason=f"torch says: {first_line(lookup.reason)}")
    if lookup.state == "bypass":
        bypass = words.bypass_of(lookup.reason)
        return replace(use, reason=bypass.words, hint=bypass.advice, of_setting=bypass.of_setting)
    if lookup.state == "miss" and lookup.has_entry:
        condition = f" these sizes: it is valid where {code_span(lookup.reason)}" if lookup.reason else ""
        return replace(use, reason=f"An entry with this key exists, but does not fit{condition}.")
    if lookup.state == "miss" and lookup.parts and earlier:
        return _compared(use, earlier, parts, lambda frame: places.own_span((frame,)))
    return use


def _compared(use: CacheUse, earlier: Sequence[CacheLookup], parts: Parts, locate: Locate) -> CacheUse:
    """Explain a miss by the differences to the most similar earlier key."""
    lookup = use.lookup
    nearest = nearest_key(lookup, earlier, parts)
    before = lookup.warm and not nearest.warm
    other = "that of the previous start" if before else f"that of compilation {nearest.compile_id}"
    found = differences(nearest, lookup, parts, locate)
    if found:
        reason = f"Its key differs from {other}: {words.listed([item.words for item in found])}."
    else:
        reason = f"Its key equals {other}, whose entry was not stored or no longer exists."
    configured = any(item.name.startswith("`torch._") for item in found)
    return replace(
        use,
        reason=reason,
        hint=_SAME_VALUE if before and configured else "",
        nearest=nearest.compile_id,
        differences=found,
    )
