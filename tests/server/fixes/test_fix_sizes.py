"""The search for the fewest marks, on programs that are made up, and what is said of sizes."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import click
import pytest
from fixing import span_of
from fullgraph_compiler.facts import AddedSizes, SizeTried
from fullgraph_server.cli.formats.sizes import TargetSizes, summary, tried_words, write
from fullgraph_server.cli.sizes import parse_sizes
from fullgraph_server.fixes.editing import edited
from fullgraph_server.fixes.experiments import ExperimentState
from fullgraph_server.fixes.model import Fix, RuleContext
from fullgraph_server.fixes.sizes import (
    SizeMark,
    SizePlan,
    dynamic_sources,
    find_sizes,
    size_candidates,
    times_compiled,
    written,
)
from fullgraph_server.report.model import Finding, FrameCompilation, FrameReport, Report
from fullgraph_server.text.remedies import Advice, Remedy
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.targets import script_target

FILE = "/w/model.py"
TEXT = """\
import torch


@torch.compile
def f(x, y):
    return x * 2, y * 2


for n in (8, 12):
    x, y = torch.ones(n, n), torch.ones(n)
    f(x, y)
"""
X0, X1, Y0 = (f"torch._dynamo.mark_dynamic({text})" for text in ("x, 0", "x, 1", "y, 0"))


def report_of(text: str, recompiles: int) -> Report:
    source = SourceFile(FILE, text)
    finding = Finding(
        "recompile", "recompile", "information", "recompiled", span_of(source, "x * 2"), count=recompiles,
        advice=(Advice("", (Remedy("mark", (f"{X0}",)), Remedy("dynamic"))),), compile_ids=frozenset({"0/1"}),
    )  # fmt: skip
    calls = tuple(
        FrameCompilation(
            f"0/{number}", "f", span_of(source, "def f"), 0.0, 0.0, "", span_of(source, "f(x, y)", 1)
        )
        for number in range(2)
    )
    ids = tuple(f"0/{number}" for number in range(recompiles + 1))
    frame = FrameReport("f", "f", FILE, 5, ids, graphs=len(ids))
    found = (finding,) if recompiles else ()
    return Report(
        FILE, 1, status="finished", findings=found, compilations=calls, frames=(frame,), files={FILE: source}
    )


class Programs:
    """A prover of a program of which it is known how often each text is compiled again."""

    def __init__(self, recompiles: Callable[[str], int], sizes: tuple[SizeTried, ...] = ()) -> None:
        self._recompiles, self._sizes = recompiles, sizes
        self.added: tuple[AddedSizes, ...] | None = None
        self.ran: list[str] = []
        self.environments: list[Mapping[str, str]] = []
        self.works_with = ""
        self.breaks: Callable[[str], bool] = lambda _: False

    def state(self, text: str) -> ExperimentState:
        report = report_of(text, self._recompiles(text))
        if self.breaks(text):
            broken = replace(report.frames[0], breaks=1)
            breaking = Finding(
                "graph-break", "GB0170", "warning", "breaks", span_of(report.files[FILE], "x * 2")
            )
            report = replace(report, frames=(broken,), findings=(*report.findings, breaking))
        return ExperimentState({FILE: text} if text != TEXT else {}, report, "", Path(), self._sizes)

    async def as_it_is(self) -> ExperimentState:
        return self.state(TEXT)

    async def nondeterminism(self, state: ExperimentState) -> str:  # noqa: ARG002
        return ""

    async def with_fixes(self, state: ExperimentState, fixes: list[Fix]) -> ExperimentState:
        source = state.report.files[FILE]
        assert source is not None
        text = edited(source, [edit for fix in fixes for edit in fix.edits])
        self.ran.append(text)
        return self.state(text)

    async def run(self, texts: Mapping[str, str], variables: Mapping[str, str]) -> ExperimentState:
        self.environments.append(variables)
        recompiles = 0 if self.works_with in variables.values() else 1
        return ExperimentState(texts, report_of(TEXT, recompiles), "", Path())

    async def differences(self, base: ExperimentState, state: ExperimentState) -> str:  # noqa: ARG002
        return "results differ" if "mark_unbacked" in "".join(state.texts.values()) else ""


def found(programs: Programs) -> SizePlan:
    return asyncio.run(find_sizes(programs, ()))  # type: ignore[arg-type]


def varied(*names: str) -> tuple[SizeTried, ...]:
    return tuple(SizeTried("f", name, 3, "equal") for name in names)


def marks_in(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if "mark_" in line]


def test_single_marks_come_first_and_the_first_that_does_it_ends_the_search() -> None:
    programs = Programs(lambda text: 0 if "mark_dynamic(y, 0)" in text else 1, varied("x.0", "x.1", "y.0"))
    plan = found(programs)
    assert marks_in(plan.texts[FILE][1]) == [Y0]
    assert max(len(marks_in(text)) for text in programs.ran) == 1
    assert plan.left == []


def test_pairs_follow_and_no_set_that_is_larger() -> None:
    def recompiles(text: str) -> int:
        return 0 if "mark_dynamic(x, (0, 1))" in text or all(mark in text for mark in (X0, X1)) else 1

    plan = found(Programs(recompiles, varied("x.0", "x.1", "y.0")))
    assert marks_in(plan.texts[FILE][1]) == ["torch._dynamo.mark_dynamic(x, (0, 1))"]


def test_what_is_compiled_less_often_is_kept_though_something_is_left() -> None:
    plan = found(Programs(lambda text: 1 if "mark_dynamic(x, 0)" in text else 3, varied("x.0", "y.0")))
    assert marks_in(plan.texts[FILE][1]) == [X0]
    assert len(plan.left) == 1
    assert "Mark the size as dynamic before the call: the program recompiles as often" in plan.reasons
    assert "Mark the size as unbacked before the call: results differ" in plan.reasons


def test_nothing_is_planned_that_does_not_help_or_gives_other_results() -> None:
    plan = found(Programs(lambda text: 0 if "mark_unbacked" in text else 1, varied("x.0")))
    assert (plan.fixes, plan.texts) == ((), {})


def test_a_mark_that_breaks_the_graph_is_not_taken() -> None:
    programs = Programs(lambda text: 0 if marks_in(text) else 1, varied("x.0"))
    programs.breaks = lambda text: "mark_dynamic" in text  # and with `mark_unbacked` results differ
    plan = found(programs)
    assert plan.fixes == ()
    assert "Mark the size as dynamic before the call: it breaks the graph" in plan.reasons


def test_a_mark_that_a_later_one_makes_needless_is_left_out() -> None:
    def recompiles(text: str) -> int:
        return 0 if "mark_dynamic(y, 0)" in text and "dynamic=True" in text else 2 - ("dynamic=True" in text)

    plan = found(Programs(recompiles, varied("y.0")))
    assert [fix.rule for fix in plan.fixes] == ["dynamic", "mark-dynamic"]

    def in_two_steps(text: str) -> int:
        return 0 if "mark_dynamic(x, 0)" in text else 1 if marks_in(text) else 2

    programs = Programs(in_two_steps, varied("a.0", "y.0", "x.0"))
    assert marks_in(found(programs).texts[FILE][1]) == [X0]


@pytest.mark.parametrize(
    ("works", "value"), [("L['x']:0", "L['x']:0"), ("L['x']", "L['x']"), ("nothing", "")]
)
def test_sources_are_told_only_if_a_run_with_them_did_the_same(works: str, value: str) -> None:
    programs = Programs(lambda text: 0 if marks_in(text) else 1, varied("x.0"))
    programs.works_with = works
    plan = found(programs)
    assert asyncio.run(dynamic_sources(programs, plan)) == value  # type: ignore[arg-type]
    assert programs.environments[0] == {"TORCH_COMPILE_DYNAMIC_SOURCES": "L['x']:0"}


def test_marks_of_sizes_that_are_no_parameters_are_not_written() -> None:
    report = report_of(TEXT, 1)
    fixes = size_candidates(report.findings[0], RuleContext(report, report.files), ("z.0", "x.1", "n"))
    source = report.files[FILE]
    assert source is not None
    texts = [edited(source, fix.edits) for fix in fixes]
    assert [marks_in(text) for text in texts[:3]] == [
        [X0],
        ["torch._dynamo.decorators.mark_unbacked(x, 0)"],
        [X1],
    ]
    assert not any("z" in mark for text in texts for mark in marks_in(text))
    assert "@torch.compile(dynamic=True)" in texts[-1]


def test_a_function_that_only_example_calls_call_is_compiled_with_dynamic_sizes() -> None:
    report = report_of(TEXT, 1)
    report = replace(report, compilations=tuple(replace(item, caller=None) for item in report.compilations))
    [fix] = size_candidates(report.findings[0], RuleContext(report, report.files), ("x.0",))
    source = report.files[FILE]
    assert source is not None
    assert edited(source, fix.edits) == TEXT.replace("@torch.compile", "@torch.compile(dynamic=True)")


@pytest.mark.parametrize(
    ("ids", "times"), [(("0/0",), (1, 1)), (("0/0", "1/0"), (1, 2)), (("0/0", "1/0", "1/1", "1/2"), (3, 2))]
)
def test_parts_behind_graph_breaks_are_no_compilations_again(
    ids: tuple[str, ...], times: tuple[int, int]
) -> None:
    assert times_compiled(FrameReport("f", "f", FILE, 5, ids)) == times


def test_marks_of_one_tensor_are_one_statement() -> None:
    marks = [SizeMark("y", 0), SizeMark("x", 2), SizeMark("x", 0)]
    assert written("mark", marks) == ("torch._dynamo.mark_dynamic(x, (0, 2))", Y0)


# -- words ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("x.0=1,2,7", AddedSizes("x", 0, (1, 2, 7))),
        (" batch['ids'].1 = 4, 4 ", AddedSizes("batch['ids']", 1, (4,))),
        ("xs[0].12=0", AddedSizes("xs[0]", 12, (0,))),
    ],
)
def test_sizes_are_read(text: str, added: AddedSizes) -> None:
    assert parse_sizes([text]) == [added]


@pytest.mark.parametrize(
    "text", ["", "x", "x.0", "x.0=", "x=3", "x.0=1,", "x.0=-1", "x.0=1.5", ".0=1", "0.0=1"]
)
def test_sizes_that_are_none_are_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(
        click.UsageError, match=r"is not a list of sizes: write NAME\.DIMENSION=SIZE,SIZE as in"
    ):
        parse_sizes([text])


def test_outcomes_are_told_by_size() -> None:
    told = [
        SizeTried("f", "x.0", 1, "compiles-again", "2 <= x.size()[0]"),
        SizeTried("f", "x.0", 2, "equal", backward=True),
        SizeTried("f", "x.0", 7, "equal", backward=True),
        SizeTried("f", "x.0", 3, "refused", "RuntimeError: odd", ("y.0",), asked=True),
        SizeTried("f", "x.0", 5, "refused", "RuntimeError: five", ("y.0",), asked=True),
        SizeTried("f", "x.0", 4, "differs", "result: 1, uncompiled 2", asked=True),
    ]
    assert list(tried_words(told)) == [
        "`f` at x.0 = 1, not seen before: torch compiles again: 2 <= x.size()[0]",
        "`f` at x.0 = 2, 7, not seen before: equal to eager, gradients too",
        "`f` at x.0 = 3, 5 (with y.0): refused by the program itself, uncompiled (3: RuntimeError: odd)",
        "`f` at x.0 = 4: differs from eager: result: 1, uncompiled 2",
    ]


@pytest.mark.parametrize(
    ("sizes", "status", "words"),
    [
        ((), "finished", "compiled once with the plan - write it with --apply"),
        (
            (SizeTried("f", "x.0", 3, "differs"),),
            "finished",
            "compiled once with the plan - results differ at x.0 = 3",
        ),
        (
            (SizeTried("f", "x.0", 1 << 40, "untried", "`x` would be too large", asked=True),),
            "finished",
            "compiled once with the plan - write it with --apply",
        ),
        ((), "raised", "no plan: the unmodified program does not finish"),
    ],
)
def test_the_summary_tells_what_matters(sizes: tuple[SizeTried, ...], status: str, words: str) -> None:
    marked = TEXT.replace("    f(x, y)", f"    {X0}\n    f(x, y)")
    base = ExperimentState({}, report_of(TEXT, 1), "", Path())
    last = ExperimentState({FILE: marked}, report_of(marked, 0), "", Path(), sizes)
    if status == "raised":
        base = last = ExperimentState({}, Report(FILE, 1, status="raised"), "", Path())
    sized = TargetSizes(script_target(FILE, Path("/w")), SizePlan(base, last), "L['x']:0")
    assert summary(sized).startswith(words)
    out = io.StringIO()
    write(sized, out)
    assert sized.is_sound == (not sizes and status == "finished")
    if status == "finished":
        assert "`f` was compiled 2 times" in out.getvalue()
        assert f"+    {X0}" in out.getvalue()
        assert "TORCH_COMPILE_DYNAMIC_SOURCES=\"L['x']:0\"" in out.getvalue()
