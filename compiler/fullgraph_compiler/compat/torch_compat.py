"""The version of torch, its files and its modules.

The modules of this folder whose names end in ``_compat`` contain every private name of torch that this
package uses: no other module may name a ``torch._*`` module or attribute. Each docstring says where torch
keeps a name, and in which of the supported versions (2.11 to 2.15) that was checked.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import torch

SUPPORTED = ((2, 11), (2, 15))
"""The oldest and the newest version of torch with which this package is tested."""


def version() -> str:
    """Return torch's version in torch's own form, such as ``2.13.0+cpu``."""
    return str(torch.__version__)


def release() -> tuple[int, int]:
    """Return torch's major and minor version."""
    major, minor = version().split(".")[:2]
    return int(major), int(minor)


def is_supported() -> bool:
    """Return whether the installed torch is within the tested range."""
    return SUPPORTED[0] <= release() <= SUPPORTED[1]


def folder() -> str:
    """Return the folder of the ``torch`` package."""
    return str(os.path.dirname(torch.__file__))


def folders() -> tuple[str, str]:
    """Return the folders of torch and of Triton, with a final separator."""
    parent = os.path.dirname(folder())
    return os.path.join(folder(), ""), os.path.join(parent, "triton", "")


def is_of_compiler(filename: str) -> bool:
    """Return whether a file is part of Triton or of TorchInductor.

    ``torch._inductor`` (torch 2.11 to 2.15).
    """
    torch_folder, triton_folder = folders()
    return filename.startswith((os.path.join(torch_folder, "_inductor", ""), triton_folder))


def redirect_files(to_write: Callable[[Any], Any], to_read: Callable[[Any], Any]) -> None:
    """Redirect the files that torch's native code writes and reads.

    ``to_write`` and ``to_read`` map a path to the path to use instead. Redirected are ``PyTorchFileWriter``
    and ``PyTorchFileReader`` of ``torch._C``, which ``torch.save`` and ``torch.package`` use, and mapped
    files (``from_file``) (torch 2.11 to 2.15). See also :func:`path_writers`.
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
        place = to_write(filename) if shared else to_read(filename)
        return map_file(place, shared, named.get("size", nbytes))

    def tensor_of_file(
        filename: str,
        shared: bool | None = None,
        size: int | None = 0,
        *,
        dtype: Any = None,
        **_: Any,
    ) -> torch.Tensor:
        empty = torch.empty(0, dtype=dtype)
        return empty.set_(map_elsewhere(filename, bool(shared), (size or 0) * empty.element_size()))

    torch.UntypedStorage.from_file = staticmethod(map_elsewhere)
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that this replaces the operator
        library.impl("from_file", tensor_of_file, "CPU")
    _libraries.append(library)


_libraries: list[Any] = []
"""References to libraries: an operator stays replaced only while its library is alive."""


def path_writers() -> Iterator[tuple[Any, str, int]]:
    """Yield torch's native functions that write to a path.

    Each item is the owner, the name, and the index of the path argument. 2.11 to 2.15; some functions exist
    only with CUDA or on macOS.
    """
    native = torch._C
    places: tuple[tuple[Any, str, int], ...] = (
        (native.ScriptModule, "save", 1),
        (native.ScriptModule, "_save_for_mobile", 1),
        (native.ScriptFunction, "save", 1),
        (native, "_save_jit_module", 1),
        (native, "_save_mobile_module", 1),
        (native, "_save_parameters", 1),
        (native._autograd._ProfilerResult, "save", 1),
        (native._profiler, "_add_execution_trace_observer", 0),
        (getattr(native, "_lazy", None), "_dump_ir_cache", 0),
        (getattr(native, "_CUDAGraph", None), "debug_dump", 1),
        (getattr(native, "_acceleratorGraph", None), "debug_dump", 1),
        (native, "_cuda_tunableop_set_filename", 0),
        (native, "_cuda_tunableop_write_file", 0),
        (native, "_mps_startCapture", 0),
    )
    return (place for place in places if hasattr(place[0], place[1]))


def path_readers() -> Iterator[tuple[Any, str, int]]:
    """Yield torch's native functions that read from a path.

    Each item is the owner, the name, and the index of the path argument (torch 2.11 to 2.15).
    """
    for position, name in (
        (0, "_load_jit_module_from_file"),
        (0, "_load_mobile_module_from_file"),
        (0, "_get_file_format"),
        (0, "_get_model_extra_files"),
        (1, "import_ir_module"),
        (1, "_load_for_lite_interpreter"),
    ):
        if hasattr(torch._C, name):
            yield torch._C, name, position


def sharing_writers() -> Iterator[tuple[Any, str]]:
    """Yield torch's native functions that write files for other processes.

    Each item is the owner and the name (torch 2.11 to 2.15).
    """
    for name in ("_new_shared_filename_cpu", "_new_using_filename_cpu", "_share_filename_cpu_"):
        yield torch.UntypedStorage, name
    if torch.distributed.is_available():
        yield torch._C._distributed_c10d.FileStore, "__init__"


def is_internal(module: str) -> bool:
    """Return whether a module belongs to the internals of the compiler.

    Users do not call such modules.
    """
    return module.startswith(("torch._dynamo", "torch._logging", "torch._utils_internal", "torch._compile"))


def without_subclasses() -> AbstractContextManager[None]:
    """Return a context in which torch handles tensor subclasses as plain tensors.

    ``torch._C.DisableTorchFunctionSubclass`` (torch 2.11 to 2.15).
    """
    manager: AbstractContextManager[None] = torch._C.DisableTorchFunctionSubclass()
    return manager
