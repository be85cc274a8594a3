"""The audit hook that ends the run before a write that is not redirected.

A write is any call that could change a file. If the kernel refuses writes, the hook checks only Python's own
writes. Otherwise native code could write without being noticed: then only listed extension modules may be
imported, and their functions that write are refused, as are child processes.
"""

from __future__ import annotations

import importlib.machinery
import itertools
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from types import FrameType, ModuleType
from typing import Any, Final, NoReturn, Protocol

from ..compat import torch_compat
from .native import (
    CLIB_FUNCTIONS,
    HARMLESS_PACKAGES,
    QUERIES,
    REFUSED_MODULES,
    WRITERS,
)
from .stand_ins import on_import, replace
from .unsafe import UnsafeWriteError

_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
_OURS: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
_STANDARD: Final = os.path.join(sysconfig.get_path("stdlib"), "")
_SYSTEM: Final = ("/lib", "/usr/lib", "/System/", "C:\\Windows\\", os.path.join(sys.base_prefix, "DLLs", ""))
_QUERYING: Final = ("platform", "ctypes.util", "uuid", "sysconfig")
"""Modules of the standard library that start programs and call C functions only to get system information."""
_EVENTS: Final = {
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.rename": ((0, 2), (1, 3)),
    "os.link": ((0, 2), (1, 3)),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.utime": ((0, 3),),
    "os.setxattr": ((0, None),),
    "os.removexattr": ((0, None),),
    "os.chflags": ((0, None),),
    "os.lchflags": ((0, None),),
}
"""Audit events of file changes, with the argument positions of each path and of its folder's descriptor."""
_STARTS: Final = frozenset(
    {
        "os.system",
        "os.exec",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "os.startfile/2",
        "pty.spawn",
        "_winapi.CreateProcess",
        "os.forkpty",
    }
)
"""Audit events for the start of another program, whose writes this process could not see."""
_REQUESTS: Final = (0x54, 0x74, 0x89)
"""The types of ``ioctl`` requests to terminals and sockets. Requests of other types may change files."""

_OF_NAMES: Final = ("os.remove", "os.rmdir", "os.rename", "os.symlink")
"""Audit events that concern a link itself, not the file to which the link leads."""


class OwnPathTest(Protocol):
    """A function that says whether a path may be written, because the run owns it."""

    def __call__(self, path: Any, *, follow: bool = True) -> bool:
        """Check the file to which the path leads; without ``follow``, the link itself."""


def refuse_changes(is_own: OwnPathTest, named: Callable[[int], str]) -> None:
    """End the run before Python changes a file for which ``is_own`` is false.

    ``named`` returns the path of a descriptor.
    """

    def audit(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = args
            writes = flags & _WRITES if isinstance(flags, int) else 0
            if (writes or set(str(mode or "")) & set("wax+")) and not isinstance(path, int):
                check(f"write to {_text(path)}", path)
        elif event in _EVENTS:
            for index, folder in _EVENTS[event]:
                path = args[index]
                # A descriptor opened for reading is enough to change a mode.
                place = named(path) if isinstance(path, int) else path
                if folder is not None and folder < len(args) and args[folder] not in (-1, None):
                    place = os.path.join(named(args[folder]), os.fsdecode(place))
                check(f"change {_text(place)} ({event})", place, follow=event not in _OF_NAMES)

    def check(action: str, path: Any, *, follow: bool = True) -> None:
        if not is_own(path, follow=follow):
            raise UnsafeWriteError(action)

    sys.addaudithook(audit)


def refused_libraries() -> Iterator[str]:
    """Yield the names of the imported modules whose native code may write files."""
    for name, module in list(sys.modules.items()):
        origin = getattr(getattr(module, "__spec__", None), "origin", None) or ""
        is_native = origin.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES))
        if name in REFUSED_MODULES or (is_native and not _is_harmless(name, origin)):
            yield name


def refuse_native(is_own: OwnPathTest) -> None:
    """End the run before native code or another program could change a file.

    Raises ``RuntimeError`` if an imported library has native code that may write files.
    """
    for name in refused_libraries():
        raise RuntimeError(f"the imported library {name} has native code that may write files")
    sys.meta_path.insert(0, _RefusingFinder())
    for name in {module for module, _, _ in WRITERS}:
        on_import(name, _refuse_writers)
    on_import("h5py.h5f", _only_read)
    for owner, name in torch_compat.sharing_writers():
        setattr(owner, name, _refusing(f"share a file or memory with other processes ({owner.__name__})"))
    _guard_children()
    _guard_shared_memory()
    shutil._winapi = None  # type: ignore[attr-defined]  # its CopyFile2 is native
    sys.addaudithook(_native_hook(is_own))


