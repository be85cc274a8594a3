"""Guards by path, for systems without namespaces.

Writes are redirected, or end the run before they happen. Calls of ``open`` and of functions of ``os`` are
redirected (:mod:`.shadow`), as are calls of some libraries (:mod:`.libraries`), and the program reads what it
wrote. All other writes are refused: by the kernel if possible (:mod:`.landlock` with :mod:`.seccomp`,
:mod:`.seatbelt`), otherwise by :mod:`.refusals`.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import glob
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..compat.fake_compat import hide_from_dynamo
from ..facts import FilesDiscarded
from . import landlock, seatbelt, seccomp
from .libraries import redirect_libraries
from .refusals import is_ours, refuse_changes, refuse_native
from .shadow import FileShadow, ShadowEntries, ShadowEntry
from .unsafe import UnsafeWriteError

_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
_DEVICES: Final = (
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"),
    *("/dev/pts", "/dev/nvidia*", "/dev/dri", "/dev/kfd", "/dev/accel", "/dev/infiniband", "/dev/dxg"),
    "/proc",
)
"""Paths outside of the run's folder that may be written: terminals, GPUs, and settings of processes."""
_SHARED_MEMORY: Final = "/dev/shm"
_SEGMENTS: Final = ("sem.", "psm_", "torch_", "nccl-", "cuda.shm.", "__KMP_REGISTERED_LIB_", "pym-")
"""Prefixes of the names that libraries give to shared memory; such memory contains no files of the user."""

_real_listdir, _real_scandir, _real_symlink = os.listdir, os.scandir, os.symlink
_real_readlink = os.readlink
_PATHS: Final = ("file", "path", "src", "dst")
_FOLDERS: Final = ("dir_fd", "src_dir_fd", "dst_dir_fd")
_F_GETPATH: Final = 50  # sys/fcntl.h of macOS


class _GuardActivity(threading.local):
    on = False


_busy = _GuardActivity()
"""Its ``on`` is true while the guards themselves access files in this thread."""


def guard_files(folder: Path, passing: Collection[Path], *, kernel: bool) -> FilesDiscarded:
    """Allow this process to change only ``folder`` and ``passing``, from now on.

    With ``kernel``, the kernel enforces this as well, if it can. Returns the mechanism that enforces it.
    Raises ``RuntimeError`` if an imported library could write without being noticed.
    """
    sys.dont_write_bytecode = True
    temporary = folder / "tmp"
    temporary.mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = str(temporary)
    own = [Path(path) for pattern in _DEVICES for path in glob.glob(pattern)]
    own += [folder, *passing]
    discarded = _restrict(own) if kernel else FilesDiscarded("python")
    is_python = discarded.by == "python"
    _dump_no_core()
    shadow = FileShadow(folder, [os.path.realpath(path) for path in own])
    _redirect(shadow, seccomp.changes() if discarded.by == "landlock" else {})
    redirect_libraries(
        functools.partial(_to_write, shadow), functools.partial(_to_read, shadow), kernel=not is_python
    )
    refuse_changes(functools.partial(_is_own, shadow), _named)
    if is_python:
        refuse_native(functools.partial(_is_own, shadow))
    return discarded


def _restrict(own: list[Path]) -> FilesDiscarded:
    """Let the kernel refuse writes; add the paths that stay writable to ``own``."""
    if sys.platform == "darwin":
        if seatbelt.restrict_writes(own):
            return FilesDiscarded("sandbox")
        return FilesDiscarded("python", "macOS did not start a sandbox")
    if sys.platform != "linux":
        return FilesDiscarded("python", "only Linux and macOS can refuse writes")
    # Neither a running thread nor the children that it starts would be restricted.
    if any(not is_ours(frame) for frame in sys._current_frames().values()):
        return FilesDiscarded("python", "a library already runs a thread, which Landlock would not restrict")
    is_memory_open = os.path.isdir(_SHARED_MEMORY) and not _files_in_memory()
    memory = [Path(_SHARED_MEMORY)] if is_memory_open else []
    if not (landlock.restrict_writes([*own, *memory]) and seccomp.restrict_changes()):
        return FilesDiscarded("python", "the kernel has no Landlock (Linux 6.2) or no filters (seccomp)")
    own += memory
    return FilesDiscarded("landlock", read_only=() if is_memory_open else (_SHARED_MEMORY,))


def _files_in_memory() -> bool:
    """Return whether ``/dev/shm`` contains files that this process could change."""
    with os.scandir(_SHARED_MEMORY) as entries:
        return any(
            os.access(entry.path, os.W_OK) or entry.stat(follow_symlinks=False).st_uid == os.geteuid()
            for entry in entries
            if not entry.name.startswith(_SEGMENTS)
        )


