"""The comparison of reports with a baseline: findings are known, new or gone."""

from __future__ import annotations

from pathlib import Path

import click

from ..compare.baseline import Baseline, BaselineError, baseline_of, read_baseline, write_baseline
from ..compare.fingerprint import FingerprintedFinding, fingerprinted, relative_path
from ..report.model import Report
from ..workspace.config import baseline_path, read_config
from ..workspace.workspace import project_root
from .formats.checked import BaselineMatch, shown_path


def configured_baseline() -> Path | None:
    """Return the path of the project's baseline, relative to the current folder."""
    path = baseline_path(read_config(project_root(Path.cwd())))
    return Path(shown_path(str(path))) if path else None


class KnownFindings:
    """The baseline at ``path``, with which reports are compared or which they replace.

    Raises ``click.UsageError`` if the file cannot be used.
    """

    def __init__(self, path: Path, *, update: bool) -> None:
        self._update = update
        self._path = path
        self._reports: list[tuple[FingerprintedFinding, ...]] = []
        self._files: set[str] = set()
        self._roots: set[Path] = set()
        try:
            # An update reads an existing file, too, so that it overwrites only a baseline.
            self._before = Baseline() if update and not path.exists() else read_baseline(path)
        except BaselineError as error:
            raise click.UsageError(str(error)) from error

    def of(self, report: Report, root: Path) -> BaselineMatch:
        """Add a report, and return its findings that are in the baseline."""
        findings = fingerprinted(report, root)
        self._reports.append(findings)
        self._roots.add(root)
        if report.status == "finished":
            self._files.update(relative_path(report, name, root) for name in report.files)
        return BaselineMatch(str(self._path), self._before.known(findings))

    def end(self, *, complete: bool) -> str:
        """Finish after all reports; return a message for the user, or an empty string.

        With ``update``, the baseline is written. If the reports are not ``complete``, nothing is written or
        compared: findings of targets that did not run would seem to be gone.
        """
        if not complete:
            return f"{self._path} was not written: not every target could be run" if self._update else ""
        now, paths = baseline_of(self._reports), {fingerprint.path for fingerprint in self._before.counts}
        # Files of finished runs, and deleted files. In any other file, known findings may still exist.
        looked_at = {
            path
            for path in paths
            if path in self._files or not any((root / path).exists() for root in self._roots)
        }
        if self._update:
            return self._write(now.joined(self._before.within(paths - looked_at)))
        gone = self._before.within(looked_at).missing(now)
        if not gone:
            return ""
        which, them = ("1 finding", "it") if gone == 1 else (f"{gone} findings", "them")
        return f"Gone since {self._path} was written: {which}. Take {them} out with --update-baseline."

    def _write(self, now: Baseline) -> str:
        try:
            write_baseline(self._path, now)
        except BaselineError as error:
            raise click.UsageError(str(error)) from error
        new, gone = now.missing(self._before), self._before.missing(now)
        return f"{self._path}: {now.total} known findings ({new} new, {gone} gone)"
