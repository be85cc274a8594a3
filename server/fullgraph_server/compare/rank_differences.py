"""The differences between ranks, as findings on the user's code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..report.model import Finding, FrameReport, Report
from ..text.markdown import code_span
from ..text.messages import counted
from .rank_aspects import ASPECTS, RankAspect, Sources
from .rank_groups import RankGroups, groups
from .rank_places import function_span
from .rank_words import group_words, rank_words, rest_words

Key: TypeAlias = tuple[str, int, str]
"""The file, row and name of a function."""
_MOST_CAUSES: Final = 4


@dataclass(frozen=True, slots=True)
class RankReport:
    """The report of one rank."""

    rank: int
    report: Report


@dataclass(frozen=True, slots=True)
class RankDifference:
    """A difference between ranks, as a finding, and the groups of ranks that differ."""

    finding: Finding
    groups: RankGroups


def key_of(frame: FrameReport) -> Key:
    """Return the key that identifies a function on all ranks."""
    return (frame.filename, frame.row, frame.function)


def is_behind(report: Report) -> bool:
    """Tell whether a log ends within a compilation, so that the rest is unknown."""
    return any(frame.unfinished for frame in report.frames)


def is_damage(finding: Finding, report: Report) -> bool:
    """Tell whether a finding says that parts of a log cannot be read.

    A rank with such a log is not compared with other ranks.
    """
    return report.of_trace and finding.kind == "target-error" and finding.severity != "information"


def is_damaged(report: Report) -> bool:
    """Tell whether parts of a log cannot be read."""
    return any(is_damage(finding, report) for finding in report.findings)


def function_differences(
    reports: Sequence[RankReport], total: int, sources: Sources
) -> Iterator[RankDifference]:
    """Yield the differences of each function between some of ``total`` ranks.

    For each function and rank, only the first aspect that differs is reported.
    """
    frames: dict[Key, dict[int, FrameReport]] = defaultdict(dict)
    for item in reports:
        for frame in item.report.frames:
            frames[key_of(frame)][item.rank] = frame
    behind = {item.rank for item in reports if is_behind(item.report)}
    causes = _RankCauses(reports)
    for by_rank in frames.values():
        ranks: Sequence[int] = [item.rank for item in reports]
        for aspect in ASPECTS:
            values = {rank: aspect.items(by_rank.get(rank)) for rank in ranks}
            told = {rank: items for rank, items in values.items() if items is not None}
            if aspect.classes:
                classes = aspect.classes({*told.values()})
                told = {rank: classes.get(items, items) for rank, items in told.items()}
            different: set[int] = set()
            for found in groups(told, behind, counts=aspect.counts):
                different.update(found.different, *found.later)
                yield RankDifference(_finding(aspect, by_rank, found, total, sources, causes), found)
            ranks = [rank for rank in ranks if rank not in different]


def endings(reports: Sequence[RankReport], sources: Sources) -> Iterator[Finding]:
    """Yield findings on functions that only some ranks compile when their log ends."""
    ranks: dict[Key, list[int]] = defaultdict(list)
    frames: dict[Key, FrameReport] = {}
    for item in reports:
        for frame in item.report.frames:
            if frame.unfinished:
                ranks[key_of(frame)].append(item.rank)
                frames[key_of(frame)] = frame
    for key, on in ranks.items():
        frame = frames[key]
        if len(on) < len(reports):
            yield Finding(
                "rank-difference",
                "rank-difference",
                "information",
                f"{code_span(frame.qualname)} is being compiled at the end of the log of {rank_words(on)}",
                function_span(frame, sources),
                explanation="Such a log is compared with the other ranks only as far as it goes.",
                ranks=tuple(on),
            )


def _finding(
    aspect: RankAspect,
    by_rank: Mapping[int, FrameReport],
    found: RankGroups,
    total: int,
    sources: Sources,
    causes: _RankCauses,
) -> Finding:
    usual, *others = found.ranks
    frame = next(iter(by_rank.values()))
    parts = group_words([(aspect.words(by_rank.get(ranks[0]), found.index), ranks) for ranks in others])
    rest = rest_words(usual, total, len(found.different))
    message = f"{code_span(frame.qualname)} {', '.join(parts)}, and "
    message += f"{aspect.words(by_rank.get(usual[0]), found.index)} on {rest}"
    shown = [by_rank[ranks[0]] for ranks in found.ranks if ranks[0] in by_rank]
    spans = [*filter(None, (aspect.place(item, found.index, sources) for item in shown))]
    # If one rank has an additional line, that line comes first.
    place = min(spans, key=lambda span: (span.filename != spans[0].filename, span.row), default=None)
    if len(shown) < len(found.ranks):
        place = None  # one group does not compile the function at all
    hints = [*causes.of(frame, found.different)]
    if later := [rank for ranks in found.later for rank in ranks]:
        hints.append(f"Then {rank_words(later)} {'differs' if len(later) == 1 else 'differ'}, too.")
    return Finding(
        "rank-difference",
        "rank-difference",
        aspect.severity,
        message,
        place or function_span(frame, sources),
        explanation=aspect.why,
        hints=tuple(hints),
        ranks=found.different,
    )


class _RankCauses:
    """The findings on each function, with the ranks that have them as a bit set."""

    def __init__(self, reports: Sequence[RankReport]) -> None:
        self._all: dict[str, int] = defaultdict(int)
        self._of: dict[Key, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._bits = {item.rank: 1 << number for number, item in enumerate(reports)}
        for item in reports:
            keys = {name: key_of(frame) for frame in item.report.frames for name in frame.compile_ids}
            for finding in item.report.findings:
                self._all[finding.message] |= self._bits[item.rank]
                for key in {keys[name] for name in finding.compile_ids if name in keys}:
                    self._of[key][finding.message] |= self._bits[item.rank]

    def of(self, frame: FrameReport, ranks: Sequence[int]) -> Iterator[str]:
        """Yield hints: the findings on a function that only ``ranks`` have."""
        others = ~sum(self._bits[rank] for rank in ranks)
        found = self._of[key_of(frame)].items()
        own = [(message, on) for message, on in found if not self._all[message] & others]
        for message, on in own[:_MOST_CAUSES]:
            yield f"On {rank_words([rank for rank in ranks if on & self._bits[rank]])}: {message}."
        if len(own) > _MOST_CAUSES:
            yield f"{counted(len(own) - _MOST_CAUSES, 'more finding')} on these ranks only."
