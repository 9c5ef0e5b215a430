"""Clipping: numbers of a column below its lower bound become that bound, those above the upper one that.

The bounds are fixed, so nothing depends on the order of rows. Numbers are clipped before they are scaled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from onlinear.data.rows import SparseRows
from onlinear.errors import OnlinearError
from onlinear.features.blocks import Block

if TYPE_CHECKING:
    from onlinear.features.scaling import ColumnsOf


class Bounds(NamedTuple):
    """Between which numbers a column is kept."""

    name: str
    low: float
    high: float


class Clipping:
    """The bounds of number columns; ``columns_of`` tells where these stand when a block is there.

    Whatever else shares a hashed cell is clipped with it; crosses are products of the numbers as the file has them.
    """

    def __init__(self, bounds: Sequence[Bounds], numbers: Sequence[str], columns_of: ColumnsOf) -> None:
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


def check_bounds(bounds: Sequence[Bounds], numbers: Sequence[str]) -> None:
    """Refuse bounds of columns that have no numbers, and those between which there is none."""
    for name, low, high in bounds:
        if name not in numbers:
            known = ", ".join(numbers) or "none"
            raise OnlinearError(f"the column {name!r} cannot be clipped: those of numbers are {known}")
        if not (math.isfinite(low) and math.isfinite(high) and low <= high):
            raise OnlinearError(f"the bounds of {name!r} are {low} and {high}: give two numbers, the smaller one first")
