"""The files of Fullgraph that a process of another Python needs."""

from __future__ import annotations

import importlib.util
import os
from functools import cache


@cache
def worker_folder() -> str:
    """The folder of ``fullgraph_compiler``, found without importing it."""
    spec = importlib.util.find_spec("fullgraph_compiler")
    assert spec is not None
    assert spec.submodule_search_locations
    return os.path.join(os.path.abspath(spec.submodule_search_locations[0]), "")


def worker_script() -> str:
    """The file that a worker runs. By path: a workspace's own modules must not stand in for it."""
    return os.path.join(worker_folder(), "worker", "main.py")
