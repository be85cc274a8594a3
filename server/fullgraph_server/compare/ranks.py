"""The reports of several ranks merged into one, with the differences between them, which make jobs hang.

Ranks that compile at different times, or run other collective operations, wait for each other. A rank that
behaves as most others do stands for all; findings of only some ranks name these.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from fullgraph_compiler.facts import Severity, Status

from ..report.finding_builder import by_place
from ..report.model import Finding, FrameReport, RankSummary, Report
from ..text.caches import cached_words
from ..text.markdown import code_span
from ..text.messages import counted
from ..workspace.positions import Span
from ..workspace.ranges import definition_span
from .fingerprint import stable_message

_Key: TypeAlias = tuple[str, str]
"""The file and name of a function."""
_ENDS: Final[tuple[Status, ...]] = (
    "not-started", "crashed", "memory", "timeout", "raised", "exited", "cancelled", "finished"
)  # fmt: skip
"""Statuses from the worst on: the merged report has the worst of all ranks."""
_MOST_COLLECTIVES: Final = 6
_MOST_WORDINGS: Final = 4


@dataclass(frozen=True, slots=True)
class RankReport:
    """The report of one rank."""

    rank: int
    report: Report


def merged(reports: Sequence[RankReport]) -> Report:
    """Merge the reports of all ranks into one; return that of a single rank unchanged."""
    if len(reports) == 1:
        return reports[0].report
    reports = sorted(reports, key=lambda item: item.rank)
    alike = Counter(_behaviour(item.report) for item in reports)
    usual = usual_rank(reports)
    model = next(item.report for item in reports if item.rank == usual)
    end = _end([item.report.status for item in reports])
    # Ranks that did not finish are only behind the others: no differences.
    findings = [*_findings(reports), *(_differences(reports) if end == "finished" else ())]
    return replace(
        model,
        status=end,
        seconds=max(item.report.seconds for item in reports),
        findings=tuple(sorted(findings, key=by_place)),
        frames=_frames(model, reports),
        files={name: text for item in reversed(reports) for name, text in item.report.files.items()},
        ranks=tuple(
            _summary(
                item,
                differs=2 * alike[_behaviour(item.report)] <= len(reports),
                usual=item.rank == usual,
            )
            for item in reports
        ),
    )


def usual_rank(reports: Sequence[RankReport]) -> int:
    """Return the first rank of the largest group that behaves alike; of equal groups, that compiled most."""
    alike = Counter(_behaviour(item.report) for item in reports)
    return max(
        reports, key=lambda item: (alike[_behaviour(item.report)], len(item.report.compilations), -item.rank)
    ).rank


def rank_words(ranks: Sequence[int]) -> str:
    """Write ``rank 3`` or ``ranks 0-3 and 7``."""
    parts: list[list[int]] = []
    for rank in sorted(ranks):
        if parts and parts[-1][-1] == rank - 1:
            parts[-1][1:] = [rank]
        else:
            parts.append([rank])
    words = ["-".join(map(str, part)) for part in parts]
    listed = " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
    return f"rank {listed}" if len(ranks) == 1 else f"ranks {listed}"


def _findings(reports: Sequence[RankReport]) -> Iterator[Finding]:
    """Yield each finding once, with the most frequent message of the ranks that have it."""
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
        yield finding


def _frames(model: Report, reports: Sequence[RankReport]) -> tuple[FrameReport, ...]:
    """Return the model's functions and those that only other ranks compiled, by file and row."""
    frames = {_key(frame): frame for frame in model.frames}
    for item in reports:
        for frame in item.report.frames:
            frames.setdefault(_key(frame), frame)
    return tuple(sorted(frames.values(), key=lambda frame: (frame.filename, frame.row, frame.function)))


def _summary(item: RankReport, *, differs: bool, usual: bool) -> RankSummary:
    report = item.report
    return RankSummary(
        item.rank,
        report.status,
        report.seconds,
        compilations=sum(map(_compilations, report.frames)),
        graphs=sum(frame.graphs for frame in report.frames),
        breaks=sum(finding.kind == "graph-break" for finding in report.findings),
        recompiles=sum(frame.recompiles for frame in report.frames),
        differs=differs,
        usual=usual,
    )


def _end(ends: Sequence[Status | None]) -> Status | None:
    return None if None in ends else min((end for end in ends if end), key=_ENDS.index)


def _key(frame: FrameReport) -> _Key:
    return (frame.filename, frame.function)


# -- differences -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Aspect:
    """A property of a function that should be the same on all ranks, and its text."""

    value: Callable[[FrameReport | None], Hashable]
    words: Callable[[FrameReport | None], str]
    severity: Severity
    why: str


def _compilations(frame: FrameReport | None) -> int:
    return frame.compilations if frame else 0


def _graphs(frame: FrameReport | None) -> int:
    return frame.graphs if frame else 0


def _collectives(frame: FrameReport | None) -> tuple[str, ...]:
    return frame.collectives if frame else ()


