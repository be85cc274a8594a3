"""Runs that change no file where there are no namespaces: what is redirected, and what is refused by whom."""

from __future__ import annotations

import _ctypes
import ctypes
import errno
import fcntl
import importlib.machinery
import importlib.util
import inspect
import json
import multiprocessing
import os
import random
import shutil
import sqlite3
import ssl
import stat
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from multiprocessing import shared_memory
from pathlib import Path
from types import ModuleType
from typing import Any

import h5py
import numpy as np
import pytest
import torch
import torch._dynamo  # as an ordinary user, children could not import it
from at_risk import content, folder, give_to_nobody, in_child
from fullgraph_compiler.files import guards, native, seatbelt, seccomp
from fullgraph_compiler.files.guards import guard_files
from fullgraph_compiler.files.protection import _reason
from safetensors.torch import load_file, save_file

__all__ = ["folder"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's part is Linux's alone")

_OF_OTHER_TESTS = (
    "_cffi_backend",
    "cryptography",
    "tornado",
    "distributed",
    "markupsafe",
    "msgpack",
    "yaml",
    "charset_normalizer",
    "requests",
    "psutil",
    "_pydevd_bundle",
    "tlparse",
)
"""Libraries with native code that tests in the same process may have imported; no program of these has."""
BOTH = pytest.mark.parametrize("kernel", [False, True], ids=["python", "landlock"])


def guarded(folder: Path, work: Callable[[], Any], *, kernel: bool = False, as_nobody: bool = False) -> Any:
    """What ``work()`` gives where the guards protect all files."""

    def work_guarded() -> Any:
        os.chdir(folder)
        for name in [name for name in sys.modules if name.partition(".")[0] in _OF_OTHER_TESTS]:
            del sys.modules[name]
        guarded = guard_files(Path(tempfile.mkdtemp(dir=folder.parent)), [], kernel=kernel)
        assert guarded.by == ("landlock" if kernel else "python"), guarded
        return work()

    return in_child(work_guarded, as_nobody=as_nobody)


# -- what is redirected ------------------------------------------------------------------------------------


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


def _written(path: str, text: str) -> str:
    with open(path, "w") as file:
        file.write(text)
    return Path(path).read_text()


def _descriptor(path: str) -> str:
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC)
    os.write(descriptor, b"new")
    os.close(descriptor)
    return Path(path).read_text()


def _mapped() -> list[int]:
    array = np.memmap("m.pt", dtype=np.uint8, mode="r+")
    array[:3] = 7
    array.flush()
    shared = torch.UntypedStorage.from_file("log.txt", shared=True, nbytes=4)
    shared.fill_(8)
    ours = torch.from_file("log.txt", shared=True, size=2, dtype=torch.uint8)
    ours[0] = 9
    return [*np.memmap("m.pt", dtype=np.uint8)[:3].tolist(), *Path("log.txt").read_bytes()]


def _saved_by_torch() -> list[object]:
    torch.save({"step": 1}, "m.pt")
    scripted = torch.jit.script(torch.nn.ReLU())
    torch.jit.save(scripted, "log.txt")
    loaded = "relu" in torch.jit.load("log.txt").code
    scripted._save_for_lite_interpreter("log.txt")
    torch._C._save_jit_module(scripted._c, "flat.bin", {})
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        torch.ones(2) + 1
    profiler.export_chrome_trace("log.txt")
    with open("log.txt") as file:
        return [torch.load("m.pt"), loaded, "traceEvents" in json.load(file), Path("flat.bin").exists()]


def _saved_by_libraries() -> list[object]:
    save_file({"step": torch.ones(1)}, "m.pt")
    np.save("new.npy", np.arange(3))
    np.arange(2, dtype=np.uint8).tofile("log.txt")
    return [load_file("m.pt")["step"].item(), np.load("new.npy").tolist(), Path("log.txt").read_bytes().hex()]


