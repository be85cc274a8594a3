"""Findings that make a command fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..report.model import Finding

_OF_NO_CODE = ("unused-ignore", "cache-miss", "cache-bypass")
"""Kinds that say nothing of how the program runs once it is compiled."""


def _stops(finding: Finding) -> bool:
    return finding.severity == "error" and not finding.survived


FAIL_ON: Mapping[str, Callable[[Finding], bool]] = {
    "break": lambda finding: finding.severity != "information",
    "recompile": lambda finding: finding.kind not in _OF_NO_CODE,
    "nothing-compiled": lambda finding: _stops(finding) or finding.kind == "nothing-compiled",
    "failure": _stops,
    "never": lambda _: False,
}
"""Whether a finding makes the exit code 1, unless it is in a baseline."""
