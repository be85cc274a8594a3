"""Redirect libraries that open files in native code.

Each library is tested with a write and a read. If no kernel refuses other writes, a function is redirected
only if it opens no other file than its argument. SQLite and HDF5 open more files (``ATTACH``, external
links), so they are refused then.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..compat import torch_compat
from .stand_ins import on_import, replace

Redirect = Callable[[Any], Any]


def redirect_libraries(to_write: Redirect, to_read: Redirect, *, kernel: bool) -> None:
    """Make libraries use the paths that ``to_write`` and ``to_read`` return.

    ``kernel`` says that a kernel refuses other writes: then SQLite and HDF5 are redirected, too.
    """
    torch_compat.redirect_files(to_write, to_read)
    pairs = []
    for places, redirect in ((torch_compat.path_writers(), to_write), (torch_compat.path_readers(), to_read)):
        for owner, name, position in places:
            function = getattr(owner, name)
            pairs.append((function, _with_path(function, position, redirect)))
            setattr(owner, name, pairs[-1][1])
    replace(*pairs)  # functions that other modules have imported

    def in_safetensors(module: Any) -> None:
        write, safe_open = module.serialize_file, module.safe_open
        replace(
            (
                write,
                lambda tensors, filename, *args, **named: write(tensors, to_write(filename), *args, **named),
            ),
            (safe_open, lambda filename, *args, **named: safe_open(to_read(filename), *args, **named)),
        )

    def in_sqlite(module: ModuleType) -> None:
        connect = module.connect

        def connect_to_copy(database: Any, *args: Any, **kwargs: Any) -> Any:
            own = ":memory:" if database == ":memory:" else to_write(database)
            return connect(own, *args, **kwargs)

        module.connect = sys.modules["sqlite3.dbapi2"].connect = connect_to_copy  # type: ignore[attr-defined]

    def in_hdf5(module: ModuleType) -> None:
        construct = module.File.__init__

        @functools.wraps(construct)
        def construct_on_copy(self: Any, name: Any, mode: str = "r", *args: Any, **kwargs: Any) -> None:
            is_path = isinstance(name, (str, bytes, os.PathLike))
            if mode in ("w-", "x") and is_path and os.path.exists(name):
                raise FileExistsError(17, os.strerror(17), name)
            path = to_read(name) if mode == "r" else to_write(name)
            construct(self, path, mode.replace("w-", "w").replace("x", "w"), *args, **kwargs)

        module.File.__init__ = construct_on_copy

    on_import("safetensors", in_safetensors)
    if kernel:
        on_import("sqlite3", in_sqlite)
        on_import("h5py", in_hdf5)


def _with_path(function: Callable[..., Any], position: int, redirect: Redirect) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        before, path, rest = args[:position], args[position : position + 1], args[position + 1 :]
        # Among keyword arguments, only the path is a string.
        named = {name: redirect(value) if isinstance(value, str) else value for name, value in named.items()}
        return function(*before, *map(redirect, path), *rest, **named)

    return call
