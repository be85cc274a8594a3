"""Ways around the covers of a run's files: by what is open already, other processes, sockets and caches."""

from __future__ import annotations

import ctypes
import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from at_risk import as_each, content, covered, folder, in_child
from fullgraph_compiler.facts import RunRequest, Script, Switches
from fullgraph_compiler.files import namespace, sockets
from fullgraph_compiler.files.covering import mount
from fullgraph_compiler.files.namespace import separate
from fullgraph_compiler.files.passing import passing_paths

__all__ = ["folder"]

_STRANGER = 12345
_HEADER = "Num       RefCount Protocol Flags    Type St Inode Path\n"
_ROW = "0000000000000000: 00000002 00000000 00010000 0001 01 12345 {}\n"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's part is Linux's alone")


# -- sockets -----------------------------------------------------------------------------------


@pytest.fixture
def listening() -> Iterator[Callable[[str], Path]]:
    """Bind sockets at paths."""
    bound = []

    def listen(path: str) -> Path:
        server = socket.socket(socket.AF_UNIX)
        bound.append(server)
        server.bind(path)
        server.listen()
        return Path(path)

    yield listen
    for server in bound:
        server.close()


def found(*paths: str | Path, tmp_path: Path) -> tuple[list[str], list[str]]:
    """The sockets that would be reached, and the folders that would be hidden, for a table of paths."""
    table = tmp_path / "unix"
    table.write_text(_HEADER + "".join(_ROW.format(path) for path in paths))
    with sockets.find_sockets(str(table)) as sockets_found:
        return list(sockets_found.opened), list(sockets_found.ours)


