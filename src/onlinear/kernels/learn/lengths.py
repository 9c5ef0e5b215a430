"""Scores and lengths of rows in one go, for certificates."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

from functools import cache
from typing import Any

import numba

from onlinear.data.rows import row_dot_and_square
from onlinear.kernels.compiler.uncounted import bare
from onlinear.kernels.loops import kept, named, source_digest


@cache
def measure_rows() -> Any:
    """The compiled loop: the product of every row with the weights in a table that faces it, and its squared length."""
    digest = source_digest()

    def loop(rows, table, scores, lengths):
        _ = digest
        rows, table = bare(rows), bare(table)
        for i in range(len(scores)):
            scores[i], lengths[i] = row_dot_and_square(rows, i, table, 0)

    return kept(numba.njit(nogil=True, error_model="numpy")(named(loop, measure_rows)))
