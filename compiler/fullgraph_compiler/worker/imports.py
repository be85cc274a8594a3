"""Import what a run needs before it is asked for: torch, and the libraries that a program used last time."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
import traceback
from collections.abc import Iterable

from ..processes.gpu import has_gpu


def import_torch() -> str:
    """Import torch; returns a sentence that says why it cannot be used, or nothing."""
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name == "torch":
            remedy = "install it there (pip install torch) or choose another interpreter"
            return f"{sys.executable} has no torch: {remedy}"
        return f"torch cannot be imported by {sys.executable}: {error}"
    except BaseException as error:
        traceback.print_exc()
        return f"torch cannot be imported by {sys.executable}: {type(error).__name__}: {error}"
    return ""


def import_libraries(names: Iterable[str]) -> None:
    """Import modules by their names. One that cannot be imported now is the program's own affair."""
    names = list(names)
    # pytest complains of plugins that it could not rewrite because they were imported before.
    plugins = _pytest_plugins() if "pytest" in names else frozenset()
    for name in names:
        if name.partition(".")[0] in plugins:
            continue
        try:
            importlib.import_module(name)
        except BaseException as error:
            print(f"{name} is not imported ahead: {type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201


def warm_up() -> None:
    """Have Dynamo do what it does once in a process. Not beside a GPU, which it would open.

    A program may still say which GPU it wants to see, until something opens them.
    """
    if not has_gpu():
        from ..capture import run  # noqa: F401
        from ..compat import dynamo_compat, inductor_compat

        dynamo_compat.warm_up()
        if inductor_compat.is_imported():
            inductor_compat.warm_up_patterns()


def _pytest_plugins() -> frozenset[str]:
    """The packages of the installed plugins of pytest."""
    points = importlib.metadata.entry_points(group="pytest11")
    return frozenset(point.value.partition(":")[0].partition(".")[0] for point in points)
