"""No pattern that sees text of a log takes more than about twice the time for twice the text."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from patterns import Place, hostile, patterns

PLACES = list(patterns())
"""All but those that see only comments of the user's own files."""
LENGTH = 8_000
QUICK = 0.002
"""Seconds in which nothing that compares each character with all others is through with such a text."""
MEASUREMENTS = 5
"""A slow pattern is slow each time; a busy machine slows one measurement."""
ENDS = ("", "\0", "\n\0")


def seconds(pattern: re.Pattern[Any], start: str, again: str, end: str, length: int) -> float:
    """How long the processor needs to find the pattern in a text."""
    text: Any = start + again * (length // len(again)) + end
    if isinstance(pattern.pattern, bytes):
        text = text.encode("latin-1")
    begun = time.thread_time()
    for _ in pattern.finditer(text):
        pass
    return time.thread_time() - begun


def slow_texts(pattern: re.Pattern[Any]) -> list[tuple[str, str, str]]:
    """Texts of which four times as much takes far more than four times as long."""
    for start, again in hostile(pattern):
        for end in ENDS:
            text = (pattern, start, again, end)
            if seconds(*text, LENGTH) < QUICK:
                continue
            if all(seconds(*text, LENGTH) > 8 * seconds(*text, LENGTH // 4) for _ in range(MEASUREMENTS)):
                return [(start, again, end)]
    return []


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_twice_the_text_takes_about_twice_the_time(place: Place) -> None:
    assert not slow_texts(place.pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^tensor '(.+?)' (.+?) mismatch(?: at index (\d+))?\.? expected (.+?), actual (.+?)$",
        r"^(?P<kind>GLOBAL_STATE) changed: (?P<changed>.+?)\s*$",
        r"""L\[\s*(['"])(.*?)\1\s*\]""",
        r"https?://\S*/(gb\d+)\.html",
        r"def forward\(self, (.*)\):",
        r"Source Nodes: \[([^\]]*)\]",
        r'(?m)^\s*File "([^"\n]+)", line (\d+), in [^\n]+\n[ \t]*([^\n]+)',
        r"# File: ([^\n]+?):(\d+) in \S+, code: ([^\n]*)",
        r"(\w+)(?:: \"[^\"]*\")?(?:, |$)",
        r'(?m)^V\d{4} [^\n]*\] \{[^\n]*"rank": (\d+)',
        r"^.*?(\w+)$",
    ],
)
def test_a_pattern_that_takes_longer_is_found(pattern: str) -> None:
    assert slow_texts(re.compile(pattern))


def test_the_patterns_of_all_modules_are_found() -> None:
    names = {place.name.rpartition("/")[2] for place in PLACES}
    assert {
        "guards.py",
        "lines.py",
        "graphs.py",
        "messages.py",
        "kernels.py",
        "projection.py",
        "log.py",
    } <= names
