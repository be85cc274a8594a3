"""The choice of a target whose results are shown, where several targets ran the same file."""

from __future__ import annotations

from collections.abc import Iterable

from ..report.model import Report


class Choice:
    """The target that the user has chosen; empty if the results of all are shown."""

    def __init__(self) -> None:
        self.target = ""

    def among(self, filename: str, reports: Iterable[Report]) -> list[Report]:
        """Return the reports that a file shows, the newest first: only the target's, if it has one."""
        newest = sorted(reports, key=lambda report: -report.generation)
        chosen = [report for report in newest if report.target == self.target and filename in report.files]
        return chosen or newest
