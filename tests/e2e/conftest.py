"""Ratios over many tests, which run in several processes: a test records whether it counts."""

from __future__ import annotations

from collections import defaultdict

import pytest

RATIO = "ratio: "


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print each ratio: ``record_property("ratio: WHAT", (1, 1))`` is what a test adds to its sides."""
    counted: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for report in (*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")):
        for name, value in report.user_properties:
            if name.startswith(RATIO):
                counted[name.removeprefix(RATIO)].append(value)
    for what, counts in counted.items():
        some, every = (sum(side) for side in zip(*counts, strict=True))
        terminalreporter.write_line(f"{what}: {some} of {every}")
