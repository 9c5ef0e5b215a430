"""A digest of rows in their order, by which a run that goes on knows those it has learned."""

from __future__ import annotations

import hashlib

import numpy as np

from onlinear.rows import DenseRows
from onlinear.streams.blocks import Block
from onlinear.wholes import are_numbers, as_objects

WORD_END = "\x1f"


class RowDigest:
    """Of each row its label and its number of features, in order; of all columns and values the sums, as whole numbers.

    That is quick enough for every row, and no row is added, left out, relabelled or edited without it; values that
    changed places among rows with as many features each are not noticed. The blocks in which rows come mean nothing.
    """

    def __init__(self) -> None:
        self._labels, self._words = hashlib.sha256(), hashlib.sha256()
        self._columns = self._values = 0

    def take(self, block: Block, rows: int) -> None:
        """Count in the first rows of a block as it was read, before its recipe."""
        if not rows:
            return
        lengths, columns, values = entries_of(block, rows)
        labels = block.labels[:rows]
        if labels.dtype.kind == "O" and are_numbers(labels):
            exact = [label for label in labels.tolist() if type(label) is int]
            self._words.update(words_of(as_objects(exact)).encode())
        elif labels.dtype.kind == "O":
            self._words.update(words_of(labels).encode("utf-8", "surrogatepass"))
            labels = np.zeros(rows)
        keys = np.ascontiguousarray(labels, np.float64).view(np.uint64) + lengths.astype(np.uint64)
        self._labels.update(keys.astype("<u8", copy=False).tobytes())
        self._columns = (self._columns + int(columns.sum(dtype=columns.dtype))) % (1 << 32)
        self._values = (self._values + int(values.view(np.uint64).sum())) % (1 << 64)

    def hexdigest(self) -> str:
        """The digest of all rows so far."""
        whole = hashlib.sha256(self._labels.digest() + self._words.digest())
        whole.update(f"{self._columns} {self._values}".encode())
        return whole.hexdigest()


def words_of(labels: np.ndarray) -> str:
    """Labels as one text, an end behind each."""
    words = labels.tolist()
    try:
        return WORD_END.join([*words, ""])
    except TypeError:  # there is one that is no word
        return "".join(f"{word}{WORD_END}" for word in words)


def entries_of(block: Block, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How many features each of the first rows has; and columns, or the hashes of names, and values of all of them."""
    if block.named is not None:
        starts, columns, values = block.named.starts, block.named.hashes, block.named.values
    elif isinstance(block.rows, DenseRows):
        flat = np.ascontiguousarray(block.rows.values[:rows], np.float64).reshape(-1)
        return np.full(rows, block.rows.values.shape[1]), np.empty(0, np.uint64), flat
    else:
        starts, columns, values = block.rows
    entries = slice(int(starts[0]), int(starts[rows]))
    return np.diff(starts[: rows + 1]), columns[entries], np.ascontiguousarray(values[entries], np.float64)
