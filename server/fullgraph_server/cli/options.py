"""Options of commands that run something, and the findings that make a command fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullgraph_compiler.facts import Severity

from ..runs.effective_settings import Overrides

FAIL_ON: Mapping[str, frozenset[Severity]] = {
    "break": frozenset({"error", "warning"}),
    "recompile": frozenset({"error", "warning", "information"}),
    "failure": frozenset({"error"}),
    "never": frozenset(),
}
"""Severities of findings that make the exit code 1, unless they are in a baseline."""


@dataclass(frozen=True)
class RunOptions:
    """Options of a run. ``timeout`` in seconds, ``memory`` in GiB.

    ``switches`` are the attributes of :class:`fullgraph_compiler.facts.Switches` that it names;
    ``preview_python`` is the interpreter that previews kernels where ``python`` cannot.
    """

    python: str | None = None
    timeout: float | None = None
    memory: float | None = None
    switches: Mapping[str, Any] = field(default_factory=dict)
    preview_python: str | None = None

    @property
    def overrides(self) -> Overrides:
        """The settings from the options; paths in them are relative to the current folder."""
        return Overrides(
            Path.cwd(),
            interpreter=self.python,
            preview_python=self.preview_python,
            timeout=self.timeout,
            memory=self.memory,
            switches=self.switches,
        )
