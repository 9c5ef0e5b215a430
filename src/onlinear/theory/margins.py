"""The least margin of weights on rows, and the rows' radius: to the last bit, by a pass in floats and a few exact rows.

In floats a score of n terms is within ``n u / (1 - n u)`` times ``|w| |x|`` of the true one (u = 2^-53; Higham 2002,
section 3.1; Cauchy-Schwarz bounds the sum of absolute products). A row whose interval does not reach the smallest upper
end cannot have the least margin; those left are computed exactly.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from onlinear.theory.exact import ExactWeights, squared_length
from onlinear.theory.examples import Examples, Row, Rows

ROUNDING = 2.0**-53
#: what all terms together may lose by being too small for a float
UNDERFLOW = 2.0**-1000


class Margins(NamedTuple):
    """What is exactly true of weights on rows."""

    examples: int
    least: Fraction  # min y <w, x>
    radius_squared: Fraction  # max |x|^2, with the constant feature's square
    norm_squared: Fraction  # |w|^2, with the constant feature's weight


class Interval(NamedTuple):
    """Numbers that are certainly between two others."""

    low: np.ndarray
    high: np.ndarray


def margins_of(weights: ExactWeights, examples: Examples) -> Margins:
    """The least margin and the radius, exactly."""
    count = 0
    least, longest = Least(), Least()
    for block in examples():
        count += len(block.targets)
        scores, lengths = intervals_of(weights, block)
        least.see(block, scores)
        longest.see(block, Interval(-lengths.high, -lengths.low))
    return Margins(
        count,
        min(Fraction(row.target) * weights.score(row.columns, row.values) for row in least.rows()),
        max(squared_length(row.values) for row in longest.rows()) + weights.constant_squared,
        weights.norm_squared,
    )


def intervals_of(weights: ExactWeights, block: Rows) -> tuple[Interval, Interval]:
    """``y <w, x>`` and ``|x|^2`` of the rows."""
    scores, lengths = block.measured(weights.weights, weights.intercept)
    error = growth(block.longest + 8) * 1.01  # the sizes below are rounded themselves
    with np.errstate(over="ignore", invalid="ignore"):  # what is not a number any more is left to exact arithmetic
        around = error * lengths + UNDERFLOW
        sizes = np.sqrt(lengths + around) * np.linalg.norm(weights.weights) + abs(weights.intercept)
        return between(scores, error * sizes + UNDERFLOW), between(lengths, around)


def between(numbers: np.ndarray, error: np.ndarray) -> Interval:
    return Interval(numbers - error, numbers + error)


def growth(terms: int) -> float:
    """How far a sum of so many terms may be off, relative to the sum of their sizes."""
    return (terms + 2) * ROUNDING / (1.0 - (terms + 2) * ROUNDING)


class Least:
    """The rows that may have the least of something known in intervals."""

    def __init__(self) -> None:
        self.reach = np.inf
        self.kept: list[tuple[float, Row]] = []

    def see(self, block: Rows, among: Interval) -> None:
        self.reach = float(np.fmin.reduce(among.high, initial=self.reach))
        self.kept = [(low, row) for low, row in self.kept if not low > self.reach]
        for i in np.flatnonzero(~(among.low > self.reach)):
            self.kept.append((float(among.low[i]), block.row(int(i))))

    def rows(self) -> list[Row]:
        return [row for _, row in self.kept]
