"""Guards by path, for systems without namespaces: writes are redirected, or end the run before they happen.

Calls of ``open`` and ``os`` are redirected (:mod:`.shadow`), and the program reads its own writes. An audit
hook catches all other writes that Python reports (its table of audit events). Files that native code opens
are visible to Landlock only; for the libraries that do this most often, the paths are redirected.
"""

from __future__ import annotations

import builtins
import functools
import os
import shutil
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import FrameType, ModuleType, TracebackType
from typing import Any, Final

from ..compat import torch_compat
from ..compat.fake_compat import hide_from_dynamo
from .landlock import restrict_writes
from .shadow import Shadow
from .stand_ins import on_import
from .unsafe import UnsafeWriteError

_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
_OURS: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
_STANDARD: Final = os.path.join(sysconfig.get_path("stdlib"), "")
_HARMLESS: Final = ("platform", "ctypes.util", "uuid", "sysconfig")
_DEVICES: Final = ("/dev", "/proc", "/sys")
_EVENTS: Final = {
    "os.remove": (0,),
    "os.rmdir": (0,),
    "os.rename": (0, 1),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.utime": (0,),
    "os.setxattr": (0,),
    "os.removexattr": (0,),
}
"""Audit events of file changes, with the positions of the arguments that are paths."""
_STARTS: Final = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "pty.spawn"}
)
"""Audit events of starting another program, whose writes are invisible here."""
_LIBC: Final = frozenset(
    name
    for names in (
        "open open64 openat creat fopen fopen64 freopen truncate truncate64 mkstemp link symlink chmod chown",
        "unlink unlinkat remove rename renameat renameat2 rmdir utime utimes",
        "syscall system popen execv execve posix_spawn",
    )
    for name in names.split()
)
"""Functions of the C library that change files or start programs."""


_real_listdir, _real_scandir, _real_symlink = os.listdir, os.scandir, os.symlink
_PATHS: Final = ("file", "path", "src", "dst")
_FOLDERS: Final = ("dir_fd", "src_dir_fd", "dst_dir_fd")


class _Busy(threading.local):
    on = False


_busy = _Busy()
"""Set while the guards themselves access files."""


def guard_files(folder: Path, passing: Collection[Path], *, kernel: bool) -> bool:
    """Restrict this process to changing files below ``folder`` and ``passing``, permanently.

    Returns whether the kernel enforces this as well, which it is asked to do with ``kernel``.
    """
    sys.dont_write_bytecode = True
    temporary = folder / "tmp"
    temporary.mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = str(temporary)
    own = [path for path in map(Path, _DEVICES) if path.exists()] + list(passing)
    is_restricted = kernel and restrict_writes([folder, *own])
    shadow = Shadow(folder, [os.path.realpath(path) for path in own])
    _redirect(shadow)
    _redirect_libraries(shadow)
    sys.addaudithook(_net(shadow, children=is_restricted))
    return is_restricted


# -- redirected functions ----------------------------------------------------------------------


def _redirect(shadow: Shadow) -> None:
    # Only paths are redirected, not descriptors of folders; without these, rmtree follows no links either.
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    replacements = _functions(shadow)
    ours = {
        id(real): (real, functools.wraps(real)(_guarded(real, own))) for real, own in replacements.items()
    }
    places = [
        (module, name, *ours[id(value)])
        for module in tuple(sys.modules.values())
        for name, value in tuple(getattr(module, "__dict__", {}).items())
        if id(value) in ours
    ]

    # The standard library looks in these sets for the abilities of a function.
    for abilities in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
        abilities.update(own for real, own in ours.values() if real in abilities)

    def put() -> None:
        for module, name, _, own in places:
            setattr(module, name, own)

    def take_back() -> None:
        for module, name, real, _ in places:
            setattr(module, name, real)

    hide_from_dynamo(put, take_back)


