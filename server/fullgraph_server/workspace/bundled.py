"""Paths of Fullgraph's files that processes of another Python interpreter run."""

from __future__ import annotations

import importlib.util
import os
from functools import cache


@cache
def worker_folder() -> str:
    """Return the folder of ``fullgraph_compiler``, without importing it."""
    spec = importlib.util.find_spec("fullgraph_compiler")
    assert spec is not None
    assert spec.submodule_search_locations
    return os.path.join(os.path.abspath(spec.submodule_search_locations[0]), "")


def worker_script() -> str:
    """Return the path of the worker's main script.

    The worker is started by path, because a module of the workspace could shadow a module name.
    """
    return os.path.join(worker_folder(), "worker", "main.py")
