"""``fullgraph recompiles`` as its caller sees it. Runs are faked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from faked_run import FakeRun, enter_project, fake_runs, fullgraph
from fullgraph_compiler.facts import (
    CompileFailure,
    Fact,
    FrameCompiled,
    FrameStarted,
    GraphBreak,
    GuardFailure,
    GuardInstalled,
    RanDry,
    Recompile,
    Stack,
    StackFrame,
    TargetProblem,
)
from fullgraph_server.fixes.trying import advising

PROGRAM = """\
import torch

@torch.compile
def f(x, k):
    y = x + k
    print("woo")
    return y

def call(size, k):
    f(torch.ones(size), k)

f(torch.ones(2), 1)
"""


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeRun]:
    return fake_runs(monkeypatch)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return enter_project(monkeypatch, tmp_path, PROGRAM)


def stack(folder: Path, *rows: int) -> Stack:
    return tuple(StackFrame(str(folder / "a.py"), row, "call") for row in rows)


def guard(compile_id: str, source: str, kind: str, expected: str) -> GuardInstalled:
    return GuardInstalled(compile_id, source, kind, expected, f"{source} is {expected}", ())


def size(before: str, expected: str, actual: str, at: Stack) -> GuardFailure:
    return GuardFailure(before, "L['x']", "TENSOR_MATCH", "size", expected, actual, 0, at, "size")


def compiled(
    folder: Path, number: int, row: int, failure: GuardFailure | None, *guards: GuardInstalled
) -> list[Fact]:
    """One compilation of ``f``, called from a row; it breaks in its line 6."""
    compile_id, filename = f"0/{number}", str(folder / "a.py")
    broke = GraphBreak(compile_id, "GB0059", "cannot print", "", (), "", "", stack(folder, 6), False, "broke")
    again = [Recompile(compile_id, (failure,))] if failure else []
    started = FrameStarted(compile_id, "f", filename, 3, stack(folder, row))
    done = FrameCompiled(compile_id, "f", filename, 3, 1, 1, len(guards), 0.5)
    return [*again, started, broke, *guards, done]


def three_sizes_and_a_number(folder: Path) -> list[Fact]:
    """``f`` for the sizes 2, 3, 2 and 3, then with another number."""

    def guards(number: int, rows: str, k: str) -> tuple[GuardInstalled, GuardInstalled]:
        compile_id = f"0/{number}"
        return (
            guard(compile_id, "L['x']", "TENSOR_MATCH", rows),
            guard(compile_id, "L['k']", "EQUALS_MATCH", k),
        )

    used = stack(folder, 5)
    number = GuardFailure("0/3", "L['k']", "EQUALS_MATCH", "k == 1", "1", "", None, used)
    return [
        *compiled(folder, 0, 12, None, *guards(0, "[2]", "1")),
        *compiled(folder, 1, 10, size("0/0", "2", "3", used), *guards(1, "[3]", "1")),
        *compiled(folder, 2, 12, size("0/1", "3", "2", used), *guards(2, "[2]", "1")),
        *compiled(folder, 3, 10, size("0/2", "2", "3", used), *guards(3, "[3]", "1")),
        *compiled(folder, 4, 10, number, *guards(4, "[3]", "5")),
    ]


def test_each_function_has_causes_calls_and_breaks_the_most_frequent_first(
    fake: type[FakeRun], folder: Path
) -> None:
    fake.facts = three_sizes_and_a_number(folder)
    result = fullgraph("recompiles", "a.py")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    hints = [line for line in lines if line.startswith("       help: ")]
    assert [line for line in lines if line not in hints] == [
        "a.py:4 f",
        "  4 recompilations, 2.0 s; a recompile_limit of 3 would hold all variants",
        "  causes",
        "    3× size of `x` at dimension 0 was 2, then 3 and 2",
        "       a.py:5  y = x + k",
        "    1× `k` was 1, is now 5",
        "       a.py:5  y = x + k",
        "  called from",
        "    3× a.py:10  f(torch.ones(size), k)",
        "    1× a.py:12  f(torch.ones(2), 1)",
        "  graph breaks",
        "    5× GB0059 cannot print",
        '       a.py:6  print("woo")',
        "",
        "Plan dynamic sizes: fullgraph sizes a.py",
        "4 recompilations of 1 function took 2.0 s, with one compilation kept per function - torch 2.13.0",
    ]
    assert "dynamic=True" in hints[0]


@pytest.mark.parametrize(
    ("options", "command"),
    [
        ((), "fullgraph sizes a.py"),
        (("--", "--steps", "a b"), "fullgraph sizes a.py -- --steps 'a b'"),
    ],
)
def test_a_check_names_the_command_that_plans_the_sizes_it_advises(
    fake: type[FakeRun],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    command: str,
) -> None:
    monkeypatch.setattr(advising, "_LONGEST", 0.0)
    fake.facts = three_sizes_and_a_number(folder)
    told = fullgraph("check", "a.py", *options).stdout
    assert told.splitlines()[-2] == f"Plan dynamic sizes: {command}"
    assert len(fake.asked) == 1
    assert "fullgraph sizes" not in fullgraph("check", "a.py", "--ranks", "2", *options).stdout
    fake.facts = [*fake.facts, RanDry()]
    assert "fullgraph sizes" not in fullgraph("check", "a.py", *options).stdout


def test_the_run_keeps_one_compilation_and_writes_nothing_into_the_workspace(
    fake: type[FakeRun], folder: Path
) -> None:
    fullgraph("recompiles", "a.py", "--timeout", "9")
    settings, request = fake.asked[-1]
    assert (request.depth, request.cache, settings.timeout) == ("recompiles", "", 9.0)
    assert not (folder / ".fullgraph").exists()


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ([], "Nothing was compiled, so nothing was compiled again"),
        ([0], "Nothing was compiled again"),
    ],
)
def test_where_nothing_is_compiled_again_a_sentence_says_so(
    fake: type[FakeRun], folder: Path, numbers: list[int], sentence: str
) -> None:
    fake.facts = [fact for number in numbers for fact in compiled(folder, number, 12, None)]
    result = fullgraph("recompiles", "a.py")
    assert (result.exit_code, result.stdout) == (0, f"{sentence} - torch 2.13.0\n")


def test_what_stops_the_program_is_told_too(fake: type[FakeRun], folder: Path) -> None:
    failure = CompileFailure("0/1", "backend", "RuntimeError", "boom", stack(folder, 5))
    fake.facts, fake.status = [*three_sizes_and_a_number(folder), failure], "raised"
    result = fullgraph("recompiles", "a.py")
    assert result.exit_code == 1
    assert "a.py:5:5 error compile-error backend failed: boom" in result.stdout
    fake.facts, fake.status = [*compiled(folder, 0, 12, None), failure], "raised"
    last = fullgraph("recompiles", "a.py").stdout.splitlines()[-1]
    assert last == "Nothing was compiled again before the program stopped - torch 2.13.0"
    fake.facts = [TargetProblem("error", "There is no torch.")]
    fake.status = "not-started"
    assert "There is no torch" in fullgraph("recompiles", "a.py").stdout


def test_json_has_each_compilation_with_its_reason_and_the_call(fake: type[FakeRun], folder: Path) -> None:
    fake.facts = three_sizes_and_a_number(folder)
    told = json.loads(fullgraph("recompiles", "a.py", "--format", "json").stdout)
    filename = str(folder / "a.py")
    assert [(item["compile_id"], item["reason"], item["caller"]["row"]) for item in told["compilations"]] == [
        ("0/0", "", 12),
        ("0/1", "size of `x` at dimension 0 was 2, is now 3", 10),
        ("0/2", "size of `x` at dimension 0 was 3, is now 2", 12),
        ("0/3", "size of `x` at dimension 0 was 2, is now 3", 10),
        ("0/4", "`k` was 1, is now 5", 10),
    ]
    last = told["compilations"][-1]
    assert (last["function"], last["filename"], last["row"], last["seconds"]) == ("f", filename, 4, 0.5)
    (frame,) = told["frames"]
    assert (frame["recompiles"], frame["versions"]) == (4, 3)
    assert sorted(item["count"] for item in told["findings"] if item["kind"] == "recompile") == [1, 3]


@pytest.mark.parametrize("functions", [5, 6])
def test_a_long_result_begins_with_its_sum(fake: type[FakeRun], folder: Path, functions: int) -> None:
    facts: list[Fact] = []
    for number in range(functions):
        for again in (0, 1):
            compile_id, name = f"{number}/{again}", f"f{number}"
            failures = (size(f"{number}/0", "2", "3", stack(folder, 5)),)
            facts += [Recompile(compile_id, failures)] * again
            facts.append(FrameStarted(compile_id, name, str(folder / "a.py"), 3, stack(folder, 12)))
            facts.append(FrameCompiled(compile_id, name, str(folder / "a.py"), 3, 1, 1, 0, 0.5))
    fake.facts = facts
    lines = fullgraph("recompiles", "a.py").stdout.splitlines()
    head = f"{functions} recompilations of {functions} functions took {functions * 0.5:.1f} s, with"
    assert lines[-1].startswith(head)
    assert lines[0].startswith(head) == (functions == 6)
