"""The variables, torch settings and files that a program leaves behind."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from typing import Any

import torch

from ..compat import dynamo_compat
from ..observe.modules import own_modules
from .calls import PART
from .snapshots import Node, ValueSnapshots

_MOST_VARIABLES = 1 << 10
_MOST_ELEMENTS = 1 << 12
_DATA = ("builtins", "collections", "torch", "numpy")
"""Packages whose objects are traversed, in addition to the program's own packages."""
_MOST_BYTES = 1 << 20
_OF_COMPILERS = ("TORCH", "_TORCH", "TRITON", "PYTORCH", "KINETO", "CUDA", "FULLGRAPH", "OMP", "KMP")
"""Prefixes of environment variables that compilers set themselves."""
OF_NO_VARIABLE = ("file ", "environment ")
"""Prefixes of places that are not variables of the program's modules: files and environment variables."""


class SurroundingState:
    """The variables, settings and files that a program may change.

    Create an instance before the program runs, and call ``take`` after it.
    """

    def __init__(self) -> None:
        self._environment = dict(os.environ)
        self._written: dict[str, None] = {}
        self._over = False
        self._folder = os.path.join(os.path.realpath(os.getcwd()), "")
        sys.addaudithook(self._hear)

    def take(self) -> list[tuple[str, Node]]:
        """Return snapshots of the values at the end of the program, with their places."""
        self._over = True
        values = [*self._variables(), *_settings(), *self._files(), *islice(_globals(), _MOST_VARIABLES)]
        # Objects of other packages have caches.
        own = {module.__name__.partition(".")[0] for module in own_modules().values()}
        packages = frozenset({*_DATA, *own})
        # Each value gets its own limits, so that a large one does not crowd out the rest.
        return [
            (place, ValueSnapshots(_MOST_ELEMENTS, packages=packages).take(place, value))
            for place, value in values
        ]

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or self._over:
            return
        path, mode, flags = arguments
        is_written = (flags or 0) & (os.O_WRONLY | os.O_RDWR) or set(str(mode or "")) & set("wax+")
        if is_written and isinstance(path, str):
            self._written[path] = None

    def _files(self) -> Iterator[tuple[str, Any]]:
        """Yield digests of the files that the program wrote below its working folder.

        The digest of an unreadable file is ``None``.
        """
        for path in dict.fromkeys(map(os.path.realpath, self._written)):
            inside = path.removeprefix(self._folder)
            if inside == path or {".fullgraph", "__pycache__"} & set(inside.split(os.sep)):
                continue
            try:
                with open(path, "rb") as stream:
                    yield f"file {inside}", sha256(stream.read(_MOST_BYTES)).hexdigest()
            except OSError:
                yield f"file {inside}", None

    def _variables(self) -> Iterator[tuple[str, Any]]:
        now = dict(os.environ)
        for name in sorted({*now, *self._environment}):
            if now.get(name) != self._environment.get(name) and not name.startswith(_OF_COMPILERS):
                yield f"environment variable {name}", now.get(name)


def _settings() -> Iterator[tuple[str, Any]]:
    yield "torch.get_default_dtype()", str(torch.get_default_dtype())
    yield "torch.is_grad_enabled()", torch.is_grad_enabled()
    yield "torch.is_autocast_enabled()", torch.is_autocast_enabled("cpu")
    yield "torch.is_anomaly_enabled()", torch.is_anomaly_enabled()
    yield "torch.get_num_threads()", torch.get_num_threads()
    yield "torch.get_float32_matmul_precision()", torch.get_float32_matmul_precision()
    yield "torch.are_deterministic_algorithms_enabled()", torch.are_deterministic_algorithms_enabled()


def _globals() -> Iterator[tuple[str, Any]]:
    """Yield the variables of the program's modules.

    For classes and functions, yield their data attributes instead.
    """
    for filename, module in reversed(own_modules().items()):  # the program itself first
        of = f"of {os.path.basename(filename)}"
        for name, value in list(vars(module).items()):
            if name.startswith("__") or isinstance(value, types.ModuleType):
                continue
            if dynamo_compat.is_compiled(value):
                if not isinstance(value, torch.nn.Module):
                    continue  # a function, compiled or not
                value = next(value.children(), None)
            value = value.__wrapped__ if hasattr(value, PART) else value  # an edit has split the function
            if isinstance(value, (type, types.FunctionType)):
                if value.__module__ == module.__name__:
                    yield from ((f"`{name}.{key}` {of}", item) for key, item in _members(value))
            elif not callable(value) or isinstance(value, torch.nn.Module):
                yield f"`{name}` {of}", value


def _members(value: type | types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the data attributes of a class or function; defaults of a function, too."""
    if isinstance(value, types.FunctionType) and value.__defaults__:
        yield "__defaults__", value.__defaults__
    for key, item in list(vars(value).items()):
        if not key.startswith(("__", "_torchdynamo")) and not callable(item) and not hasattr(item, "__get__"):
            yield key, item
