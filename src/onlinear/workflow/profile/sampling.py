"""A sample of rows, drawn by their numbers: the same whatever pieces they come in."""

from __future__ import annotations

import numpy as np

from onlinear.data.splitmix import GAMMA, splitmix64

#: rows of a sample, unless they have too many cells
MOST_ROWS, FEWEST_ROWS, MOST_CELLS = 20_000, 1_000, 4_000_000


def sample_size(columns: int) -> int:
    """How many rows of so many columns are drawn."""
    return max(FEWEST_ROWS, min(MOST_ROWS, MOST_CELLS // max(1, columns)))


class Sample:
    """Up to ``size`` rows, each set of as many equally likely: those whose numbers have the smallest keys."""

    def __init__(self, columns: int, size: int, seed: int) -> None:
        self._size, self._seed = size, seed
        self._keys = np.empty(0, np.uint64)
        self._rows = np.empty(0, np.int64)
        self._bits = np.empty((columns, 0), np.uint64)

    def copy(self) -> Sample:
        """The same rows, to which others may be added."""
        twin = Sample(len(self._bits), self._size, self._seed)
        twin._keys, twin._rows, twin._bits = self._keys, self._rows, self._bits
        return twin

    def add(self, first: int, bits: np.ndarray) -> None:
        """Rows of which the first has this number, by columns."""
        rows = np.arange(first, first + bits.shape[1])
        keys = key_of(rows, self._seed)
        if len(self._keys) == self._size:
            chosen = np.flatnonzero(keys < self._keys.max())
            rows, keys, bits = rows[chosen], keys[chosen], bits[:, chosen]
        keys, rows = np.concatenate([self._keys, keys]), np.concatenate([self._rows, rows])
        bits = np.concatenate([self._bits, bits], axis=1)
        left = np.argsort(keys, kind="stable")[: self._size]
        self._keys, self._rows, self._bits = keys[left], rows[left], bits[:, left]

    @property
    def bits(self) -> np.ndarray:
        """The cells of the rows drawn, by columns, in the order of the table."""
        return self._bits[:, np.argsort(self._rows)]


def key_of(rows: np.ndarray, seed: int) -> np.ndarray:
    """Keys of row numbers that look like chance, no two of them the same: those of a generator, from the seed on."""
    return splitmix64((rows.astype(np.uint64) + np.uint64(seed % 2**64)) * GAMMA)
