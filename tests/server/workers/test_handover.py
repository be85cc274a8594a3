"""Fork servers that stay for the next command: who finds them, who does not, and what ends them."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import platform
import resource
import shutil
import signal
import socket
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fullgraph_compiler.facts import Fact, RunRequest, Script, TargetProblem
from fullgraph_server.runs.program_run import WorkerRun
from fullgraph_server.workers import fork_server
from fullgraph_server.workers import handover as handover_module
from fullgraph_server.workers.handover import Handover, _key, end_fork_server, handover_of_user
from fullgraph_server.workers.inherited import inherited
from fullgraph_server.workers.pool import WorkerPool
from fullgraph_server.workers.settings import RunSettings
from processes import dies, marked, outliving

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes stay on Linux alone")

FAKE = Path(__file__).parents[1] / "support" / "fake_worker.py"


class Terminal:
    """A place where commands run one after the other."""

    def __init__(self, folder: Path, cwd: Path) -> None:
        self.handover = Handover(folder / "fullgraph")
        self.folder = folder / "fullgraph"
        self.mark = f"FULLGRAPH_TEST_MARK={uuid.uuid4().hex}"
        name, _, value = self.mark.partition("=")
        self.settings = RunSettings(sys.executable, cwd, {**os.environ, name: value})

    async def command(self, **env: str) -> int:
        """Run a command; the process that has forked its worker."""
        workers = WorkerPool(fork=True, handover=self.handover)
        facts: list[Fact] = []
        settings = RunSettings(self.settings.python, self.settings.cwd, {**self.settings.env, **env})
        try:
            run = WorkerRun(workers, settings, RunRequest(1, Script("toy.py", ("parent",))))
            await asyncio.wait_for(run.execute(facts.extend), 30)
        finally:
            await workers.close()
        assert isinstance(facts[0], TargetProblem)
        return int(facts[0].message)

    @property
    def sockets(self) -> set[Path]:
        """What listens."""
        return set(self.folder.iterdir())

    def listen(self) -> socket.socket:
        """Take the place of a fork server that stays."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(str(self.folder / f"{_key(self.settings, [], inherited())}-0"))
        listener.listen(1)
        listener.settimeout(30)
        return listener


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Terminal]:
    monkeypatch.setattr(fork_server, "worker_script", lambda: str(FAKE))
    folder = Path(tempfile.mkdtemp(prefix="fg-"))  # the paths of sockets are short
    terminal = Terminal(folder, tmp_path)
    yield terminal
    monkeypatch.undo()
    for path in terminal.folder.glob("*"):
        end_fork_server(path)
    assert outliving(marked(terminal.mark)) == []
    shutil.rmtree(folder)


async def test_each_command_leaves_one_process_to_the_next(terminal: Terminal) -> None:
    first = await terminal.command()
    second = await terminal.command()
    assert dies(first)
    assert second != first
    assert await terminal.command() == second
    assert marked(terminal.mark) == [second]
    assert len(terminal.sockets) == 1


async def test_it_ends_when_nobody_comes(terminal: Terminal) -> None:
    terminal.handover = Handover(terminal.folder, seconds=0.0)
    await terminal.command()
    assert outliving(marked(terminal.mark)) == []
    assert terminal.sockets == set()


async def test_another_environment_is_another_process(terminal: Terminal, tmp_path: Path) -> None:
    await terminal.command()
    usual = await terminal.command()
    assert await terminal.command(CUDA_VISIBLE_DEVICES="") != usual
    before = os.umask(0o077)
    try:
        assert await terminal.command() != usual
    finally:
        os.umask(before)
    assert await terminal.command() == usual
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    terminal.settings = RunSettings(sys.executable, elsewhere, terminal.settings.env)
    assert await terminal.command() != usual


async def test_what_was_edited_or_installed_is_imported_again(terminal: Terminal, tmp_path: Path) -> None:
    imported, packages = tmp_path / "sitecustomize.py", tmp_path / "packages"
    imported.write_text("")
    packages.mkdir()
    env = {"PYTHONPATH": str(tmp_path), "FAKE_PACKAGES": str(packages)}
    await terminal.command(**env)
    before = await terminal.command(**env)
    assert await terminal.command(**env) == before
    for changed in (imported, packages):
        os.utime(changed, ns=(1, 1))
        assert await terminal.command(**env) != before
        assert dies(before)
        before = await terminal.command(**env)


