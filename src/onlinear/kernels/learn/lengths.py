"""Scores and lengths of rows in one go, for certificates."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

from onlinear.data.rows import row_dot_and_square
from onlinear.kernels.compiler.loop import compiled_loop


@compiled_loop
def measure_rows(rows, table, scores, lengths):
    """The product of every row with the weights in a table that faces it, and its squared length."""
    for i in range(len(scores)):
        scores[i], lengths[i] = row_dot_and_square(rows, i, table, 0)
