"""Runs that change no file: which folders are covered, by whom, and what a program sees of its own writes."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fullgraph_compiler.files import covering
from fullgraph_compiler.files.covering import NamespaceError
from fullgraph_compiler.files.guards import guard_files
from fullgraph_compiler.files.mounts import Cover, Mount, covers, read_mounts
from fullgraph_compiler.files.namespace import cover_files, separate
from fullgraph_compiler.files.sockets import Sockets

_NOBODY = 65534
_PR_SET_DUMPABLE = 4

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's part is Linux's alone")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with files, which any user may change."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "workspace")
        (folder / "checkpoints" / "step_1").mkdir(parents=True)
        (folder / "checkpoints" / "step_1" / "m.pt").write_text("weights")
        (folder / "m.pt").write_text("weights")
        (folder / "log.txt").write_text("one\n")
        for path in (Path(name), folder, *folder.rglob("*")):
            os.chmod(path, 0o777 if path.is_dir() else 0o666)
        yield folder


def content(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
    }


def in_child(work: Callable[[], Any], *, as_nobody: bool = False) -> Any:
    """What ``work()`` gives in a child of this process, as JSON; its exception, as text, if it raises one."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            if as_nobody and os.geteuid() == 0:
                os.setgroups([])
                os.setgid(_NOBODY)
                os.setuid(_NOBODY)
                ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # else its files in /proc are root's
            answer = work()
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        with open(writer, "w") as stream:
            json.dump(answer, stream)
        os._exit(0)
    os.close(writer)
    with open(reader) as stream:
        answer = json.load(stream)
    os.waitpid(child, 0)
    return answer


def covered(folder: Path, work: Callable[[], Any], *, as_nobody: bool) -> Any:
    """What ``work()`` gives where all folders are covered; skipped where the kernel lets nobody do that."""
    if as_nobody and os.geteuid() == 0:
        for path in (folder.parent, folder, *folder.rglob("*")):
            os.chown(path, _NOBODY, _NOBODY)

    def work_covered() -> Any:
        scratch = Path(tempfile.mkdtemp(dir=folder.parent))
        os.chdir(folder)
        try:
            separate()
        except NamespaceError as error:
            return {"no namespace": str(error)}
        cover_files(scratch, [])
        return work()

    answer = in_child(work_covered, as_nobody=as_nobody)
    if isinstance(answer, dict) and "no namespace" in answer:
        pytest.skip(f"this machine has no namespaces: {answer['no namespace']}")
    return answer


def guarded(folder: Path, work: Callable[[], Any], *, kernel: bool = False) -> Any:
    def work_guarded() -> Any:
        os.chdir(folder)
        guard_files(Path(tempfile.mkdtemp(dir=folder.parent)), [], kernel=kernel)
        return work()

    return in_child(work_guarded)


# -- the mount table ---------------------------------------------------------------------------


def test_a_mount_table_is_read(tmp_path: Path) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(
        "22 28 0:21 / /proc rw,nosuid shared:12 - proc proc rw\n"
        "30 28 8:1 / /mnt/my\\040disk rw,relatime shared:1 master:2 - ext4 /dev/sda1 rw,errors=remount-ro\n"
        "31 28 8:2 / /snap/core ro,nodev - squashfs /dev/loop0 ro\n"
        "32 28 8:3 / /frozen rw,relatime - ext4 /dev/sdb1 ro\n"
    )
    assert read_mounts(str(table)) == [
        Mount("/proc", "proc", False),
        Mount("/mnt/my disk", "ext4", False),
        Mount("/snap/core", "squashfs", True),
        Mount("/frozen", "ext4", True),
    ]


def test_a_socket_that_goes_while_folders_are_covered_is_left_out(tmp_path: Path) -> None:
    covering._uncover(Sockets({str(tmp_path / "socket"): 0}), [Cover(str(tmp_path), "folder")])


def test_folders_with_mounts_below_them_are_split(tmp_path: Path) -> None:
    for name in ("home/one", "home/two", "other"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "home" / "readme").touch()
    (tmp_path / "link").symlink_to("other")
    root = str(tmp_path)
    mounts = [Mount(root, "ext4", False), Mount(f"{root}/home/two", "nfs4", False)]
    found = list(covers(mounts))
    assert sorted(found, key=lambda cover: cover.path) == [
        Cover(root, "split"),
        Cover(f"{root}/home", "split"),
        Cover(f"{root}/home/one", "folder"),
        Cover(f"{root}/home/two", "folder"),
        Cover(f"{root}/other", "folder"),
    ]
    assert [cover.path for cover in found if cover.kind == "split"] == [root, f"{root}/home"]