def _dump_no_core() -> None:
    """Forbid core dumps: a crash would overwrite an older dump."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# -- redirected functions ----------------------------------------------------------------------


def _redirect(shadow: FileShadow, effective: Mapping[Callable[..., Any], Callable[..., Any]]) -> None:
    """Replace functions of ``os`` and ``builtins`` in all modules by guarded ones.

    ``effective`` maps functions that the kernel blocks to functions that it does not block.
    """
    # Descriptors of folders are not redirected, paths are. With paths, rmtree follows no links, either.
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    replacements = _functions(shadow, effective)
    ours = {
        id(real): functools.wraps(real)(_guarded(effective.get(real, real), own))
        for real, own in replacements.items()
    }
    places = [
        (module, name, ours[id(value)])
        for module in tuple(sys.modules.values())
        for name, value in tuple(getattr(module, "__dict__", {}).items())
        if id(value) in ours and getattr(module, "__package__", "") != __package__  # these stay real
    ]

    # The standard library looks up the abilities of a function in these sets.
    for abilities in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
        abilities.update(ours[id(real)] for real in replacements if real in abilities)

    hide_from_dynamo(places)


def _guarded(real: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls ``own``, or ``real`` while the guards access files."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if _busy.on:
            return real(*args, **kwargs)
        # Paths may be keyword arguments; positional paths come first.
        paths = [*(kwargs.pop(name) for name in _PATHS if name in kwargs), *args]
        # The program's own ``__fspath__`` runs here, under the guards.
        paths[:2] = [os.fspath(path) if isinstance(path, os.PathLike) else path for path in paths[:2]]
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
    """Return the path of an open descriptor.

    Raises ``UnsafeWriteError`` if the descriptor has no path.
    """
    with contextlib.suppress(ImportError, OSError):
        if sys.platform == "darwin":
            import fcntl

            return os.fsdecode(fcntl.fcntl(descriptor, _F_GETPATH, bytes(1024)).rstrip(b"\0"))
        return _real_readlink(f"/proc/self/fd/{descriptor}")
    raise UnsafeWriteError(f"change a file without a known path (descriptor {descriptor})")


def _quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function of the guards with unredirected access to files."""
    before, _busy.on = _busy.on, True
    try:
        return function(*args, **kwargs)
    finally:
        _busy.on = before


def _functions(
    shadow: FileShadow, effective: Mapping[Callable[..., Any], Callable[..., Any]]
) -> dict[Any, Callable[..., Any]]:
    """Return the replacements for functions of ``os`` and ``builtins``."""

    def reads(real: Any, *, follow: bool = True) -> Callable[..., Any]:
        def read(path: Any, *args: Any, **kwargs: Any) -> Any:
            followed = follow and kwargs.get("follow_symlinks", True)
            return real(_quietly(shadow.reading, path, follow=followed), *args, **kwargs)

        return read

    def changes(real: Any, *, follows: bool = True) -> Callable[..., Any]:
        real = effective.get(real, real)

        def change(path: Any, *args: Any, **kwargs: Any) -> Any:
            follow = kwargs.get("follow_symlinks", follows)
            if _quietly(_is_folder_of_user, shadow, path):
                return None  # ignored: programs do not depend on the modes and times of the user's folders
            return real(_quietly(_to_change, shadow, path, follow), *args, **kwargs)

        return change

    def makes(real: Any) -> Callable[..., Any]:
        def make(path: Any, *args: Any, **kwargs: Any) -> Any:
            if _quietly(shadow.exists, path, follow=False):
                raise FileExistsError(17, os.strerror(17), path)
            return real(_quietly(shadow.writing, path, create=True), *args, **kwargs)

        return make

    def access(path: Any, mode: int, **kwargs: Any) -> bool:
        try:
            return bool(real_access(_quietly(shadow.reading, path), mode, **kwargs))
        except FileNotFoundError:
            return False

    def does(real: Any, method: Callable[..., Any], first: int = 0) -> Callable[..., Any]:
        def do(*paths: Any, **kwargs: Any) -> Any:
            if all(_is_own(shadow, path, follow=False) for path in paths[first:2] if _is_path(path)):
                return real(*paths, **kwargs)
            return _quietly(method, *paths)

        return do

    real_access, real_truncate = os.access, os.truncate
    replacing: Sequence[tuple[Callable[..., Callable[..., Any]], tuple[str, ...]]] = (
        (reads, ("stat", "chdir", "statvfs", "getxattr", "listxattr")),
        (functools.partial(reads, follow=False), ("lstat", "readlink")),
        (changes, ("chmod", "chown", "utime", "setxattr", "removexattr", "chflags", "fchmod", "fchown")),
        (functools.partial(changes, follows=False), ("lchmod", "lchown", "lchflags")),
        (makes, ("mkfifo", "mknod")),
    )
    functions = {
        (real := getattr(os, name)): replace(real)
        for replace, names in replacing
        for name in names
        if hasattr(os, name)
    }
    return {
        **functions,
        os.access: access,
        os.truncate: lambda path, length: real_truncate(_quietly(_to_change, shadow, path, True), length),
        os.open: functools.partial(_open_descriptor, shadow, os.open),
        builtins.open: functools.partial(_open, shadow, builtins.open),
        os.remove: does(os.remove, shadow.remove),
        os.unlink: does(os.unlink, shadow.remove),
        os.rmdir: does(os.rmdir, shadow.remove_folder),
        os.mkdir: does(os.mkdir, shadow.make_folder),
        os.rename: does(os.rename, shadow.move),
        os.replace: does(os.replace, shadow.move),
        os.link: does(os.link, shadow.link),
        os.symlink: does(os.symlink, shadow.link_symbolically, first=1),
        os.listdir: lambda path=".": _names(shadow, path),
        os.scandir: functools.partial(_scan, shadow, os.scandir),
    }


