"""Runs that are forked from a process with torch in it, beside runs in fresh processes."""

from __future__ import annotations

import asyncio
import importlib
import os
import re
import socket
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy
import pytest
from at_risk import covered, folder
from fullgraph_compiler.facts import Fact, ModulesLoaded, PhasesTimed, RunFinished, RunRequest, Script
from fullgraph_compiler.processes.children import run_child
from fullgraph_compiler.worker import fork_server
from fullgraph_compiler.worker.imported import ImportedFiles
from fullgraph_server.runs.program_run import WorkerRun
from fullgraph_server.workers.fork_server import ForkServerEndedError
from fullgraph_server.workers.pool import WorkerPool
from fullgraph_server.workers.settings import RunSettings
from worker_client import TOY

__all__ = ["folder"]

BUSY_LIBRARY = """
import threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
"""


def observe(
    file: Path, *, fork: bool, libraries: Sequence[str] = (), env: dict[str, str] | None = None
) -> list[tuple[list[Fact], str]]:
    """Facts and output of two runs: of a worker that starts then, and of one that was got ready before."""
    settings = RunSettings(sys.executable, file.parent, {**os.environ, **(env or {})})

    async def runs() -> list[tuple[list[Fact], str]]:
        workers = WorkerPool(fork=fork)
        try:
            first = await one(workers)
            workers.expect(settings, libraries)
            (warm_pool,) = workers._warm_pools.values()
            assert warm_pool._spare is not None
            await (await warm_pool._spare).hello
            return [first, await one(workers)]
        finally:
            await workers.close()

    async def one(workers: WorkerPool) -> tuple[list[Fact], str]:
        facts: list[Fact] = []
        output: list[str] = []
        run = WorkerRun(workers, settings, RunRequest(1, Script(str(file))), libraries, output.append)
        await asyncio.wait_for(run.execute(facts.extend), 120)
        assert isinstance(facts[-1], RunFinished)
        assert facts[-1].status == "finished", "".join(output)
        return facts, "".join(output)

    return asyncio.run(runs())


