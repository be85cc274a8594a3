"""The ratio of two times, measured in turn until its interval is narrow, or time is up."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import monotonic

_FEWEST = 7
_MOST = 301
_NARROW = 0.02
"""The width of an interval, as a part of the ratio, at which nobody wants it narrower."""
_SAMPLE = 0.01
"""Seconds of a sample at least: shorter ones would be of the clock and of whatever else runs."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """The medians of two times in seconds, and the median of ``first / second`` with its interval (95 %)."""

    first: float
    second: float
    ratio: float
    low: float
    high: float
    samples: int


def compare(first: Callable[[int], float], second: Callable[[int], float], budget: float) -> Ratio:
    """Measure both in turn for at most ``budget`` seconds, but often enough for an interval.

    Each is called with the number of repetitions that a sample is to have, and returns the seconds of one.
    """
    deadline = monotonic() + budget
    times = [max(1, math.ceil(_SAMPLE / max(run(1), 1e-9))) for run in (first, second)]
    pairs: list[tuple[float, float]] = []
    while len(pairs) < _MOST:
        if len(pairs) % 2:  # what drifts, such as a clock, affects both alike
            after = second(times[1])
            pairs.append((first(times[0]), after))
        else:
            pairs.append((first(times[0]), second(times[1])))
        if len(pairs) >= _FEWEST:
            ratio = ratio_of(pairs)
            if monotonic() > deadline or (
                len(pairs) > 2 * _FEWEST and ratio.high - ratio.low < _NARROW * ratio.ratio
            ):
                break
    return ratio_of(pairs)


def ratio_of(pairs: list[tuple[float, float]]) -> Ratio:
    """Return the ratio of pairs of times; its interval is that of the sign test."""
    ratios = sorted(one / other for one, other in pairs)
    count = len(ratios)
    reach = 0.98 * math.sqrt(count)  # 1.96 standard deviations of half of a binomial distribution
    low, high = max(0, math.floor(count / 2 - reach)), min(count - 1, math.ceil(count / 2 + reach) - 1)
    firsts, seconds = zip(*pairs, strict=True)
    return Ratio(median(firsts), median(seconds), median(ratios), ratios[low], ratios[high], count)
