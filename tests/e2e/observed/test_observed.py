"""A program observed wherever it runs: its log tells what a live run knows, and it runs as without."""

from __future__ import annotations

import json
import os
import py_compile
import re
import signal
import subprocess
import sys
import zipapp
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from forked import observe
from fullgraph_compiler.compat import backend_compat
from fullgraph_compiler.facts import Script
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.traces.reading import ReadOptions
from fullgraph_server.traces.trace import read_trace
from fullgraph_server.workspace.workspace import Workspace
from in_child import in_child

CASES = Path(__file__).parents[2] / "cases"
CLI = [sys.executable, "-c", "from fullgraph_server.cli import main; main()"]
OBSERVE = [sys.executable, "-m", "fullgraph_compiler.observe"]
VARIABLES = {key: value for key, value in os.environ.items() if not key.startswith(("TORCH_", "RANK"))}


def run(folder: Path, command: Sequence[str | Path], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder to its end."""
    env = {**VARIABLES, **variables}
    return subprocess.run(
        [*command], cwd=folder, env=env, capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL
    )


def told(folder: Path, *words: str) -> Any:
    """What ``fullgraph trace`` tells of the logs in ``trace``."""
    done = run(folder, [*CLI, "trace", "trace", "--format", "json", *words])
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


# -- the log tells what a live run knows ---------------------------------------------------------

SAME = [
    "findings/backend_error.py",
    "findings/error_on_graph_break.py",
    "findings/library_break.py",
    "findings/recompile_attribute.py",
    "findings/recompile_limit_fullgraph.py",
    "graph_breaks/gb0036_masked_mean.py",
    "graph_breaks/gb0041_cond_mutation.py",
    "graph_breaks/gb0059_print.py",
    "recompiles/closure_float.py",
    "recompiles/global_setting.py",
]


@pytest.mark.parametrize("name", SAME)
def test_the_log_tells_what_a_live_run_knows(name: str, tmp_path: Path) -> None:
    path = CASES / name
    live = fold("t", 1, torch.__version__, observe(Script(str(path)), tmp_path), Workspace(path.parent))
    in_child(lambda: observed_here(path, tmp_path / "trace"))
    log = read_trace(tmp_path / "trace", ReadOptions(path.parent), "t")
    assert log.findings or log.tensors
    assert shown(log) == shown(live)


def observed_here(path: Path, folder: Path) -> None:
    """Run a program observed, in this process, with TorchInductor left out as in the live run."""
    from fullgraph_compiler.observe.running import run
    from fullgraph_compiler.observe.writing import write_log

    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    backend_compat.stop_after_aot()
    write_log(str(folder))
    try:
        run(str(path), [], module=False)
    except Exception:
        return  # as the program does without


_ENDING = re.compile(r" ?The program went on after this error\.")


def shown(report: Report) -> list[str]:
    """What editors show of a report, but how the program ended, whole texts of torch, and ids of objects."""
    findings = [
        repr(replace(item, text="", survived=False, explanation=_ENDING.sub("", item.explanation)))
        for item in report.findings
        if item.kind != "target-error"
    ]
    frames = [repr(replace(frame, seconds=0.0)) for frame in report.frames]
    parts = (*findings, *frames, *map(repr, report.tensors), *map(repr, report.sizes))
    return [re.sub(r"\b\d{9,}\b", "ID", part) for part in parts]


# -- it runs as without --------------------------------------------------------------------------

ENDINGS = """
import atexit, os, signal, sys, threading
print(sys.argv, __name__, os.path.basename(__file__), sys.path[0])
print(vars(sys.modules["__main__"]) is globals(), "torch" in sys.modules, flush=True)
atexit.register(print, "at exit")
def stop(how):
    if how == "raise":
        try:
            raise KeyError("first")
        except KeyError as error:
            raise ValueError("second") from error
    if how == "hook":
        sys.excepthook = lambda *_: print("hooked")
        raise ValueError
    if how == "words":
        sys.exit("words")
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "thread":
        threading.Thread(target=lambda: print("thread", __name__)).start()
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "exit":
        os._exit(9)
if __name__ == "__main__":
    stop(sys.argv[-1])
"""
COMMANDS = [
    *(["program.py", "--trace", how] for how in ("raise", "hook", "words", "interrupt", "thread", "kill")),
    ["-m", "program", "raise"],
    ["-m", "no_such_module"],
    ["no_such_file.py"],
    ["no_python.py"],
    *([name, "raise"] for name in ("folder", "app.pyz", "program.pyc")),
    ["empty"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_program_runs_as_without(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(ENDINGS)
    (tmp_path / "no_python.py").write_text("def (")
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "__main__.py").write_text(ENDINGS)
    zipapp.create_archive(tmp_path / "folder", tmp_path / "app.pyz")
    py_compile.compile(str(tmp_path / "program.py"), str(tmp_path / "program.pyc"))
    plain, observed = (run(tmp_path, [*start, *command]) for start in ([sys.executable], OBSERVE))
    assert observed.stdout == plain.stdout
    assert observed.stderr == plain.stderr
    assert observed.returncode == plain.returncode


COMPILING = """
import os, signal, sys
import torch

@torch.compile(backend="eager")
def f(x):
    y = x + 1
    print("in f", flush=True)
    return y * 2

def work(_=None):
    return f(torch.ones(3)).sum().item()

class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 2
    def __getitem__(self, index):
        return work()

if __name__ == "__main__":
    how = sys.argv[1]
    if how == "fill":
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
    if how == "worker":
        print([float(item) for item in torch.utils.data.DataLoader(Numbers(), num_workers=1)])
    if how == "spawn":
        import multiprocessing
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.map(work, [1]))
    work()
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
"""


def compiling(folder: Path, how: str) -> subprocess.CompletedProcess[str]:
    """Run a program observed that compiles a function, and does something else as well."""
    (folder / "pyproject.toml").touch()
    (folder / "program.py").write_text(COMPILING)
    return run(folder, [*OBSERVE, "--trace", "trace", "program.py", how])


def test_who_is_killed_leaves_a_log(tmp_path: Path) -> None:
    assert compiling(tmp_path, "kill").returncode == -signal.SIGKILL
    (finding,) = told(tmp_path)["findings"]
    assert (finding["code"], finding["location"]["row"], finding["location"]["column"]) == ("GB0059", 8, 5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "printed", "logs"),
    [("worker", "in f\n" * 2 + "[12.0, 12.0]\nin f\n", 2), ("spawn", "in f\n[12.0]\nin f\n", 2)],
)
def test_processes_of_the_program_work_and_have_logs_of_their_own(
    how: str, printed: str, logs: int, tmp_path: Path
) -> None:
    done = compiling(tmp_path, how)
    assert (done.stdout, done.stderr, done.returncode) == (printed, "", 0)
    assert len(list((tmp_path / "trace").iterdir())) == logs
    assert [item["code"] for item in told(tmp_path)["findings"]] == ["GB0059"]


def test_a_disk_that_is_full_is_told_once(tmp_path: Path) -> None:
    done = compiling(tmp_path, "fill")
    assert (done.stdout, done.returncode) == ("in f\n", 0)
    words = "fullgraph: the log of this process ends here (File too large); the program goes on.\n"
    assert done.stderr == words


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "trace").touch()
    done = compiling(tmp_path, "")
    assert (done.stdout, done.returncode) == ("in f\n", 0)
    words = f"fullgraph: no log is written to {tmp_path}/trace (File exists); the program goes on.\n"
    assert done.stderr == words


def test_a_program_that_compiles_nothing_leaves_no_log(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import torch\nprint(torch.ones(2).sum())\n")
    assert run(tmp_path, [*OBSERVE, "program.py"]).stdout == "tensor(2.)\n"
    done = run(tmp_path, [*CLI, "trace", "fullgraph-trace"])
    assert done.returncode == 2
    assert "fullgraph-trace has no trace: nothing was compiled, or it was not recorded there." in done.stderr


@pytest.mark.slow
def test_compiled_code_is_the_same_and_tlparse_reads_the_log(tmp_path: Path) -> None:
    program = "import torch\nprint(torch.compile(lambda x: x.sin() + 1)(torch.ones(3)).sum())\n"
    (tmp_path / "program.py").write_text(program)
    cache = str(tmp_path / "cache")
    for command, folder in (([sys.executable], "plain"), (OBSERVE, "observed")):
        done = run(tmp_path, [*command, "program.py"], TORCH_TRACE=folder, TORCHINDUCTOR_CACHE_DIR=cache)
        assert done.returncode == 0, done.stderr
    plain, observed = (next((tmp_path / name).iterdir()) for name in ("plain", "observed"))
    assert "fx_graph_cache_miss" in plain.read_text()
    assert "aotautograd_cache_hit" in observed.read_text()
    unknown = [unknown_to_tlparse(log, tmp_path / f"{log.parent.name}-html") for log in (plain, observed)]
    assert unknown[0] == unknown[1]


def unknown_to_tlparse(log: Path, folder: Path) -> list[str]:
    """The lines in which tlparse says what it cannot read."""
    tlparse = Path(sys.executable).with_name("tlparse")
    done = run(folder.parent, [tlparse, log, "-o", folder, "--no-browser"])
    assert done.returncode == 0, done.stderr
    return [line for line in (done.stdout + done.stderr).splitlines() if "nknown" in line]


def test_what_cannot_be_seen_is_told_once_and_left_out(tmp_path: Path) -> None:
    path = CASES / "graph_breaks" / "gb0059_print.py"
    in_child(lambda: observed_blindly(path, tmp_path / "trace", tmp_path / "stderr"))
    words = (
        "fullgraph: the log lacks some details that only this process knows (KeyError('x')); "
        "the program goes on.\n"
    )
    assert (tmp_path / "stderr").read_text() == words
    log = read_trace(tmp_path / "trace", ReadOptions(path.parent), "t")
    assert [item.code for item in log.findings] == ["GB0059"]
    assert not log.tensors


def observed_blindly(path: Path, folder: Path, errors: Path) -> None:
    """Run a program observed, with an error in what looks at records."""
    from fullgraph_compiler.observe import writing

    def look(*_: object) -> dict[str, Any]:
        raise KeyError("x")

    writing.look = look
    with errors.open("w") as sys.stderr:
        observed_here(path, folder)
