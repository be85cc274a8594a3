"""Findings that make a command fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..kinds import KINDS
from ..report.model import Finding


def _stops(finding: Finding) -> bool:
    return finding.severity == "error" and not finding.survived


FAIL_ON: Mapping[str, Callable[[Finding], bool]] = {
    "break": lambda finding: finding.severity != "information",
    "recompile": lambda finding: KINDS[finding.kind].fails,
    "nothing-compiled": lambda finding: _stops(finding) or finding.kind == "nothing-compiled",
    "failure": _stops,
    "never": lambda _: False,
}
"""Functions that tell whether a new finding makes the exit code 1, by value of ``--fail-on``."""
