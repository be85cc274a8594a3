"""The version of torch, its files and its modules.

The modules of this folder whose names end in ``_compat`` have every private name of torch that this package
touches, with what stands in for it elsewhere. Each entry says where torch keeps it and in which of the
supported versions (2.11 to 2.15) it was read. No other module may name a ``torch._*`` module or attribute.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch

SUPPORTED = ((2, 11), (2, 15))
"""The oldest and the newest torch that this package was tested with."""


def version() -> str:
    """Return torch's version as it names itself: ``2.13.0+cpu``."""
    return str(torch.__version__)


def release() -> tuple[int, int]:
    """Return torch's major and minor version."""
    major, minor = version().split(".")[:2]
    return int(major), int(minor)


def is_supported() -> bool:
    """Whether this torch lies in the tested range."""
    return SUPPORTED[0] <= release() <= SUPPORTED[1]


def folder() -> str:
    """Return the folder of torch's own files."""
    return str(os.path.dirname(torch.__file__))


def redirect_files(to_write: Callable[[Any], Any], to_read: Callable[[Any], Any]) -> None:
    """Have torch's native code write and read files where these say.

    ``PyTorchFileWriter`` and ``PyTorchFileReader`` of ``torch._C``, for ``torch.save`` and ``torch.package``
    to use, mapped files (``UntypedStorage.from_file``), and ``save`` of scripted modules and functions:
    2.11 to 2.15.
    """
    writer, reader = torch._C.PyTorchFileWriter, torch._C.PyTorchFileReader

    class RedirectedFileWriter(writer):  # type: ignore[misc, valid-type]
        def __init__(self, file: Any, *args: Any, **kwargs: Any) -> None:
            super().__init__(to_write(file), *args, **kwargs)

    class RedirectedFileReader(reader):  # type: ignore[misc, valid-type]
        def __init__(self, file: Any) -> None:
            super().__init__(to_read(file))

    torch._C.PyTorchFileWriter, torch._C.PyTorchFileReader = RedirectedFileWriter, RedirectedFileReader
    map_file = torch.UntypedStorage.from_file

    def map_elsewhere(filename: Any, shared: bool = False, nbytes: int = 0, **named: Any) -> Any:
        return map_file(to_write(filename) if shared else filename, shared, named.get("size", nbytes))

    torch.UntypedStorage.from_file = staticmethod(map_elsewhere)
    for cls in (torch.jit.RecursiveScriptModule, torch.jit.ScriptFunction):
        cls.save = _writing_elsewhere(cls.save, to_write)


def _writing_elsewhere(save: Callable[..., Any], to_write: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda saved, file, *args, **kwargs: save(saved, to_write(file), *args, **kwargs)


def is_internal(module: str) -> bool:
    """Whether a module of this name runs the compiler rather than anything a person called."""
    return module.startswith(("torch._dynamo", "torch._logging", "torch._utils_internal", "torch._compile"))


def without_subclasses() -> AbstractContextManager[None]:
    """Have tensor subclasses handled as plain tensors.

    ``torch._C.DisableTorchFunctionSubclass``: 2.11 to 2.15.
    """
    manager: AbstractContextManager[None] = torch._C.DisableTorchFunctionSubclass()
    return manager