async def test_a_sitecustomize_that_is_new_is_run(terminal: Terminal, tmp_path: Path) -> None:
    folder = tmp_path / "path"
    folder.mkdir()
    env = {"PYTHONPATH": str(folder)}
    await terminal.command(**env)
    before = await terminal.command(**env)
    (folder / "notes.txt").write_text("")  # nothing that Python would import
    assert await terminal.command(**env) == before
    (folder / "sitecustomize.py").write_text("")
    assert await terminal.command(**env) != before
    assert dies(before)


async def test_two_commands_at_once_do_not_share_one(terminal: Terminal) -> None:
    await terminal.command()
    one, other = await asyncio.gather(terminal.command(), terminal.command())
    assert one != other
    assert len(terminal.sockets) == 2


async def test_twenty_commands_at_once_leave_no_orphan(terminal: Terminal) -> None:
    await terminal.command()
    pids = await asyncio.gather(*(terminal.command() for _ in range(20)))
    assert len(set(pids)) == 20
    # What is one too many ends when it comes to look at its socket.
    stay = len(terminal.sockets)
    assert 0 < stay <= handover_module._MOST
    surplus = outliving(marked(terminal.mark), 0)
    assert await asyncio.to_thread(_ends_until, terminal.mark, stay), surplus


def _ends_until(mark: str, count: int) -> bool:
    """Whether all but so many processes end; each is waited for."""
    pids = marked(mark)
    return len(outliving(pids, 20 if len(pids) > count else 0)) <= count


async def test_one_that_a_dead_command_has_ended_ends(terminal: Terminal) -> None:
    await terminal.command()
    warm = await terminal.command()
    os.kill(warm, signal.SIGSTOP)
    (path,) = terminal.sockets
    ending = (
        "import sys; from fullgraph_server.workers.handover import end_fork_server, Path; "
        "end_fork_server(Path(sys.argv[1]))"
    )
    command = await asyncio.create_subprocess_exec(sys.executable, "-c", ending, str(path))
    assert await command.wait() == 0
    os.kill(warm, signal.SIGCONT)
    assert await asyncio.to_thread(dies, warm)


async def test_a_few_stay_and_the_oldest_goes(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handover_module, "_MOST", 2)
    await terminal.command(KIND="0")
    oldest = await terminal.command(KIND="0")
    (path,) = terminal.sockets
    os.utime(path, (1, 1))  # coarse clocks might not show the order
    await terminal.command(KIND="1")
    await terminal.command(KIND="2")
    assert dies(oldest)
    assert len(terminal.sockets) == 2
    assert path not in terminal.sockets


async def test_a_folder_that_others_can_enter_is_not_used(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    await terminal.command()
    warm = await terminal.command()
    terminal.folder.chmod(0o750)
    assert await terminal.command() != warm
    terminal.folder.chmod(0o700)
    with monkeypatch.context() as patch:
        patch.setattr("os.geteuid", lambda: 12345)
        assert await terminal.command() != warm
    link = terminal.folder.with_name("link")
    link.symlink_to(terminal.folder)
    terminal.handover = Handover(link)
    assert await terminal.command() != warm
    terminal.handover = Handover(terminal.folder)
    assert await terminal.command() == warm
    assert marked(terminal.mark) == [warm]


async def test_one_that_has_died_is_passed_over(terminal: Terminal) -> None:
    terminal.listen().close()
    await terminal.command()
    assert len(terminal.sockets) == 1  # its own


async def test_one_that_goes_away_without_an_answer_is_passed_over(terminal: Terminal) -> None:
    def hang_up() -> None:
        listener.accept()[0].close()

    await terminal.command(KIND="other")
    other = await terminal.command(KIND="other")  # the process that stays, not the one that it came from
    listener = terminal.listen()
    leaving = asyncio.get_running_loop().run_in_executor(None, hang_up)
    await terminal.command()
    await leaving
    listener.close()
    assert other in marked(terminal.mark)


async def test_one_that_never_answers_is_passed_over(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_server, "_LOOK_SECONDS", 0.001)
    monkeypatch.setattr(fork_server, "_ANSWER_SECONDS", 0.01)
    with terminal.listen():
        await terminal.command()


async def test_one_that_is_stopped_is_passed_over(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_server, "_LOOK_SECONDS", 0.01)
    await terminal.command()
    warm = await terminal.command()
    os.kill(warm, signal.SIGSTOP)
    assert await terminal.command() != warm
    os.kill(warm, signal.SIGCONT)
    assert await asyncio.to_thread(dies, warm)  # nobody could find it any more


async def test_one_that_works_for_long_is_waited_for(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0

    def works(pid: int) -> bool:
        nonlocal looks
        looks += 1
        if looks == 10 * fork_server._IDLE_LOOKS:  # far more than one that is idle gets
            client.send(json.dumps({"ready": {"problem": "", "unsafe": ""}}).encode())
        return pid == os.getpid()

    monkeypatch.setattr(fork_server, "_LOOK_SECONDS", 0.001)
    monkeypatch.setattr(fork_server, "is_working", works)
    with terminal.listen() as listener:
        finding = asyncio.ensure_future(terminal.handover.find(terminal.settings, []))
        client, _ = await asyncio.to_thread(listener.accept)
        found = await finding
        assert found is not None
        found._disconnect()
        client.close()


async def test_one_that_others_wait_for_is_left_to_them(terminal: Terminal) -> None:
    with terminal.listen() as listener:
        waiting = []
        with contextlib.suppress(BlockingIOError):
            while True:
                waiting.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
                waiting[-1].setblocking(False)
                waiting[-1].connect(listener.getsockname())
        assert await terminal.handover.find(terminal.settings, []) is None
        assert len(terminal.sockets) == 1
        for client in waiting:
            client.close()


def _ignore_hangups() -> Callable[[], object]:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    return lambda: signal.signal(signal.SIGHUP, before)


def _block_a_signal() -> Callable[[], object]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    return lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _without_address_randomization() -> Callable[[], object]:
    personality = ctypes.CDLL(None).personality
    before = personality(0xFFFFFFFF)
    personality(before | 0x0040000)  # ADDR_NO_RANDOMIZE
    return lambda: personality(before)


def _lower_limit() -> Callable[[], object]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[0] - 1, before[1]))
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, before)


