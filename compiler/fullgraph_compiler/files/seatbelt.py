"""The sandbox of macOS: this process and its children must not change files.

See ``sandbox_init`` in ``sandbox.h`` and sandbox-exec(1). macOS marks both as deprecated, but still uses them
itself.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper")


def restrict_writes(allowed: Iterable[Path]) -> bool:
    """Forbid writes outside of the ``allowed`` files and folders.

    Return whether the system supports this.
    """
    try:
        library = ctypes.CDLL("/usr/lib/libSystem.B.dylib")
        start = library.sandbox_init
    except (OSError, AttributeError):
        return False
    start.argtypes = (ctypes.c_char_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_char_p))
    text = profile((os.path.realpath(path), path.is_dir()) for path in allowed)
    return bool(start(os.fsencode(text), 0, ctypes.byref(ctypes.c_char_p())) == 0)


def profile(allowed: Iterable[tuple[str, bool]]) -> str:
    """Return a sandbox profile that denies writes except to ``allowed``.

    Each item of ``allowed`` is a path, and whether the path is a folder.
    """
    rules = [f"({'subpath' if is_folder else 'literal'} {_quoted(path)})" for path, is_folder in allowed]
    rules += [f"(literal {_quoted(path)})" for path in _DEVICES]
    rules += ['(regex #"^/dev/ttys[0-9]+$")', '(regex #"^/dev/fd/")']
    lines = "\n  ".join(rules)
    return f"(version 1)\n(allow default)\n(deny file-write*)\n(allow file-write*\n  {lines})\n"


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
