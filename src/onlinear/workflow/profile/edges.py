"""Edges that cut the numbers of a column into ranges, about as many of them in each."""

from __future__ import annotations

import numpy as np

#: at least and at most so many ranges; between, one for so many rows
FEWEST_RANGES, MOST_RANGES, ROWS_OF_A_RANGE = 8, 32, 500
#: decimal digits that tell all numbers of double precision apart
MOST_DIGITS = 17


def ranges_for(rows: int) -> int:
    """How many ranges are learned from so many rows."""
    return min(max(rows // ROWS_OF_A_RANGE, FEWEST_RANGES), MOST_RANGES)


def edges_of(numbers: np.ndarray, ranges: int, counts: np.ndarray | None = None) -> tuple[float, ...]:
    """The edges of so many ranges, in which there are about as many numbers each; counts say how often each comes.

    A number that comes as often as a range should hold has one of its own, as the 0 of amounts that are mostly 0; the
    others share what is left, so there may be a few ranges more. None is empty. Of all edges that cut the numbers
    alike, the shortest to write is taken.

    >>> edges_of(np.array([0.0, 3.0, 5.5, 8.25]), 3, np.array([90, 5, 5, 5]))
    (3.0, 4.0)
    """
    values, where = np.unique(numbers, return_inverse=True)
    often = np.bincount(where, counts, len(values))
    alone, share = those_alone(often, ranges)
    others = np.where(alone, 0.0, often)
    level = np.floor((np.cumsum(others) - others / 2) / share)
    first = 1 + np.flatnonzero((level[1:] != level[:-1]) | alone[1:] | alone[:-1])
    return tuple(map(shortest_between, values[first - 1].tolist(), values[first].tolist()))


def those_alone(often: np.ndarray, ranges: int) -> tuple[np.ndarray, float]:
    """Which numbers have a range of their own, and how many there should be in each range of the others."""
    alone, share = np.zeros(len(often), np.bool_), often.sum() / ranges
    while not alone.all() and (more := ~alone & (often >= share)).any():
        alone |= more
        if not alone.all():
            share = often[~alone].sum() / (ranges - alone.sum())
    return alone, share


def shortest_between(low: float, high: float) -> float:
    """A number above one and not above the other, with as few digits as there can be; near the higher one if it may be.

    >>> shortest_between(36.0, 37.0), shortest_between(0.0, 114.0), shortest_between(0.30000000000000004, 0.7)
    (37.0, 100.0, 0.7)
    """
    for digits in range(1, MOST_DIGITS):
        for near in (high, low / 2 + high / 2):
            found = float(f"{near:.{digits}g}")
            if low < found <= high:
                return found
    return high
