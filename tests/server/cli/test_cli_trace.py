"""``fullgraph trace``: a trace, its ranks, two traces, and the calls that one tells of."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from faked_run import fullgraph
from traces import LOG, PROGRAM, RECORDED, SHORT, recorded


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    (project / "program.py").write_text(PROGRAM)
    (project / "job.log").write_bytes(LOG)
    (project / "before.log").write_bytes(SHORT)
    (project / "ranks").mkdir()
    for rank in range(3):
        name = f"dedicated_log_torch_trace_rank_{rank}_abc.log"
        (project / "ranks" / name).write_bytes(SHORT if rank == 2 else LOG)
    monkeypatch.chdir(project)
    return project


def test_findings_with_the_local_code() -> None:
    result = fullgraph("trace", "job.log")
    assert result.exit_code == 1, "the program has failures"
    assert "program.py:14:5 warning GB0059 Failed to trace builtin operator" in result.output
    assert ' 14 |     print("woo")' in result.output
    assert "torch 2.13.0" in result.output.splitlines()[-1]


def test_who_starts_outside_of_the_project_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fullgraph("trace", "job.log").stderr == ""
    other = folder.parent / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    result = fullgraph("trace", "../project/job.log", "--format", "json")
    assert json.loads(result.stdout)["frames"]
    assert (
        f"program.py was compiled elsewhere, and {other} has no such file: start in the folder"
        in result.stderr
    )


def test_json_has_what_check_has(folder: Path) -> None:
    told = json.loads(fullgraph("trace", "job.log", "--format", "json").output)
    assert told["target"] == f"trace:{folder / 'job.log'}"
    assert {finding["filename"] for finding in told["findings"]} == {str(folder / "program.py")}
    assert any(frame["guards"] for frame in told["frames"])
    assert told["ranks"] == []


@pytest.mark.parametrize("output", ["github", "sarif"])
def test_the_other_formats(output: str) -> None:
    result = fullgraph("trace", "job.log", "--format", output, "--fail-on", "never")
    assert (result.exit_code, "program.py" in result.output) == (0, True)


def test_a_packed_log_and_one_by_another_name(folder: Path) -> None:
    (folder / "x.trace").write_bytes(gzip.compress(LOG))
    assert fullgraph("trace", "x.trace").output == fullgraph("trace", "job.log").output


def test_ranks_are_merged_and_the_odd_one_is_named() -> None:
    result = fullgraph("trace", "ranks")
    assert (
        "rank-difference `limit` is compiled once on rank 2, and is compiled 8 times on the 2 others"
        in result.output
    )
    assert "on 3 ranks" in result.output.splitlines()[-1]
    alone = fullgraph("trace", "ranks", "--rank", "2")
    assert "rank" not in alone.output.splitlines()[-1]
    assert alone.output == fullgraph("trace", "before.log").output


def test_of_several_runs_in_a_folder_the_last_counts(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for number, log in enumerate((LOG, SHORT)):
        path = runs / f"dedicated_log_torch_trace_{number}.log"
        path.write_bytes(log)
        os.utime(path, ns=(number, number))
    assert fullgraph("trace", str(runs)).output == fullgraph("trace", "before.log").output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nothing"], "nothing does not exist."),
        (["program.py"], "is not a trace: record one with TORCH_TRACE=FOLDER python PROGRAM."),
        (["ranks", "--rank", "7"], "has no log of rank 7."),
    ],
)
def test_what_is_no_trace_is_told_in_a_sentence(args: list[str], message: str) -> None:
    result = fullgraph("trace", *args)
    assert message in result.output
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_folders_of_the_other_machine_can_be_named(folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "program.py").rename(folder / "src" / "main.py")
    assert "src/main.py" not in fullgraph("trace", "job.log").output
    (folder / "src" / "main.py").rename(folder / "src" / "program.py")
    (folder / "program.py").write_text(PROGRAM)
    named = fullgraph("trace", "job.log", "--map", "/home/user/project", "src")
    assert "src/program.py:14:5 warning GB0059" in named.output
    (folder / "pyproject.toml").write_text('[tool.fullgraph.paths]\n"/home/user/project" = "src"\n')
    assert fullgraph("trace", "job.log").output == named.output


def test_new_and_gone_between_two_traces() -> None:
    worse = fullgraph("trace", "diff", "before.log", "job.log")
    assert worse.exit_code == 1
    assert worse.output.startswith("New\n")
    assert "recompile-limit" in worse.output
    better = fullgraph("trace", "diff", "job.log", "before.log")
    assert better.exit_code == 0
    assert "Gone" in better.output
    same = fullgraph("trace", "diff", "job.log", "job.log")
    assert (same.exit_code, same.output.splitlines()) == (0, ["Nothing differs - torch 2.13.0+cpu"])


def test_two_versions_of_torch_break_at_the_same_lines(folder: Path) -> None:
    (folder / "newer.log").write_bytes(recorded("2.15"))
    result = fullgraph("trace", "diff", "job.log", "newer.log", "--format", "json")
    told = json.loads(result.output)
    assert told["torch"]["before"].startswith("2.13")
    assert told["torch"]["after"].startswith("2.15")
    assert not [item for item in told["new"] if item["kind"] == "graph-break"]
    assert not [item for item in told["gone"] if item["kind"] == "graph-break"]


def test_a_baseline_makes_new_findings_fail() -> None:
    update = fullgraph("trace", "before.log", "--baseline", "known.json", "--update-baseline")
    assert update.exit_code == 0
    assert fullgraph("trace", "before.log", "--baseline", "known.json").exit_code == 0
    more = fullgraph("trace", "job.log", "--baseline", "known.json")
    assert more.exit_code == 1
    assert "recompile-limit" in more.output
    assert "program.py:14:5" not in more.output, "that is known"


def test_example_calls_of_what_was_compiled(folder: Path) -> None:
    result = fullgraph("trace", "examples", "job.log")
    assert result.exit_code == 0
    assert (
        "program.py:12\n# fullgraph: toy(f32[10], f32[10])\n# fullgraph: toy(f32[12], f32[12])\n"
        in result.output
    )
    (folder / "program.py").unlink()
    assert fullgraph("trace", "examples", "job.log").exit_code == 1


def test_kernels_are_told_of_a_trace_from_a_gpu(folder: Path) -> None:
    shutil.copy(RECORDED / "torch-2.11-gpu-toy.log.gz", folder / "gpu.log.gz")
    told = json.loads(fullgraph("trace", "diff", "before.log", "gpu.log.gz", "--format", "json").output)
    names = {name for function in told["functions"] for name in function["kernels"]}
    assert any(name.startswith("triton_") for name in names)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a device that is full")
@pytest.mark.parametrize("output", ["text", "json"])
def test_a_disk_that_is_full_is_one_sentence(output: str) -> None:
    command = "from fullgraph_server.cli import main; main()"
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [sys.executable, "-c", command, "trace", "job.log", "--format", output],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    message = "Error: The output cannot be written: No space left on device\n"
    assert (result.returncode, result.stderr) == (1, message)
