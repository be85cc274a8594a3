"""The input of the formats, and texts that several of them share."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ...report.model import Finding, Report
from ...workspace.targets import Target
from ...workspace.workspace import Workspace


@dataclass(frozen=True)
class BaselineMatch:
    """The findings of a report that are in the baseline.

    ``baseline`` is the path of the baseline as the user typed it.
    """

    baseline: str
    findings: frozenset[Finding]


@dataclass(frozen=True)
class CheckedReport:
    """The report of one target's run, and the workspace that contains its files."""

    target: Target
    report: Report
    workspace: Workspace
    known: BaselineMatch | None = None
    """The findings that are in the baseline; ``None`` without a baseline."""

    def is_known(self, finding: Finding) -> bool:
        """Return whether a finding is in the baseline."""
        return self.known is not None and finding in self.known.findings

    @property
    def new_findings(self) -> list[Finding]:
        """The findings that are not in the baseline."""
        return [finding for finding in self.report.findings if not self.is_known(finding)]


def shown_path(filename: str) -> str:
    """Return a path below the current folder as relative, any other path unchanged."""
    folder = os.path.join(os.getcwd(), "")
    return filename[len(folder) :] if filename.startswith(folder) else filename


def notes(finding: Finding) -> list[str]:
    """Return the finding's explanation, if it has one, and its hints."""
    return [note for note in (finding.explanation, *finding.hints) if note]
