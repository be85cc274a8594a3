"""Mount the covers of a mount namespace: an overlay over each folder.

The overlays send writes to folders of the run. Sources: mount(2), and ``filesystems/overlayfs.rst`` of the
kernel's documentation.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from .mounts import Cover, is_within
from .sockets import SocketDescriptors, find_sockets

_MS_RDONLY, _MS_REMOUNT, _MS_BIND, _MS_REC = 1, 32, 4096, 16384  # linux/mount.h
_SYSTEM_FOLDERS: Final = frozenset(
    {"/boot", "/dev/shm", "/etc", "/lib", "/opt", "/run", "/sbin", "/srv", "/usr", "/var"}
)
_NOBODY: Final = 65534
"""The owner that a user namespace shows for files of other users (``/proc/sys/kernel/overflowuid``)."""
_SMALL_BYTES: Final = 1 << 20
"""The maximum size in bytes of a file in a split folder that is copied."""


class NamespaceError(Exception):
    """The error of a process that cannot get a mount namespace with private files.

    The message gives the reason.
    """


def cover(
    to_cover: Sequence[Cover], scratch: Path, passing: Sequence[Path], *, in_user_namespace: bool
) -> tuple[str, ...]:
    """Mount covers in the new mount namespace of this process.

    Return the folders that have no overlay and are read-only instead. Raises ``OSError`` or
    :class:`NamespaceError`.
    """
    # The cover that hides the folders of the run (``scratch``) comes last.
    ordered = sorted(to_cover, key=lambda item: is_within(str(scratch), item.path))
    ordered = [item for item in ordered if item.kind != "split"]
    read_only = []
    with contextlib.ExitStack() as opened:
        # Opened before the covers hide their paths.
        originals = [
            (path, opened.enter_context(_opened(path)))
            for path in dict.fromkeys(os.path.realpath(path) for path in passing)
            if os.path.exists(path) and any(is_within(path, item.path) for item in to_cover)
        ]
        sockets = opened.enter_context(find_sockets())
        own = list(_own_folders(ordered)) if in_user_namespace else []
        views = [
            (folder, opened.enter_context(_opened(view)))
            for number, folder in enumerate(own, len(ordered))
            if (view := _view(folder, scratch, number))
        ]
        for item in to_cover:
            if item.kind == "split":
                with contextlib.suppress(FileNotFoundError):
                    _assemble(item.path)
        for number, item in enumerate(ordered):
            with contextlib.suppress(FileNotFoundError):  # other processes remove temporary folders meanwhile
                if item.kind == "file" or not _overlay(
                    item.path, item.path, scratch, number, in_user_namespace
                ):
                    _make_read_only(item.path)
                    read_only += [item.path] * (item.kind == "folder")
        for path, descriptor in (*views, *originals):
            mount(f"/proc/self/fd/{descriptor}", path, flags=_MS_BIND | _MS_REC)
        _uncover(sockets, to_cover)
    for disk in _disks():
        mount(os.devnull, disk, flags=_MS_BIND)
    return tuple(read_only)


def _own_folders(covered: Sequence[Cover]) -> Iterator[str]:
    """Yield writable folders inside of other users' folders; these need own overlays.

    A write in an overlay first copies the folders above the written file to the upper layer. In a user
    namespace, the kernel cannot copy other users' folders (``EOVERFLOW``), because their owners are unknown
    there.
    """
    found: dict[str, None] = {}
    for place in (os.getcwd(), os.path.expanduser("~"), tempfile.gettempdir()):
        path = Path(os.path.realpath(place))
        above = next((item.path for item in covered if is_within(str(path), item.path)), None)
        if above is None or not os.access(path, os.W_OK):
            continue
        folders = [folder for folder in reversed((path, *path.parents)) if Path(above) in folder.parents]
        of_others = list(itertools.takewhile(_is_of_other, folders))
        if of_others:
            found[str(folders[: len(of_others) + 1][-1])] = None
    yield from (path for path in found if not any(is_within(path, other) for other in found if other != path))


def _is_of_other(folder: Path) -> bool:
    """Return whether a folder may belong to another user.

    This is true of all folders if this user is ``nobody``: other users' folders seem to belong to ``nobody``,
    too.
    """
    return folder.stat().st_uid != os.geteuid() or os.geteuid() == _NOBODY


def _view(folder: str, scratch: Path, number: int) -> str:
    """Mount an overlay of ``folder`` at another path.

    Return this path; empty if the file system does not support overlays.
    """
    view = scratch / f"view{number}"
    view.mkdir()
    return str(view) if _overlay(folder, str(view), scratch, number, in_user_namespace=True) else ""


def _disks() -> Iterator[str]:
    """Yield the raw disks that this user may write to, bypassing all covers."""
    for folder, _, names in os.walk("/dev"):
        for path in (os.path.join(folder, name) for name in names):
            with contextlib.suppress(OSError):
                if stat.S_ISBLK(os.lstat(path).st_mode) and os.access(path, os.W_OK):
                    yield path


def _uncover(sockets: SocketDescriptors, covered: Sequence[Cover]) -> None:
    """Make sockets below covers reachable again.

    The files of the sockets are mounted read-only.
    """
    for path, descriptor in sockets.opened.items():
        if any(is_within(path, item.path) for item in covered):
            # The socket is gone if its program has ended meanwhile.
            with contextlib.suppress(NamespaceError):
                _bind_read_only(f"/proc/self/fd/{descriptor}", path)
    for folder in sockets.ours:
        try:
            mount("tmpfs", folder, "tmpfs", options="mode=700")
        except NamespaceError:
            if _is_linked(folder):
                raise


def _overlay(folder: str, target: str, scratch: Path, number: int, in_user_namespace: bool) -> bool:
    """Mount an overlay of ``folder`` at ``target``, usually the same path.

    Return false if the file system of the folder does not support overlays.
    """
    # ``upper`` and ``work`` must not be below the overlay. For few writes, memory is 2 ms faster.
    in_memory = is_within(str(scratch), folder) or (
        _little_is_written_to(folder) and not is_within(os.getcwd(), folder)
    )
    layers = _in_memory(scratch) if in_memory else scratch
    upper, work = layers / f"upper{number}", layers / f"work{number}"
    upper.mkdir()
    work.mkdir()
    upper.chmod(_visible_mode(folder))
    # "volatile" skips syncs: without it, the end of each cover waits until its data is on the disk.
    options = "volatile,"
    options += f"lowerdir={_escaped(folder)},upperdir={_escaped(str(upper))},workdir={_escaped(str(work))}"
    if in_user_namespace:
        options += ",userxattr"
    try:
        mount("overlay", target, "overlay", options=options)
    except NamespaceError:
        return False
    if not in_memory:
        # The kernel creates these folders without any permission, so they could not be removed.
        for made in ("work", "work/incompat", "work/incompat/volatile"):
            with contextlib.suppress(FileNotFoundError):
                (work / made).chmod(0o700)
    return True


def _assemble(folder: str) -> None:
    """Cover a folder that contains mounts by a folder in memory with equal entries.

    The folders and mounts in it are the originals, which get covers of their own. Small files are copies,
    large files are read-only.
    """
    mode = _visible_mode(folder)
    with contextlib.ExitStack() as opened:
        originals = []
        for entry in os.scandir(folder):
            with contextlib.suppress(OSError):  # the entry is gone, or is in another user's file system
                originals.append((entry, opened.enter_context(_opened(entry.path, follow=False))))
        mount("tmpfs", folder, "tmpfs", options="mode=700")
        for entry, descriptor in originals:
            original = f"/proc/self/fd/{descriptor}"
            if entry.is_symlink():
                os.symlink(os.readlink("", dir_fd=descriptor), entry.path)
            elif entry.is_dir(follow_symlinks=False):
                os.mkdir(entry.path)
                # A file system that does not respond becomes an empty folder.
                with contextlib.suppress(NamespaceError):
                    mount(original, entry.path, flags=_MS_BIND | _MS_REC)
            else:
                _bring(original, entry.path)
    os.chmod(folder, mode)


def _bring(original: str, path: str) -> None:
    """Add a file to a folder in memory: a copy, or the file itself, read-only."""
    status = os.stat(original)
    if stat.S_ISREG(status.st_mode) and status.st_size <= _SMALL_BYTES:
        with contextlib.suppress(PermissionError):
            shutil.copy2(original, path)
            return
    Path(path).touch()
    _bind_read_only(original, path)


def _little_is_written_to(folder: str) -> bool:
    """Return whether a folder will probably get few writes.

    True for folders of the system, for ``/dev/shm``, and for empty folders.
    """
    if any(is_within(folder, system) for system in _SYSTEM_FOLDERS):
        return True
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return next(entries, None) is None
    return False


def _in_memory(scratch: Path) -> Path:
    """Return the folder in memory, below ``scratch``, for the layers of overlays.

    It is mounted at the first call.
    """
    layers = scratch / "memory"
    if not layers.exists():
        layers.mkdir()
        mount("tmpfs", str(layers), "tmpfs", options="mode=700")
    return layers


def _visible_mode(folder: str) -> int:
    """Return the mode of a folder, without write bits if this user cannot write to it."""
    mode = stat.S_IMODE(os.stat(folder).st_mode)
    return mode if os.access(folder, os.W_OK) else mode & 0o555


def _make_read_only(path: str) -> None:
    """Make a path read-only, because no overlay can cover it."""
    try:
        _bind_read_only(path, path, _MS_REC)
    except (OSError, NamespaceError):
        if os.access(path, os.W_OK) and _is_linked(path):
            raise


def _is_linked(path: str) -> bool:
    """Return whether a file or folder has not been deleted, by its number of links."""
    try:
        return os.stat(path).st_nlink > 0
    except FileNotFoundError:
        return False


def _bind_read_only(source: str, path: str, flags: int = 0) -> None:
    """Mount a file or folder read-only at ``path``.

    Existing restrictions (``nosuid``, ``nodev``, ``noexec``) are kept.
    """
    mount(source, path, flags=_MS_BIND | flags)
    # These ``ST_`` and ``MS_`` flags have equal values.
    kept = os.statvfs(path).f_flag & (os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC)
    mount(None, path, flags=_MS_REMOUNT | _MS_BIND | _MS_RDONLY | kept)


@contextlib.contextmanager
def _opened(path: str, *, follow: bool = True) -> Iterator[int]:
    descriptor = os.open(path, os.O_PATH if follow else os.O_PATH | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _escaped(path: str) -> str:
    """Escape a path for an option of overlayfs: colons and commas are separators."""
    return "".join("\\" + char if char in "\\:," else char for char in path)


def mount(
    source: str | None, target: str, kind: str | None = None, flags: int = 0, options: str = ""
) -> None:
    """Mount a file system, or a folder or file of it, at ``target``.

    Raises :class:`NamespaceError`.
    """
    texts = [text and os.fsencode(text) for text in (source, target, kind)]
    check(libc().mount(*texts, flags, os.fsencode(options) or None), f"mount on {target}")


def check(result: int, call: str) -> None:
    """Raise :class:`NamespaceError` if ``result`` of a C library call is an error."""
    if result:
        raise NamespaceError(f"{call}: {os.strerror(ctypes.get_errno())}")


def libc() -> Any:
    """Return the C library."""
    return ctypes.CDLL(None, use_errno=True)
