"""Files that a dry run leaves as they are: it has nothing to put into them.

What a program writes as text is its own business.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final

from ..fake_compat import hide_from_dynamo
from .stand_ins import replace

_WRITES: Final = frozenset("wxa+")
_CHECKPOINTS: Final = (".pt", ".pth", ".ckpt", ".bin", ".safetensors")
_LIBRARIES: Final = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
OURS: Final = str(Path(__file__).parents[1])
"""Where this package is."""


def leave_files_alone(saved: dict[Any, Any], tell: Callable[[str], None]) -> None:
    """Write no binary file of the program's and remove no checkpoint from here on, for good.

    ``saved`` is what would be in files, by their real paths; ``tell`` is told what was left undone.
    """
    real_open = builtins.open

    def open_scratch(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        writes = "b" in mode and not _WRITES.isdisjoint(mode) and isinstance(file, (str, os.PathLike))
        if not writes or not _is_programs(sys._getframe(1)):
            return real_open(file, mode, *args, **kwargs)
        tell(f"nothing was written to {os.path.basename(os.fspath(file))}")
        return tempfile.TemporaryFile()

    def keep_checkpoint(real: Callable[..., None]) -> Callable[..., None]:
        def remove_others(path: Any, *args: Any, **kwargs: Any) -> None:
            if not str(path).endswith(_CHECKPOINTS) or not _is_programs(sys._getframe(1)):
                real(path, *args, **kwargs)
            elif saved.pop(os.path.realpath(path), None) is None:
                tell(f"{os.path.basename(path)} was not removed")

        return remove_others

    def move_saved(real: Callable[..., None]) -> Callable[..., None]:
        def move(source: Any, target: Any, *args: Any, **kwargs: Any) -> None:
            if os.path.realpath(source) in saved:
                saved[os.path.realpath(target)] = saved.pop(os.path.realpath(source))
            else:
                real(source, target, *args, **kwargs)

        return move

    def put() -> None:
        builtins.open = io.open = open_scratch

    def take_back() -> None:
        builtins.open = io.open = real_open

    hide_from_dynamo(put, take_back)
    for moves in (os.replace, os.rename):
        replace(moves, move_saved(moves))
    for removes in (os.remove, os.unlink):
        replace(removes, keep_checkpoint(removes))


def _is_programs(frame: FrameType | None) -> bool:
    """Whether a call comes from the program itself, and not from what a library does for it."""
    while frame is not None and "pathlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None and not frame.f_code.co_filename.startswith((*_LIBRARIES, OURS, "<frozen"))
