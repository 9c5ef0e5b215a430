"""Columns that say the target outright, by a sample of rows: good to be true, and of no use where it is not known.

Each look asks whether *all* rows agree; a column that is merely strong is none. And it asks how likely that were if
column and target had nothing to do with each other: few rows prove nothing.
"""

from __future__ import annotations

import math

import numpy as np

#: rows there have to be, and how unlikely, in bits, it has to be that they agree by chance
ROWS, BITS = 50, 40.0
#: rows for each value of a column that comes more than once, and their share of all rows
REPEATS, SHARE = 3.0, 0.9
#: rows of the smaller classes for a threshold between classes
ROWS_OF_A_CLASS = 20
#: what is left of the target's variance by a line, at most
LEFT = 1e-6

BY_VALUE = "each of its values goes with one value of the target"
BY_ABSENCE = "it is missing for some values of the target, and for no others"
BY_THRESHOLD = "thresholds of it tell the classes apart"
BY_ORDER = "it puts the rows in the order of the target"
BY_LINE = "the target is a linear function of it"


def leak_in(bits: np.ndarray, missing: np.uint64, numbers: np.ndarray | None, codes: np.ndarray) -> str | None:
    """How a column gives a target of classes away; None if it does not.

    ``bits`` and ``missing`` are the column's cells, ``numbers`` the same as numbers if it has them; ``codes`` the class
    of each row.
    """
    if len(codes) < ROWS:
        return None
    absent = bits == missing
    if absent.any() and determines(absent, codes):
        return BY_ABSENCE
    if determines(bits, codes):
        return BY_VALUE
    if numbers is not None and not absent.any() and has_thresholds(numbers, codes):
        return BY_THRESHOLD
    return None


def leak_of_numbers(bits: np.ndarray, missing: np.uint64, numbers: np.ndarray | None, target: np.ndarray) -> str | None:
    """How a column gives a target of numbers away; None if it does not."""
    if len(target) < ROWS:
        return None
    if determines(bits, np.unique(target, return_inverse=True)[1]):
        return BY_VALUE
    if numbers is None:
        return None
    there = bits != missing
    numbers, target = numbers[there], target[there]
    if len(target) < ROWS or len(np.unique(numbers)) < ROWS:
        return None
    if is_line(numbers, target):
        return BY_LINE
    return BY_ORDER if is_ordered(numbers, target) or is_ordered(numbers, -target) else None


def determines(values: np.ndarray, codes: np.ndarray) -> bool:
    """Whether each value goes with one code, and enough values come again.

    By chance a second row of a value has the code of the first with probability Σ p², p the shares of the codes among
    the rows of values that come again.
    """
    order = np.lexsort((codes, values))
    values, codes = values[order], codes[order]
    again = values[1:] == values[:-1]
    if (codes[1:] != codes[:-1])[again].any():
        return False
    repeated = np.append(again, False) | np.append(False, again)
    rows, different = int(repeated.sum()), int(repeated.sum() - again.sum())
    if rows < SHARE * len(values) or rows < REPEATS * different:
        return False
    shares = np.unique(codes[repeated], return_counts=True)[1] / rows
    agreeing = float((shares**2).sum())
    return agreeing < 1.0 and -math.log2(agreeing) * (rows - different) >= BITS


def has_thresholds(numbers: np.ndarray, codes: np.ndarray) -> bool:
    """Whether each class has an interval of its own: sorted by the number, the classes come one behind the other."""
    counts = np.unique(codes, return_counts=True)[1]
    if len(counts) < 2 or counts.min() < ROWS_OF_A_CLASS or len(np.unique(numbers)) < len(counts):
        return False
    order = np.lexsort((codes, numbers))
    numbers, codes = numbers[order], codes[order]
    changes = np.flatnonzero(codes[1:] != codes[:-1])
    return len(changes) == len(counts) - 1 and bool((numbers[changes + 1] > numbers[changes]).all())


def is_ordered(numbers: np.ndarray, target: np.ndarray) -> bool:
    """Whether the target grows with the number, and equal numbers go with equal targets."""
    order = np.lexsort((target, numbers))
    numbers, target = numbers[order], target[order]
    same = numbers[1:] == numbers[:-1]
    return bool((target[1:] >= target[:-1]).all() and (target[1:] == target[:-1])[same].all()) and (
        len(np.unique(target)) >= ROWS
    )


def is_line(numbers: np.ndarray, target: np.ndarray) -> bool:
    """Whether a line through the rows leaves nothing but rounding of the target's variance."""
    with np.errstate(all="ignore"):
        x, y = (column / np.abs(column).max() for column in (numbers, target))
        x, y = x - x.mean(), y - y.mean()
        correlation = (x @ y) ** 2 / ((x @ x) * (y @ y))
    return bool(correlation >= 1.0 - LEFT)
