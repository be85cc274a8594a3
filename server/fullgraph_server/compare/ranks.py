"""Reports of several ranks merged into one, with findings where ranks differ.

Differences make jobs hang: ranks that compile at different times, or run different collective operations,
wait for each other. The merged report is that of a rank that behaves like most ranks; a finding of only some
ranks names these ranks.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fullgraph_compiler.facts import Status

from ..report.finding_builder import by_place
from ..report.model import Finding, FrameReport, RankSummary, Report
from ..workspace.positions import Span
from .fingerprint import stable_message
from .rank_aspects import Sources
from .rank_differences import (
    Key,
    RankDifference,
    RankReport,
    endings,
    function_differences,
    is_damage,
    is_damaged,
    key_of,
)
from .rank_files import with_names_of_all
from .rank_groups import by_signature
from .rank_order import first_call_differences, order_differences
from .rank_words import rank_words

__all__ = ["RankReport", "merged", "rank_words", "usual_rank"]

_ENDS: Final[tuple[Status, ...]] = (
    "not-started", "crashed", "memory", "timeout", "raised", "exited", "cancelled", "finished"
)  # fmt: skip
"""Statuses, the worst first: the merged report has the worst status of all ranks."""
_MOST_WORDINGS: Final = 4
_NOT_COMPARED: Final = "Such a rank is not compared with the others."


def merged(reports: Sequence[RankReport]) -> Report:
    """Merge the reports of all ranks into one; a single report stays unchanged."""
    if len(reports) == 1:
        return reports[0].report
    reports = [*with_names_of_all(sorted(reports, key=lambda item: item.rank))]
    compared = _compare(reports)
    model = next(item.report for item in reports if item.rank == compared.usual)
    findings = [*_findings(reports), *compared.findings]
    sizes = Counter(compared.group.values())
    return replace(
        model,
        status=_end([item.report.status for item in reports]),
        seconds=max(item.report.seconds for item in reports),
        findings=tuple(sorted(findings, key=by_place)),
        frames=_frames(model, reports),
        ranks=tuple(
            _summary(
                item,
                group := compared.group[item.rank],
                differs=2 * sizes[group] <= len(reports) and not is_damaged(item.report),
                usual=item.rank == compared.usual,
            )
            for item in reports
        ),
    )


def usual_rank(reports: Sequence[RankReport]) -> int:
    """Return the first rank of the largest group of ranks that behave alike.

    If several groups are equally large, the rank with the most compilations is returned.
    """
    return _compare([*with_names_of_all(sorted(reports, key=lambda item: item.rank))]).usual


@dataclass(frozen=True)
class _RankComparison:
    """The differences between ranks, the group of each rank, and the usual rank."""

    findings: Sequence[Finding]
    group: Mapping[int, int]
    usual: int
    sources: Sources


def _compare(reports: Sequence[RankReport]) -> _RankComparison:
    sources = {name: text for item in reversed(reports) for name, text in item.report.files.items()}
    differences: list[RankDifference] = []
    ended: list[Finding] = []
    # Ranks that did not finish are only behind, so they do not differ. A damaged log proves nothing.
    sound = [item for item in reports if not is_damaged(item.report)]
    damaged = {item.rank for item in reports} - {item.rank for item in sound}
    if _end([item.report.status for item in sound]) == "finished":
        differences += function_differences(sound, len(reports), sources)
        differences += order_differences(sound, len(reports), sources)
        differences += first_call_differences(sound, len(reports), sources)
        ended += endings(sound, sources)
    group = by_signature([item.groups for item in differences], [item.rank for item in reports], damaged)
    sizes = Counter(group.values())
    usual = max(
        sound or reports,
        key=lambda item: (sizes[group[item.rank]], len(item.report.compilations), -item.rank),
    )
    # Differences in library functions count only if there are none in the user's functions.
    own = [item.finding for item in differences if item.finding.span.filename in sources]
    findings = [*(own or [item.finding for item in differences]), *ended]
    return _RankComparison(findings, group, usual.rank, sources)


def _findings(reports: Sequence[RankReport]) -> Iterator[Finding]:
    """Yield each finding once, with its most frequent message on all ranks."""
    grouped: dict[tuple[str, str, Span, str], dict[int, Finding]] = defaultdict(dict)
    for item in reports:
        for finding in item.report.findings:
            grouped[finding.kind, finding.code, finding.span, stable_message(finding)][item.rank] = finding
    for by_rank in grouped.values():
        ranks = tuple(by_rank)
        by_message: dict[str, list[int]] = defaultdict(list)
        for rank, finding in by_rank.items():
            by_message[finding.message].append(rank)
        (message, with_message), *others = sorted(by_message.items(), key=lambda item: -len(item[1]))
        usual = by_rank[with_message[0]]
        hints = [f"On {rank_words(on)}: {other}." for other, on in others[:_MOST_WORDINGS]]
        finding = replace(usual, hints=(*usual.hints, *hints))
        if len(ranks) < len(reports):
            finding = replace(finding, message=f"{message} (on {rank_words(ranks)} only)", ranks=ranks)
        if is_damage(finding, reports[0].report):
            finding = replace(finding, hints=(*finding.hints, _NOT_COMPARED))
        yield finding


def _frames(model: Report, reports: Sequence[RankReport]) -> tuple[FrameReport, ...]:
    """Return the functions of ``model``, and functions that only other ranks have."""
    frames: dict[Key, FrameReport] = {key_of(frame): frame for frame in model.frames}
    for item in reports:
        for frame in item.report.frames:
            frames.setdefault(key_of(frame), frame)
    return tuple(sorted(frames.values(), key=lambda frame: (frame.filename, frame.row, frame.function)))


def _summary(item: RankReport, group: int, *, differs: bool, usual: bool) -> RankSummary:
    report = item.report
    return RankSummary(
        item.rank,
        report.status,
        report.seconds,
        compilations=sum(frame.compilations for frame in report.frames),
        graphs=sum(frame.graphs for frame in report.frames),
        breaks=sum(finding.kind == "graph-break" for finding in report.findings),
        recompiles=sum(frame.recompiles for frame in report.frames),
        differs=differs,
        group=group,
        usual=usual,
    )


def _end(ends: Sequence[Status | None]) -> Status | None:
    return None if None in ends else min((end for end in ends if end), key=_ENDS.index, default=None)
