"""The forms on the way to machine code of kernels that were written for a GPU that is not there."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TypeAlias

from .. import preview_compat
from ..capture.binaries import sass_of
from ..facts import CodeGenerated, KernelCompiled

_FORMS = ("ttir", "ttgir", "llir", "ptx")
_FIGURE = re.compile(r"(?P<name>[A-Z]+):(?P<figure>\d+)")
_REGISTER = 4
"""Its bytes: what is spilled is told in registers."""

_log = logging.getLogger(__name__)


def build(codes: Iterable[CodeGenerated]) -> Iterator[KernelCompiled]:
    """Compile the Triton kernels of some code, each once, as far as the assembler goes. None is loaded."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # the tools that look into machine code take longest
        yield from map(Future.result, [pool.submit(_told, kernel) for kernel in _compiled(codes)])


_Compiled: TypeAlias = tuple[KernelCompiled, bytes]
"""What is known of a kernel ahead of its machine code, and that."""


def _compiled(codes: Iterable[CodeGenerated]) -> Iterator[_Compiled]:
    for code in codes:
        for kernel in {
            kernel.name: kernel for kernel in code.kernels if kernel.language == "triton"
        }.values():
            told = KernelCompiled(code.filename, kernel.name, ())
            try:
                built = preview_compat.build(kernel.name, kernel.source)
            except Exception as error:
                _log.warning("%s cannot be compiled", kernel.name, exc_info=True)
                yield replace(told, problem=f"{type(error).__name__}: {error}".partition("\n")[0]), b""
                continue
            texts = tuple((form, built.texts[form]) for form in _FORMS if form in built.texts)
            told = replace(told, texts=texts, config=built.settings, others=built.others, shared=built.shared)
            yield told, built.machine_code


def _told(compiled: _Compiled) -> KernelCompiled:
    """A kernel with what its machine code tells, where NVIDIA's tools can read that."""
    told, machine_code = compiled
    if sass := sass_of(machine_code):
        told = replace(told, texts=(*told.texts, ("sass", sass)))
    if usage := _usage(machine_code):
        spills = (usage.get("STACK", 0) + usage.get("LOCAL", 0)) // _REGISTER
        told = replace(told, registers=usage.get("REG"), spills=spills)
    return told


def _usage(machine_code: bytes) -> dict[str, int]:
    """What a kernel uses: ``REG``, and ``STACK`` and ``LOCAL`` in bytes, of a thread; nothing without tools."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(machine_code)
        file.flush()
        command = [preview_compat.tool("cuobjdump"), "--dump-resource-usage", file.name]
        try:
            output = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return {}
    _, _, usage = output.rpartition("Function ")
    return {found["name"]: int(found["figure"]) for found in _FIGURE.finditer(usage.partition(":")[2])}