def test_what_the_kernel_shows_and_what_cannot_be_written_is_not_covered(tmp_path: Path) -> None:
    mounts = [
        Mount("/proc", "proc", False),
        Mount("/sys", "sysfs", False),
        Mount(str(tmp_path), "ext4", True),
    ]
    assert list(covers(mounts)) == []
    assert list(covers([Mount("/dev/shm", "tmpfs", False)])) == [Cover("/dev/shm", "folder")]
    assert list(covers([Mount("/run/user/1000", "tmpfs", False)])) != []


# -- the namespace -----------------------------------------------------------------------------

as_each = pytest.mark.parametrize("as_nobody", [False, True], ids=["as I am", "as nobody"])


@as_each
def test_native_code_and_children_see_what_they_wrote_and_nobody_else(folder: Path, as_nobody: bool) -> None:
    before = content(folder)

    def work() -> list[str]:
        libc = ctypes.CDLL(None)
        libc.unlink(b"m.pt")
        subprocess.run(
            "echo two >> log.txt; mkdir out; cp log.txt out/; rm -r checkpoints", shell=True, check=True
        )
        return sorted(os.listdir(".")) + Path("out/log.txt").read_text().split()

    assert covered(folder, work, as_nobody=as_nobody) == ["log.txt", "out", "one", "two"]
    assert content(folder) == before


@as_each
def test_folders_are_renamed(folder: Path, as_nobody: bool) -> None:
    before = content(folder)

    def work() -> list[str]:
        os.rename("checkpoints/step_1", "checkpoints/step_2")
        os.mkdir("empty")
        os.replace("checkpoints", "empty")
        Path("empty/step_2").rename("last")
        return sorted(map(str, Path().rglob("*.pt")))

    assert covered(folder, work, as_nobody=as_nobody) == ["last/m.pt", "m.pt"]
    assert content(folder) == before


@as_each
def test_a_cover_cannot_be_taken_off(folder: Path, as_nobody: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(folder)

    def work() -> list[int]:
        place = bytes(Path(tempfile.gettempdir()))
        taken_off = ctypes.CDLL(None).umount2(place, 2)
        code = "print syscall(166, $ENV{PLACE}, 2)"  # umount2
        child = subprocess.run(
            ["/usr/bin/env", "PATH=/usr/bin:/bin", "perl", "-e", code],
            env={**os.environ, "PLACE": os.fsdecode(place)},
            capture_output=True,
            text=True,
        )
        subprocess.run(
            f"rm -f /proc/{os.getppid()}/cwd/m.pt {folder}/m.pt", shell=True, stderr=subprocess.DEVNULL
        )
        return [taken_off, int(child.stdout)]

    monkeypatch.chdir(folder)
    assert covered(folder, work, as_nobody=as_nobody) == [-1, -1]
    assert content(folder) == before


@as_each
def test_who_listens_at_a_local_socket_is_reached(folder: Path, as_nobody: bool) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "socket"))
        os.chmod(folder / "socket", 0o666)
        server.listen()

        def work() -> str:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect("socket")
            return "connected"

        assert covered(folder, work, as_nobody=as_nobody) == "connected"


def test_permissions_count_as_in_any_other_run(folder: Path) -> None:
    (folder / "log.txt").chmod(0o444)

    def work() -> str:
        Path("log.txt").write_text("")
        return "written"

    answer = covered(folder, work, as_nobody=True)
    assert answer == "PermissionError: [Errno 13] Permission denied: 'log.txt'"


def test_the_layers_of_a_cover_can_be_removed(folder: Path) -> None:
    covered(folder, lambda: os.makedirs("a/b"), as_nobody=True)
    # As the server would, which runs as the same user.
    others = [path for path in folder.parent.iterdir() if path != folder]
    in_child(lambda: [shutil.rmtree(path) for path in others], as_nobody=True)
    assert list(folder.parent.iterdir()) == [folder]


# -- guards ------------------------------------------------------------------------------------


