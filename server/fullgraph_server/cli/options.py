"""What the command line says of a run or a trace, and what makes a command fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullgraph_compiler.facts import Severity

from ..workers.interpreter import find_interpreter, named_interpreter
from ..workspace.config import Config

FAIL_ON: Mapping[str, frozenset[Severity]] = {
    "break": frozenset({"error", "warning"}),
    "recompile": frozenset({"error", "warning", "information"}),
    "failure": frozenset({"error"}),
    "never": frozenset(),
}
"""Which severities of findings make the exit code 1, of those that are in no baseline."""


@dataclass(frozen=True)
class RunOptions:
    """What the command line says of a run beside its target. ``timeout`` in seconds, ``memory`` in GiB.

    ``switches`` are the attributes of :class:`fullgraph_compiler.facts.Switches` that it names;
    ``preview_python`` is the interpreter that previews kernels where ``python`` cannot.
    """

    python: str | None = None
    timeout: float | None = None
    memory: float | None = None
    switches: Mapping[str, Any] = field(default_factory=dict)
    preview_python: str | None = None


def preview_interpreter(option: str | None, config: Config) -> str | None:
    """The interpreter for previews that is named, else the project's, if it names one."""
    if option:
        return named_interpreter(option, Path.cwd())
    return named_interpreter(config.preview_python, config.root) if config.preview_python else None


def interpreter(option: str | None, config: Config) -> str:
    """The interpreter that is named, else the project's."""
    if option:
        return named_interpreter(option, Path.cwd())
    return (
        named_interpreter(config.python, config.root) if config.python else find_interpreter(config.root).path
    )
