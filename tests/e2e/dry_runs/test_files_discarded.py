"""Runs whose files are discarded, and runs whose files are kept: on the command line and in an editor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, Any

import pytest
import pytest_lsp
from fullgraph_server.workers.handover import end_fork_server
from lsp_session import CONFIG, Editor, uri_of

PROGRAM = """\
import os
import torch

step = torch.compile(torch.nn.Linear(4, 4))
step(torch.randn(2, 4))
with open("log.txt", "a") as log:
    log.write("ran\\n")
os.makedirs("out", exist_ok=True)
torch.save({"step": 1}, "out/m.pt")
assert torch.load("out/m.pt")["step"] == 1
"""

ATTACKS = """
import contextlib, glob, os, socket
import noisy
import torch

torch.compile(torch.nn.Identity())(torch.ones(1))
with contextlib.suppress(OSError), open("/proc/self/fd/0", "a") as file:
    file.write("more")
os.chmod("/proc/self/fd/0", 0o600)
open("log.txt", "w").close()
with contextlib.suppress(OSError), open(f"/proc/{os.getppid()}/cwd{os.getcwd()}/log.txt", "w"):
    print("reached the parent")
print("waiting:", glob.glob(os.environ["XDG_RUNTIME_DIR"] + "/fullgraph/*"))
"""
NOISY = """
import os
log = open(os.environ["NOISY_LOG"], "a", buffering=1)
log.write("imported\\n")
"""

RANKS = """\
import os
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
step = torch.compile(torch.nn.Linear(4, 4))
step(torch.randn(2, 4))
if dist.get_rank() == 0:
    torch.save({"step": 1}, "m.pt")
    os.remove("log.txt")
dist.barrier()
assert torch.load("m.pt")["step"] == 1 and not os.path.exists("log.txt")
dist.destroy_process_group()
"""

FAILS = """\
import torch

def backend(graph, inputs):
    if any(node.target is torch.sin for node in graph.graph.nodes):
        raise RuntimeError("no sine")
    return graph

with open("log.txt", "a") as log:
    log.write("ran\\n")

@torch.compile(backend=backend)
def step(x):
    return torch.sin(x) + 1

step(torch.randn(4))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "program.py").write_text(PROGRAM)
    (folder / "log.txt").write_text("before\n")
    return folder


def fullgraph(
    folder: Path, *words: str, env: dict[str, str] | None = None, stdin: IO[str] | None = None
) -> subprocess.CompletedProcess[str]:
    code = "from fullgraph_server.cli import main; main()"
    command = [sys.executable, "-c", code, *words, "--python", sys.executable]
    env = {**os.environ, **(env or {})}
    return subprocess.run(
        command, cwd=folder, env=env, stdin=stdin, capture_output=True, text=True, check=False
    )


def discarded(done: subprocess.CompletedProcess[str]) -> Any:
    report = json.loads(done.stdout)
    assert report["status"] == "finished", done.stderr
    return report["discarded"]


def is_changed(folder: Path) -> bool:
    return (folder / "log.txt").read_text() != "before\n" or (folder / "out").exists()


@pytest.mark.parametrize(
    "protection",
    ["", pytest.param("landlock", marks=pytest.mark.slow), pytest.param("python", marks=pytest.mark.slow)],
    ids=["as it is", "landlock", "python"],
)
def test_a_run_can_discard_its_files(folder: Path, protection: str) -> None:
    env = {"FULLGRAPH_FILE_PROTECTION": protection}
    told = discarded(fullgraph(folder, "check", "--discard-files", "--format", "json", "program.py", env=env))
    assert told["by"] == protection or not protection
    assert not is_changed(folder)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's part is Linux's alone")
def test_no_way_leads_around_a_run_that_discards(folder: Path, tmp_path: Path) -> None:
    """Caches above the project, standard input, other processes, imports ahead; in a second run, too."""
    (folder / "attacks.py").write_text(ATTACKS)
    (folder / "pyproject.toml").touch()
    libraries, log, runtime = tmp_path / "libraries", tmp_path / "library.log", tmp_path / "runtime"
    for made in (libraries, runtime):
        made.mkdir(mode=0o700)
    (libraries / "noisy.py").write_text(NOISY)
    log.touch()
    folders = {name: str(tmp_path) for name in ("HF_HOME", "XDG_CACHE_HOME")}
    warm = {"CI": "", "FULLGRAPH_WARM": "", "XDG_RUNTIME_DIR": str(runtime)}
    env = {**folders, **warm, "PYTHONPATH": str(libraries), "NOISY_LOG": str(log)}
    try:
        for _ in range(2):
            with (folder / "log.txt").open() as given:
                words = ("check", "--discard-files", "--format", "json", "attacks.py")
                done = fullgraph(folder, *words, env=env, stdin=given)
            assert discarded(done)["by"] == "namespace"
            assert "reached" not in done.stderr
            assert "waiting: []" in done.stderr
            assert not is_changed(folder)
            assert (folder / "log.txt").stat().st_mode & 0o777 == 0o644
            assert log.read_text() == ""
    finally:
        for path in (runtime / "fullgraph").glob("*"):
            end_fork_server(path)


