"""Parser of the C++ code of AOTInductor and ``cpp_wrapper``.

AOTInductor writes such code for an exported program, ``cpp_wrapper`` for any graph. There are two texts. The
first is the wrapper: its ``run_impl`` launches the kernels between calls of library functions
(``torch/_inductor/codegen/cpp_wrapper_cpu.py``). The second text has the C++ kernels as functions; Triton
kernels are in comments of the wrapper. Comments above a launch are the same as in Python code
(:mod:`..kernels`), but with ``//``.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import Final

from ...facts import Kernel
from ..inductor.kernels import CodeLaunch, CodeLaunches, launch_comments, triton_traits

WRAPPER: Final = "inductor_aot_wrapper_code"
KERNELS: Final = "inductor_aot_kernel_code"
HEADER: Final = "inductor_aot_header_code"

_CALL: Final = re.compile(r"\b(?:call_)?(\w+)\(")
_LIBRARY: Final = ("aoti_torch_cpu_", "aoti_torch_cuda_", "aoti_torch_xpu_", "aoti_torch_mps_")
_CUSTOM: Final = "aoti_torch_proxy_executor_call_function"
"""The C++ function that calls an operator for which there is no C function."""
_C: Final = 'extern "C"'
_HELPER: Final = "static "
"""The beginning of a function that launches a Triton kernel."""
_TRITON: Final = "async_compile.triton('"
_QUOTES: Final = "'''"


_DECLARED: Final = "declared"
"""The state of a function of which only the parameters have been read."""
_LONGEST: Final = 40
"""The most lines of a statement."""


def parse_aot_launches(code: str) -> CodeLaunches:
    """Read the launches in a wrapper that is followed by its kernels."""
    lines = code.splitlines()
    kernels = {kernel.name: kernel for kernel in _kernels(lines)}
    bodies = (kernel.definition for kernel in kernels.values() if kernel.definition)
    inside = {row for first, last in bodies for row in range(first, last + 1)}
    comments: list[str] = []
    launches = []
    for row, line in enumerate(lines, 1):
        text = line.strip()
        if row in inside:
            continue
        if text.startswith("//"):
            comments.append(text.replace("//", "#", 1))
        elif not text.startswith((_C, _HELPER)) and (name := _called(text, kernels)):
            sources, handle = launch_comments(comments)
            if name not in kernels and not (sources or handle):
                continue  # a helper function of the generated code
            comments = []
            rows = range(row, min(row + _LONGEST, len(lines)) + 1)
            last = next((end for end in rows if lines[end - 1].endswith(";")), row)
            statement = " ".join(part.strip() for part in lines[row - 1 : last])
            arguments = statement.partition(f"{name}(")[2].rpartition(")")[0]
            kernel = kernels.get(name) or Kernel(handle.rpartition(":")[0] or name, "extern")
            launched = replace(kernel, launch=(row, last), arguments=(arguments,))
            launches.append(CodeLaunch(launched, handle, sources))
    known = {launch.kernel.name for launch in launches}
    return CodeLaunches(tuple(launches), tuple(name for name in kernels if name not in known))


def _called(line: str, kernels: Container[str]) -> str:
    """Return the kernel or library function that a line calls; empty if it calls none."""
    for name in _CALL.findall(line):
        if name in kernels or name == _CUSTOM or name.startswith(_LIBRARY):
            return str(name)
    return ""


def _kernels(lines: Sequence[str]) -> Iterator[Kernel]:
    """Yield the kernels of the code: C++ functions, and Triton kernels in comments."""
    name, first, language = "", 0, ""
    for row, line in enumerate(lines, 1):
        if line.startswith(_C) and (found := _CALL.search(line)):
            name, first, language = found[1], row, _DECLARED
        elif _TRITON in line:
            name, first, language = line.partition(_TRITON)[2].partition("'")[0], row, "triton"
        if language == _DECLARED and line.endswith((";", "{")):
            language = "cpp" if line.endswith("{") else ""
        elif language == "cpp" and line.startswith("}"):
            yield Kernel(name, "cpp", source="\n".join(lines[first - 1 : row]), definition=(first, row))
            language = ""
        elif language == "triton" and row > first and line.lstrip().startswith(_QUOTES):
            source = textwrap.dedent("\n".join(lines[first : row - 1])).strip("\n")
            heuristic, grid = triton_traits(source)
            yield Kernel(name, "triton", heuristic, source, definition=(first, row), grid=grid)
            language = ""
