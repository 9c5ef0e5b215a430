"""Numbers of a column at a glance: where most of them lie, and which lie far outside."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

#: a normal distribution's standard deviation by its median distance from the median, and by its quartiles' distance
MEDIAN_DISTANCE, QUARTILES_DISTANCE = 1.4826, 0.7413
#: how many robust deviations from the median an outlier is away
FAR = 5.0
#: with a larger share of outliers, or fewer different values, a column is merely not normal
MOST_OUTLIERS, FEWEST_VALUES = 0.02, 20


class Spread(NamedTuple):
    """The median of numbers, a robust standard deviation, and how many are outliers.

    The deviation is 1.4826 median |x - median|; where more than half of the numbers are the same, 0.7413 (the third
    quartile - the first); 0 if these are the same, too: then nothing is an outlier. An outlier is further than FAR
    deviations from the median. (F. Hampel 1974.)
    """

    median: float
    deviation: float
    outliers: int

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Between which numbers are no outliers; None if there are none."""
        reach = FAR * self.deviation
        return (self.median - reach, self.median + reach) if self.outliers else None


def spread_of(numbers: np.ndarray, counts: np.ndarray | None = None) -> Spread:
    """The spread of numbers, of which there is at least one, each as often as its count says."""
    order = np.argsort(numbers, kind="stable")
    numbers = numbers[order]
    counts = np.ones(len(numbers), np.int64) if counts is None else counts[order]
    median = quantile(numbers, counts, 0.5)
    with np.errstate(over="ignore"):
        distances = np.abs(numbers - median)
    by_distance = np.argsort(distances, kind="stable")
    deviation = MEDIAN_DISTANCE * quantile(distances[by_distance], counts[by_distance], 0.5)
    if deviation == 0.0:
        first, third = quantile(numbers, counts, 0.25), quantile(numbers, counts, 0.75)
        deviation = QUARTILES_DISTANCE * (third - first)
    if deviation == 0.0 or not math.isfinite(FAR * deviation):
        return Spread(median, 0.0, 0)
    return Spread(median, deviation, int(counts[distances > FAR * deviation].sum()))


def quantile(numbers: np.ndarray, counts: np.ndarray, share: float) -> float:
    """The number below which a share of all lies, linear between two; numbers are sorted, each comes so often.

    >>> quantile(np.array([1.0, 4.0]), np.array([3, 1]), 0.5)
    1.0
    """
    ends = np.cumsum(counts)
    place = share * (int(ends[-1]) - 1)
    below, above = (
        float(numbers[np.searchsorted(ends, at, side="right")]) for at in (math.floor(place), math.ceil(place))
    )
    part = place - math.floor(place)
    return below if part == 0.0 or below == above else below * (1.0 - part) + above * part
