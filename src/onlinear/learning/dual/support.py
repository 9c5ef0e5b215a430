"""The examples that perceptrons in dual form keep, with their coefficients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from onlinear.data.batch import writeable

#: rows of a tile: products of tiles all have the same shape, so that they all round alike
TILE = 512


class Support:
    """Rows in tiles, and for every row a coefficient for each output.

    The places of a tile that nothing is kept in yet hold a copy of some row and the coefficient 0: whoever multiplies
    whole tiles gets the same bits however full the last one is.
    """

    def __init__(self, features: int, outputs: int, dtype: np.dtype) -> None:
        self.size = 0
        self.rows = np.empty((0, features), dtype)
        self.coefficients = np.zeros((0, outputs))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.rows, self.coefficients = writeable(self.rows), writeable(self.coefficients)

    def append(self, row: np.ndarray) -> int:
        """Keep a row, with coefficients of 0 for now; answer its position."""
        if self.size == len(self.rows):
            self._grow(row)
        self.rows[self.size] = row
        self.size += 1
        return self.size - 1

    def _grow(self, filler: np.ndarray) -> None:
        more = max(self.size, TILE)
        self.rows = np.concatenate([self.rows, np.broadcast_to(filler, (more, len(filler)))])
        self.coefficients = np.concatenate([self.coefficients, np.zeros((more, self.coefficients.shape[1]))])

    def tiles(self) -> Iterator[slice]:
        """The places of one tile after another."""
        for start in range(0, self.size, TILE):
            yield slice(start, start + TILE)

    def keep(self, positions: np.ndarray) -> None:
        """Forget all rows but those at these positions, which ascend; they move together."""
        count = len(positions)
        self.rows[:count] = self.rows[positions]
        self.coefficients[:count] = self.coefficients[positions]
        self.coefficients[count:] = 0.0
        self.size = count

    def widen(self, features: int) -> None:
        """Make room for more features, which are 0 in what is kept."""
        self.rows = add_zero_columns(self.rows, features)

    def add_output(self) -> None:
        """One more output, with the coefficients of the last."""
        self.coefficients = np.column_stack([self.coefficients, self.coefficients[:, -1]])


def add_zero_columns(rows: np.ndarray, features: int) -> np.ndarray:
    """The same rows with columns of 0 behind."""
    return np.pad(rows, ((0, 0), (0, features - rows.shape[1])))