def _native_hook(is_own: OwnPathTest) -> Callable[[str, tuple[Any, ...]], None]:
    def is_compiled(path: str) -> bool:  # by torch, in this run
        return is_own(path) and _is_trusted(sys._getframe(2))

    def audit(event: str, args: tuple[Any, ...]) -> None:
        if event == "import":
            name, path = args[:2]
            if isinstance(path, str) and not _is_harmless(name, path) and not is_compiled(path):
                _refuse(f"load the native code of {name}")
        elif event == "ctypes.dlopen":
            path = os.fsdecode(args[0]) if isinstance(args[0], (str, bytes)) else ""
            if path and not _is_harmless_library(path) and not is_compiled(path):
                _refuse(f"load the native library {_text(args[0])}")
        elif event in ("ctypes.dlsym", "ctypes.dlsym/handle"):
            if not _is_harmless_function(args[1]) and not _is_trusted(sys._getframe(1)):
                _refuse(f"call {args[1]} of {_library(args[0])}")
        elif event == "subprocess.Popen":
            if not _may_start(args, sys._getframe(1), is_own):
                _refuse(f"start another program ({event}: {_text(args[0])})")
        elif event in _STARTS and not _is_of_popen(sys._getframe(1)):
            _refuse(f"start another program ({': '.join((event, *map(_text, args[:1])))})")
        elif event == "os.fork":
            if not _is_trusted(sys._getframe(1)):
                _refuse("start another process, whose writes Fullgraph could not see (os.fork)")
        elif event == "fcntl.ioctl":
            if (args[1] >> 8) & 0xFF not in _REQUESTS and _is_of_user(args[0]):
                _refuse("change a file with a request to its file system (ioctl)")
        elif event == "sqlite3.connect":
            _refuse(f"open the SQLite database {_text(args[0])}")
        elif event == "cpython.PyInterpreterState_New":
            _refuse("start another interpreter in this process")
        elif event == "_winapi.CreateFile":
            if not str(args[0]).startswith("\\\\.\\pipe\\"):
                _refuse(f"open {args[0]}")
        elif event == "_winapi.CopyFile2":
            _refuse(f"copy to {args[1]}")

    return audit


