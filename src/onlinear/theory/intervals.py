"""Numbers in floats that are certainly between two others.

In floats a sum of n products is within ``n u / (1 - n u)`` times ``|w| |x|`` of the true one (u = 2^-53; Higham 2002,
section 3.1; Cauchy-Schwarz bounds the sum of absolute products).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ROUNDING = 2.0**-53
#: what all terms together may lose by being too small for a float
UNDERFLOW = 2.0**-1000


class Interval(NamedTuple):
    """Numbers that are certainly between two others; what is not a number any more may be anything."""

    low: np.ndarray
    high: np.ndarray

    @property
    def middle(self) -> np.ndarray:
        return 0.5 * self.low + 0.5 * self.high

    def times(self, signs: np.ndarray) -> Interval:
        positive = signs > 0.0
        return Interval(np.where(positive, self.low, -self.high), np.where(positive, self.high, -self.low))


def interval_around(numbers: np.ndarray, error: np.ndarray) -> Interval:
    return Interval(numbers - error, numbers + error)


def growth(terms: int) -> float:
    """How far a sum of so many terms may be off, relative to the sum of their sizes."""
    return (terms + 2) * ROUNDING / (1.0 - (terms + 2) * ROUNDING)