@pytest.mark.parametrize("fork", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_program_reads_the_input_of_its_pool_and_not_the_connection(tmp_path: Path, fork: bool) -> None:
    program = tmp_path / "program.py"
    told = ("input()", "sys.stdin.read()", "sys.stdin.seekable()", "os.read(0, 9)")
    program.write_text(f"import os, sys\nprint({', '.join(told)})\nimport torch\n")
    given = tmp_path / "input.txt"
    given.write_text("three\nand more\n")

    async def output_with(stdin: int) -> str:
        workers, output, facts = WorkerPool(fork=fork, stdin=stdin), list[str](), list[Fact]()
        settings = RunSettings(sys.executable, tmp_path, dict(os.environ))
        try:
            run = WorkerRun(workers, settings, RunRequest(1, Script(str(program))), (), output.append)
            await asyncio.wait_for(run.execute(facts.extend), 120)
        finally:
            await workers.close()
        return "".join(output)

    with given.open() as file:
        assert asyncio.run(output_with(file.fileno())) == "three and more\n True b''\n"
    reader, writer = os.pipe()
    with open(reader) as pipe:
        os.write(writer, b"five\n")
        os.close(writer)
        assert asyncio.run(output_with(pipe.fileno())) == "five  False b''\n"


def comparable(value: Any) -> Any:
    """A fact with its values by name, without seconds, ids of objects and torch's own stacks."""
    if is_dataclass(value):
        named = {field.name: comparable(getattr(value, field.name)) for field in fields(value)}
        return {name: item for name, item in named.items() if name not in ("seconds", "text")}
    if isinstance(value, str):
        return re.sub(r"\d{9,}", "ID", value)
    return tuple(map(comparable, value)) if isinstance(value, tuple) else value


def test_a_fork_tells_what_a_fresh_process_tells(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(TOY.format(device="cpu"))
    runs = [*observe(program, fork=True), *observe(program, fork=False)]
    forked, again, fresh, ahead = (
        [comparable(fact) for fact in facts if not isinstance(fact, (ModulesLoaded, PhasesTimed))]
        for facts, _ in runs
    )
    assert forked == again == fresh == ahead
    assert len(fresh) > 20


@pytest.mark.parametrize("fork", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_libraries_are_there_before_the_program_and_its_own_modules_are_not(
    tmp_path: Path, fork: bool
) -> None:
    (tmp_path / "mine.py").write_text("")
    program = tmp_path / "program.py"
    program.write_text("import sys\nprint('xml.sax' in sys.modules, 'mine' in sys.modules)\nimport mine\n")
    for _, output in observe(program, fork=fork, libraries=["xml.sax"]):
        assert output == "True False\n"


def test_a_library_with_threads_is_not_forked(tmp_path: Path) -> None:
    (tmp_path / "busy.py").write_text(BUSY_LIBRARY)
    program = tmp_path / "program.py"
    program.write_text("import os, threading\nprint(os.getppid(), threading.active_count())\n")
    outputs = [
        output
        for _, output in observe(program, fork=True, libraries=["busy"], env={"PYTHONPATH": str(tmp_path)})
    ]
    # The process that forks stays the same, and has nothing imported; the thread is the worker's own.
    assert outputs[0] == outputs[1]
    assert outputs[0].split()[1] == "2"


def test_nothing_of_the_fork_server_is_left_in_a_run(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, signal, threading\n"
        "print(sorted(os.listdir('/proc/self/fd'), key=int)[:3], os.getsid(0) == os.getpid())\n"
        "print(signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL, signal.set_wakeup_fd(-1))\n"
        "print(os.environ['TORCHINDUCTOR_CACHE_DIR'] != '', 'FULLGRAPH_RUN_FOLDER' in os.environ)\n"
        "links = [os.readlink(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd')[:-1]]\n"
        "print(sum(link.startswith('socket') for link in links))\n"
    )
    for _, output in observe(program, fork=True):
        # Sockets: standard output and error, which are one, and the channel in both directions.
        assert output.splitlines() == ["['0', '1', '2'] True", "True -1", "True False", "4"]


NOISY_LIBRARY = """
import os
with open(os.environ["NOISY_LOG"], "a") as log:
    log.write("imported\\n")
kept = open(os.environ["NOISY_LOG"], "a")
"""


@pytest.mark.parametrize("fork", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_library_that_changes_files_is_not_imported_ahead(tmp_path: Path, fork: bool) -> None:
    """Nor is one that imports it: only the run of the program itself writes, once."""
    (tmp_path / "noisy.py").write_text(NOISY_LIBRARY)
    (tmp_path / "other.py").write_text("import noisy\n")
    (tmp_path / "quiet.py").write_text("")
    log = tmp_path / "log.txt"
    log.touch()
    program = tmp_path / "program.py"
    names = ("noisy", "other", "quiet")
    program.write_text(f"import sys\nprint([name in sys.modules for name in {names}])\nimport other, quiet\n")
    env = {"PYTHONPATH": str(tmp_path), "NOISY_LOG": str(log)}
    outputs = [output for _, output in observe(program, fork=fork, libraries=names, env=env)]
    assert outputs == ["[False, False, True]\n"] * 2
    assert log.read_text() == "imported\n" * 2


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks")
def test_a_fork_server_that_is_killed_leaves_no_folder(tmp_path: Path) -> None:
    """Its imports are tried in a child: this one kills the fork server."""
    (tmp_path / "kills.py").write_text("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "TMPDIR": str(temporary)}

    async def start() -> None:
        workers = WorkerPool(fork=True)
        try:
            workers.expect(RunSettings(sys.executable, tmp_path, env), ["kills"])
            (warm_pool,) = workers._warm_pools.values()
            with pytest.raises(ForkServerEndedError):
                await warm_pool.take()
        finally:
            await workers.close()

    asyncio.run(start())
    assert list(temporary.glob("fullgraph-*")) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has namespaces")
def test_a_run_whose_files_are_covered_gets_no_worker_elsewhere(folder: Path) -> None:
    """A process that waits for the next command refuses it, and serves the command that comes after."""
    path = folder / "waiting"

    def connect() -> socket.socket:
        client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        client.connect(str(path))
        return client

    def from_a_run() -> bool:
        client = connect()
        return client.recv(1) == b""

    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(path))
        os.chmod(path, 0o666)
        listener.listen(2)
        with ThreadPoolExecutor(1) as waiting:
            accepted = waiting.submit(fork_server._accept, listener, str(path), 60.0)
            assert covered(folder, from_a_run, as_nobody=False)
            with connect():
                client = accepted.result()
                assert client is not None
                client.close()


def _edit(folder: Path) -> None:
    status = (folder / "used.py").stat()
    (folder / "used.py").write_text("A = 2\n")
    os.utime(folder / "used.py", ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "sitecustomize.py").write_text(""),
        lambda folder: (folder / "numpy").mkdir(),
        lambda folder: (folder / "other-2.0.dist-info").mkdir(),
        lambda folder: (folder / "links.pth").write_text("/nowhere\n"),
        lambda folder: (folder / "package" / "_fast.py").write_text(""),
        lambda folder: (folder / "missing" / "new").mkdir(parents=True),
        _edit,
        lambda folder: (folder / "used.py").unlink(),
    ],
    ids=["sitecustomize", "package", "upgrade", "pth", "submodule", "PYTHONPATH", "edit", "removal"],
)
def test_what_was_imported_is_outdated_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    (tmp_path / "used.py").write_text("A = 1\n")
    (tmp_path / "links.pth").write_text("")
    (tmp_path / "other-1.0.dist-info").mkdir()
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    monkeypatch.setattr("sys.path", [*sys.path, str(tmp_path), str(tmp_path / "missing")])
    monkeypatch.setattr("sys.modules", dict(sys.modules))
    importlib.import_module("used")
    importlib.import_module("package")
    imported = ImportedFiles()
    (tmp_path / "result.txt").write_text("")
    assert not imported.is_outdated()
    change(tmp_path)
    assert imported.is_outdated()


def test_a_module_that_was_edited_while_it_was_imported_is_outdated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [*sys.path, str(tmp_path)])
    monkeypatch.setattr("sys.modules", dict(sys.modules))
    imported = ImportedFiles()
    (tmp_path / "used_now.py").write_text("A = 1\n")
    importlib.import_module("used_now")
    imported.note()
    assert imported.is_outdated()


def test_forks_do_not_draw_the_same_numbers() -> None:
    def drawn() -> float:
        ended = run_child(lambda: [fork_server._seed_numpy(), numpy.random.rand()])
        number: float = ended.answer[1]
        return number

    before = numpy.random.get_state()
    try:
        numpy.random.set_bit_generator(numpy.random.MT19937())  # as at its import
        assert drawn() != drawn()
        numpy.random.seed(0)  # as a library that wants it so
        assert drawn() == drawn()
    finally:
        numpy.random.set_state(before)
