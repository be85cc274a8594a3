"""Wording of fixes and their verdicts, in the editor and on the command line."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from typing import Final

from .model import Fix, Safety, Verdict
from .search import gain

_SAFETY: Final[Mapping[Safety, str]] = {
    "safe": "safe",
    "moves-output": "moves output",
    "unsafe": "unsafe: changes what the program does",
}


def verdict_words(verdict: Verdict, fix: Fix) -> str:
    """Return a verdict as one line of text."""
    if not verdict.tried:
        return f"not tried: {verdict.reason}"
    if not verdict.verified:
        return f"not verified: {verdict.reason}"
    gained = gain(verdict.before, verdict.after)
    compared = "results equal, printing aside" if fix.prints_differ else "results equal"
    return f"verified: {gained}, {compared}" if gained else f"verified: {compared}"


def removal_words(verdict: Verdict) -> str:
    """Say how many breaks and recompilations an edit removes; return "" if none.

    Example: ``removes 5 of 7 breaks``.
    """
    totals = (verdict.before.breaks, "break"), (verdict.before.recompiles, "recompilation")
    parts = [
        f"the {noun}" if total == 1 else f"{_every(total) if gone == total else f'{gone} of {total}'} {noun}s"
        for gone, (total, noun) in zip(verdict.removes, totals, strict=True)
        if gone > 0
    ]
    return f"removes {' and '.join(parts)}" if parts else ""


def _every(total: int) -> str:
    return "both" if total == 2 else f"all {total}"


def safety_words(fix: Fix) -> str:
    """Say whether a fix preserves the behavior of the program."""
    return _SAFETY[fix.safety]


def unified_diff(texts: Mapping[str, tuple[str, str]], folder: str) -> Iterator[str]:
    """Yield the lines of a unified diff, without line ends.

    Paths inside ``folder`` are relative to the folder.
    """
    for filename, (before, after) in texts.items():
        inside = filename.startswith(os.path.join(folder, ""))
        path = (os.path.relpath(filename, folder) if inside else filename).replace(os.sep, "/")
        yield from (
            line.rstrip("\n")
            for line in difflib.unified_diff(
                before.splitlines(keepends=True),
                after.splitlines(keepends=True),
                f"a/{path}" if inside else path,
                f"b/{path}" if inside else path,
            )
        )
