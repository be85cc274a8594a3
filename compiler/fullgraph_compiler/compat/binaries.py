"""Compiled kernels: intermediate forms, machine code, and resource usage.

Triton stores these in its cache, the C++ compiler in a library.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from ..facts import KernelCompiled
from . import kernel_compat

FORMS = ("ttir", "ttgir", "llir", "ptx", "amdgcn")
"""The forms that Triton stores as text, from high level to low level."""
_OWN_FUNCTION = re.compile(r"\s*[0-9a-f]+ <(kernel[.> ]|\.omp_outlined)")
"""The kernel's own functions in a library: ``kernel``, ``kernel.cold``, and the loops that compilers outline
for OpenMP (``kernel._omp_fn.0`` by GCC, ``kernel.omp_outlined`` or ``.omp_outlined.`` by Clang)."""


def read_kernels(modules: Iterable[ModuleType]) -> Iterator[KernelCompiled]:
    """Yield each kernel of loaded code once.

    A C++ kernel has no text if ``objdump`` is missing, a Triton kernel no ``sass`` if NVIDIA's disassembler
    is.
    """
    reported: set[tuple[str, str]] = set()
    for module in modules:
        filename = str(module.__file__)
        for name, value in list(vars(module).items()):
            if (filename, name) in reported:
                continue  # a graph that was compiled again has the same code
            try:
                kernel = _read(filename, name, value)
            except Exception:
                traceback.print_exc()
                continue
            if kernel is not None:
                reported.add((filename, name))
                yield kernel


def _read(filename: str, name: str, value: object) -> KernelCompiled | None:
    library = kernel_compat.cpp_library(value)
    if library is not None:
        text = _disassembled(library)
        return KernelCompiled(filename, name, (("asm", text),) if text else ())
    folder, compiled = kernel_compat.triton_binary(value) or ("", None)
    return compiled and replace(
        compiled, filename=filename, name=name, texts=tuple(_triton_texts(Path(folder)))
    )


def _triton_texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of each form of a kernel in its folder of Triton's cache."""
    for form in FORMS:
        for path in folder.glob(f"*.{form}"):
            yield form, path.read_text(errors="replace")
    for path in folder.glob("*.cubin"):
        with contextlib.suppress(Exception):  # NVIDIA's disassembler may be missing, or older than the GPU
            # Triton imports this in every process that compiles or loads a kernel.
            if sass := sys.modules["triton.tools.disasm"].get_sass(path.read_bytes()):
                yield "sass", sass


def _disassembled(library: str) -> str:
    """Return the disassembly of a kernel's own functions; empty without ``objdump``.

    Python bindings and torch's helper functions are left out.
    """
    objdump = shutil.which("objdump")
    if objdump is None:
        return ""
    command = [objdump, "--disassemble", "--no-show-raw-insn", "--demangle", library]
    output = subprocess.run(command, capture_output=True, check=True, text=True, errors="replace").stdout
    own = [part.strip("\n") for part in output.split("\n\n") if _OWN_FUNCTION.match(part)]
    own.sort(
        key=lambda part: ".cold>:" in part.partition("\n")[0]
    )  # error paths, which the compiler puts first
    return "\n\n".join(own)
