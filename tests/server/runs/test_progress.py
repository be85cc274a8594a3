"""What a run says of itself while it is on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    CodeGenerated,
    Depth,
    Fact,
    Failure,
    FrameCompiled,
    FrameStarted,
    LateCompilation,
    PreviewDeferred,
    RecipeTried,
    Recompile,
    Script,
    StageChecked,
    Switches,
    TimesMeasured,
    WrittenGraph,
)
from fullgraph_server.runs.progress import RunProgress
from fullgraph_server.workspace.targets import Target, TorchrunJob, Trace

SCRIPT = Script("/project/toy.py")
PROJECT = Path("/project")
TOY = Target("/project/toy.py", "toy.py", "script", SCRIPT.filename, SCRIPT, PROJECT)
GRAPHS = tuple(WrittenGraph(f"{number}/0", "", ()) for number in range(4))


def messages(
    facts: Sequence[Fact], depth: Depth = "graph", switches: Switches | None = None, target: Target = TOY
) -> list[str]:
    """What is shown at first, and after each fact that changes it."""
    progress = RunProgress(target, depth, switches or Switches())
    return [progress.message, *(progress.message for fact in facts if progress.take([fact]))]


def started(compile_id: str, function: str) -> FrameStarted:
    return FrameStarted(compile_id, function, "/project/toy.py", 1)


def compiled(compile_id: str) -> FrameCompiled:
    return FrameCompiled(compile_id, "f", "/project/toy.py", 1, 1, 2, 3, 0.5)


def code(compile_id: str) -> CodeGenerated:
    return CodeGenerated(compile_id, "forward", "", (), ())


def checked(stage: str, compile_id: str = "") -> StageChecked:
    return StageChecked(stage, compile_id, None, 0.1)


def test_a_run_names_the_function_that_is_compiled() -> None:
    facts = [started("0/0", "forward"), compiled("0/0"), started("1/0", "loss"), compiled("1/0")]
    assert messages(facts) == [
        "running toy.py",
        "running toy.py: compiling forward",
        "running toy.py: 1 compilation",
        "running toy.py: compiling loss",
        "running toy.py: 2 compilations",
    ]


def test_the_search_for_a_stage_names_the_stages() -> None:
    graph = [checked(stage, "0/0") for stage in ("aot_eager", "aot_eager_decomp_partition", "inductor")]
    facts = [checked("uncompiled"), checked("eager"), *graph, checked("compiled")]
    assert messages(facts, "stages") == [
        "looking for the stage at fault in toy.py: stages 1 and 2 of 5, uncompiled and under Dynamo alone",
        "looking for the stage at fault in toy.py: stages 3 to 5 of 5, 0 graphs checked",
        "looking for the stage at fault in toy.py: stages 3 to 5 of 5, 1 graph checked",
        "looking for the stage at fault in toy.py: the compiled program again, with eager random numbers",
    ]


def test_a_preview_counts_the_graphs_and_says_of_how_many_if_that_is_known() -> None:
    h100 = Switches(device="h100")
    facts = [started("0/0", "forward"), compiled("0/0"), PreviewDeferred("a CPU build", GRAPHS)]
    assert messages([*facts, code("0/0"), code("0/0"), code("1/0")], "kernels", h100) == [
        "writing kernels of toy.py for h100",
        "writing kernels of toy.py for h100: compiling forward",
        "writing kernels of toy.py for h100: 1 compilation",
        "writing kernels of toy.py for h100: 0 of 4 graphs done",
        "writing kernels of toy.py for h100: 1 of 4 graphs done",
        "writing kernels of toy.py for h100: 2 of 4 graphs done",
    ]
    assert messages([code("0/0")], "build") == [
        "building kernels of toy.py",
        "building kernels of toy.py: 1 graph done",
    ]


@pytest.mark.parametrize(
    ("depth", "fact", "expected"),
    [
        (
            "times",
            TimesMeasured("cold", 1.0, 0.5),
            [
                "measuring compile times of toy.py: cold caches, run 1 of 2",
                "measuring compile times of toy.py: warm caches, run 2 of 2",
            ],
        ),
        (
            "recipes",
            RecipeTried("unmodified", Failure("crash", "SIGSEGV", ""), 0.1, 0),
            ["trying workarounds for a crash of toy.py", "trying workarounds for a crash of toy.py: 1 tried"],
        ),
        (
            "recompiles",
            Recompile("0/1", ()),
            [
                "profiling recompilations of toy.py",
                "profiling recompilations of toy.py: 1 recompilation so far",
            ],
        ),
        (
            "late-compile",
            LateCompilation("0/1"),
            ["looking for late compilations of toy.py", "looking for late compilations of toy.py: 1 so far"],
        ),
    ],
)
def test_other_runs_say_how_far_they_are(depth: Depth, fact: Fact, expected: list[str]) -> None:
    assert messages([fact], depth) == expected


def test_what_is_run_or_read_is_named() -> None:
    assert messages([], switches=Switches(dry_run=True)) == ["dry run of toy.py"]
    assert messages([], "speed") == ["measuring the speed of toy.py"]
    ranks = Target("train", "train", "torchrun", SCRIPT.filename, TorchrunJob(SCRIPT, 4), PROJECT)
    assert messages([], target=ranks) == ["running train on 4 ranks"]
    trace = Target("trace:/job", "job", "trace", "/job", Trace("/job"), PROJECT)
    assert messages([], target=trace) == ["reading job"]
