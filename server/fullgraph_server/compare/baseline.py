"""A baseline: a file of findings that are known, so that only new ones count.

JSON, to be kept with the source: sorted, a finding an entry, and nothing in it that changes by itself.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..report.model import Finding
from .fingerprint import Fingerprint, Fingerprinted

VERSION = 1
_LEFT_OUT: Mapping[str, Any] = {"line": "", "message": "", "count": 1}
"""What an entry does not write down."""


class BaselineError(Exception):
    """A file is no baseline: the message says why, and what to do."""


@dataclass(frozen=True)
class Baseline:
    """The findings that are known, and how often a report may hold each."""

    counts: Mapping[Fingerprint, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many findings are known."""
        return sum(self.counts.values())

    def known(self, found: Iterable[Fingerprinted]) -> frozenset[Finding]:
        """Those findings of one report that are known.

        Of more equal ones than there were, the last are new.
        """
        left, known = Counter(self.counts), set()
        for item in found:
            if left[item.fingerprint] > 0:
                left[item.fingerprint] -= 1
                known.add(item.finding)
        return frozenset(known)

    def missing(self, other: Baseline) -> int:
        """How many of its findings another baseline does not hold."""
        return (Counter(self.counts) - Counter(other.counts)).total()

    def joined(self, other: Baseline) -> Baseline:
        """The findings of both; of what both know, as many as the one with more."""
        return Baseline(Counter(self.counts) | Counter(other.counts))

    def within(self, paths: Collection[str]) -> Baseline:
        """Its findings in these files."""
        return Baseline({item: count for item, count in self.counts.items() if item.path in paths})


def baseline_of(reports: Iterable[Sequence[Fingerprinted]]) -> Baseline:
    """The baseline of several reports. What two targets run into is one finding."""
    counts: Counter[Fingerprint] = Counter()
    for found in reports:
        counts |= Counter(item.fingerprint for item in found)
    return Baseline(counts)


def read_baseline(path: Path) -> Baseline:
    """Read a file. Raises :class:`BaselineError` for one that is no baseline of this version."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise BaselineError(f"{path} does not exist: write it with --update-baseline") from None
    except OSError as error:
        raise BaselineError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BaselineError(_refusal(path, f"is no JSON ({error})")) from error
    version = content.get("version") if isinstance(content, dict) else None
    if not isinstance(version, int) or not isinstance(content.get("findings"), list):
        raise BaselineError(_refusal(path, "is no baseline of Fullgraph"))
    if version != VERSION:
        raise BaselineError(
            _refusal(path, f"is a baseline of version {version}, and this Fullgraph reads version {VERSION}")
        )
    counts: dict[Fingerprint, int] = {}
    for entry in content["findings"]:
        match {**_LEFT_OUT, **entry} if isinstance(entry, dict) else entry:
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
                raise BaselineError(_refusal(path, f"has an entry that is no finding ({json.dumps(entry)})"))
    return Baseline(counts)


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write a file. Raises :class:`BaselineError` where that is not possible."""
    entries = [_entry(fingerprint, baseline.counts[fingerprint]) for fingerprint in sorted(baseline.counts)]
    text = json.dumps({"version": VERSION, "findings": entries}, indent=2, ensure_ascii=False)
    try:
        # What cannot be encoded becomes an escape, and one of JSON at that: it is read as it was.
        path.write_text(text + "\n", "utf-8", "backslashreplace", newline="\n")
    except OSError as error:
        raise BaselineError(f"{path} cannot be written: {error.strerror}") from error


def _entry(fingerprint: Fingerprint, count: int) -> dict[str, Any]:
    entry = {**asdict(fingerprint), "count": count}
    return {name: value for name, value in entry.items() if value != _LEFT_OUT.get(name)}


def _refusal(path: Path, what: str) -> str:
    return f"{path} {what}: delete it, and write it anew with --update-baseline"
