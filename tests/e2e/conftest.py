"""What tests share: proofs in one warm process, and ratios and differences of many tests.

Tests run in several processes: each records its own ratios.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest
from proving import Proving

RATIO = "ratio: "
DIFFERENCE = "difference"


@pytest.fixture(scope="module")
def proving() -> Iterator[Proving]:
    """Proofs of programs, one after the other."""
    proving = Proving()
    yield proving
    proving.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print each ratio, ``record_property("ratio: WHAT", (1, 1))`` is what a test adds to its sides.

    Then, each ``record_property("difference", "WHAT")``, after the name of its test.
    """
    counted: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    told: list[str] = []
    for report in (*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")):
        for name, value in report.user_properties:
            if name.startswith(RATIO):
                counted[name.removeprefix(RATIO)].append(value)
            elif name == DIFFERENCE:
                told.append(f"{report.nodeid.partition('[')[2].removesuffix(']')}: {value}")
    for what, counts in counted.items():
        some, every = (sum(side) for side in zip(*counts, strict=True))
        terminalreporter.write_line(f"{what}: {some} of {every}")
    for line in told:
        terminalreporter.write_line(line)
