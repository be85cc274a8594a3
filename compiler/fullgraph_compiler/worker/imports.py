"""Imports ahead of a run: torch, and the libraries that the program imported last time."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
import traceback
from collections.abc import Iterable

from ..processes.gpu import has_gpu


def import_torch() -> str:
    """Import torch; return a message for the user if that fails, else an empty text."""
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


def import_libraries(names: Iterable[str]) -> None:
    """Import modules by name; print failures only, since the program itself will handle them."""
    names = list(names)
    # pytest warns about plugins that it cannot rewrite because they are imported already.
    plugins = _pytest_plugins() if "pytest" in names else frozenset()
    for name in names:
        if name.partition(".")[0] in plugins:
            continue
        try:
            importlib.import_module(name)
        except BaseException as error:
            print(f"{name} is not imported ahead: {type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201


def import_dynamo() -> None:
    """Import Dynamo, and have it leave the opening of a GPU to the program."""
    from ..compat import dynamo_compat, gpu_compat

    dynamo_compat.import_dynamo()
    if has_gpu():
        gpu_compat.wait_for_program()


def warm_up() -> None:
    """Trigger the one-time work of Dynamo, without opening a GPU.

    A program can choose its visible GPUs only until something opens them.
    """
    from ..capture import run  # noqa: F401
    from ..compat import backend_compat, dynamo_compat, gpu_compat, inductor_compat

    import_dynamo()
    with gpu_compat.without_gpu():
        dynamo_compat.warm_up(backend_compat.trace_ahead_of_time)
    if inductor_compat.is_imported() and not has_gpu():
        inductor_compat.warm_up_patterns()


def _pytest_plugins() -> frozenset[str]:
    """Return the top-level packages of the installed pytest plugins."""
    points = importlib.metadata.entry_points(group="pytest11")
    return frozenset(point.value.partition(":")[0].partition(".")[0] for point in points)
