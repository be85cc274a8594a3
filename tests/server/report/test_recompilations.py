"""One recompilation has one cause: that which tells why no earlier compilation fits."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    CallsCounted,
    Fact,
    FrameStarted,
    GuardFailure,
    GuardInstalled,
    Recompile,
    RecompileLimit,
    RunFinished,
    StackFrame,
)
from fullgraph_compiler.trace.changes import completed
from fullgraph_server.cli.formats.text import labelled_notes, summary
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.text.messages import change
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

FILE = "/w/step.py"
TEXT = "def step(x, flag, mode):\n    return x\n"
WORKSPACE = Workspace(Path("/w"), {FILE: SourceFile(FILE, TEXT)}.get)
X, FLAG, MODE = "L['x']", "L['flag']", "L['mode']"
UNEVALUATED = "'NoneType' object has no attribute 'size'"
"""The reason of a guard that raised an error while torch looked for the one that failed."""
Call = tuple[str, int, bool, str]
"""A call: the data type and size of ``x``, then ``flag`` and ``mode``."""


def guards(compile_id: str, call: Call) -> list[GuardInstalled]:
    dtype, size, flag, mode = call
    kind = "TRUE_MATCH" if flag else "FALSE_MATCH"
    return [
        GuardInstalled(compile_id, X, "TENSOR_MATCH", "", f"check_tensor({X}, {dtype}, size=[{size}])", ()),
        GuardInstalled(compile_id, FLAG, kind, str(flag), f"{FLAG} == {flag}", ()),
        GuardInstalled(compile_id, MODE, "EQUALS_MATCH", mode, f"{MODE} == {mode!r}", ()),
    ]


def failure(compile_id: str, old: Call, new: Call, order: str) -> GuardFailure:
    """The first guard of a compilation that fails, checked in an order such as ``xfm``."""
    for letter in order:
        if letter == "x" and old[0] != new[0]:
            reason = f"tensor 'x' dtype mismatch. expected {old[0]}, actual {new[0]}"
            return GuardFailure(compile_id, X, "TENSOR_MATCH", reason, old[0], new[0], changed="dtype")
        if letter == "x" and old[1] != new[1]:
            sizes = (str(old[1]), str(new[1]))
            reason = "tensor 'x' size mismatch at index 0. expected {}, actual {}".format(*sizes)
            return GuardFailure(compile_id, X, "TENSOR_MATCH", reason, *sizes, 0, (), "size")
        if letter == "f" and old[2] != new[2]:
            kind = "TRUE_MATCH" if old[2] else "FALSE_MATCH"
            return GuardFailure(compile_id, FLAG, kind, f"flag == {old[2]}", str(old[2]))
        if letter == "m" and old[3] != new[3]:
            return GuardFailure(compile_id, MODE, "EQUALS_MATCH", f"mode == {old[3]!r}", old[3])
    raise AssertionError("this compilation fits")


def compiled(*calls: Call, order: str = "fxm", more: Fact | None = None) -> Report:
    """The report of a function that is compiled for each call, and of one more fact."""
    facts: list[object] = []
    for number, call in enumerate(calls):
        compile_id = f"0/{number}"
        facts += [FrameStarted(compile_id, "step", FILE, 1, (StackFrame(FILE, 3, "<module>"),))]
        failures = [failure(f"0/{old}", calls[old], call, order) for old in reversed(range(number))]
        facts += [Recompile(compile_id, tuple(failures))] if failures else []
        facts += guards(compile_id, call)
    facts += [*([more] if more else []), RunFinished("finished", 1.0)]
    return fold("step.py", 1, "2.13.0", facts, WORKSPACE)  # type: ignore[arg-type]


def last(report: Report) -> tuple[str, str]:
    """The cause of the newest compilation, and what is added to it."""
    newest = report.compilations[-1].compile_id
    (finding,) = (item for item in report.findings if newest in item.compile_ids)
    assert finding.message.endswith(report.compilations[-1].reason) or finding.count > 1
    return finding.message, finding.explanation


@pytest.mark.parametrize("order", ["fxm", "xfm"])
def test_the_cause_is_the_value_that_no_compilation_is_for(order: str) -> None:
    first, second, third = ("f32", 4, True, "a"), ("f32", 4, False, "a"), ("f32", 2, True, "a")
    message, explanation = last(compiled(first, second, third, order=order))
    assert message == "recompiled: size of `x` at dimension 0 was 4, is now 2"
    other = "Other compilations did not fit either: `flag` was False, is now True."
    assert explanation == (other if order == "fxm" else "")


def test_it_may_have_failed_in_an_older_compilation() -> None:
    calls: list[Call] = [("f32", 4, True, "a"), ("f32", 4, False, "a"), ("f32", 4, True, "b")]
    assert last(compiled(*calls))[0] == "recompiled: `mode` was a, is now b"


def test_of_values_that_were_all_met_before_that_of_the_newest_compilation_counts() -> None:
    met: list[Call] = [("f32", 4, True, "a"), ("f32", 4, False, "a"), ("f32", 4, True, "b")]
    message, explanation = last(compiled(*met, ("f32", 4, False, "b")))
    assert message == "recompiled 2 times: `flag` was True, is now False"
    assert explanation == "Other compilations did not fit either: `mode` was a, is now b."


def test_a_guard_that_could_not_be_evaluated_is_no_cause() -> None:
    first, second, third = ("f32", 4, True, "a"), ("f32", 2, True, "a"), ("f32", 2, True, "b")
    failures = failure("0/0", first, third, "xfm"), GuardFailure("0/1", "", "", UNEVALUATED)
    newest = Recompile("0/2", failures)
    report = compiled(first, second, more=newest)
    finding = next(item for item in report.findings if "0/2" in item.compile_ids)
    assert "`x`" in finding.message
    assert UNEVALUATED not in f"{finding.message} {finding.explanation}"


def test_a_tensor_is_checked_property_by_property() -> None:
    calls: list[Call] = [("f32", 4, True, "a"), ("f64", 4, True, "a"), ("f32", 2, True, "a")]
    message, explanation = last(compiled(*calls))
    assert message == "recompiled: size of `x` at dimension 0 was 4, is now 2"
    assert explanation == "Other compilations did not fit either: dtype of `x` was f64, is now f32."


@pytest.mark.parametrize("seed", range(20))
def test_counts_add_up_to_the_number_of_recompilations(seed: int) -> None:
    chance = random.Random(seed)
    every = [
        (dtype, size, flag, mode)
        for dtype in ("f32", "f64")
        for size in (2, 3, 4)
        for flag in (True, False)
        for mode in "abc"
    ]
    calls = chance.sample(every, 9)
    report = compiled(*calls, order="".join(chance.sample("xfm", 3)))
    assert sum(item.count for item in report.findings) == report.frames[0].recompiles == 8
    assert sum(bool(item.reason) for item in report.compilations) == 8
    assert summary(report).startswith("8 recompilations in 1 function")


def test_values_that_change_together_are_told_and_advised_together() -> None:
    report = compiled(("f32", 4, True, "a"), ("f32", 4, False, "b"), order="mf")
    (finding,) = report.findings
    assert finding.message == "recompiled: `mode` was a, is now b"
    assert finding.explanation == "Changed with it: `flag` was True, is now False."
    assert [hint.partition(":")[0] for hint in finding.hints] == [
        "Each value of `mode` has its own graph, compiled once.",
        "For `flag`, too",
    ]


def test_a_value_that_does_not_change_in_all_of_them_is_not_told() -> None:
    for flag in (False, True):  # the last compilation is for the flag of an earlier one
        report = compiled(("f32", 4, True, "a"), ("f32", 4, False, "b"), ("f32", 4, flag, "c"), order="mf")
        (finding,) = report.findings
        assert finding.message == "recompiled 2 times: `mode` was a, then b and c"
        assert "Changed with it" not in finding.explanation


def test_a_limit_tells_what_changes_with_its_cause() -> None:
    calls: list[Call] = [("f32", 4, True, "a"), ("f32", 4, False, "b")]
    failures = tuple(failure(f"0/{old}", calls[old], ("f32", 4, False, "d"), "mf") for old in (1, 0))
    limit = RecompileLimit("0/2", "step", FILE, 1, 2, "recompile_limit", False, failures)
    report = compiled(*calls, order="mf", more=limit)
    finding = next(finding for finding in report.findings if finding.kind == "recompile-limit")
    assert finding.explanation.endswith("Changed with it: `flag` was True, is now False.")
    (hint,) = finding.hints  # past the limit, no value of these is compiled once
    assert "recompile_limit" in hint


def test_calls_that_led_to_other_recompilations_of_a_finding_are_told() -> None:
    values = [("f32", size, True, "a") for size in (4, 5, 6, 7)]
    facts: list[Fact] = []
    for number, value in enumerate(values):
        row = 3 if number < 2 else 4
        facts.append(FrameStarted(f"0/{number}", "step", FILE, 1, (StackFrame(FILE, row, "train"),)))
        failures = tuple(failure(f"0/{old}", values[old], value, "x") for old in reversed(range(number)))
        facts += [Recompile(f"0/{number}", failures)] if failures else []
    (finding,) = fold("step.py", 1, "2.13.0", facts, WORKSPACE).findings
    assert [(call.row, call.function) for call in finding.also_from] == [(4, "train")]
    notes = dict(labelled_notes(finding))
    assert notes["called from"] == f"{FILE}:3 in train\nalso {FILE}:4 in train"


@pytest.mark.parametrize(
    ("kind", "changes", "words"),
    [
        ("DICT_CONTAINS", ["with 1"], "`x` had the key 1, now lacks it"),
        ("SET_CONTAINS", ["without 'a'"], "`x` lacked the item 'a', now has it"),
        ("HASATTR", ["with .scale"], "`x` had the attribute .scale, now lacks it"),
        (
            "DICT_CONTAINS",
            ["with 1", "with 2", "without 3"],
            "the keys of `x` changed: 1 is missing, then 2, then 3 is new",
        ),
    ],
)
def test_what_a_value_has_or_lacks_is_told(kind: str, changes: list[str], words: str) -> None:
    other = {"with": "without", "without": "with"}
    failures = [
        GuardFailure("0/0", X, kind, "", text, f"{other[text.split()[0]]} {text.split()[1]}")
        for text in changes
    ]
    assert change(failures) == words


def test_an_error_of_a_guard_names_no_value() -> None:
    failure = GuardFailure("0/0", "", "", UNEVALUATED)
    assert change([failure]) == f"torch failed to evaluate a guard: `{UNEVALUATED}`"


def test_a_size_or_length_that_a_guard_forbids_is_told() -> None:
    shape = "torch.float32, shape [1, dynamic], device cpu, requires_grad=False, stride [2, 1]"
    size = GuardFailure("0/0", X, "", "", "at least 2", dimension=0, changed="size")
    length = GuardFailure("0/0", X, "LENGTH_CHECK", "", "2", changed="length")
    after = GuardInstalled("0/1", X, "TENSOR_MATCH", shape, "", ())
    assert completed(size, (), (after,)).actual == "1"
    assert completed(replace(size, dimension=1), (), (after,)).actual == ""
    assert completed(length, (), (GuardInstalled("0/1", X, "LENGTH_CHECK", "", "not x", ()),)).actual == "0"


def test_past_the_limit_advice_is_left_without_what_is_compiled_once() -> None:
    new = GuardFailure("0/0", "L['mode']", "ID_MATCH", "", "the same function")
    flag = GuardFailure("0/0", "L['flag']", "TRUE_MATCH", "", "True")
    for cause, told in (
        (
            new,
            ["Make it once, before the first call (`mode = ...`), and pass it in every call. (Not tried.)"],
        ),
        (flag, []),
    ):
        limit = RecompileLimit("0/1", "step", FILE, 1, 1, "recompile_limit", False, (cause,))
        facts = (FrameStarted("0/0", "step", FILE, 1, (StackFrame(FILE, 3, "<module>"),)), limit)
        (found,) = fold("step.py", 1, "2.13.0", facts, WORKSPACE).findings
        assert [*found.hints[:-1]] == told


@pytest.mark.parametrize(("called", "row", "told"), [(3, 1, True), (0, 1, False), (3, 2, False)])
def test_a_limit_says_how_many_calls_came_from_it_on(called: int, row: int, told: bool) -> None:
    limit = RecompileLimit("0/2", "step", FILE, 1, 2, "recompile_limit", False, called=called)
    facts = (FrameStarted("0/0", "step", FILE, 1), limit, CallsCounted("step", FILE, row, 5))
    (found,) = fold("step.py", 1, "2.13.0", facts, WORKSPACE).findings
    assert ("3 of its 5 calls came after that: those that fit no compilation" in found.explanation) is told


def test_a_recompilation_without_a_reason_counts() -> None:
    started = [FrameStarted(f"0/{number}", "step", FILE, 1) for number in range(2)]
    facts = (*started, Recompile("0/1", ()), RunFinished("finished", 1.0))
    report = fold("step.py", 1, "2.13.0", facts, WORKSPACE)
    (finding,) = report.findings
    assert finding.message == "recompiled: none of the earlier compilations fits"
    assert (finding.count, report.frames[0].recompiles, bool(report.compilations[1].reason)) == (1, 1, True)


@pytest.mark.parametrize(
    ("source", "other", "told"),
    [
        ("L['x']", "L['y']", "`x` and `y` are no longer the same object"),
        (
            "___stack0",
            "L['y']",
            "two values, at least one without a name here, are no longer the same object",
        ),
    ],
)
def test_values_without_a_name_are_told_without_one(source: str, other: str, told: str) -> None:
    failure = GuardFailure("0/0", source, "OBJECT_ALIASING", "", expected=other)
    assert change([failure]) == told


@pytest.mark.parametrize("folder", ["_higher_order_ops", "_export"])
def test_what_torch_compiles_by_itself_has_no_advice(folder: str) -> None:
    path = f"/venv/lib/torch/{folder}/cond.py"
    calls: list[Call] = [("float", 1, True, "a"), ("float", 1, True, "b")]
    for filename in (FILE, path):
        stack = (StackFrame(FILE, 2, "step"),)
        facts = [
            FrameStarted("0/0", "step", filename, 1, stack),
            *guards("0/0", calls[0]),
            FrameStarted("0/1", "step", filename, 1, stack),
            Recompile("0/1", (failure("0/0", calls[0], calls[1], "xfm"),)),
            RunFinished("finished", 1.0),
        ]
        (finding,) = fold("step.py", 1, "2.13.0", facts, WORKSPACE).findings
        assert bool(finding.hints) == (filename == FILE)