def _guarded(real: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
    """Return a replacement that calls ``own``, or ``real`` while the guards themselves access files."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if _busy.on:
            return real(*args, **kwargs)
        # Paths may be keyword arguments; as positional ones they come first.
        paths = [*(kwargs.pop(name) for name in _PATHS if name in kwargs), *args]
        for name in [name for name in _FOLDERS if name in kwargs]:
            folder, index = kwargs.pop(name), 1 if name == "dst_dir_fd" or real is _real_symlink else 0
            if folder is not None:
                paths[index] = os.path.join(_named(folder), os.fsdecode(paths[index]))
        if paths and isinstance(paths[0], int):
            if real not in (_real_listdir, _real_scandir):
                return real(*paths, **kwargs)
            paths[0] = _named(paths[0])
        return own(*paths, **kwargs)

    return call


def _named(descriptor: int) -> str:
    """Return the path of an open descriptor. Raises ``UnsafeWriteError`` if there is none."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        raise UnsafeWriteError(f"change a file without a known path (descriptor {descriptor})") from None


def _quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function of the guards with redirection off, since it accesses files itself."""
    _busy.on = True
    try:
        return function(*args, **kwargs)
    finally:
        _busy.on = False


def _functions(shadow: Shadow) -> dict[Any, Callable[..., Any]]:
    """Return the replacements of functions in ``os`` and ``builtins``, by the real function."""

    def reads(real: Any, *, follow: bool = True) -> Callable[..., Any]:
        def read(path: Any, *args: Any, **kwargs: Any) -> Any:
            followed = follow and kwargs.get("follow_symlinks", True)
            return real(_quietly(shadow.reading, path, follow=followed), *args, **kwargs)

        return read

    def changes(real: Any) -> Callable[..., Any]:
        def change(path: Any, *args: Any, **kwargs: Any) -> Any:
            follow = kwargs.get("follow_symlinks", True)
            if _quietly(_is_folder_of_user, shadow, path):
                return None  # ignored: programs do not depend on the mode and times of the user's folders
            return real(_quietly(_to_change, shadow, path, follow), *args, **kwargs)

        return change

    def access(path: Any, mode: int, **kwargs: Any) -> bool:
        try:
            return bool(real_access(_quietly(shadow.reading, path), mode, **kwargs))
        except FileNotFoundError:
            return False

    def does(method: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *paths, **_: _quietly(method, *paths)

    real_access, real_truncate = os.access, os.truncate
    functions = {
        getattr(os, name): reads(getattr(os, name))
        for name in ("stat", "chdir", "statvfs", "getxattr", "listxattr")
        if hasattr(os, name)
    }
    functions |= {os.lstat: reads(os.lstat, follow=False), os.readlink: reads(os.readlink, follow=False)}
    for name in ("chmod", "chown", "utime", "setxattr", "removexattr"):
        if hasattr(os, name):
            functions[getattr(os, name)] = changes(getattr(os, name))
    return {
        **functions,
        os.access: access,
        os.truncate: lambda path, length: real_truncate(_quietly(_to_change, shadow, path, True), length),
        os.open: functools.partial(_open_descriptor, shadow, os.open),
        builtins.open: functools.partial(_open, shadow, builtins.open),
        os.remove: does(shadow.remove),
        os.unlink: does(shadow.remove),
        os.rmdir: does(shadow.remove_folder),
        os.mkdir: lambda path, mode=0o777: _quietly(shadow.make_folder, path, mode),
        os.rename: does(shadow.move),
        os.replace: does(shadow.move),
        os.link: does(shadow.link),
        os.symlink: does(shadow.link_symbolically),
        os.listdir: lambda path=".": _names(shadow, path),
        os.scandir: functools.partial(_scan, shadow, os.scandir),
    }


def _is_folder_of_user(shadow: Shadow, path: Any) -> bool:
    return not shadow.is_own(path) and _is_folder(shadow, path)


def _to_change(shadow: Shadow, path: Any, follow: bool) -> Any:
    return path if shadow.is_own(path) else shadow.writing(path, follow=follow)


def _open(shadow: Shadow, real: Any, file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
    if (opener := kwargs.pop("opener", None)) is not None:
        return real(opener(file, _flags(mode)), mode, *args, **kwargs)
    path = _quietly(_path_to_open, shadow, file, mode)
    return real(path, mode.replace("x", "w"), *args, **kwargs)


def _flags(mode: str) -> int:
    """Return the flags that ``open`` passes to an opener for a mode."""
    access = os.O_RDWR if "+" in mode else os.O_RDONLY if "r" in mode else os.O_WRONLY
    ways = {"w": os.O_CREAT | os.O_TRUNC, "x": os.O_CREAT | os.O_EXCL, "a": os.O_CREAT | os.O_APPEND}
    return (
        access | sum(flags for letter, flags in ways.items() if letter in mode) | getattr(os, "O_CLOEXEC", 0)
    )


def _path_to_open(shadow: Shadow, file: Any, mode: str) -> Any:
    if "x" in mode and shadow.exists(file):
        raise FileExistsError(17, os.strerror(17), file)
    if not set(mode) & set("wxa+"):
        return shadow.reading(file)
    return shadow.writing(file, copy="w" not in mode, create="r" not in mode)


def _open_descriptor(shadow: Shadow, real: Any, path: Any, flags: int, *args: Any, **kwargs: Any) -> Any:
    if not flags & _WRITES:
        return real(_quietly(shadow.reading, path), flags, *args, **kwargs)
    creates, cuts = bool(flags & os.O_CREAT), bool(flags & os.O_TRUNC)
    if flags & os.O_EXCL and creates:
        if _quietly(shadow.exists, path, follow=False):
            raise FileExistsError(17, os.strerror(17), path)
        flags &= ~os.O_EXCL
    place = _quietly(shadow.writing, path, copy=not cuts, create=creates)
    return real(place, flags, *args, **kwargs)


def _is_folder(shadow: Shadow, path: Any) -> bool:
    place = shadow.place(path)
    return place is not None and os.path.isdir(place)


def _names(shadow: Shadow, path: Any) -> list[Any]:
    path = "." if path is None else path
    names = _quietly(shadow.names, path)
    return [os.fsencode(name) for name in names] if isinstance(os.fspath(path), bytes) else names


def _scan(shadow: Shadow, real: Any, path: Any = ".") -> Any:
    path = "." if path is None else path
    if not shadow.has_changes:
        return real(path)
    return _Entries([_Entry(os.fspath(path), name) for name in _names(shadow, path)])


class _Entry:
    """An ``os.DirEntry`` of a folder that the program has changed."""

    def __init__(self, folder: Any, name: Any) -> None:
        self.name = name
        self.path = os.path.join(folder, name)

    def __fspath__(self) -> Any:
        return self.path

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Tell whether the entry is a folder."""
        return os.path.isdir(self.path) and (follow_symlinks or not self.is_symlink())

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Tell whether the entry is a file."""
        return os.path.isfile(self.path) and (follow_symlinks or not self.is_symlink())

    def is_symlink(self) -> bool:
        """Tell whether the entry is a symbolic link."""
        return os.path.islink(self.path)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return the result of ``os.stat`` for the entry."""
        return os.stat(self.path, follow_symlinks=follow_symlinks)

    def inode(self) -> int:
        """Return the inode number of the entry."""
        return os.lstat(self.path).st_ino


class _Entries:
    """The iterator that ``os.scandir`` returns."""

    def __init__(self, entries: list[_Entry]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[_Entry]:
        return self._entries

    def __next__(self) -> _Entry:
        return next(self._entries)

    def __enter__(self) -> _Entries:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: no descriptor is open."""


# -- libraries that open files in native code --------------------------------------------------


def _redirect_libraries(shadow: Shadow) -> None:
    def to_write(path: Any) -> Any:
        return (
            _quietly(shadow.writing, path, create=True)
            if isinstance(path, (str, bytes, os.PathLike))
            else path
        )

    def to_read(path: Any) -> Any:
        return _quietly(shadow.reading, path) if isinstance(path, (str, bytes, os.PathLike)) else path

    torch_compat.redirect_files(to_write, to_read)

    def in_sqlite(module: ModuleType) -> None:
        connect = module.connect

        def connect_to_copy(database: Any, *args: Any, **kwargs: Any) -> Any:
            own = ":memory:" if database == ":memory:" else to_write(database)
            return connect(own, *args, **kwargs)

        module.connect = sys.modules["sqlite3.dbapi2"].connect = connect_to_copy  # type: ignore[attr-defined]

    def in_hdf5(module: ModuleType) -> None:
        construct = module.File.__init__

        @functools.wraps(construct)
        def construct_on_copy(self: Any, name: Any, mode: str = "r", *args: Any, **kwargs: Any) -> None:
            if mode in ("w-", "x") and _is_path(name) and os.path.exists(name):
                raise FileExistsError(17, os.strerror(17), name)
            path = to_read(name) if mode == "r" else to_write(name)
            construct(self, path, mode.replace("w-", "w").replace("x", "w"), *args, **kwargs)

        module.File.__init__ = construct_on_copy

    def in_safetensors(module: Any) -> None:
        write, safe_open = module.serialize_file, module.safe_open
        module.serialize_file = lambda tensors, filename, *args, **kwargs: write(
            tensors, to_write(filename), *args, **kwargs
        )
        module.safe_open = lambda filename, *args, **kwargs: safe_open(to_read(filename), *args, **kwargs)

    on_import("sqlite3", in_sqlite)
    on_import("h5py", in_hdf5)
    on_import("safetensors", in_safetensors)
    for name in ("_gdbm", "_dbm"):
        on_import(name, _refuse_databases)


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, bytes, os.PathLike))


def _refuse_databases(module: ModuleType) -> None:
    def refuse(filename: Any, *_: Any) -> None:
        raise UnsafeWriteError(f"change the database {os.fspath(filename)}")

    module.open = refuse  # type: ignore[attr-defined]


# -- the audit hook ----------------------------------------------------------------------------


def _net(shadow: Shadow, *, children: bool) -> Callable[[str, tuple[Any, ...]], None]:
    """Return an audit hook that ends the run before a call that is not redirected could change a file.

    With ``children``, child processes are allowed, because the kernel restricts them too.
    """

    def audit(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & _WRITES and not isinstance(path, int):
                check(f"write to {path!s}", path)
        elif event in _EVENTS:
            for index in _EVENTS[event]:
                path = args[index]
                # A descriptor opened for reading is enough to change a mode.
                place = _named(path) if isinstance(path, int) else path
                check(f"change {place!s} ({event})", place)
        elif event in _STARTS and not children:
            refuse(f"start another program ({event}: {args[0]!s})")
        elif event == "ctypes.dlsym" and not children and args[1] in _LIBC:
            refuse(f"call {args[1]} of the C library")

    def check(action: str, path: Any) -> None:
        if not _busy.on and not _quietly(shadow.is_own, path):
            raise UnsafeWriteError(action)

    def refuse(action: str) -> None:
        if not _busy.on and not _is_of_torch(sys._getframe(2)):
            raise UnsafeWriteError(action)

    if not children:

        def spawn(*_: Any) -> None:
            refuse("start another process (multiprocessing)")

        on_import("_posixsubprocess", lambda module: setattr(module, "fork_exec", spawn))
    return audit


def _is_of_torch(frame: FrameType | None) -> bool:
    """Tell whether a call is harmless: made by torch or this package, directly or via the standard library.

    Also true for modules of the standard library that only query the system.
    """
    while frame is not None and _is_of_library(frame.f_code.co_filename):
        if frame.f_globals.get("__name__") in _HARMLESS:
            return True
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith((torch_compat.folder(), _OURS))


def _is_of_library(filename: str) -> bool:
    is_standard = filename.startswith(_STANDARD) and "site-packages" not in filename
    return filename.startswith("<frozen") or is_standard or filename == __file__
