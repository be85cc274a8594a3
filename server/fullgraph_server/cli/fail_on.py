"""Findings that make a command fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..report.model import Finding

FAIL_ON: Mapping[str, Callable[[Finding], bool]] = {
    "break": lambda finding: finding.severity != "information",
    "recompile": lambda finding: finding.kind != "unused-ignore",
    "nothing-compiled": lambda finding: finding.severity == "error" or finding.kind == "nothing-compiled",
    "failure": lambda finding: finding.severity == "error",
    "never": lambda _: False,
}
"""Whether a finding makes the exit code 1, unless it is in a baseline."""
