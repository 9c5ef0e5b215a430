"""Scaling in the order of the rows: each first counts itself, then is scaled by what was seen so far."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

import numpy as np

from onlinear.kernels.compiler.inlining import inlined
from onlinear.kernels.compiler.loop import compiled_loop

LARGEST = sys.float_info.max


class Moments(NamedTuple):
    """What was seen of some numbers: how many values, their mean and their standard deviation."""

    counts: Any  # int64
    means: Any
    deviations: Any


@inlined
def limited(x):
    return min(max(x, -LARGEST), LARGEST)


@inlined
def count_in(moments, k, x):
    """Count a value in: Welford's update, of the deviation instead of its square.

    d = x - mean;  mean += d/n;  deviation² = deviation² (n-1)/n + d² (n-1)/n². Neither d nor a square of anything is
    ever computed, but d/2 and a hypotenuse: they stay finite for all floats, and nothing is too small for them.
    """
    moments.counts[k] += 1
    n = float(moments.counts[k])
    half = 0.5 * x - 0.5 * moments.means[k]
    moments.means[k] += 2.0 * (half / n)
    shrunk = moments.deviations[k] * math.sqrt((n - 1.0) / n)
    moments.deviations[k] = min(math.hypot(shrunk, half * (2.0 * math.sqrt(n - 1.0) / n)), LARGEST)


@inlined
def standard(moments, k, x):
    """(x - mean) / deviation, and 0 where all values were the same; at most the largest float."""
    if moments.deviations[k] == 0.0:
        return 0.0
    return limited((0.5 * x - 0.5 * moments.means[k]) / moments.deviations[k] * 2.0)


@inlined
def standardise_row(moments, columns, which, row_columns, row_values, scaled, learns):
    """Scale those entries of a row that are in one of the columns; both are sorted, and have each column once."""
    at = 0
    for k in range(len(row_columns)):
        x = 1.0 * row_values[k]
        while at < len(columns) and columns[at] < row_columns[k]:
            at += 1
        if at < len(columns) and columns[at] == row_columns[k]:
            if learns:
                count_in(moments, which[at], x)
            x = standard(moments, which[at], x)
        scaled[k] = x


@compiled_loop
def standardise(moments, columns, which, rows, scaled, learns):
    """Values of the ``columns``, whose moments are ``which``, are scaled; others stay."""
    for row in range(len(rows.starts) - 1):
        start, stop = rows.starts[row], rows.starts[row + 1]
        row_columns, row_values = rows.columns[start:stop], rows.values[start:stop]
        standardise_row(moments, columns, which, row_columns, row_values, scaled[start:stop], learns)


@compiled_loop
def divide_by_largest(largest, columns, values, scaled, learns):
    """Values by the largest that was seen in their columns; 0 where that is 0."""
    for k in range(len(columns)):
        column = columns[k]
        x = 1.0 * values[k]
        if learns:
            largest[column] = max(largest[column], abs(x))
        known = column < np.uint64(len(largest)) and largest[column] > 0.0
        scaled[k] = limited(x / largest[column]) if known else 0.0