def _is_of_user(descriptor: int) -> bool:
    """Return whether a descriptor is of a file or folder and was opened read-only."""
    import fcntl

    mode = os.fstat(descriptor).st_mode
    is_read = fcntl.fcntl(descriptor, fcntl.F_GETFL) & (os.O_WRONLY | os.O_RDWR) == 0
    return is_read and (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _library(library: Any) -> str:
    name = getattr(library, "_name", None)
    return f"the native library {name}" if name and "libc." not in name else "the C library"


def _refuse(action: str) -> NoReturn:
    raise UnsafeWriteError(action)


def _refusing(action: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise UnsafeWriteError(action)

    return refuse


def _text(value: Any) -> str:
    return os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else str(value)


# -- native code -------------------------------------------------------------------------------


class _RefusingFinder:
    """A finder that ends the run when a module that could write unnoticed is imported.

    The native code of such a module opens files without Python's functions.
    """

    def find_spec(self, fullname: str, *_: Any) -> None:
        if fullname in REFUSED_MODULES:
            _refuse(f"import {fullname}, which can change files unseen")


def _is_harmless(name: str, path: str) -> bool:
    """Return whether an extension module writes only in functions of ``WRITERS``."""
    # mypyc compiles Python code, which calls Python's own functions.
    return name not in REFUSED_MODULES and (name.endswith("__mypyc") or _is_harmless_library(path))


def _is_harmless_library(path: str) -> bool:
    if not os.path.dirname(path):  # searched for in the folders of the system
        return True
    place = os.path.realpath(path)
    parts = place.replace("\\", "/").split("/")
    for name in ("site-packages", "dist-packages"):
        if name in parts:
            top = parts[len(parts) - parts[::-1].index(name)]
            return top.removesuffix(".libs").partition(".")[0] in HARMLESS_PACKAGES
    return _is_of_standard(place) or place.startswith((*_SYSTEM, *torch_compat.folders()))


def _is_harmless_function(name: Any) -> bool:
    return isinstance(name, str) and (
        name in CLIB_FUNCTIONS or name.startswith(tuple(one for one in CLIB_FUNCTIONS if one.endswith("_")))
    )


def _refuse_writers(module: ModuleType) -> None:
    """Refuse the functions of a module that write files in native code."""
    for name, path, action in WRITERS:
        if name != module.__name__:
            continue
        *owners, last = path.split(".")
        owner: Any = module
        for part in owners:
            owner = getattr(owner, part, None)
        if hasattr(owner, last):
            refusing = _refusing(action)
            is_property = hasattr(getattr(owner, last), "__set__")
            setattr(owner, last, property(lambda _: None, refusing) if is_property else refusing)


def _only_read(module: Any) -> None:
    """Refuse to open HDF5 files for writing."""
    open_file = module.open

    def open_to_read(name: Any, flags: int = module.ACC_RDWR, *args: Any, **named: Any) -> Any:
        if flags & module.ACC_RDWR:
            _refuse(f"open the HDF5 file {_text(name)} for writing")
        return open_file(name, flags, *args, **named)

    module.open = open_to_read


# -- other programs and shared memory ----------------------------------------------------------


def _may_start(args: tuple[Any, ...], frame: FrameType | None, is_own: OwnPathTest) -> bool:
    """Return whether torch starts a child that is harmless.

    It is harmless if it only gets system information, or is a compiler whose output is in the folder of the
    run.
    """
    program, words, cwd = args[:3]
    words = [words] if isinstance(words, (str, bytes, os.PathLike)) else list(words or ())
    texts = [_text(word) for word in words] or [_text(program)]
    if not _is_trusted(frame):
        return False
    if _is_querying(frame) or os.path.basename(texts[0]).removesuffix(".exe") in QUERIES:
        return True
    outputs = [second for first, second in itertools.pairwise(texts) if first == "-o"]
    return torch_compat.is_of_compiler(next(_callers(frame)).f_code.co_filename) and all(
        is_own(os.path.join(_text(cwd or os.getcwd()), path)) for path in outputs
    )


def _guard_children() -> None:
    """Refuse children that start without an audit event.

    Children of ``subprocess`` are not refused here: ``subprocess`` raises its own event.
    """

    def in_module(module: Any) -> None:
        fork_exec = module.fork_exec

        def spawn(*args: Any) -> Any:
            if not _is_of_popen(sys._getframe(1)):
                _refuse("start another process (multiprocessing)")
            return fork_exec(*args)

        replace((fork_exec, spawn))

    on_import("_posixsubprocess", in_module)
    if hasattr(os, "chroot"):
        replace((os.chroot, _refusing("change its root folder")))


def _is_of_popen(frame: FrameType) -> bool:
    """Return whether ``subprocess`` makes a call, after it raised its own audit event."""
    methods = [getattr(subprocess.Popen, name, None) for name in ("_execute_child", "_posix_spawn")]
    return any(method is not None and frame.f_code is method.__code__ for method in methods)


def _guard_shared_memory() -> None:
    """Refuse changes of shared memory segments that this process did not create."""
    own: set[Any] = set()

    def in_module(module: Any) -> None:
        shm_open, shm_unlink = module.shm_open, module.shm_unlink

        def open_own(path: Any, flags: int, *args: Any, **named: Any) -> Any:
            if path not in own and not flags & os.O_EXCL and flags & _WRITES:
                _refuse(f"change the shared memory {path}")
            opened = shm_open(path, flags, *args, **named)
            own.add(path)
            return opened

        def unlink_own(path: Any) -> None:
            if path not in own:
                _refuse(f"remove the shared memory {path}")
            shm_unlink(path)

        replace((shm_open, open_own), (shm_unlink, unlink_own))

    on_import("_posixshmem", in_module)


# -- who calls ---------------------------------------------------------------------------------


def is_ours(frame: FrameType | None) -> bool:
    """Return whether a frame, or a frame that called it, belongs to this package."""
    while frame is not None and not frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return frame is not None


def _is_trusted(frame: FrameType | None) -> bool:
    """Return whether torch, this package or a query of the system makes a call."""
    if _is_querying(frame):
        return True
    caller = next(_callers(frame), None)
    return caller is not None and caller.f_code.co_filename.startswith((*torch_compat.folders(), _OURS))


def _is_querying(frame: FrameType | None) -> bool:
    while frame is not None and _is_of_library(frame.f_code.co_filename):
        if frame.f_globals.get("__name__") in _QUERYING:
            return True
        frame = frame.f_back
    return False


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the calling frames outside of the standard library, the innermost first."""
    while frame is not None:
        if not _is_of_library(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def _is_of_library(filename: str) -> bool:
    return filename.startswith("<frozen") or _is_of_standard(filename) or filename == __file__


def _is_of_standard(path: str) -> bool:
    return path.startswith(_STANDARD) and "site-packages" not in path