def _in_temporary_folders() -> list[object]:
    with tempfile.TemporaryDirectory() as name:
        inner = Path(name, "a", "b")
        inner.mkdir(parents=True)
        (inner / "new").write_text("new")
        (inner / "link").symlink_to(os.path.abspath("log.txt"))
        (inner / "new").rename(inner / "newer")
        seen = sorted(os.listdir(inner))
        os.replace(inner / "newer", "m.pt")
        shutil.copytree("checkpoints", inner / "kept")
        shutil.move("log.txt", inner / "moved")
        seen += sorted(os.listdir(inner))
    return [seen, os.path.exists(name), Path("m.pt").read_text(), os.path.exists("log.txt")]


def _changed_by_os() -> list[object]:
    os.chmod("m.pt", 0o600)
    os.utime("m.pt", (1, 2))
    os.truncate("log.txt", 1)
    os.setxattr("log.txt", "user.best", b"yes")
    os.rename("checkpoints", "kept")
    os.symlink("m.pt", "link")
    shutil.copy2("m.pt", "kept/copy.pt")
    found = os.stat("kept/copy.pt")
    return [
        stat.S_IMODE(found.st_mode),
        found.st_mtime,
        Path("log.txt").read_text(),
        sorted(os.listdir("kept")),
    ]


REDIRECTED: dict[str, tuple[Callable[[], Any], Any]] = {
    "open": (lambda: _written("m.pt", "new"), "new"),
    "os.open": (lambda: _descriptor("m.pt"), "new"),
    "os": (_changed_by_os, [0o600, 2, "o", ["copy.pt", "step_1"]]),
    "temporary folders": (
        _in_temporary_folders,
        [["link", "newer", "kept", "link", "moved"], False, "new", False],
    ),
    "maps": (_mapped, [7, 7, 7, 9, 8, 8, 8]),
    "torch": (_saved_by_torch, [{"step": 1}, True, True, True]),
    "libraries": (_saved_by_libraries, [1, [0, 1, 2], "0001"]),
}


@BOTH
@pytest.mark.parametrize("way", REDIRECTED)
def test_what_is_redirected_is_read_back_and_the_original_stays(folder: Path, way: str, kernel: bool) -> None:
    before = content(folder), os.stat(folder / "m.pt")
    work, seen = REDIRECTED[way]
    assert guarded(folder, work, kernel=kernel) == seen
    assert (content(folder), os.stat(folder / "m.pt")) == before


def test_under_a_kernel_databases_are_redirected_too(folder: Path) -> None:
    def work() -> list[object]:
        with sqlite3.connect("m.db") as connection:
            connection.execute("CREATE TABLE runs (name TEXT)")
        with h5py.File("m.h5", "w") as file:
            file["loss"] = [1, 2]
        with h5py.File("m.h5") as file:
            losses = [int(loss) for loss in file["loss"]]
        return [losses, sqlite3.connect("m.db").execute("SELECT COUNT(*) FROM runs").fetchone()[0]]

    before = content(folder)
    assert guarded(folder, work, kernel=True) == [[1, 2], 0]
    assert content(folder) == before


# -- what Python refuses -----------------------------------------------------------------------


def _libc(name: str) -> Callable[[], Any]:
    return lambda: getattr(ctypes.CDLL(None), name)


def _spawn() -> None:
    torch.multiprocessing.spawn(print, nprocs=1)


def _ssl_log() -> None:
    ssl.create_default_context().keylog_filename = "log.txt"


