"""What is left of advice once the program ran with it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fullgraph_compiler.facts import Severity
from fullgraph_server.fixes.trying.advising import (
    Outcome,
    RemedyOutcome,
    RemedyOutcomes,
    can_be_tried,
    with_outcomes,
)
from fullgraph_server.fixes.trying.tries import TryResult
from fullgraph_server.kinds import FindingKind
from fullgraph_server.report.model import Finding, Report
from fullgraph_server.text.remedies import Advice, Remedy, sentences
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.source import SourceFile

SPAN = Span("/w/a.py", 3, 1, 3, 5)
MARK, DYNAMIC = Remedy("mark", ("torch._dynamo.mark_dynamic(x, 0)",)), Remedy("dynamic")
EITHER = Advice("Mark `x`, or compile so.", (MARK, DYNAMIC), ("Mark `x`.", "Compile so."))
BOTH = Advice("Mark `x` and compile so.", (MARK, DYNAMIC))
WITHOUT_EDIT = Advice("Call it in the warm-up.")
REASON = Advice("Each has its own graph, compiled once.", explains=True)


def report(*given: Advice, **changes: object) -> Report:
    finding = Finding(
        "recompile", "recompile", "information", "recompiled", SPAN,
        hints=("Of a library.", *sentences(given)), advice=given,
    )  # fmt: skip
    return replace(Report("/w/a.py", 1, findings=(finding,), status="finished", seconds=2.0), **changes)  # type: ignore[arg-type]


def left(told: Report, mark: Outcome = "unknown", dynamic: Outcome = "unknown") -> tuple[str, ...]:
    """The hints that are left, after the first, which is no advice on a recompilation."""
    (finding,) = told.findings
    key = finding.kind, finding.code, finding.message, finding.span
    became = {(key, MARK): RemedyOutcome(mark), (key, DYNAMIC): RemedyOutcome(dynamic)}
    (found,) = with_outcomes(told, RemedyOutcomes(became)).findings
    assert found.hints[0] == "Of a library."
    assert found.hints[1:] == sentences(found.advice)
    return found.hints[1:]


@pytest.mark.parametrize(
    ("mark", "dynamic", "hints"),
    [
        ("helps", "helps", ("Mark `x`, or compile so.",)),
        ("helps", "fails", ("Mark `x`.",)),
        ("unknown", "helps", ("Compile so.",)),
        ("unknown", "fails", ("Mark `x`. (Not tried.)",)),
        ("unknown", "unknown", ("Mark `x`, or compile so. (Not tried.)",)),
        ("fails", "fails", ()),
    ],
)
def test_what_is_enough_alone_is_left_alone(mark: Outcome, dynamic: Outcome, hints: tuple[str, ...]) -> None:
    assert left(report(EITHER), mark, dynamic) == hints


def test_what_has_no_edit_was_not_tried_and_a_reason_needs_no_try() -> None:
    hints = "Call it in the warm-up. (Not tried.)", "Each has its own graph, compiled once."
    assert left(report(WITHOUT_EDIT, REASON)) == hints


def test_one_sentence_on_two_things_stays_whole() -> None:
    assert left(report(BOTH), "helps", "unknown") == ("Mark `x` and compile so.",)


@pytest.mark.parametrize(
    "changes", [{"reaches_others": True}, {"seconds": 60.0}, {"status": "timeout"}, {"findings": ()}]
)
def test_a_program_runs_again_where_that_is_short_and_nobody_else_notices(changes: dict[str, object]) -> None:
    assert can_be_tried(report(EITHER))
    assert not can_be_tried(report(EITHER, **changes))
    assert not can_be_tried(report(REASON))


HINTS = "Set `a = True`.", "Leave `fullgraph=True` (line 2) out.", "Write `c`."


@pytest.mark.parametrize(
    ("told", "hints"),
    [
        ([TryResult(("`a = ",), "With `a = True`, it ends.")], ("With `a = True`, it ends.", *HINTS[1:])),
        ([TryResult(("fullgraph=True", "line 2"))], (HINTS[0], HINTS[2])),
        ([TryResult(("fullgraph=True", "line 3"))], HINTS),
        ([TryResult(("x",), "Write `y`.", True, whole=True), TryResult(("`c`",))], ("Write `y`.",)),
        ([TryResult(("x",), "", whole=True)], HINTS),
        ([TryResult(("x",), "Without `x`, it ends.", helps=True)], ("Without `x`, it ends.", *HINTS[:2])),
        ([TryResult((), "Uncompiled, it ends.")], ("Uncompiled, it ends.", *HINTS)),
    ],
)
def test_what_was_shown_takes_the_place_of_hints_that_say_the_same(
    told: list[TryResult], hints: tuple[str, ...]
) -> None:
    text = f"It failed.\n  Hint: {HINTS[2]}"
    finding = Finding("capture-error", "GB0059", "error", "it failed", SPAN, hints=HINTS, text=text)
    run = Report("/w/a.py", 1, findings=(finding,), status="raised")
    key = finding.kind, finding.code, finding.message, finding.span
    (left,) = with_outcomes(run, RemedyOutcomes(ways_out={key: tuple(told)})).findings
    assert left.hints == hints


def test_what_has_to_be_so_stays_where_nothing_else_helps() -> None:
    told = report(EITHER, REASON)
    (finding,) = told.findings
    key = finding.kind, finding.code, finding.message, finding.span
    raising = RemedyOutcome("fails", "line 9 raises TypeError: no")
    outcomes = RemedyOutcomes({(key, remedy): raising for remedy in (MARK, DYNAMIC)})
    hints = with_outcomes(told, outcomes).findings[0].hints[1:]
    assert hints == ("Mark `x`. With it, line 9 raises TypeError: no.", REASON.sentence)
    helping = RemedyOutcomes({(key, MARK): RemedyOutcome("helps"), (key, DYNAMIC): RemedyOutcome("fails")})
    assert with_outcomes(told, helping).findings[0].hints[1:] == ("Mark `x`.",)


@pytest.mark.parametrize(
    ("kind", "severity", "text", "tried"),
    [
        ("target-error", "error", "fast = torch.compile(net)", True),
        ("target-error", "error", "net()", False),
        ("target-error", "information", "fast = torch.compile(net)", False),
        ("capture-error", "error", "net()", True),
        ("recompile-limit", "error", "fast = torch.compile(net)", False),
    ],
)
def test_programs_run_again_for_errors_of_what_they_compile(
    kind: FindingKind, severity: Severity, text: str, tried: bool
) -> None:
    finding = Finding(kind, kind, severity, "it failed", SPAN)
    files = {"/w/a.py": SourceFile("/w/a.py", text)}
    run = Report("/w/a.py", 1, findings=(finding,), status="raised", seconds=2.0, files=files)
    assert can_be_tried(run) == tried
