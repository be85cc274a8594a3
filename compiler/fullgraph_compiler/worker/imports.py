"""Import torch, and the libraries of the program's last run, ahead of a run."""

from __future__ import annotations

import importlib
import importlib.metadata
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Final

from ..facts import COMPILER
from ..files.covering import NamespaceError
from ..files.namespace import changed_paths, cover_files
from ..processes.children import run_child
from ..processes.gpu import has_gpu

_TRIAL_SECONDS: Final = 60.0


def import_torch() -> str:
    """Import torch; return a message for the user if this fails, else an empty string."""
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name == "torch":
            remedy = "Install torch (pip install torch) or choose another interpreter"
            return f"{remedy}: there is none in {sys.executable}"
        return f"torch cannot be imported by {sys.executable}: {error}"
    except BaseException as error:
        traceback.print_exc()
        return f"torch cannot be imported by {sys.executable}: {type(error).__name__}: {error}"
    return ""


def import_libraries(names: Iterable[str], folder: str) -> None:
    """Import modules by name, except those whose import fails or changes files.

    Temporary files are in ``folder``, which Fullgraph's server removes even if this process is killed. The
    program must import the excepted modules itself: if they were imported here, their changes would remain
    even if the run discards its file changes.
    """
    names = list(names)
    if COMPILER in names:
        from ..compat import inductor_compat

        inductor_compat.import_inductor()
    # pytest warns about plugins that it cannot rewrite because they are imported already.
    plugins = _pytest_plugins() if "pytest" in names else frozenset()
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        new = [name for name in names if name not in sys.modules and name.partition(".")[0] not in plugins]
        for name in _harmless(new, folder):
            try:
                importlib.import_module(name)
            except BaseException as error:
                _explain(name, f"{type(error).__name__}: {error}")
    finally:
        sys.dont_write_bytecode = writes_bytecode


def _harmless(names: list[str], folder: str) -> list[str]:
    """Return the modules whose import changes no file.

    The imports are tried in a child process with covered files.
    """
    while names and sys.platform == "linux":
        scratch = tempfile.mkdtemp(dir=folder)
        try:
            ended = run_child(partial(_first_harmful, names, Path(scratch)), _TRIAL_SECONDS)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        harmful, reason = ended.answer if ended.answered else (names, "the import does not end")
        if not harmful:
            return names
        _explain(", ".join(harmful), reason)
        # Try again without these modules: another module may import them, too.
        names = [name for name in names if name not in harmful]
    return []


def _first_harmful(names: list[str], scratch: Path) -> tuple[list[str], str]:
    """Return the modules that must not be imported ahead, and why.

    This is the first module whose import fails or changes a file; all modules if the files of this process
    cannot be covered. This function covers the files first.
    """
    try:
        cover_files(scratch, [scratch], anew=True)
    except NamespaceError as error:
        return names, f"the files that the import changes cannot be seen: {error}"
    before = changed_paths(scratch)  # changes through files that were already open
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException as error:
            return [name], f"{type(error).__name__}: {error}"
        if changed := sorted(changed_paths(scratch) - before):
            return [name], f"its import changes {changed[0]}"
    return [], ""


def _explain(name: str, reason: str) -> None:
    print(f"{name} is not imported ahead: {reason}", file=sys.stderr)  # noqa: T201


def import_dynamo() -> None:
    """Import Dynamo without opening a GPU; the program may open a GPU later."""
    from ..compat import dynamo_compat, gpu_compat

    dynamo_compat.import_dynamo()
    if has_gpu():
        gpu_compat.wait_for_program()


def warm_up() -> None:
    """Do the one-time work of Dynamo, without opening a GPU.

    If the GPUs were open, the program could no longer choose which of them are visible.
    """
    from ..capture import run  # noqa: F401
    from ..compat import backend_compat, dynamo_compat, gpu_compat, inductor_compat

    import_dynamo()
    with gpu_compat.without_gpu():
        dynamo_compat.warm_up(backend_compat.trace_ahead_of_time)
    if inductor_compat.is_imported() and not has_gpu():
        inductor_compat.warm_up_patterns()
    dynamo_compat.forget_progress_lock()


def _pytest_plugins() -> frozenset[str]:
    """Return the top-level packages of the installed pytest plugins."""
    points = importlib.metadata.entry_points(group="pytest11")
    return frozenset(point.value.partition(":")[0].partition(".")[0] for point in points)
