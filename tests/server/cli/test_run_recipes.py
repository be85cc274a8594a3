"""``fullgraph recipes`` as its caller sees it. Runs are faked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from faked_run import FakeRun, fake_runs, fullgraph
from fullgraph_compiler.facts import Fact, Failure, GraphBreak, RecipeTried, TargetProblem

MEMORY = Failure("error", "OutOfMemoryError", "CUDA out of memory. " + "Tried to allocate 20.00 MiB. " * 4)
SEGFAULT = Failure("crash", "SIGSEGV", "the process is ended by SIGSEGV")
HANG = Failure("hang", "Hang", "it takes longer than 300 s")


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeRun]:
    return fake_runs(monkeypatch)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.py").write_text("f()\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def recipes(*words: str) -> Result:
    return fullgraph("recipes", "a.py", *words)


def tried(*failures: Failure | None) -> tuple[Fact, ...]:
    names = ("unmodified", "dynamic shapes off", "CUDA graphs off", "uncompiled")
    return tuple(
        RecipeTried(name, failure, 1.5, 0 if failure else 3 << 29)
        for name, failure in zip(names, failures, strict=True)
    )


def test_a_table_shows_what_was_tried_and_then_what_helps(fake: type[FakeRun], folder: Path) -> None:
    message = "The program gets through with CUDA graphs off."
    fake.facts = (
        GraphBreak("0/0", "GB0059", "broke", "", (), "", "", (), False, ""),
        *tried(SEGFAULT, MEMORY, None, None),
        TargetProblem("error", "The program crashes."),
        TargetProblem("warning", message, ("Do without.",)),
    )
    result = recipes()
    assert result.exit_code == 1
    assert result.stdout == (
        "unmodified          1.5 s         -  crashes (SIGSEGV)\n"
        "dynamic shapes off  1.5 s         -  "
        "fails: OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. Tried to ...\n"
        "CUDA graphs off     1.5 s  1.50 GiB  passes\n"
        "uncompiled          1.5 s  1.50 GiB  passes\n"
        "\n"
        "a.py:1:1 error target-error The program crashes\n"
        "   |\n"
        " 1 | f()\n"
        "   | ^\n"
        "\n"
        f"a.py:1:1 warning target-error {message.rstrip('.')}\n"
        "   |\n"
        " 1 | f()\n"
        "   | ^\n"
        "   |\n"
        "   = help: Do without.\n"
        "\n"
        f"{message}\n"
        "Find the stage at fault: fullgraph stages a.py\n"
    )
    ((_, request),) = fake.asked
    assert (request.depth, request.cache) == ("recipes", str(folder / ".fullgraph" / "cache"))


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (tried(None, None, None, None), "The program gets through unchanged: no recipe is needed."),
        (
            tried(HANG, None, None, None),
            "The program gets through with dynamic shapes off or CUDA graphs off.",
        ),
        (tried(MEMORY, HANG, HANG, None), "No recipe helps: the program gets through only uncompiled."),
        (tried(HANG, HANG, HANG, HANG), "The program also fails uncompiled: the compiler is not at fault."),
        ((), "Stopped before everything was tried."),
    ],
)
def test_the_verdict_is_one_sentence(fake: type[FakeRun], facts: tuple[Fact, ...], sentence: str) -> None:
    fake.facts = facts
    assert sentence in recipes().stdout.splitlines()


def test_a_run_that_ends_early_says_why(fake: type[FakeRun]) -> None:
    problem = "The program used more than 2 GiB of memory."
    fake.facts, fake.status = (*tried(None, None, None, None)[:2], TargetProblem("error", problem)), "memory"
    assert recipes().stdout.splitlines()[-1] == problem.rstrip(".")


@pytest.mark.parametrize(("failure", "code"), [(None, 0), (SEGFAULT, 1)])
def test_the_exit_code(fake: type[FakeRun], failure: Failure | None, code: int) -> None:
    problems = (TargetProblem("error", "The program crashes."),) if failure else ()
    fake.facts = (*tried(failure, None, None, None), *problems)
    assert recipes().exit_code == code


def test_as_json(fake: type[FakeRun]) -> None:
    fake.facts = tried(SEGFAULT, None, None, None)
    told = json.loads(recipes("--format", "json").stdout)["recipes"]
    assert told[0] == {
        "recipe": "unmodified",
        "passes": False,
        "failure": {
            "kind": "crash",
            "error": "SIGSEGV",
            "message": "the process is ended by SIGSEGV",
            "phase": "forward",
        },
        "seconds": 1.5,
        "memory": 0,
    }
    assert told[1]["passes"]
