"""The target that last compiled code of each file."""

from __future__ import annotations

from ..report.model import Report
from ..runs.observers import RunObserver


class CompiledFiles(RunObserver):
    """Observer of runs that notes which files they compile."""

    def __init__(self) -> None:
        self._targets: dict[str, str] = {}

    def reported(self, report: Report) -> None:
        """Take note of the files of a report."""
        if not report.of_trace:
            self._targets.update((frame.filename, report.target) for frame in report.frames)

    layered = reported

    def cleared(self, target: str) -> None:
        """Forget a target."""
        self._targets = {name: other for name, other in self._targets.items() if other != target}

    def target_of(self, filename: str) -> str | None:
        """Return the id of the target that last compiled code of a file; ``None`` if none has."""
        return self._targets.get(filename)
