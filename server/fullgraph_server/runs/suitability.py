"""Suitability of targets: some purposes need one process, or a program that can run here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from fullgraph_compiler.facts import Depth, Script

from ..workspace.notebooks.file import NOTEBOOK
from ..workspace.targets import Target, Torchrun, Trace

Purpose: TypeAlias = Depth | Literal["minify", "debug", "fix", "sizes"]

_FOR_ONE_PROCESS: Final[Mapping[Purpose, str]] = {
    "times": "compile times are measured",
    "speed": "speed is measured",
    "stages": "the stage at fault is found",
    "recipes": "recipes are tried",
    "minify": "failures are minified",
    "debug": "programs are debugged",
    "fix": "fixes are proven",
    "sizes": "sizes are tried",
}
REPEATING: Final[frozenset[Purpose]] = frozenset(("times", "speed", "stages", "recipes", "minify"))
"""The purposes for which the program runs more than once."""
_READABLE: Final[frozenset[Purpose]] = frozenset(("graph", "kernels", "build"))


def unsuited(target: Target, purpose: Purpose) -> str:
    """Say in one sentence why a target does not suit a purpose; empty if it does."""
    program = target.program
    if isinstance(program, Trace) and purpose not in _READABLE:
        return f"{target.label} is a trace of what ran elsewhere: name a script or an example for that."
    if purpose == "debug" and isinstance(program, Script) and program.console_script:
        return f"debugpy starts no console script such as {target.label}: name a script or a module for that."
    if purpose == "debug" and target.filename.endswith(NOTEBOOK):
        return f"{target.label} is a notebook: debug it in its kernel, or name a script for that."
    if not isinstance(program, Torchrun) or purpose not in _FOR_ONE_PROCESS:
        return ""
    what = _FOR_ONE_PROCESS[purpose]
    return f"{target.label} runs on {program.ranks} ranks, but {what} in one process: name a script for that."
