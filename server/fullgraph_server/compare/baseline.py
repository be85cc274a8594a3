"""Baselines: files of accepted findings, so that only new findings are reported.

A baseline is JSON for version control: sorted, with one entry for each finding, and without dates or other
content that changes when no finding does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..report.finding_builder import by_place
from ..report.model import Finding, Report
from .fingerprint import Fingerprint, FingerprintedFinding, fingerprinted

VERSION = 1
_DEFAULTS: Mapping[str, Any] = {"line": "", "message": "", "count": 1}
"""The values of keys that an entry leaves out."""


class BaselineError(Exception):
    """A baseline that cannot be read or written.

    The message says why, and what to do.
    """


@dataclass(frozen=True)
class Baseline:
    """Accepted findings, each with the number of times that a report may contain it."""

    counts: Mapping[Fingerprint, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """The number of findings."""
        return sum(self.counts.values())

    def known(self, findings: Iterable[FingerprintedFinding]) -> frozenset[Finding]:
        """Return the findings of one report that are in the baseline.

        If the report has more equal findings than the baseline, the last of them are new.
        """
        left, accepted = Counter(self.counts), set()
        for item in findings:
            if left[item.fingerprint] > 0:
                left[item.fingerprint] -= 1
                accepted.add(item.finding)
        return frozenset(accepted)

    def missing(self, other: Baseline) -> int:
        """Count the findings of this baseline that ``other`` does not contain."""
        return (Counter(self.counts) - Counter(other.counts)).total()

    def joined(self, other: Baseline) -> Baseline:
        """Return the findings of both baselines, each with the greater count."""
        return Baseline(Counter(self.counts) | Counter(other.counts))

    def accepting(self, fingerprint: Fingerprint) -> Baseline:
        """Return the baseline with one more finding."""
        return Baseline({**self.counts, fingerprint: self.counts.get(fingerprint, 0) + 1})

    def within(self, paths: Collection[str]) -> Baseline:
        """Return the findings in these files."""
        return Baseline({item: count for item, count in self.counts.items() if item.path in paths})


def baseline_of(reports: Iterable[Sequence[FingerprintedFinding]]) -> Baseline:
    """Make the baseline of several reports.

    A finding that is in the reports of several targets is counted once.
    """
    counts: Counter[Fingerprint] = Counter()
    for findings in reports:
        counts |= Counter(item.fingerprint for item in findings)
    return Baseline(counts)


def can_be_known(finding: Finding) -> bool:
    """Tell whether an editor hides a finding that is in the baseline.

    Errors and findings of the whole run always show.
    """
    return finding.severity != "error" and not finding.of_run


def without_known(report: Report, baseline: Baseline, root: Path) -> Report:
    """Move the findings that a baseline contains to the report's known findings.

    Known findings of an earlier baseline become findings again if ``baseline`` does not contain them.
    """
    if not (baseline.counts or report.known):
        return report
    whole = replace(report, findings=tuple(sorted((*report.findings, *report.known), key=by_place)), known=())
    known = {finding for finding in baseline.known(fingerprinted(whole, root)) if can_be_known(finding)}
    return replace(
        whole,
        findings=tuple(finding for finding in whole.findings if finding not in known),
        known=tuple(finding for finding in whole.findings if finding in known),
    )


def read_baseline(path: Path) -> Baseline:
    """Read a baseline file.

    Raises :class:`BaselineError` if it is not a baseline of this version.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise BaselineError(f"{path} does not exist: write it with --update-baseline") from None
    except OSError as error:
        raise BaselineError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BaselineError(_refusal(path, f"is not valid JSON ({error})")) from error
    version = content.get("version") if isinstance(content, dict) else None
    if not isinstance(version, int) or not isinstance(content.get("findings"), list):
        raise BaselineError(_refusal(path, "is not a Fullgraph baseline"))
    if version != VERSION:
        raise BaselineError(
            _refusal(path, f"is a baseline of version {version}, and this Fullgraph reads version {VERSION}")
        )
    counts: dict[Fingerprint, int] = {}
    for entry in content["findings"]:
        match {**_DEFAULTS, **entry} if isinstance(entry, dict) else entry:
            case {
                "path": str(file),
                "line": str(line),
                "code": str(code),
                "kind": str(kind),
                "message": str(message),
                "count": int(count),
            }:
                counts[Fingerprint(file, line, code, kind, message)] = count
            case _:
                raise BaselineError(
                    _refusal(path, f"has an entry that is not a finding ({json.dumps(entry)})")
                )
    return Baseline(counts)


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write a baseline file. Raises :class:`BaselineError` if it cannot be written."""
    entries = [_entry(fingerprint, baseline.counts[fingerprint]) for fingerprint in sorted(baseline.counts)]
    text = json.dumps({"version": VERSION, "findings": entries}, indent=2, ensure_ascii=False)
    try:
        # Lone surrogates cannot be encoded: they become escapes, which JSON reads as the same characters.
        path.write_text(text + "\n", "utf-8", "backslashreplace", newline="\n")
    except OSError as error:
        raise BaselineError(f"{path} cannot be written: {error.strerror}") from error


def _entry(fingerprint: Fingerprint, count: int) -> dict[str, Any]:
    entry = {**asdict(fingerprint), "count": count}
    return {name: value for name, value in entry.items() if value != _DEFAULTS.get(name)}


def _refusal(path: Path, reason: str) -> str:
    return f"{path} {reason}: delete it, and write it anew with --update-baseline"