def _ioctl() -> None:
    with open("m.pt") as file:
        fcntl.ioctl(file, 0x40086602, b"\0" * 8)  # FS_IOC_SETFLAGS


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "another program": (lambda: subprocess.run(["rm", "m.pt"], check=False), "start another program"),
    "a shell": (lambda: os.system("rm m.pt"), "start another program (os.system"),
    "the C library": (lambda: ctypes.CDLL(None).unlink(b"m.pt"), "call unlink of the C library"),
    "by address": (
        lambda: _ctypes.dlsym(ctypes.CDLL(None)._handle, "unlink"),
        "call unlink of the C library",
    ),
    **{
        name: (_libc(name), f"call {name} of")
        for name in ("fchmodat", "linkat", "openat64", "popen", "dlsym")
    },
    "a native library": (lambda: ctypes.CDLL("./mine.so"), "load the native library ./mine.so"),
    "an unpatched file": (lambda: __import__("_io").FileIO("m.pt", "w"), "write to m.pt"),
    "a path of its own": (lambda: inspect.unwrap(os.open)("m.pt", os.O_WRONLY), "write to m.pt"),
    "a descriptor": (lambda: os.fchmod(os.open("m.pt", os.O_RDONLY), 0), "change "),
    "a hard link": (lambda: inspect.unwrap(os.link)("m.pt", tempfile.gettempdir() + "/m"), "change m.pt"),
    "a process": (
        lambda: multiprocessing.get_context("spawn").Process(target=print).start(),
        "start another",
    ),
    "a fork": (os.fork, "start another process"),
    "torch's processes": (_spawn, "start another process"),
    "a private function": (
        lambda: subprocess._fork_exec([b"rm"], (b"/bin/rm",)),  # type: ignore[attr-defined]
        "start another process",
    ),
    "a database": (lambda: sqlite3.connect(":memory:"), "open the SQLite database"),
    "an HDF5 file": (lambda: h5py.File("m.h5", "w"), "create an HDF5 file"),
    "HDF5 functions": (lambda: h5py.h5f.open(b"m.h5"), "open the HDF5 file m.h5 for writing"),
    "Tcl": (lambda: importlib.import_module("_tkinter"), "import _tkinter"),
    "cffi": (lambda: importlib.import_module("_cffi_backend"), "import _cffi_backend"),
    "an interpreter": (lambda: sys.audit("cpython.PyInterpreterState_New"), "start another interpreter"),
    "an unknown library": (
        lambda: sys.audit("import", "lance.core", "/x/site-packages/lance/core.so", None, None, None),
        "load the native code of lance.core",
    ),
    "a log of keys": (_ssl_log, "log the keys of its TLS connections"),
    "flags of a file": (_ioctl, "change a file with a request to its file system (ioctl)"),
    "the root": (lambda: os.chroot("."), "change its root folder"),
    "a meeting place": (lambda: torch.distributed.FileStore("log.txt", 1), "share a file or memory"),
    "a segment": (lambda: shared_memory.SharedMemory("not-ours"), "change the shared memory /not-ours"),
}


@pytest.mark.parametrize("way", REFUSED)
def test_what_is_not_redirected_ends_the_run_before_it_happens(folder: Path, way: str) -> None:
    before = content(folder)
    attempt, about = REFUSED[way]
    answer = guarded(folder, attempt)
    assert answer.startswith(f"UnsafeWriteError: {about}")
    assert "\n" not in answer
    assert content(folder) == before


def test_a_native_library_that_was_imported_ahead_lets_no_run_start(folder: Path) -> None:
    def work() -> None:
        module = ModuleType("lance")
        suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
        module.__spec__ = importlib.machinery.ModuleSpec("lance", None, origin=f"/x/lance{suffix}")
        sys.modules["lance"] = module
        guard_files(Path(tempfile.mkdtemp(dir=folder.parent)), [], kernel=False)

    assert in_child(work).startswith("RuntimeError: the imported library lance has native code")


def test_every_native_writer_of_a_library_is_there() -> None:
    for name, path, _ in native.WRITERS:
        if importlib.util.find_spec(name.partition(".")[0]):
            owner: Any = importlib.import_module(name)
            for part in path.split("."):
                owner = getattr(owner, part)


def test_code_that_runs_within_the_guards_is_guarded(folder: Path) -> None:
    class Noted:
        def __fspath__(self) -> str:
            Path("log.txt").write_text("asked")
            return "m.pt"

    def note(*_: object) -> None:
        sys.setprofile(None)
        noted.append(1)
        try:
            os.truncate("m.pt", 1)
        finally:
            sys.setprofile(note if len(noted) < 100 else None)

    def work() -> str:
        os.stat(Noted())
        seen = Path("log.txt").read_text()
        sys.setprofile(note)
        os.path.exists("m.pt")
        return seen

    noted: list[int] = []
    before = content(folder)
    answer = guarded(folder, work)
    assert answer == "asked" or answer.startswith("UnsafeWriteError: change ")
    assert content(folder) == before