def _operations(chooser: random.Random) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Random operations on a few names, each with what it gives."""
    names = [
        "m.pt",
        "log.txt",
        "new",
        "checkpoints",
        "checkpoints/step_1",
        "checkpoints/step_1/m.pt",
        "out/a",
        "out",
    ]

    def text(path: str, mode: str, written: str) -> str:
        with open(path, mode) as file:
            if mode == "r":
                return file.read()
            file.write(written)
        return ""

    def descriptor(path: str, flags: int) -> str:
        with os.fdopen(os.open(path, flags), "r+" if flags & os.O_RDWR else "r") as file:
            return file.read()

    while True:
        one, two = chooser.choice(names), chooser.choice(names)
        mode, word = chooser.choice(["r", "w", "a", "r+", "x", "w+"]), f"{chooser.random()}\n"
        flags = chooser.choice([os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_CREAT, os.O_RDWR | os.O_TRUNC])
        kinds: dict[str, Callable[[], Any]] = {
            "open": lambda one=one, mode=mode, word=word: text(one, mode, word),
            "os.open": lambda one=one, flags=flags: descriptor(one, flags),
            "replace": lambda one=one, two=two: os.replace(one, two),
            "remove": lambda one=one: os.remove(one),
            "rmdir": lambda one=one: os.rmdir(one),
            "rmtree": lambda one=one: shutil.rmtree(one),
            "mkdir": lambda one=one: os.mkdir(one),
            "makedirs": lambda one=one: os.makedirs(f"{one}/deep/er", exist_ok=True),
            "copy": lambda one=one, two=two: shutil.copy(one, two),
            "move": lambda one=one, two=two: shutil.move(one, two),
            "copytree": lambda one=one, two=two: shutil.copytree(one, two),
            "truncate": lambda one=one: os.truncate(one, 3),
            "listdir": lambda one=one: sorted(os.listdir(one)),
            "scandir": lambda one=one: sorted((entry.name, entry.is_dir()) for entry in os.scandir(one)),
            "glob": lambda: sorted(str(path) for path in Path().glob("**/*")),
            "stat": lambda one=one: (os.path.exists(one), os.path.isdir(one), os.path.islink(one)),
            "size": lambda one=one: os.path.getsize(one) if os.path.isfile(one) else None,
        }
        kind = chooser.choice([*kinds])
        yield f"{kind} {one} {two} {mode} {flags}", kinds[kind]


def _history(seed: int, count: int = 150) -> list[Any]:
    """What each of some random operations came to: its result, or the number of its error."""
    came_to: list[Any] = []
    operations = _operations(random.Random(seed))
    for _ in range(count):
        name, operation = next(operations)
        try:
            result = operation()
        except shutil.Error:
            result = "shutil.Error"
        except OSError as error:
            # Which of two things that are not there comes first does not matter.
            result = f"error {errno.ENOENT if error.errno == errno.ENOTDIR else error.errno}"
        came_to.append([name, result])
    return came_to


@pytest.mark.parametrize("seed", range(25))
def test_under_guards_a_program_sees_its_files_as_without(folder: Path, seed: int) -> None:
    before = content(folder)
    seen = guarded(folder, lambda: _history(seed))
    assert content(folder) == before

    def plainly() -> list[Any]:
        os.chdir(folder)
        return _history(seed)

    assert seen == in_child(plainly)


@pytest.mark.parametrize(
    ("attempt", "about"),
    {
        "another program": (lambda: subprocess.run(["rm", "m.pt"], check=False), "start another program"),
        "a shell": (lambda: os.system("rm m.pt"), "start another program (os.system"),
        "the C library": (lambda: ctypes.CDLL(None).unlink(b"m.pt"), "call unlink of the C library"),
        "the posix module": (lambda: __import__("_io").FileIO("m.pt", "w"), "write to m.pt"),
    }.values(),
    ids=["another program", "a shell", "the C library", "an unpatched file"],
)
def test_what_is_not_redirected_ends_the_run_before_it_happens(
    folder: Path, attempt: Callable[[], Any], about: str
) -> None:
    assert guarded(folder, attempt).startswith(f"UnsafeWriteError: {about}")
    assert (folder / "m.pt").read_text() == "weights"


def test_the_kernel_refuses_what_python_does_not_redirect(folder: Path) -> None:
    def work() -> list[Any]:
        children = subprocess.run("rm m.pt; echo > log.txt", shell=True, stderr=subprocess.DEVNULL).returncode
        Path("own.txt").write_text("own")
        return [ctypes.CDLL(None).unlink(b"m.pt"), children != 0, Path("own.txt").read_text()]

    before = content(folder)
    assert guarded(folder, work, kernel=True) == [-1, True, "own"]
    assert content(folder) == before
