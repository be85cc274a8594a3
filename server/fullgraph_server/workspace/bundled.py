"""Paths of Fullgraph's files that a process of another Python runs."""

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
    """Return the path of the worker's program.

    The worker starts by path: a module of the workspace could shadow it by name.
    """
    return os.path.join(worker_folder(), "worker", "main.py")
