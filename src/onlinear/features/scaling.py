"""Numbers made smaller: clipped to fixed bounds, then scaled by what was seen so far.

Clipping: numbers of a column below its lower bound become that bound, those above the upper one that. Scaling: by the
largest value so far, or by mean and deviation so far: each row first updates the statistics with its own values, never
with its label, and is then scaled by them. Or each row by its own length. Nothing depends on how the rows are cut into
blocks. A block that is given stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from onlinear.data.batch import Rows
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.errors import OnlinearError
from onlinear.features.blocks import Block, width_of
from onlinear.features.state import Arrays, damage_error, vector
from onlinear.kernels.text import scaling as kernel


class ClipBounds(NamedTuple):
    """Between which numbers a column is kept."""

    name: str
    low: float
    high: float


class Clipping:
    """The bounds of number columns; ``columns_of`` tells where these stand when a block is there.

    Whatever else shares a hashed cell is clipped with it; crosses are products of the numbers as the file has them.
    """

    def __init__(self, bounds: Sequence[ClipBounds], numbers: Sequence[str], columns_of: ColumnsOf) -> None:
        check_bounds(bounds, numbers)
        self.bounds = tuple(bounds)
        self.columns_of = columns_of

    def apply(self, block: Block) -> Block:
        """The block, clipped. Changes nothing."""
        rows = block.rows
        assert isinstance(rows, SparseRows)
        columns, which = np.unique(self.columns_of([bounds.name for bounds in self.bounds]), return_index=True)
        columns, which = columns[columns >= 0], which[columns >= 0]
        if not len(columns):
            return block
        places = np.searchsorted(columns, rows.columns).clip(max=len(columns) - 1)
        entries = np.flatnonzero(columns[places] == rows.columns)
        chosen = which[places[entries]]
        low, high = (np.array([bounds[end] for bounds in self.bounds]) for end in (1, 2))
        values = rows.values.copy()
        values[entries] = values[entries].clip(low[chosen], high[chosen])
        return replace(block, rows=rows._replace(values=values))


def check_bounds(bounds: Sequence[ClipBounds], numbers: Sequence[str]) -> None:
    """Refuse bounds of columns that have no numbers, and those between which there is none."""
    for name, low, high in bounds:
        if name not in numbers:
            known = ", ".join(numbers) or "none"
            raise OnlinearError(f"the column {name!r} cannot be clipped: those of numbers are {known}")
        if not (math.isfinite(low) and math.isfinite(high) and low <= high):
            raise OnlinearError(f"the bounds of {name!r} are {low} and {high}: give two numbers, the smaller one first")


#: columns there is room for at first
FIRST_COLUMNS = 1 << 10
#: gives the columns where numbers stand, as int64; negative for those that were never seen
ColumnsOf = Callable[[Sequence[str]], np.ndarray]


class MaxAbs:
    """Each value by the largest of its column so far, in absolute value. 0 stays 0, so rows stay sparse.

    A column of which nothing but 0 was seen is 0 in prediction, too.
    """

    def __init__(self) -> None:
        self._largest = np.zeros(FIRST_COLUMNS)
        self._width = 0

    def learn(self, block: Block) -> Block:
        """The block, counted in and scaled."""
        self._make_room(width_of(block.rows))
        return self._scaled(block, learns=True)

    def apply(self, block: Block) -> Block:
        """The block, scaled by what was learned. Changes nothing."""
        return self._scaled(block, learns=False)

    def _scaled(self, block: Block, learns: bool) -> Block:
        rows = as_sparse(block.rows)
        scaled = np.empty(len(rows.values))
        kernel.divide_by_largest(self._largest, rows.columns, rows.values, scaled, learns)
        return with_values(block, scaled)

    def _make_room(self, width: int) -> None:
        self._width = max(self._width, width)
        if self._width > len(self._largest):
            grown = np.zeros(1 << (self._width - 1).bit_length())
            grown[: len(self._largest)] = self._largest
            self._largest = grown

    def arrays(self) -> Arrays:
        """All of it, as plain arrays."""
        return {"largest": self._largest[: self._width].copy()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> MaxAbs:
        """The scaler that :meth:`arrays` are of. It goes on to the same bits."""
        largest = vector(arrays, "largest", np.float64)
        if not (np.isfinite(largest) & (largest >= 0.0)).all():
            raise damage_error("largest")
        scaler = cls()
        scaler._make_room(len(largest))
        scaler._largest[: len(largest)] = largest
        return scaler


class Standardise:
    """(x - mean) / standard deviation of all values so far, for the number columns of a table; 0 if all are the same.

    Only for them: a category or a word would no longer be 0 where it is not in the row. A number that is missing counts
    for nothing. ``names`` are those of the number columns; ``columns_of`` tells where they stand when a block is there:
    a vocabulary's, or :func:`onlinear.features.naming.cells_of`. Whatever else shares a hashed cell is scaled with it.
    """

    def __init__(self, names: Sequence[str], columns_of: ColumnsOf) -> None:
        if not names:
            raise OnlinearError(
                "there are no number columns to standardise, as only a table has them: scale by max-abs instead"
            )
        self.names = list(names)
        self.columns_of = columns_of
        self._moments = kernel.Moments(np.zeros(len(names), np.int64), np.zeros(len(names)), np.zeros(len(names)))

    def learn(self, block: Block) -> Block:
        """The block, counted in and scaled."""
        return self._scaled(block, learns=True)

    def apply(self, block: Block) -> Block:
        """The block, scaled by what was learned. Changes nothing."""
        return self._scaled(block, learns=False)

    def _scaled(self, block: Block, learns: bool) -> Block:
        rows = as_sparse(block.rows)
        columns, which = np.unique(self.columns_of(self.names), return_index=True)
        seen = columns >= 0
        scaled = np.empty(len(rows.values))
        columns = columns[seen].astype(rows.columns.dtype)
        kernel.standardise(self._moments, columns, which[seen], rows, scaled, learns)
        return with_values(block, scaled)

    def arrays(self) -> Arrays:
        """All of it, as plain arrays."""
        return {name: numbers.copy() for name, numbers in self._moments._asdict().items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], names: Sequence[str], columns_of: ColumnsOf) -> Standardise:
        """The scaler that :meth:`arrays` are of. It goes on to the same bits."""
        scaler = cls(names, columns_of)
        counts = vector(arrays, "counts", np.int64, len(names))
        means, deviations = (vector(arrays, name, np.float64, len(names)) for name in ("means", "deviations"))
        if not ((counts >= 0) & np.isfinite(means) & np.isfinite(deviations) & (deviations >= 0.0)).all():
            raise damage_error("means and deviations")
        scaler._moments = kernel.Moments(counts.copy(), means.copy(), deviations.copy())
        return scaler


class UnitLength:
    """Each row by its own Euclidean length: the R of the theorems is 1. A row of zeros stays; there is no memory."""

    def learn(self, block: Block) -> Block:
        """The block, scaled."""
        return self.apply(block)

    def apply(self, block: Block) -> Block:
        """The block, scaled. Changes nothing."""
        return with_values(block, unit_values(as_sparse(block.rows)))

    def arrays(self) -> Arrays:
        """Nothing."""
        return {}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> UnitLength:
        """Another one: there is nothing to remember."""
        return cls()


def unit_values(rows: SparseRows) -> np.ndarray:
    """The values of rows that are divided by their lengths, first by the largest of each, so that no square overflows.

    ``bincount`` adds one by one in order: the bits of a row do not depend on what stands beside it.
    """
    starts = np.asarray(rows.starts, np.int64)
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    values = np.array(rows.values, np.float64)
    largest, filled = np.ones(len(starts) - 1), np.diff(starts) > 0
    if filled.any():
        largest[filled] = np.maximum.reduceat(np.abs(values), starts[:-1][filled])
    largest[largest == 0.0] = 1.0
    values /= largest[row]
    lengths = np.sqrt(np.bincount(row, values * values, len(largest)))
    lengths[lengths == 0.0] = 1.0
    return values / lengths[row]


def as_sparse(rows: Rows) -> SparseRows:
    """Rows as sparse ones that have all their entries."""
    if isinstance(rows, SparseRows):
        return rows
    length, width = rows.values.shape
    starts = np.arange(length + 1, dtype=np.int64) * width
    return SparseRows(starts, np.tile(np.arange(width, dtype=np.uint32), length), rows.values.ravel())


def with_values(block: Block, values: np.ndarray) -> Block:
    """The block with other values in its rows."""
    if isinstance(block.rows, DenseRows):
        return replace(block, rows=DenseRows(values.reshape(block.rows.values.shape)))
    return replace(block, rows=block.rows._replace(values=values))
