"""Places whose exceptions a program catches: there it matters what raises, and what."""

from __future__ import annotations

import ast
import functools
import linecache
import sysconfig
from collections.abc import Iterator
from types import FrameType

_CATCHING = ("suppress", "raises")
"""The names of context managers that catch exceptions: ``contextlib.suppress``, ``pytest.raises``."""
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def is_caught(frame: FrameType | None) -> bool:
    """Tell whether the program itself catches exceptions at a frame, or around a call that leads to it."""
    if frame is not None and _is_in_body(frame):
        return True
    while frame is not None:
        frame = frame.f_back
        if frame is not None and not frame.f_code.co_filename.startswith(_INSTALLED) and _is_in_body(frame):
            return bool(frame.f_globals.get("__package__") != __package__)
    return False


def _is_in_body(frame: FrameType) -> bool:
    source = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    return any(first <= frame.f_lineno <= last for first, last in _bodies(source))


@functools.lru_cache(maxsize=64)
def _bodies(source: str) -> tuple[tuple[int, int], ...]:
    try:
        return tuple(_ranges(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return ()


def _ranges(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Yield the first and last rows of blocks whose exceptions are caught."""
    for node in ast.walk(tree):
        if (isinstance(node, ast.Try) and node.handlers) or (
            isinstance(node, ast.With) and any(map(_catches, node.items))
        ):
            yield node.body[0].lineno, node.body[-1].end_lineno or 0


def _catches(item: ast.withitem) -> bool:
    call = item.context_expr
    function = call.func if isinstance(call, ast.Call) else call
    return getattr(function, "attr", getattr(function, "id", "")) in _CATCHING
