"""A folder with files that tests try to change, and child processes that try it."""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fullgraph_compiler.files.covering import NamespaceError
from fullgraph_compiler.files.namespace import cover_files, separate
from fullgraph_compiler.files.refusals import refused_libraries

NOBODY = 65534
_PR_SET_DUMPABLE = 4
as_each = pytest.mark.parametrize("as_nobody", [False, True], ids=["as I am", "as nobody"])


@pytest.fixture
def folder() -> Iterator[Path]:
    """Make a folder with files, which any user may change."""
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
    """Return the result of ``work()`` in a child of this process, as JSON.

    If it raises an exception, return its type and message as text.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            if as_nobody and os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # else its files in /proc are root's
            _forget_libraries_of_other_tests()
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


def _forget_libraries_of_other_tests() -> None:
    """Drop each library with native code that may write from ``sys.modules``.

    An earlier test of this process imported it.
    """
    refused = {name.partition(".")[0] for name in refused_libraries()}
    for name in [name for name in sys.modules if name.partition(".")[0] in refused]:
        del sys.modules[name]


def give_to_nobody(folder: Path) -> None:
    """Make the folder, and what is beside it, the property of an ordinary user."""
    for path in (folder.parent, *folder.parent.rglob("*")):
        os.chown(path, NOBODY, NOBODY)


def covered(
    folder: Path,
    work: Callable[[], Any],
    *,
    as_nobody: bool,
    below_root: bool = False,
    start: Path | None = None,
) -> Any:
    """Return the result of ``work()`` where all folders are covered.

    The test is skipped if the kernel does not allow this. ``work`` starts in ``folder``, or in ``start``.
    With ``below_root`` the folder is in a folder of root.
    """
    if as_nobody and os.geteuid() == 0:
        give_to_nobody(folder)
        if below_root:
            os.chown(folder.parent, 0, 0)

    def work_covered() -> Any:
        scratch = Path(tempfile.mkdtemp(dir=folder.parent))
        os.chdir(start or folder)
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
