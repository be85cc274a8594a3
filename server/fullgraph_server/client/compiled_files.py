"""The target that last compiled code of each file."""

from __future__ import annotations

from ..report.model import Report
from ..runs.observers import RunObserver


class CompiledFiles(RunObserver):
    """Observer that records which target last compiled code of each file."""

    def __init__(self) -> None:
        self._targets: dict[str, str] = {}

    def reported(self, report: Report) -> None:
        """Record the files of a report's compiled functions, but not those of a trace."""
        if not report.of_trace:
            self._targets.update((frame.filename, report.target) for frame in report.frames)

    layered = reported

    def cleared(self, target: str) -> None:
        """Forget a target."""
        self._targets = {name: other for name, other in self._targets.items() if other != target}

    def target_of(self, filename: str) -> str | None:
        """Return the id of the target that last compiled code of a file, if any."""
        return self._targets.get(filename)
