"""The reports of several ranks as one, and what differs between them: that is what makes a job hang.

Ranks that compile at different times, or run other collective operations, wait for each other. The rank that
most others are like stands for all; what only some ranks saw says so.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from fullgraph_compiler.facts import Severity, Status

from ..report.finding_builder import by_place
from ..report.model import Finding, FrameReport, RankSummary, Report
from ..text.markdown import code_span
from ..text.messages import counted
from ..workspace.positions import Span
from ..workspace.ranges import definition_span
from .fingerprint import stable_message

_Key: TypeAlias = tuple[str, str]
"""A function: its file and its name."""
_ENDS: Final[tuple[Status, ...]] = (
    "not-started", "crashed", "memory", "timeout", "raised", "exited", "cancelled", "finished"
)  # fmt: skip
"""The end of all is the worst of one."""
_MOST_COLLECTIVES: Final = 6
_MOST_WORDINGS: Final = 4


@dataclass(frozen=True, slots=True)
class RankReport:
    """What one rank told."""

    rank: int
    report: Report


def merged(reports: Sequence[RankReport]) -> Report:
    """One report of all ranks; that of a single one as it is."""
    if len(reports) == 1:
        return reports[0].report
    reports = sorted(reports, key=lambda item: item.rank)
    alike = Counter(_behaviour(item.report) for item in reports)
    usual = usual_rank(reports)
    model = next(item.report for item in reports if item.rank == usual)
    end = _end([item.report.status for item in reports])
    # Those that have not come to their end are behind the others.
    findings = [*_findings(reports), *(_differences(reports) if end == "finished" else ())]
    return replace(
        model,
        status=end,
        seconds=max(item.report.seconds for item in reports),
        findings=tuple(sorted(findings, key=by_place)),
        frames=_frames(model, reports),
        files={name: text for item in reversed(reports) for name, text in item.report.files.items()},
        ranks=tuple(_summary(item, 2 * alike[_behaviour(item.report)] <= len(reports)) for item in reports),
    )


def usual_rank(reports: Sequence[RankReport]) -> int:
    """The first of the ranks that behave as most do; where that is not clear, of those that compiled most."""
    alike = Counter(_behaviour(item.report) for item in reports)
    return max(
        reports, key=lambda item: (alike[_behaviour(item.report)], len(item.report.compilations), -item.rank)
    ).rank


def rank_words(ranks: Sequence[int]) -> str:
    """``rank 3``, ``ranks 0-3 and 7``."""
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
    """Each finding once, in the words of most ranks that saw it."""
    seen: dict[tuple[str, str, Span, str], dict[int, Finding]] = defaultdict(dict)
    for item in reports:
        for finding in item.report.findings:
            seen[finding.kind, finding.code, finding.span, stable_message(finding)][item.rank] = finding
    for by_rank in seen.values():
        ranks = tuple(by_rank)
        worded: dict[str, list[int]] = defaultdict(list)
        for rank, finding in by_rank.items():
            worded[finding.message].append(rank)
        (message, told), *others = sorted(worded.items(), key=lambda item: -len(item[1]))
        usual = by_rank[told[0]]
        hints = [f"On {rank_words(on)}: {words}." for words, on in others[:_MOST_WORDINGS]]
        finding = replace(usual, hints=(*usual.hints, *hints))
        if len(ranks) < len(reports):
            finding = replace(finding, message=f"{message} (on {rank_words(ranks)} only)", ranks=ranks)
        yield finding


def _frames(model: Report, reports: Sequence[RankReport]) -> tuple[FrameReport, ...]:
    """The functions of the model, then those that only others compiled."""
    frames = {_key(frame): frame for frame in model.frames}
    for item in reports:
        for frame in item.report.frames:
            frames.setdefault(_key(frame), frame)
    return tuple(sorted(frames.values(), key=lambda frame: (frame.filename, frame.row, frame.function)))


def _summary(item: RankReport, differs: bool) -> RankSummary:
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
    )


def _end(ends: Sequence[Status | None]) -> Status | None:
    return None if None in ends else min((end for end in ends if end), key=_ENDS.index)


def _key(frame: FrameReport) -> _Key:
    return (frame.filename, frame.function)


# -- differences -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Aspect:
    """Something of a function that should be the same on all ranks, and how it is told."""

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
        "Each collective operation needs all ranks: where their order differs, the job hangs.",
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
        "Other operations or other sizes: if that is meant to be so, nothing is wrong.",
    ),
)
"""Those that tell most come first: of one function, the first that differs is told."""


def _differences(reports: Sequence[RankReport]) -> Sequence[Finding]:
    """What is different where: of the user's own functions, else of those of libraries."""
    found = list(_differing(reports))
    own = {name for item in reports for name in item.report.files}
    return [finding for finding in found if finding.span.filename in own] or found


def _differing(reports: Sequence[RankReport]) -> Iterator[Finding]:
    """For each function that did not go the same way on all ranks, what is different where."""
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
    told = [f"{aspect.words(by_rank.get(ranks[0]))} on {rank_words(ranks)}" for ranks in others]
    rest = f"{aspect.words(by_rank.get(usual[0]))} on {_rest(usual, reports)}"
    different = tuple(rank for ranks in others for rank in ranks)
    return Finding(
        "rank-difference",
        "rank-difference",
        aspect.severity,
        f"{code_span(frame.function)} {', '.join(told)}, and {rest}",
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
    """What those ranks tell of the function that the others do not."""
    usual = {
        finding.message for item in reports if item.rank not in ranks for finding in item.report.findings
    }
    told: dict[str, dict[int, None]] = defaultdict(dict)
    for item in reports:
        for finding in item.report.findings if item.rank in ranks else ():
            own = finding.compile_ids and not finding.compile_ids.isdisjoint(_ids(item.report, frame))
            if own and finding.message not in usual:
                told[finding.message][item.rank] = None
    for message, on in told.items():
        yield f"On {rank_words([*on])}: {message}."


def _ids(report: Report, frame: FrameReport) -> frozenset[str]:
    same = (item.compile_ids for item in report.frames if _key(item) == _key(frame))
    return frozenset(name for names in same for name in names)


def _behaviour(report: Report) -> Hashable:
    return tuple((_key(frame), *(aspect.value(frame) for aspect in _ASPECTS)) for frame in report.frames)


def _compiled(times: int) -> str:
    often = {1: "once", 2: "twice"}.get(times, f"{times} times")
    return f"is compiled {often}" if times else "is not compiled"