def _is_folder_of_user(shadow: FileShadow, path: Any) -> bool:
    return not shadow.is_own(path) and _is_folder(shadow, path)


def _to_change(shadow: FileShadow, path: Any, follow: bool) -> Any:
    return path if shadow.is_own(path) else shadow.writing(path, follow=follow)


def _open(shadow: FileShadow, real: Any, file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
    if (opener := kwargs.pop("opener", None)) is not None:
        return real(opener(file, _flags(mode)), mode, *args, **kwargs)
    path = _quietly(_path_to_open, shadow, file, mode)
    return real(path, mode.replace("x", "w"), *args, **kwargs)


def _flags(mode: str) -> int:
    """Return the flags that ``open`` passes to its ``opener`` for a mode."""
    access = os.O_RDWR if "+" in mode else os.O_RDONLY if "r" in mode else os.O_WRONLY
    ways = {"w": os.O_CREAT | os.O_TRUNC, "x": os.O_CREAT | os.O_EXCL, "a": os.O_CREAT | os.O_APPEND}
    return (
        access | sum(flags for letter, flags in ways.items() if letter in mode) | getattr(os, "O_CLOEXEC", 0)
    )


def _path_to_open(shadow: FileShadow, file: Any, mode: str) -> Any:
    if "x" in mode and shadow.exists(file):
        raise FileExistsError(17, os.strerror(17), file)
    if not set(mode) & set("wxa+"):
        return shadow.reading(file)
    return shadow.writing(file, copy="w" not in mode, create="r" not in mode)


def _open_descriptor(shadow: FileShadow, real: Any, path: Any, flags: int, *args: Any, **kwargs: Any) -> Any:
    if not flags & _WRITES:
        return real(_quietly(shadow.reading, path), flags, *args, **kwargs)
    creates, cuts = bool(flags & os.O_CREAT), bool(flags & os.O_TRUNC)
    if flags & os.O_EXCL and creates:
        if _quietly(shadow.exists, path, follow=False):
            raise FileExistsError(17, os.strerror(17), path)
        flags &= ~os.O_EXCL
    place = _quietly(shadow.writing, path, copy=not cuts, create=creates)
    return real(place, flags, *args, **kwargs)


def _is_folder(shadow: FileShadow, path: Any) -> bool:
    place = shadow.place(path)
    return place is not None and os.path.isdir(place)


def _names(shadow: FileShadow, path: Any) -> list[Any]:
    path = "." if path is None else path
    names = _quietly(shadow.names, path)
    return [os.fsencode(name) for name in names] if isinstance(os.fspath(path), bytes) else names


def _scan(shadow: FileShadow, real: Any, path: Any = ".") -> Any:
    path = "." if path is None else path
    if not shadow.has_changes:
        return real(path)
    return ShadowEntries([ShadowEntry(os.fspath(path), name) for name in _names(shadow, path)])


# -- for libraries and the audit hook ----------------------------------------------------------


def _to_write(shadow: FileShadow, path: Any) -> Any:
    return _quietly(shadow.writing, os.fspath(path), create=True) if _is_path(path) else path


def _to_read(shadow: FileShadow, path: Any) -> Any:
    return _quietly(shadow.reading, os.fspath(path)) if _is_path(path) else path


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, bytes, os.PathLike))


def _is_own(shadow: FileShadow, path: Any, *, follow: bool = True) -> bool:
    return bool(_quietly(shadow.is_own, os.fspath(path), follow=follow))
