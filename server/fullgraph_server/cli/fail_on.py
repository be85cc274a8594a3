"""Findings that make a command fail."""

from __future__ import annotations

from collections.abc import Mapping

from fullgraph_compiler.facts import Severity

FAIL_ON: Mapping[str, frozenset[Severity]] = {
    "break": frozenset({"error", "warning"}),
    "recompile": frozenset({"error", "warning", "information"}),
    "failure": frozenset({"error"}),
    "never": frozenset(),
}
"""Severities of findings that make the exit code 1, unless they are in a baseline."""