def test_a_strangers_socket_uncovers_nothing(
    tmp_path: Path, listening: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "my project"
    project.mkdir()
    (project / "m.pt").write_text("weights")
    (tmp_path / "link").symlink_to(project)
    own = listening(str(tmp_path / "with a blank"))
    # What the last word of a row names, a row in the path of another one, files, folders and links to them.
    tricks = [
        f"/var/tmp/x {project}",
        f"/x\n{_ROW.format(project)}",
        project,
        project / "m.pt",
        tmp_path / "link",
    ]
    assert found(*tricks, own, tmp_path=tmp_path) == ([str(own)], [])
    monkeypatch.setattr(os, "geteuid", lambda: _STRANGER)
    monkeypatch.setattr(sockets, "_FIRST_PERSON", 0)
    assert found(own, tmp_path=tmp_path) == ([], [])


def test_the_folder_of_waiting_processes_is_hidden(tmp_path: Path, listening: Callable[[str], Path]) -> None:
    (tmp_path / "fullgraph").mkdir()
    waiting = listening(str(tmp_path / "fullgraph" / "key"))
    assert found(waiting, tmp_path=tmp_path) == ([], [str(waiting.parent)])


@as_each
def test_a_socket_keeps_its_mode_and_ours_are_not_reached(folder: Path, as_nobody: bool) -> None:
    (folder / "fullgraph").mkdir()
    paths = [folder / "socket", folder / "fullgraph" / "socket"]
    with socket.socket(socket.AF_UNIX) as one, socket.socket(socket.AF_UNIX) as two:
        for server, path in zip((one, two), paths, strict=True):
            server.bind(str(path))
            server.listen()
            os.chmod(path, 0o666)

        def work() -> list[object]:
            for way in (lambda: os.chmod("socket", 0), lambda: os.remove("socket")):
                with suppress(OSError):
                    way()
            with socket.socket(socket.AF_UNIX) as client:
                client.connect("socket")
            return os.listdir("fullgraph")

        assert covered(folder, work, as_nobody=as_nobody) == []
        assert stat.S_IMODE((folder / "socket").stat().st_mode) == 0o666


# -- what is open before -----------------------------------------------------------------------


@as_each
def test_what_is_open_already_is_written_in_the_run_only(folder: Path, as_nobody: bool) -> None:
    """A log that a library keeps open, standard input from a file, a folder that is open."""
    before = content(folder)
    script = "echo more >> /dev/stdin; chmod 600 /proc/self/fd/0; cat log.txt"

    def work() -> list[object]:
        os.write(log, b"two\n")
        os.unlink("m.pt", dir_fd=opened)
        # A path to the file itself, which ignores how the descriptor was opened.
        by_path = os.open(f"/proc/self/fd/{read}", os.O_WRONLY | os.O_APPEND)
        os.write(by_path, b"three\n")
        child = subprocess.run(["/bin/sh", "-c", script], stdin=read, capture_output=True, text=True)
        return [os.read(read, 100).decode(), child.stdout, os.path.exists("m.pt")]

    log = os.open(folder / "log.txt", os.O_WRONLY | os.O_APPEND)
    read, opened = os.open(folder / "log.txt", os.O_RDONLY), os.open(folder, os.O_RDONLY)
    os.lseek(read, 2, os.SEEK_SET)
    try:
        answer = covered(folder, work, as_nobody=as_nobody)
    finally:
        for descriptor in (log, read, opened):
            os.close(descriptor)
    whole = "one\ntwo\nthree\nmore\n"
    assert answer == [whole[2:], whole, False]
    assert content(folder) == before
    assert stat.S_IMODE((folder / "log.txt").stat().st_mode) == 0o666


@as_each
def test_what_is_open_and_cannot_be_reached_is_a_copy(folder: Path, as_nobody: bool) -> None:
    os.link(folder / "log.txt", folder / "other")
    read, written = os.open(folder / "other", os.O_RDONLY), os.open(folder / "other", os.O_WRONLY)
    os.remove(folder / "other")

    def work() -> str:
        os.write(written, b"lost")
        with open(f"/proc/self/fd/{read}", "a") as file:
            file.write("two\n")
        return os.read(read, 100).decode()

    answer = covered(folder, work, as_nobody=as_nobody)
    os.close(read)
    os.close(written)
    assert answer == "one\ntwo\n"
    assert (folder / "log.txt").read_text() == "one\n"


# -- other processes and the kernel ------------------------------------------------------------


@as_each
def test_other_processes_lead_to_no_file(folder: Path, as_nobody: bool) -> None:
    """Neither one of the same user nor, for root, one with fewer rights."""
    reader, writer = os.pipe()
    other = os.fork()
    if not other:
        os.close(writer)
        if as_nobody and os.geteuid() == 0:
            in_child(lambda: len(os.read(reader, 1)), as_nobody=True)
        else:
            header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
            ctypes.CDLL(None).capset(header, sets)
            os.read(reader, 1)
        os._exit(0)

    def work() -> list[str]:
        came_to = []
        for place in (f"/proc/{other}/root{folder}/m.pt", f"/proc/{other}/cwd{folder}/m.pt"):
            try:
                Path(place).write_text("")
                came_to.append("written")
            except OSError as error:
                came_to.append(type(error).__name__)
        return came_to

    try:
        assert covered(folder, work, as_nobody=as_nobody) == ["PermissionError"] * 2
    finally:
        os.close(writer)
        os.waitpid(other, 0)
    assert (folder / "m.pt").read_text() == "weights"


@as_each
def test_neither_handles_nor_disks_lead_to_a_file(folder: Path, as_nobody: bool) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    handle = ctypes.create_string_buffer(b"\x80\x00\x00\x00" + bytes(132))
    mount_id = ctypes.c_int()
    named = libc.name_to_handle_at(-100, bytes(folder / "m.pt"), handle, ctypes.byref(mount_id), 0)
    assert named == 0, os.strerror(ctypes.get_errno())
    place = os.open(folder, os.O_RDONLY)

    def work() -> list[int]:
        disk, device = folder / "disk", os.stat(folder).st_dev
        disks = [
            path for path in Path("/dev").rglob("*") if path.is_block_device() and os.access(path, os.W_OK)
        ]
        return [
            libc.open_by_handle_at(place, handle, os.O_WRONLY | os.O_TRUNC),
            libc.mknod(bytes(disk), stat.S_IFBLK | 0o600, device),
            len(disks),
        ]

    try:
        assert covered(folder, work, as_nobody=as_nobody) == [-1, -1, 0]
    finally:
        os.close(place)
    assert (folder / "m.pt").read_text() == "weights"


@as_each
def test_files_in_run_are_covered(folder: Path, as_nobody: bool) -> None:
    if not os.access("/run", os.W_OK):
        pytest.skip("only root can make a folder in /run")
    with tempfile.TemporaryDirectory(dir="/run") as name:
        Path(name, "notes").write_text("mine")
        for path, mode in ((name, 0o777), (f"{name}/notes", 0o666)):
            os.chmod(path, mode)

        def work() -> str:
            Path(name, "notes").write_text("other")
            os.chmod(f"{name}/notes", 0o600)
            return Path(name, "notes").read_text()

        assert covered(folder, work, as_nobody=as_nobody and os.geteuid() != 0) == "other"
        assert Path(name, "notes").read_text() == "mine"


@as_each
def test_a_folder_with_mounts_below_it_is_covered(folder: Path, as_nobody: bool) -> None:
    """Its files, links and modes, new files, and what is mounted there."""
    (folder / "mounted").mkdir()
    (folder / "latest").symlink_to("checkpoints")
    (folder / "own.txt").write_text("mine")
    (folder / "large.bin").write_bytes(bytes(2 << 20))
    os.chmod(folder / "own.txt", 0o444)
    mounted = folder.parent / "other"
    mounted.mkdir()
    (mounted / "data").write_text("data")
    for path in (mounted, mounted / "data"):
        os.chmod(path, 0o777)
    before, modes = content(folder), stat.S_IMODE((folder / "own.txt").stat().st_mode)

    def work() -> list[object]:
        os.remove("latest")
        os.chmod("own.txt", 0o666)
        Path("own.txt").write_text("other")
        Path("new.txt").write_text("new")
        os.replace("new.txt", "log.txt")
        os.remove("m.pt")
        Path("checkpoints/step_1/m.pt").write_text("other")
        Path("mounted/data").write_text("other")
        with suppress(OSError):
            Path("large.bin").write_text("")
        os.chmod(".", 0o700)
        return sorted(os.listdir())

    def work_beside_a_mount() -> object:
        return covered(folder, work, as_nobody=as_nobody)

    # The mount exists in this namespace alone.
    assert in_child(lambda: _mounted(mounted, folder / "mounted", work_beside_a_mount)) == [
        *("checkpoints", "large.bin", "log.txt", "mounted", "own.txt"),
    ]
    assert content(folder) == before
    assert (folder / "latest").is_symlink()
    assert stat.S_IMODE((folder / "own.txt").stat().st_mode) == modes
    assert stat.S_IMODE(folder.stat().st_mode) == 0o777
    assert (mounted / "data").read_text() == "data"


def _mounted(source: Path, target: Path, work: Callable[[], object]) -> object:
    """What ``work()`` gives where a folder is mounted on another one."""
    separate()
    mount(str(source), str(target), flags=4096)  # MS_BIND
    namespace._separated = ""  # the process to be covered is in the namespace of its user
    return work()


# -- caches ------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project below ``data``, in whose folder ``sub`` a program runs, with a cache beside it."""
    project = tmp_path / "data" / "project"
    (project / "sub").mkdir(parents=True)
    (project / "pyproject.toml").touch()
    for cache in ("cache", "project/cache"):
        (tmp_path / "data" / cache).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data")
    monkeypatch.chdir(project / "sub")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CACHE_HOME", "HF_HOME", "TORCH_HOME", "TORCH_EXTENSIONS_DIR", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    return project


def passing(project: Path, **request: Any) -> list[str]:
    """The caches that pass, relative to the parent of the folder ``data``."""
    program = Script(str(project / "sub" / "w.py"))
    scratch = project.parent / "run"
    scratch.mkdir(exist_ok=True)
    paths = passing_paths(RunRequest(1, program, **request), scratch)
    return [str(path) for path in paths if path != scratch]


@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "HF_HOME", "TORCH_HOME", "TORCH_EXTENSIONS_DIR"])
@pytest.mark.parametrize(
    "cache",
    [
        "/",
        "{data}",
        "{data}/project",
        "{data}/project/cache",
        "{data}/project/sub",
        "..",
        ".",
        "../../../link",
    ],
)
def test_a_cache_above_or_in_the_project_does_not_pass(
    project: Path, monkeypatch: pytest.MonkeyPatch, variable: str, cache: str
) -> None:
    monkeypatch.setenv(variable, cache.format(data=project.parent))
    assert passing(project) == []


def test_a_cache_beside_the_project_passes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = str(project.parent / "cache")
    monkeypatch.setenv("HF_HOME", cache)
    assert passing(project) == [cache]
    assert passing(project, switches=Switches(dry_run=True)) == []
    assert passing(project, workspace=str(project.parent)) == []


def test_neither_home_nor_what_is_above_it_passes_as_a_cache(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = project.parents[1] / "home"
    (home / ".cache").mkdir(parents=True)
    (home / ".git").mkdir()
    monkeypatch.setenv("HF_HOME", str(home))
    assert passing(project) == [str(home / ".cache")]


def test_a_user_without_a_home_has_caches_too(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: _STRANGER)  # who is in no table of users
    cache = str(project.parent / "cache")
    monkeypatch.setenv("HF_HOME", cache)
    assert passing(project) == [cache]
