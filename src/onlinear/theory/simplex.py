"""The simplex method in whole numbers: for the few rows of which floats cannot tell whether they cancel.

Phase one of ``sum a z = 0, sum a = 1, a >= 0``, by Bland's rule, which never goes in circles. The tableau stays whole:
after a pivot all other lines are divided by the pivot before, without a rest (Edmonds 1967; Bareiss 1968).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.theory.operations import Operations

#: what an entry of the tableau costs, as it is a number of Python's
OVERHEAD = 256


def cancel_or_separate(rows: Any, operations: Operations) -> tuple[bool, list[int]]:
    """Whole multipliers, not below 0, that combine rows of whole numbers to 0, or else whole weights that separate.

    The answer is whether they cancel, and the one or the other.

    >>> cancel_or_separate([[1, 1], [-2, -2]], Operations())
    (True, [2, 1])
    >>> cancel_or_separate([[1, 1], [-1, 0]], Operations())
    (False, [-1, 2])
    """
    tableau, basis = first_tableau(rows)
    count, before = len(rows), 1
    while True:
        wanted = next((j for j in range(count) if tableau[-1, j] > 0), None)
        if wanted is None:
            break
        bits = max(int(n).bit_length() for n in tableau[:, -1])
        operations.take(OVERHEAD * tableau.size * (1 + bits // 64) ** 2)
        before = pivot(tableau, leaving(tableau, basis, wanted), wanted, basis, before)
    if tableau[-1, -1] == 0:
        multipliers = [0] * count
        for line, column in enumerate(basis):
            if column < count:
                multipliers[column] = int(tableau[line, -1])
        return True, multipliers
    return False, [-int(n) for n in tableau[-1, count:-2]]


def first_tableau(rows: Any) -> tuple[np.ndarray, list[int]]:
    """A line for each column of the rows and one for the sum; then the costs: what artificial variables still hold."""
    matrix = np.array(rows, dtype=object)
    count, columns = matrix.shape
    tableau = np.zeros((columns + 2, count + columns + 2), dtype=object)
    tableau[:columns, :count] = matrix.T
    tableau[columns, :count] = tableau[columns, -1] = 1
    lines = np.arange(columns + 1)
    tableau[lines, count + lines] = 1
    tableau[-1] = tableau[:-1].sum(axis=0)
    return tableau, [count + line for line in range(columns + 1)]


def leaving(tableau: np.ndarray, basis: list[int], wanted: int) -> int:
    """The line of the variable that first becomes 0; of several the one whose variable comes first."""
    best: tuple[int, int, int] | None = None
    for line in range(len(basis)):
        slope, value = tableau[line, wanted], tableau[line, -1]
        if slope > 0 and (best is None or (value * best[1], basis[line]) < (best[0] * slope, basis[best[2]])):
            best = value, slope, line
    assert best is not None, "the sum of multipliers is 1"
    return best[2]


def pivot(tableau: np.ndarray, line: int, column: int, basis: list[int], before: int) -> int:
    """Bring a column into the basis; answer by what the tableau is multiplied now."""
    lead, kept = tableau[line, column], tableau[line].copy()
    tableau[:] = (tableau * lead - np.outer(tableau[:, column], kept)) // before
    tableau[line] = kept
    basis[line] = column
    return int(lead)