def _listed_collectives(frame: FrameReport | None) -> str:
    names = _collectives(frame)
    more = f" and {len(names) - _MOST_COLLECTIVES} more" if len(names) > _MOST_COLLECTIVES else ""
    return f"calls {', '.join(names[:_MOST_COLLECTIVES])}{more}" if names else "calls no collective operation"


_WAITING: Final = (
    "While one rank compiles, the others wait for it in their next collective operation: the job stalls, "
    "and ends with a timeout if that takes too long."
)
_ASPECTS: Final = (
    _Aspect(
        _collectives,
        _listed_collectives,
        "warning",
        "Each collective operation needs all ranks: if their order differs, the job hangs.",
    ),
    _Aspect(
        _compilations,
        lambda frame: _compiled(_compilations(frame)),
        "warning",
        _WAITING,
    ),
    _Aspect(
        _graphs,
        lambda frame: f"becomes {counted(_graphs(frame), 'graph')}",
        "warning",
        "Ranks that break a function in other places run other graphs, and compile at other times.",
    ),
    _Aspect(
        lambda frame: frame.outlines if frame else (),
        lambda frame: (
            f"becomes graphs of {counted(frame.ops if frame else 0, 'operation')}, of its own sizes"
        ),
        "information",
        "The ranks run other operations or other sizes. If that is intended, nothing is wrong.",
    ),
    _Aspect(
        lambda frame: frame.cached if frame else (),
        lambda frame: cached_words(frame.cached if frame else ()),
        "information",
        "A rank that does not find a graph in its cache compiles it. Others that do go on, and wait for it "
        "in their next collective operation: the job ends with a timeout if that takes too long.",
    ),
)
"""The most important first: only the first that differs is reported for a function."""


def _differences(reports: Sequence[RankReport]) -> Sequence[Finding]:
    """Return the differences in the user's own functions, else those in functions of libraries."""
    findings = list(_differing(reports))
    own = {name for item in reports for name in item.report.files}
    return [finding for finding in findings if finding.span.filename in own] or findings


def _differing(reports: Sequence[RankReport]) -> Iterator[Finding]:
    """Yield a finding for each function that differs between ranks."""
    frames: dict[_Key, dict[int, FrameReport]] = defaultdict(dict)
    for item in reports:
        for frame in item.report.frames:
            frames[_key(frame)][item.rank] = frame
    for by_rank in frames.values():
        for aspect in _ASPECTS:
            groups: dict[Hashable, list[int]] = defaultdict(list)
            for item in reports:
                groups[aspect.value(by_rank.get(item.rank))].append(item.rank)
            if len(groups) > 1:
                yield _difference(aspect, by_rank, sorted(groups.values(), key=len, reverse=True), reports)
                break


def _difference(
    aspect: _Aspect,
    by_rank: dict[int, FrameReport],
    groups: Sequence[Sequence[int]],
    reports: Sequence[RankReport],
) -> Finding:
    usual, *others = groups
    frame = next(iter(by_rank.values()))
    source = next((item.report.files.get(frame.filename) for item in reports), None)
    parts = [f"{aspect.words(by_rank.get(ranks[0]))} on {rank_words(ranks)}" for ranks in others]
    rest = f"{aspect.words(by_rank.get(usual[0]))} on {_rest(usual, reports)}"
    different = tuple(rank for ranks in others for rank in ranks)
    return Finding(
        "rank-difference",
        "rank-difference",
        aspect.severity,
        f"{code_span(frame.qualname)} {', '.join(parts)}, and {rest}",
        definition_span(source, frame.filename, frame.row, frame.function),
        explanation=aspect.why,
        hints=tuple(_causes(frame, different, reports)),
        ranks=different,
    )


def _rest(ranks: Sequence[int], reports: Sequence[RankReport]) -> str:
    return (
        f"the {len(ranks)} others" if len(ranks) > len(reports) / 2 and len(ranks) > 1 else rank_words(ranks)
    )


def _causes(frame: FrameReport, ranks: Sequence[int], reports: Sequence[RankReport]) -> Iterator[str]:
    """Yield the findings on the function that only those ranks have."""
    usual = {
        finding.message for item in reports if item.rank not in ranks for finding in item.report.findings
    }
    by_message: dict[str, dict[int, None]] = defaultdict(dict)
    for item in reports:
        for finding in item.report.findings if item.rank in ranks else ():
            own = finding.compile_ids and not finding.compile_ids.isdisjoint(_ids(item.report, frame))
            if own and finding.message not in usual:
                by_message[finding.message][item.rank] = None
    for message, on in by_message.items():
        yield f"On {rank_words([*on])}: {message}."


def _ids(report: Report, frame: FrameReport) -> frozenset[str]:
    same = (item.compile_ids for item in report.frames if _key(item) == _key(frame))
    return frozenset(name for names in same for name in names)


def _behaviour(report: Report) -> Hashable:
    return tuple((_key(frame), *(aspect.value(frame) for aspect in _ASPECTS)) for frame in report.frames)


def _compiled(times: int) -> str:
    often = {1: "once", 2: "twice"}.get(times, f"{times} times")
    return f"is compiled {often}" if times else "is not compiled"
