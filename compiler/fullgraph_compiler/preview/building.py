"""Compile generated kernels to machine code, for a GPU that is absent."""

from __future__ import annotations

import logging
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..compat import kernel_compat
from ..compat.binaries import FORMS
from ..facts import CodeGenerated, Kernel, KernelCompiled

_FIGURE = re.compile(r"(?P<name>[A-Z]+):(?P<figure>\d+)")
_FIGURE_OF_AMD = re.compile(r"^\s*\.(?P<name>vgpr(_spill)?_count):\s*(?P<figure>\d+)", re.MULTILINE)
_REGISTER = 4
"""The number of bytes of a register, to convert spilled bytes to registers."""

_log = logging.getLogger(__name__)


def build(codes: Iterable[CodeGenerated]) -> Iterator[KernelCompiled]:
    """Compile each Triton kernel of generated code once, without loading it."""
    for code in codes:
        for kernel in {
            kernel.name: kernel for kernel in code.kernels if kernel.language == "triton"
        }.values():
            try:
                yield _built(code.filename, kernel)
            except Exception as error:
                _log.warning("%s cannot be compiled", kernel.name, exc_info=True)
                problem = f"{type(error).__name__}: {error}".partition("\n")[0]
                yield KernelCompiled(code.filename, kernel.name, (), problem=problem)


def _built(filename: str, kernel: Kernel) -> KernelCompiled:
    built, written, machine_code = kernel_compat.build_kernel(kernel.source)
    texts = tuple((form, written[form]) for form in FORMS if form in written)
    compiled = replace(built, filename=filename, name=kernel.name, texts=texts)
    if assembly := written.get("amdgcn"):
        usage = {match["name"]: int(match["figure"]) for match in _FIGURE_OF_AMD.finditer(assembly)}
        return replace(compiled, registers=usage["vgpr_count"], spills=usage["vgpr_spill_count"])
    if usage := _usage(machine_code):
        spills = (usage.get("STACK", 0) + usage.get("LOCAL", 0)) // _REGISTER
        return replace(compiled, registers=usage.get("REG"), spills=spills)
    return compiled


def _usage(machine_code: bytes) -> dict[str, int]:
    """Return resource usage per thread: ``REG``, and ``STACK`` and ``LOCAL`` in bytes.

    Empty if NVIDIA's tool ``cuobjdump`` is missing or fails.
    """
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(machine_code)
        file.flush()
        command = [kernel_compat.cuobjdump(), "--dump-resource-usage", file.name]
        try:
            output = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return {}
    _, _, usage = output.rpartition("Function ")
    return {match["name"]: int(match["figure"]) for match in _FIGURE.finditer(usage.partition(":")[2])}
