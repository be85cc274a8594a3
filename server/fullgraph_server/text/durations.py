"""Durations and sizes with three digits, in a unit that fits their magnitude."""

from __future__ import annotations

from collections.abc import Sequence


def duration(seconds: float) -> str:
    """Write a duration: ``2.3 ms``."""
    unit, size = next(filter(lambda unit: seconds >= unit[1], (("s", 1.0), ("ms", 1e-3))), ("us", 1e-6))
    return f"{seconds / size:.3g} {unit}"


def size(number: float) -> str:
    """Write a number of bytes: ``4 KiB``."""
    return scaled(number, 1024, ("B", "KiB", "MiB", "GiB"))


def percent(share: float) -> str:
    """Write a share: ``12 %``."""
    return f"{share * 100:.0f} %"


def scaled(number: float, kilo: int, units: Sequence[str]) -> str:
    """Write a number with three digits, in the first unit that makes it below 1000.

    ``units`` begin with the unit of ``number``; each is ``kilo`` times the unit before.
    """
    *smaller, largest = units
    for unit in smaller:
        if number < 999.5:
            return f"{number:.3g} {unit}"
        number /= kilo
    return f"{number:.3g} {largest}"
