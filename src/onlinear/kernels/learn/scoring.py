"""Scores of sparse rows, for answers only."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np

from onlinear.kernels.compiler.uncounted import bare
from onlinear.kernels.loops import kept, named, source_digest


@cache
def score_rows() -> Any:
    """The compiled loop: ``scores[row, output]``, summed in the order of the row; columns without weights count 0.

    ``weights`` are ``[column, output]``, so that those of a column lie together.
    """
    digest = source_digest()

    def loop(starts, columns, values, weights, intercepts, scores):
        _ = digest
        width, outputs = np.uint64(weights.shape[0]), weights.shape[1]
        starts, columns, values, weights, scores = (
            bare(starts),
            bare(columns),
            bare(values),
            bare(weights),
            bare(scores),
        )
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

    return kept(numba.njit(nogil=True, error_model="numpy")(named(loop, score_rows)))
