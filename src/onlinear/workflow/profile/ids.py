"""Columns that only name the row: numbers of rows, of customers, codes. Nothing can be learned from a name.

Nearly every value of them is different, and they are no measurements, of which the same may be true.
"""

from __future__ import annotations

import re

import numpy as np

#: rows there have to be, and the share of values that are different
ROWS, DIFFERENT = 20, 0.9
#: row numbers lie so close together: their range by how many there are
RANGE, MANY_ROWS = 2.0, 100
#: numbers of customers and the like are as large as that, and no rounder than chance makes them
LARGE, ROUND = 10_000.0, 0.3
#: texts with more words than these are no codes
WORDS_OF_CODES = 2.0
#: how much of the target's order an id may tell: the square of the correlation of ranks
TOLD = 0.1
#: how columns of ids are called
NAMES = re.compile(r"(^|[_\W])(?i:id|uid|uuid|guid|key|index|number|no|nr|code)$|[a-z](Id|ID|No|Nr)$")

ROW_NUMBERS = "its values are numbered one after the other"
ASCENDING = "its values are whole numbers that ascend from row to row (if they are times, name it as the time)"
CODES = "nearly every row has another value"


def id_of_numbers(
    name: str, different: float, rows: int, ascending: bool, values: np.ndarray, target: np.ndarray
) -> str | None:
    """Why a column of whole numbers is an id; None if it is none.

    ``different`` is the share of different values among those ``rows`` that have one, ``ascending`` says whether none
    is smaller than the one before; ``values`` are a sample of them, ``target`` their targets as numbers or codes.
    """
    if rows < ROWS or different < DIFFERENT:
        return None
    if ascending:
        return ASCENDING
    low, high = float(values.min()), float(values.max())
    if high - low + 1.0 <= RANGE * rows and rows >= MANY_ROWS:
        return ROW_NUMBERS
    is_large = low >= 0.0 and float(np.median(values)) >= LARGE and float(np.mean(values % 10.0 == 0.0)) < ROUND
    return CODES if NAMES.search(name) or (is_large and rank_correlation(values, target) < TOLD) else None


def id_of_texts(different: float, rows: int, words: float) -> str | None:
    """Why a column of texts is an id; None if it is none. ``words`` are those of a text on average."""
    return CODES if rows >= ROWS and different >= DIFFERENT and words <= WORDS_OF_CODES else None


def rank_correlation(values: np.ndarray, target: np.ndarray) -> float:
    """The square of the correlation of ranks."""
    x, y = ranks(values), ranks(target)
    x, y = x - x.mean(), y - y.mean()
    lengths = float((x @ x) * (y @ y))
    return float((x @ y) ** 2 / lengths) if lengths > 0.0 else 0.0


def ranks(values: np.ndarray) -> np.ndarray:
    """The place of each number among all, the mean place for equal ones."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2.0)[which]
