"""A feature of its own for each row that is learned: what makes any rows separable.

The theorem, and what it bounds, is in :mod:`onlinear.learning.dual.unique`. The feature of a row stands behind all
columns that rows may have, in the order of the rows of a pass, so that a row has the same one in each pass. A new row
has none: nobody has seen it before, and it is answered by the weights of all other columns.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from onlinear.data.rows import SparseRows
from onlinear.errors import OnlinearError, Refused
from onlinear.features.blocks import Block, width_of
from onlinear.features.scaling import as_sparse

#: columns that a table may have
MOST_COLUMNS = 1 << 32


class Own(NamedTuple):
    """The value of the features, the column of the first, and how many rows have one; those ``before`` were of
    earlier runs."""

    delta: float
    first: int
    rows: int = 0
    before: int = 0


class OwnFeatures:
    """A stage that gives each row a feature of its own."""

    State = Own

    def __init__(self, own: Own) -> None:
        fine = 0 <= own.before <= own.rows and own.first >= 0 and own.first + own.rows <= MOST_COLUMNS
        if not fine or not 0.0 < own.delta < math.inf:
            raise OnlinearError(f"there are no features of rows as {tuple(own)!r:.80}: their value is above 0")
        self._own = own

    def state(self) -> Own:
        """All there is to remember."""
        return self._own

    def begin(self) -> None:
        """The rows that come now are others than those before."""
        self._own = self._own._replace(before=self._own.rows)

    def learn(self, block: Block) -> Block:
        """The block, each row with its feature behind all others."""
        if not len(block):
            return block
        assert block.numbers is not None
        places = self._own.before + block.numbers
        rows = max(self._own.rows, int(places.max()) + 1)
        if self._own.first + rows > MOST_COLUMNS:
            raise Refused("there are more rows with a feature of their own than columns: leave out --unique-features")
        self._own = self._own._replace(rows=rows)
        return self._with_features(block, places)

    def apply(self, block: Block, *, again: bool = False) -> Block:
        """The block: no new row has a feature of its own, but one learned again. Changes nothing."""
        if not again or not len(block):
            return block
        assert block.numbers is not None
        return self._with_features(block, block.numbers)

    def _with_features(self, block: Block, places: np.ndarray) -> Block:
        """The block, with the features at these places for its rows, as far as there are such."""
        known = np.flatnonzero(places < self._own.rows)
        rows, own = as_sparse(block.rows), (self._own.first + places[known]).astype(np.uint32)
        ends = np.asarray(rows.starts[1:], np.int64)
        columns = np.insert(rows.columns[: ends[-1]].astype(np.uint32, copy=False), ends[known], own)
        values = np.insert(np.asarray(rows.values[: ends[-1]], np.float64), ends[known], self._own.delta)
        starts = np.asarray(rows.starts, np.int64) + np.concatenate([[0], np.cumsum(places < self._own.rows)])
        sparse = SparseRows(starts.astype(rows.starts.dtype), columns, values)
        return replace(block, rows=sparse, width=width_of(sparse))

    def name_of(self, column: int) -> str | None:
        """What the column of a row is called; None for other columns."""
        return f"row {column - self._own.first + 1} of those learned" if column >= self._own.first else None