def test_a_run_that_is_asked_for_keeps_its_files(folder: Path) -> None:
    assert discarded(fullgraph(folder, "check", "--format", "json", "program.py")) is None
    assert is_changed(folder)


def test_the_project_says_what_becomes_of_files(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.fullgraph]\nfiles = "discard"\n')
    assert discarded(fullgraph(folder, "check", "--format", "json", "program.py"))["by"]
    assert not is_changed(folder)
    assert discarded(fullgraph(folder, "check", "--keep-files", "--format", "json", "program.py")) is None
    assert is_changed(folder)


def test_what_can_become_of_files_is_checked(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.fullgraph]\nfiles = "burn"\n')
    assert (
        'files: must be "keep" or "discard", not \'burn\'' in fullgraph(folder, "check", "program.py").stderr
    )


@pytest.mark.slow
def test_the_summary_says_that_no_file_was_changed(folder: Path) -> None:
    assert " - no file was changed" in fullgraph(folder, "check", "--discard-files", "program.py").stdout
    assert "no file" not in fullgraph(folder, "check", "program.py").stdout


@pytest.mark.skipif(sys.platform != "linux", reason="several ranks run on Linux alone")
def test_ranks_share_what_they_write(folder: Path) -> None:
    (folder / "ranks.py").write_text(RANKS)
    told = discarded(
        fullgraph(folder, "check", "--ranks", "2", "--discard-files", "--format", "json", "ranks.py")
    )
    assert told is not None
    assert not is_changed(folder)
    assert not (folder / "m.pt").exists()


@pytest.mark.slow
def test_what_libraries_keep_at_home_stays_but_for_dry_runs(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".cache").mkdir(parents=True)
    text = 'import os\nwith open(os.path.expanduser("~/.cache/weights"), "a") as file:\n    file.write("x")\n'
    (folder / "loads.py").write_text(text)
    env = {"HOME": str(home)}
    fullgraph(folder, "check", "--discard-files", "loads.py", env=env)
    assert (home / ".cache" / "weights").read_text() == "x"
    fullgraph(folder, "check", "--dry-run", "loads.py", env=env)
    assert (home / ".cache" / "weights").read_text() == "x"


@pytest.mark.slow
def test_a_minification_writes_its_repro_alone(folder: Path) -> None:
    (folder / "fails.py").write_text(FAILS)
    (folder / "pyproject.toml").write_text('[tool.fullgraph]\nfiles = "discard"\n')
    done = fullgraph(folder, "minify", "fails.py", "-o", "repro.py")
    assert done.returncode == 0, done.stderr
    assert "sin" in (folder / "repro.py").read_text()
    assert not is_changed(folder)


# -- in an editor ------------------------------------------------------------------------------


@pytest_lsp.fixture(config=CONFIG)
async def editor(lsp_client: Editor, tmp_path: Path) -> AsyncIterator[None]:
    folder = tmp_path / "workspace"
    folder.mkdir()
    lsp_client.program = folder / "program.py"
    lsp_client.program.write_text(PROGRAM)
    configure(lsp_client, None)
    await lsp_client.open_folder(folder)
    lsp_client.open(lsp_client.program)
    yield
    await lsp_client.shutdown_session()


def configure(editor: Editor, files: str | None) -> None:
    editor.set_configuration({"fullgraph": {"activeInterpreter": sys.executable, "files": files}})


def runs(editor: Editor) -> int:
    """How often the program has left a line in its log."""
    return (editor.program.parent / "log.txt").read_text().count("ran")


async def saved(editor: Editor) -> Any:
    """What the run told that follows a save."""
    before = len(editor.statuses)
    editor.save(uri_of(editor.program))
    await editor.until(lambda: [params.state for params in editor.statuses[before:]][-1:] == ["finished"])
    return await report(editor)


async def report(editor: Editor) -> Any:
    params = {"target": editor.statuses[-1].target}
    return await editor.protocol.send_request_async("fullgraph/report", params)


async def test_a_run_that_starts_by_itself_changes_no_file(editor: Editor) -> None:
    await editor.command("fullgraph.run", uri_of(editor.program))
    assert runs(editor) == 1
    assert "files" not in await report(editor)
    (editor.program.parent / "out" / "m.pt").unlink()
    told = await saved(editor)
    assert told["files"].startswith("no file was changed")
    assert runs(editor) == 1
    assert list((editor.program.parent / "out").iterdir()) == []
    await editor.command("fullgraph.run", uri_of(editor.program))
    assert runs(editor) == 2


@pytest.mark.slow
async def test_the_setting_keeps_the_files_of_runs_that_start_by_themselves(editor: Editor) -> None:
    configure(editor, "keep")
    await editor.command("fullgraph.run", uri_of(editor.program))
    assert "files" not in await saved(editor)
    assert runs(editor) == 2


@pytest.mark.slow
async def test_the_setting_discards_the_files_of_every_run(editor: Editor) -> None:
    configure(editor, "discard")
    await editor.command("fullgraph.run", uri_of(editor.program))
    assert (await report(editor))["files"].startswith("no file was changed")
    assert list(editor.program.parent.iterdir()) == [editor.program]