def _on_one_processor() -> Callable[[], object]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    return lambda: os.sched_setaffinity(0, before)


def _idle_disk() -> Callable[[], object]:
    def ioprio(number: int, *arguments: int) -> int:
        priority: int = ctypes.CDLL(None).syscall(number, 1, 0, *arguments)
        return priority

    read, write = {"x86_64": (252, 251), "aarch64": (31, 30)}[platform.machine()]
    before = ioprio(read)
    ioprio(write, 3 << 13)
    return lambda: ioprio(write, before)


def _timer_slack() -> Callable[[], object]:
    file = Path("/proc/self/timerslack_ns")
    before = file.read_text()
    file.write_text("70000")
    return lambda: file.write_text(before)


@pytest.mark.parametrize(
    "change",
    [
        _ignore_hangups,
        _block_a_signal,
        _without_address_randomization,
        _lower_limit,
        _on_one_processor,
        _idle_disk,
        _timer_slack,
    ],
)
def test_what_a_process_inherits_is_in_the_key(
    change: Callable[[], Callable[[], object]], tmp_path: Path
) -> None:
    def key() -> str:
        return _key(RunSettings(sys.executable, tmp_path, {}), [], inherited())

    before = key()
    restore = change()
    try:
        changed = key()
    finally:
        restore()
    assert (changed != before, key()) == (True, before)


def test_a_process_that_has_imported_torch_inductor_serves_all(tmp_path: Path) -> None:
    def key(*libraries: str) -> str:
        return _key(RunSettings(sys.executable, tmp_path, {}), libraries, inherited())

    assert key("torch._inductor.compile_fx") == key() != key("timm")


async def test_a_signal_that_a_command_ignores_is_not_ignored_for_the_next(terminal: Terminal) -> None:
    restore = _ignore_hangups()
    try:
        await terminal.command()
        ignoring = await terminal.command()
    finally:
        restore()
    usual = await terminal.command()
    assert usual != ignoring
    assert await terminal.command() not in (usual, ignoring)  # the one that the last command left
    assert ignoring in marked(terminal.mark)


async def test_what_is_left_without_a_word_ends_with_its_worker(terminal: Terminal) -> None:
    await terminal.command()
    warm = await terminal.handover.find(terminal.settings, [])
    assert warm is not None
    assert terminal.sockets == set()
    (pid,) = marked(terminal.mark)
    warm._disconnect()  # as when its command is killed
    assert await asyncio.to_thread(dies, pid)


async def test_where_no_socket_can_be_nothing_stays(terminal: Terminal, tmp_path: Path) -> None:
    terminal.handover = Handover(tmp_path / ("long" * 30))
    await terminal.command()
    assert outliving(marked(terminal.mark)) == []


def test_who_does_not_want_it_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CI", "FULLGRAPH_WARM"):
        monkeypatch.delenv(name, raising=False)
    assert handover_of_user() is not None
    monkeypatch.setenv("FULLGRAPH_WARM", "0")
    assert handover_of_user() is None
    monkeypatch.delenv("FULLGRAPH_WARM")
    monkeypatch.setenv("CI", "true")
    assert handover_of_user() is None
