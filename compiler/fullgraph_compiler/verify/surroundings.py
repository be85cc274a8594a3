"""What a program leaves behind beside the results of its calls: variables, torch's settings, files."""

from __future__ import annotations

import os
import sys
import sysconfig
import types
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import torch

from ..compat import dynamo_compat
from .snapshots import Node, Snapshots

_MOST_ELEMENTS = 1 << 10
_MOST_BYTES = 1 << 20
_OF_COMPILERS = ("TORCH", "TRITON", "PYTORCH", "KINETO", "CUDA", "FULLGRAPH", "OMP", "KMP")
"""The beginnings of variables of the environment that compilers set for themselves."""
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


class Surroundings:
    """What a program may change beside its results. Make it before the program, take it after that."""

    def __init__(self) -> None:
        self._environment = dict(os.environ)
        self._written: dict[str, None] = {}
        self._over = False
        self._folder = os.path.join(os.path.realpath(os.getcwd()), "")
        sys.addaudithook(self._hear)

    def take(self) -> list[tuple[str, Node]]:
        """Return snapshots of what is there now, with what to call it; the program is over."""
        self._over = True
        values = [*self._variables(), *_settings(), *_globals(self._folder), *self._files()]
        # Each by itself: what is left out of a large one says nothing of others.
        return [(place, Snapshots(_MOST_ELEMENTS).take(place, value)) for place, value in values]

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or self._over:
            return
        path, mode, flags = arguments
        is_written = (flags or 0) & (os.O_WRONLY | os.O_RDWR) or set(str(mode or "")) & set("wax+")
        if is_written and isinstance(path, str):
            self._written[path] = None

    def _files(self) -> Iterator[tuple[str, Any]]:
        """Yield digests of the files below the program's folder that it wrote."""
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


def _globals(folder: str) -> Iterator[tuple[str, Any]]:
    """Yield the variables of the program's own modules, and those of their classes and functions.

    These are the modules in its folder, without generated code.
    """
    for module_name, module in sorted(sys.modules.items()):
        filename = getattr(module, "__file__", None) or ""
        is_own = os.path.isabs(filename) and os.path.realpath(filename).startswith(folder)
        if not (is_own or module_name == "__main__") or filename.startswith(_INSTALLED):
            continue
        if f"{os.sep}.fullgraph{os.sep}" in filename or module_name.startswith("fullgraph_compiler"):
            continue
        for name, value in list(vars(module).items()):
            place = name if module_name == "__main__" else f"{module_name}.{name}"
            if name.startswith("__") or isinstance(value, types.ModuleType):
                continue
            if not isinstance(value, (type, types.FunctionType)):
                if dynamo_compat.is_compiled(value):
                    value = next(value.children(), None) if isinstance(value, torch.nn.Module) else None
                if not callable(value) or isinstance(value, torch.nn.Module):
                    yield f"global `{place}`", value
            elif value.__module__ == module_name:
                for key, item in list(vars(value).items()):
                    is_data = not callable(item) and not hasattr(item, "__get__")
                    if is_data and not key.startswith(("__", "_torchdynamo")):
                        yield f"`{place}.{key}`", item
