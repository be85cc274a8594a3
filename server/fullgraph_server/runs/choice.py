"""The target whose results are shown in a file that several targets ran."""

from __future__ import annotations

from collections.abc import Iterable

from ..report.model import Report


class TargetChoice:
    """The target whose results the user has chosen to see; empty for all targets."""

    def __init__(self) -> None:
        self.target = ""

    def among(self, filename: str, reports: Iterable[Report]) -> list[Report]:
        """Return the reports to show in a file, the newest first.

        If the chosen target has a report of the file, only that report is returned.
        """
        newest = sorted(reports, key=lambda report: -report.generation)
        chosen = [report for report in newest if report.target == self.target and filename in report.files]
        return chosen or newest
