"""ScoringWeights: what rows are scored with. The one way from weights to scores."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from onlinear.data.batch import Rows, check_columns, length_of, open_up, rows_of
from onlinear.data.rows import LONG_DENSE, SparseRows
from onlinear.kernels.learn.scoring import FEW_OUTPUTS, score_by_column, score_dense, score_long, score_sparse


class ScoringWeights:
    """What rows are scored with: ``table[column, output]`` times ``scales``, and the intercepts. Nobody changes them.

    The scale comes last, as it does where rows are learned.

    >>> weights = ScoringWeights(np.array([[1.0, -1.0], [2.0, 0.0]]), np.ones(2), np.zeros(2))
    >>> weights.scores(np.array([[3.0, 1.0]])).tolist()
    [[5.0, -3.0]]
    """

    def __init__(self, table: np.ndarray, scales: np.ndarray, intercepts: np.ndarray) -> None:
        self.table = np.ascontiguousarray(table)
        self.scales = scales
        self.intercepts = intercepts

    @cached_property
    def _by_output(self) -> np.ndarray:
        """The table as long dense rows want it: ``[output, column]``."""
        return np.ascontiguousarray(self.table.T)

    def scores(self, rows: Any) -> np.ndarray:
        """The scores ``[row, output]`` of an array, a sparse matrix or rows; columns without weights count nothing."""
        rows = rows if isinstance(rows, Rows) else rows_of(rows)
        scores = np.empty((length_of(rows), len(self.intercepts)))
        numbers = self.scales, self.intercepts, scores
        if isinstance(rows, SparseRows):
            starts, columns, values = known_columns(rows, len(self.table))
            score_sparse(open_up(starts), open_up(columns), open_up(values), self.table[:, :, None], *numbers)
            return scores
        check_columns(rows, len(self.table))
        values = rows.values
        is_short = len(self.table) < LONG_DENSE
        if is_short and len(self.intercepts) <= FEW_OUTPUTS and values.flags.fnc:
            score_by_column(open_up(values), self.table, *numbers)
        elif is_short:
            score_dense(open_up(np.ascontiguousarray(values)), self.table, *numbers)
        else:
            score_long(open_up(np.ascontiguousarray(values)), self._by_output, *numbers)
        return scores


def known_columns(rows: SparseRows, width: int) -> SparseRows:
    """The rows without their entries in columns from a width on."""
    if not len(rows.columns) or rows.columns.max() < width:
        return rows
    is_known = rows.columns < width
    before = np.concatenate([[0], np.cumsum(is_known)])
    starts = before[rows.starts].astype(rows.starts.dtype)
    return SparseRows(starts, rows.columns[is_known], rows.values[is_known])
