"""Decide which code the path of an uncompiled call includes.

The module also lists the functions whose results ``functools`` caches.
"""

from __future__ import annotations

import functools
import gc
import os
import re
import sysconfig
from types import CodeType
from typing import Any

from ..compat import torch_compat

_LIBRARIES = ("torch", "numpy")
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\](?P<package>\w+)")
_OURS = os.path.dirname(os.path.dirname(__file__)) + os.sep


@functools.cache
def is_followed(filename: str) -> bool:
    """Return whether a file is not part of Python, torch, NumPy or Fullgraph."""
    if filename.startswith(("<frozen", _OURS)):
        return False
    if found := _INSTALLED.search(filename):
        return found["package"] not in _LIBRARIES
    return not filename.startswith((sysconfig.get_path("stdlib") + os.sep, torch_compat.folder()))


def caches() -> list[tuple[CodeType, Any]]:
    """Return the functions whose results ``functools`` caches: their code and caches."""
    gc.unfreeze()  # the functions of libraries that were imported ahead of the run are frozen
    found = [thing for thing in gc.get_objects() if type(thing) is functools._lru_cache_wrapper]
    codes = [(getattr(thing.__wrapped__, "__code__", None), thing) for thing in found]
    return [(code, thing) for code, thing in codes if isinstance(code, CodeType)]
