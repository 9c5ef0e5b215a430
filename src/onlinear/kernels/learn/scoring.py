"""Scores of sparse rows, for answers only."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import numpy as np

from onlinear.kernels.compiler.loop import compiled_loop


@compiled_loop
def score_rows(starts, columns, values, weights, intercepts, scores):
    """``scores[row, output]``, summed in the order of the row; columns without weights count 0.

    ``weights`` are ``[column, output]``, so that those of a column lie together.
    """
    width, outputs = np.uint64(weights.shape[0]), weights.shape[1]
    for row in range(len(starts) - 1):
        for m in range(outputs):
            scores[row, m] = 0.0
        for k in range(np.uint64(starts[row]), np.uint64(starts[row + 1])):
            column = np.uint64(columns[k])
            if column < width:
                for m in range(outputs):
                    scores[row, m] += weights[column, m] * values[k]
        for m in range(outputs):
            scores[row, m] += intercepts[m]
