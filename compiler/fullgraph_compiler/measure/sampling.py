"""Measure the ratio of two times, alternately until its interval is narrow."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import monotonic

_FEWEST = 7
_MOST = 301
_NARROW = 0.02
"""The width of the confidence interval, relative to the ratio, at which a measurement ends."""
_SAMPLE = 0.01
"""The minimum seconds of a sample; the clock and other processes distort shorter samples."""


@dataclass(frozen=True, slots=True)
class TimeRatio:
    """The medians of two times in seconds, and the ratio of the times.

    ``ratio`` is the median of ``first / second``; ``low`` and ``high`` are its 95 % confidence interval.
    """

    first: float
    second: float
    ratio: float
    low: float
    high: float
    samples: int


def compare(first: Callable[[int], float], second: Callable[[int], float], budget: float) -> TimeRatio:
    """Measure two functions alternately for about ``budget`` seconds.

    If necessary, it takes longer, to get enough samples for a confidence interval. Each function gets a
    number of repetitions, and returns the seconds of one repetition.
    """
    deadline = monotonic() + budget
    times = [max(1, math.ceil(_SAMPLE / max(run(1), 1e-9))) for run in (first, second)]
    pairs: list[tuple[float, float]] = []
    while len(pairs) < _MOST:
        if len(pairs) % 2:  # alternate the order, so that a drifting clock rate affects both alike
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


def ratio_of(pairs: list[tuple[float, float]]) -> TimeRatio:
    """Return the median ratio of pairs of times, with the interval of the sign test."""
    ratios = sorted(one / other for one, other in pairs)
    count = len(ratios)
    reach = 0.98 * math.sqrt(count)  # 1.96 standard deviations of half of a binomial distribution
    low, high = max(0, math.floor(count / 2 - reach)), min(count - 1, math.ceil(count / 2 + reach) - 1)
    firsts, seconds = zip(*pairs, strict=True)
    return TimeRatio(median(firsts), median(seconds), median(ratios), ratios[low], ratios[high], count)
