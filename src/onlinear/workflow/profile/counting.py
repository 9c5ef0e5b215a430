"""What is counted of a column as its cells go by: how often each value comes, and the moments of numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: values that are counted apart
MOST_VALUES = 100_000
#: an odd number whose bits look like chance: 2**64 by the golden ratio
FACTOR = np.uint64(0x9E3779B97F4A7C15)


def mix_bits(hashes: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """The hashes of rows with the bits of one more cell in each."""
    found: np.ndarray = hashes ^ bits
    found *= FACTOR
    found ^= found >> np.uint64(29)
    return found


class Counts:
    """How often each value comes, up to so many values; ``complete`` until there are more.

    From then on only those known are counted on. Values are any 64 bits.
    """

    def __init__(self, most: int = MOST_VALUES) -> None:
        self.values = np.empty(0, np.uint64)
        self.counts = np.empty(0, np.int64)
        self.complete = True
        self._most = most

    def __len__(self) -> int:
        return len(self.values)

    def add(self, values: np.ndarray) -> None:
        found, counts = np.unique(values, return_counts=True)
        places = np.searchsorted(self.values, found)
        known = places < len(self.values)
        known[known] = self.values[places[known]] == found[known]
        self.counts[places[known]] += counts[known]
        new = np.flatnonzero(~known)
        if not self.complete or not len(new):
            return
        self.complete = len(self) + len(new) <= self._most
        new = new[: self._most - len(self)]
        self.values = np.insert(self.values, places[new], found[new])
        self.counts = np.insert(self.counts, places[new], counts[new])

    def most_common(self, number: int) -> list[tuple[int, int]]:
        """So many values with their counts, the most frequent first; of equally frequent ones, the smallest first."""
        order = np.lexsort((self.values, -self.counts))[:number]
        return list(zip(self.values[order].tolist(), self.counts[order].tolist(), strict=True))


class ColumnMoments(NamedTuple):
    """How many numbers there are, their mean, and the sums of the squares and cubes of their distances from it.

    Two of them make one: T. Chan, G. Golub and R. LeVeque 1979; P. Pébay 2008, formulas 2.1 and 2.2.
    """

    rows: int = 0
    mean: float = 0.0
    squares: float = 0.0
    cubes: float = 0.0

    def merge(self, other: ColumnMoments) -> ColumnMoments:
        if not self.rows or not other.rows:
            return other if other.rows else self
        n, m, total = self.rows, other.rows, self.rows + other.rows
        with np.errstate(over="ignore", invalid="ignore"):  # Python's own floats would raise at the third power
            apart = np.float64(other.mean) - np.float64(self.mean)
            squares = self.squares + other.squares + apart * apart * n * m / total
            cubes = self.cubes + other.cubes + apart**3 * n * m * (n - m) / total**2
            cubes += 3.0 * apart * (n * other.squares - m * self.squares) / total
            return ColumnMoments(total, float(self.mean + apart * (m / total)), float(squares), float(cubes))

    @property
    def skew(self) -> float | None:
        """The mean cube of the distances by that of the squares to the power of 3/2; None if all are the same."""
        spread = self.squares / self.rows if self.rows else 0.0
        if not spread > 0.0 or not np.isfinite(spread) or not np.isfinite(self.cubes):
            return None
        found = self.cubes / self.rows / spread**1.5 if spread**1.5 > 0.0 else np.nan
        return float(found) if np.isfinite(found) else None


def moments_of(numbers: np.ndarray) -> ColumnMoments:
    """The moments of numbers, none of them NaN."""
    if not len(numbers):
        return ColumnMoments()
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(np.mean(numbers))
        distances = numbers - mean
        squares = distances * distances
        return ColumnMoments(len(numbers), mean, float(squares.sum()), float((squares * distances).sum()))
