"""Suitability of targets: some purposes need one process or a runnable program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fullgraph_compiler.facts import Script

from ..workspace.notebooks.file import NOTEBOOK
from ..workspace.targets import Target, TorchrunJob, Trace
from .registry import analyses

_IN_ONE_PROCESS: Final[Mapping[str, str]] = {
    "debug": "programs are debugged",
    "fix": "fixes are proven",
    "sizes": "sizes are tried",
}
"""What requires a target of one process, for purposes that are not analyses."""


def unsuited(target: Target, purpose: str) -> str:
    """Return why a target does not suit a purpose, as a sentence; empty if it suits.

    A purpose is an analysis, ``debug``, ``fix`` or ``sizes``.
    """
    program = target.program
    analysis = analyses().get(purpose)
    if isinstance(program, Trace) and not (analysis and analysis.reads_traces):
        return f"{target.label} is a trace of a run elsewhere: name a script or an example for that."
    if purpose == "debug" and isinstance(program, Script) and program.console_script:
        return f"debugpy cannot start the console script {target.label}: name a script or a module for that."
    if purpose == "debug" and target.filename.endswith(NOTEBOOK):
        return f"{target.label} is a notebook: debug it in its kernel, or name a script for that."
    what = analysis.in_one_process if analysis else _IN_ONE_PROCESS[purpose]
    if not isinstance(program, TorchrunJob) or not what:
        return ""
    return f"{target.label} runs on {program.ranks} ranks, but {what} in one process: name a script for that."
