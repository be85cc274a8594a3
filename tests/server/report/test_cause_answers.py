"""Differences whose cause is known, as findings: the title, what helps, and the verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fullgraph_compiler.facts import (
    Cause,
    CauseKind,
    Evidence,
    Failure,
    FaultLocated,
    StackFrame,
    StageChecked,
)
from fullgraph_server.report.faults import is_incomplete, stage_lines, verdict
from test_faults import FILE, MODULE, ONE_PASSES, folded, only

OFF = Failure("accuracy", "Numbers", "result of call 2 of f: off by 1")
PRINTED = Failure("accuracy", "Output", "it prints `a`, but `b` uncompiled")
RELU = (*MODULE, StackFrame(FILE, 5, "f", 11, 5, 19))
SIN = (*MODULE, StackFrame(FILE, 4, "f"))
RESET = "Or call `torch.compiler.reset()` before that call (tried)."


def fault(
    kind: CauseKind, *evidence: Evidence, failure: Failure = OFF, stage: str = "eager", call: int = 2
) -> FaultLocated:
    cause = Cause(kind, "f", call, 1, evidence, MODULE)
    stack = evidence[0].stack or MODULE if evidence else MODULE
    return FaultLocated(1, stage, "uncompiled", failure, "", stack, cause=cause)


@pytest.mark.parametrize(
    ("located", "title", "helps"),
    [
        (
            fault("branch", Evidence("", "True", "None", RELU)),
            "`y.relu()` was true when compiled, and is None in call 2 of `f`: torch has no guard on it",
            "pass the outcome as an argument",
        ),
        (
            fault("branch", Evidence("", "False", "True", SIN)),
            (
                "the condition on line 4 was false when compiled, and is true in call 2 of `f`: "
                "torch has no guard on it"
            ),
            "pass the outcome as an argument",
        ),
        (
            fault("loop", Evidence("", "went on", "ended", RELU)),
            (
                "the loop on line 5 had more iterations when compiled than in call 2 of `f`: "
                "torch has no guard on it"
            ),
            "pass the outcome as an argument",
        ),
        (
            fault("called", Evidence("", "", "g", RELU)),
            (
                "`y.relu()` called no function of the program when compiled, and calls `g` in call 2 of "
                "`f`: torch has no guard on it"
            ),
            "pass the outcome as an argument",
        ),
        (
            fault("value", Evidence("y", "1", "2", SIN)),
            "`y` (line 4) was `1` when compiled, and is `2` in call 2 of `f`: torch has no guard on it",
            "pass the outcome as an argument",
        ),
        (
            fault("value", Evidence("", "1", "2", RELU)),
            (
                "`y.relu()` returned `1` when compiled, and returns `2` in call 2 of `f`: "
                "torch has no guard on it"
            ),
            "pass the outcome as an argument",
        ),
        (
            fault("hook", Evidence("log", "did not run", "runs", RELU), failure=PRINTED),
            "the hook `log` was registered after `f` was compiled, and does not run there",
            "Register hooks before the first call",
        ),
        (
            fault("hook", Evidence("log", "ran", "does not run", RELU), failure=PRINTED),
            "the hook `log` was removed after `f` was compiled, and still runs there",
            "Register hooks before the first call",
        ),
        (
            fault("setting", Evidence("torch.get_default_dtype()", "a", "b")),
            (
                "`torch.get_default_dtype()` was a when compiled, and is b in call 2 of `f`: "
                "torch has no guard on it"
            ),
            "Set it before the first call",
        ),
        (
            fault("aliasing", Evidence("`x` and `y`", "shared", "apart", SIN), Evidence("x", "", "")),
            (
                "`x` and `y` shared memory when compiled, and do not in call 2 of `f`: "
                "torch has no guard on that"
            ),
            "do not write into `x` in place",
        ),
        (fault("reused"), "a graph is reused for a call that it does not fit: call 2 of `f`", "reset()"),
    ],
)
def test_a_stale_graph_is_a_finding_with_its_cause(located: FaultLocated, title: str, helps: str) -> None:
    finding = only(folded(located))
    assert (finding.kind, finding.severity, finding.message) == ("accuracy", "error", title)
    assert helps in finding.hints[0]
    other = RESET if len(finding.hints) > 1 else RESET.replace("Or call", "Call")
    assert finding.hints[-1] == other
    assert "compiled anew the program matches the uncompiled one." in finding.explanation
    assert not finding.minifiable, "the call by itself does not fail"


def test_what_was_tried_without_caches_is_no_advice() -> None:
    finding = only(
        folded(fault("setting", Evidence('torch.get_autocast_dtype("cpu")', "a", "b"), stage="compiled"))
    )
    assert finding.kind == "accuracy"
    assert "without caches" in finding.explanation
    assert finding.hints == ("Give `torch.autocast` its `dtype` in the compiled function, from an argument.",)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ('os.getenv("A")', "Read it outside of the compiled function"),
        ("x is y", "Compare values that torch guards"),
    ],
)
def test_the_advice_fits_what_is_read(text: str, advice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from fullgraph_server.report.answers import causes

    monkeypatch.setattr(causes._CauseWords, "code", lambda *_: text)
    assert advice in only(folded(fault("branch", Evidence("", "True", "False", RELU)))).hints[0]


def test_functions_that_torch_translates_otherwise_are_all_named() -> None:
    finding = only(folded(fault("numpy", Evidence("fix", "1", "2", RELU), Evidence("tri", "3", "4", SIN))))
    assert finding.message == "torch's translation of `np.fix` gives 2, NumPy 1"
    assert "Likewise `np.tri` (line 4): 4, NumPy 3." in finding.explanation
    assert "compiled anew" not in finding.explanation
    assert finding.hints[0].startswith("`np.trunc(x)`")


def test_a_program_that_asks_whether_it_is_compiled_is_warned_only() -> None:
    report = folded(
        StageChecked("compiled", "", PRINTED, 1),
        fault("compiling", Evidence("", "False", "True", RELU), failure=PRINTED),
    )
    assert only(report).severity == "warning"
    assert is_incomplete(report)


@pytest.mark.parametrize(
    ("stage", "words", "row"),
    [
        (
            "emulate_precision_casts",
            "the results in half precision are equal (tried with `fallback_random = True`",
            "equal in half precision",
        ),
        (
            "use_numpy_random_stream",
            "Compiled code draws NumPy's random numbers from torch: x.",
            "as uncompiled",
        ),
        ("compiled anew", "a graph is reused for a call that it does not fit", "as uncompiled"),
    ],
)
def test_a_difference_that_goes_away_is_told_with_what_makes_it_go(stage: str, words: str, row: str) -> None:
    away = StageChecked(stage, "", None, 1, "x")
    facts = (StageChecked("aot_eager", "0/0", None, 1), StageChecked("compiled", "", PRINTED, 1), away)
    said = verdict(folded(*facts))
    assert said.startswith(f"No stage is at fault in any graph: {ONE_PASSES}; but the compiled program")
    assert "is not known." not in said.partition(words)[0]
    assert words in said
    assert f"  {row}  " in stage_lines([away])[0]


def test_a_wrong_result_without_a_cause_says_that_it_is_not_known() -> None:
    finding = only(folded(replace(fault("reused"), cause=None)))
    assert "The line that causes the difference is not known." in finding.explanation
    assert finding.minifiable