# -- what the kernel refuses -------------------------------------------------------------------


def test_the_kernel_refuses_what_python_does_not_redirect(folder: Path) -> None:
    def work() -> list[Any]:
        children = subprocess.run("rm m.pt; echo > log.txt", shell=True, stderr=subprocess.DEVNULL).returncode
        Path("own.txt").write_text("own")
        return [ctypes.CDLL(None).unlink(b"m.pt"), children != 0, Path("own.txt").read_text()]

    before = content(folder)
    assert guarded(folder, work, kernel=True) == [-1, True, "own"]
    assert content(folder) == before


@pytest.mark.parametrize("as_nobody", [False, True], ids=["as I am", "as nobody"])
def test_under_landlock_a_childs_chmod_and_touch_have_no_effect(folder: Path, as_nobody: bool) -> None:
    script = """
    chmod 0 m.pt; touch -d 2001-01-01 log.txt; chown 12345 m.pt; chattr +d log.txt
    python3 -c 'import os; os.setxattr("m.pt", "user.a", b"b"); os.utime("m.pt"); os.chmod("checkpoints", 0)'
    perl -e 'chmod 0, "m.pt"; utime 1, 1, "log.txt"'
    ln m.pt "$TMPDIR/hard"; mv log.txt "$TMPDIR"
    """

    def work() -> list[int]:
        subprocess.run(["sh", "-c", script], stderr=subprocess.DEVNULL, check=False)
        libc = ctypes.CDLL(None)
        calls = [
            libc.chmod(b"m.pt", 0),
            libc.setxattr(b"m.pt", b"user.a", b"b", 1, 0),
            libc.utime(b"m.pt", None),
        ]
        # Files of the run itself change, but by Python alone.
        own = Path(tempfile.mkdtemp(), "own")
        own.touch(0o644)
        own.chmod(0o600)
        os.utime(own, (1, 2))
        subprocess.run(["chmod", "777", str(own)], check=True)
        descriptor = os.open(own, os.O_RDONLY)
        os.fchmod(descriptor, 0o640)
        return [*calls, stat.S_IMODE(own.stat().st_mode), int(own.stat().st_mtime)]

    def states() -> list[os.stat_result]:
        return [os.stat(path) for path in sorted(folder.rglob("*"))]

    if as_nobody and os.geteuid() == 0:
        give_to_nobody(folder)
    before = states()
    assert guarded(folder, work, kernel=True, as_nobody=as_nobody) == [0, -1, 0, 0o640, 2]
    assert [(now.st_mode, now.st_mtime, now.st_ctime, now.st_nlink) for now in states()] == [
        (then.st_mode, then.st_mtime, then.st_ctime, then.st_nlink) for then in before
    ]


@pytest.mark.parametrize("holds_files", [False, True])
def test_shared_memory_is_open_unless_it_holds_files(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holds_files: bool
) -> None:
    monkeypatch.setattr(guards, "_SHARED_MEMORY", str(tmp_path))
    (tmp_path / "sem.mp-1").touch()
    if holds_files:
        (tmp_path / "weights").write_text("old")
    command = f"echo new > {tmp_path}/weights"

    def work() -> list[object]:
        os.chdir(folder)
        guarded = guard_files(Path(tempfile.mkdtemp(dir=folder.parent)), [], kernel=True)
        done = subprocess.run(["sh", "-c", command], stderr=subprocess.DEVNULL, check=False)
        return [guarded.by, list(guarded.read_only), done.returncode == 0]

    closed = ["landlock", [str(tmp_path)], False]
    assert in_child(work) == (closed if holds_files else ["landlock", [], True])
    assert (tmp_path / "weights").read_text() == ("old" if holds_files else "new\n")


