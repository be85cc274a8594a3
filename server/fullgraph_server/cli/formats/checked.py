"""What a format is given, and what several of them say alike."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ...engine.report import Finding, Report
from ...workspace.targets import Target
from ...workspace.workspace import Workspace


@dataclass(frozen=True)
class Checked:
    """The report of one target's run, and the workspace that its files are in."""

    target: Target
    report: Report
    workspace: Workspace


def shown_path(filename: str) -> str:
    """A path as a person would type it: relative to the current folder if it is below it."""
    folder = os.path.join(os.getcwd(), "")
    return filename[len(folder) :] if filename.startswith(folder) else filename


def notes(finding: Finding) -> list[str]:
    """The explanation and the hints."""
    return [note for note in (finding.explanation, *finding.hints) if note]
