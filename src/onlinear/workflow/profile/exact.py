"""Whole numbers that double precision cannot tell apart: what their cells say, and the bits by which they differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from onlinear.data.whole_numbers import places_beyond, whole_of
from onlinear.streams.arrow_cells import exact_numbers
from onlinear.streams.columns import BLANKS
from onlinear.streams.texts import hashes_of


class Exact(NamedTuple):
    """The cells of a column that are so large: their rows, and what they say."""

    rows: np.ndarray
    values: list[int]

    def keys(self) -> np.ndarray:
        """64 bits for each, by which it differs from all others."""
        return hashes_of([str(value) for value in self.values])

    def are_rounded(self) -> bool:
        """Whether one of them is another number in double precision."""
        return any(float(value) != value for value in self.values)

    def among(self, numbers: np.ndarray) -> np.ndarray:
        """All numbers of the column, these exact."""
        found = numbers.astype(object)
        found[self.rows] = self.values
        return found


def exact_in(numbers: np.ndarray, cells_at: Callable[[np.ndarray], Any]) -> Exact | None:
    """Those of a column's numbers that are so large; ``cells_at`` answers what stands in some rows."""
    rows = places_beyond(numbers)
    if not len(rows):
        return None
    cells = cells_at(rows)
    values = [whole_of(cell.strip(BLANKS)) for cell in cells] if isinstance(cells, list) else exact_numbers(cells)
    return Exact(rows, [int(value) for value in values])
