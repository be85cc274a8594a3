"""The files whose code is followed where a call runs uncompiled."""

from __future__ import annotations

import os
import re
import sysconfig
from functools import cache

from ..compat import torch_compat

_LIBRARIES = ("torch", "numpy")
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\](?P<package>\w+)")
_OURS = os.path.dirname(os.path.dirname(__file__)) + os.sep


@cache
def is_followed(filename: str) -> bool:
    """Tell whether code of a file is followed: not that of Python, torch, NumPy or ourselves."""
    if filename.startswith(("<frozen", _OURS)):
        return False
    if found := _INSTALLED.search(filename):
        return found["package"] not in _LIBRARIES
    return not filename.startswith((sysconfig.get_path("stdlib") + os.sep, torch_compat.folder()))