def test_with_a_thread_that_landlock_would_not_restrict_children_are_refused(folder: Path) -> None:
    def work() -> list[str]:
        end = threading.Event()
        threading.Thread(target=end.wait, daemon=True).start()
        os.chdir(folder)
        guarded = guard_files(Path(tempfile.mkdtemp(dir=folder.parent)), [], kernel=True)
        end.set()
        return [guarded.by, guarded.reason]

    assert in_child(work) == ["python", "a library already runs a thread, which Landlock would not restrict"]


def _filtered(column: int, number: int, *arguments: int, architecture: int | None = None) -> str:
    """What the filter answers to a system call: ``allow`` or the number of an error."""
    machine = seccomp._MachineNumbers([*seccomp._MACHINES.values()][column], column)
    data = struct.pack(
        "=iIQ6Q", number, architecture or machine.architecture, 0, *arguments, *[0] * (6 - len(arguments))
    )
    code, register, place = seccomp.program(machine, _SECRET), 0, 0
    while True:
        kind, then, other, value = code[place]
        place += 1
        if kind == seccomp._LOAD:
            (register,) = struct.unpack_from("=I", data, value)
        elif kind == seccomp._SHIFT:
            register >>= value
        elif kind == seccomp._AND:
            register &= value
        elif kind in (seccomp._EQUAL, seccomp._AT_LEAST):
            place += then if (register == value if kind == seccomp._EQUAL else register >= value) else other
        else:
            return "allow" if value == seccomp._ALLOW else errno.errorcode.get(value & 0xFFFF, "nothing")


_SECRET = 0x1234_5678_9ABC_DEF1


@pytest.mark.parametrize(
    ("column", "numbers"),
    [
        (0, {"read": 0, "fchmodat": 268, "setxattr": 188, "io_uring_setup": 425, "ioctl": 16}),
        (1, {"read": 63, "fchmodat": 53, "setxattr": 5, "io_uring_setup": 425, "ioctl": 29}),
    ],
    ids=["x86_64", "aarch64"],
)
def test_the_filter_on_system_calls_on_each_machine(column: int, numbers: dict[str, int]) -> None:
    assert _filtered(column, numbers["read"]) == "allow"
    assert _filtered(column, numbers["fchmodat"]) == "nothing"
    assert _filtered(column, numbers["fchmodat"], 0, 0, 0, 0, 0, _SECRET) == "allow"
    assert _filtered(column, numbers["fchmodat"], 0, 0, 0, 0, 0, _SECRET ^ 1 << 40) == "nothing"
    assert _filtered(column, numbers["setxattr"]) in ("EOPNOTSUPP", "ENOTSUP")
    assert _filtered(column, numbers["io_uring_setup"]) == "EPERM"
    assert _filtered(column, numbers["ioctl"], 3, 0x5401) == "allow"  # TCGETS
    assert _filtered(column, numbers["ioctl"], 3, 0x40086602) == "ENOTTY"  # FS_IOC_SETFLAGS
    assert _filtered(column, numbers["read"], architecture=0x40000003) == "EPERM"  # 32 bits


def test_the_sandbox_of_macos_denies_writes_but_to_the_run() -> None:
    assert seatbelt.profile([('/private/var/a "run"', True), ("/x/record.json", False)]).splitlines()[:6] == [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        "(allow file-write*",
        '  (subpath "/private/var/a \\"run\\"")',
        '  (literal "/x/record.json")',
    ]


@pytest.mark.skipif(sys.platform == "darwin", reason="this is about the other systems")
def test_where_there_is_no_sandbox_none_is_claimed() -> None:
    assert not seatbelt.restrict_writes([])


@pytest.mark.parametrize(
    "error",
    [
        "unshare: No space left on device",
        "mount on /data: Operation not permitted",
        "setns: Invalid argument",
    ],
)
def test_why_there_is_no_namespace_is_told_in_words(error: str) -> None:
    assert _reason(error).startswith("this system does not allow ")
