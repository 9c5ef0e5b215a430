"""A digest of rows in their order, by which a run that goes on knows those it has learned."""

from __future__ import annotations

import hashlib

import numpy as np

from onlinear.data.rows import DenseRows
from onlinear.data.whole_numbers import are_numbers, as_objects
from onlinear.features.blocks import Block
from onlinear.kernels.text.row_keys import key_rows

WORD_END, ESCAPE = "\x1f", "\\"
#: what a digest begins with; those of older versions, which looked at less, have nothing there
VERSION = "2-"


class RowDigest:
    """A digest of all that is learned from rows: label, importance, and of each feature its column, value and place.

    Of each row there is a key, in which every entry is mixed for itself (:mod:`onlinear.kernels.text.row_keys`), and
    the digest is of the keys in order: quick enough for every row, and no edit is undone by another. The blocks in
    which rows come mean nothing.
    """

    def __init__(self) -> None:
        self._keys, self._words = hashlib.sha256(), hashlib.sha256()

    def take(self, block: Block, rows: int) -> None:
        """Count in the first rows of a block as it was read, before its recipe."""
        if not rows:
            return
        labels = block.labels[:rows]
        if labels.dtype.kind == "O" and are_numbers(labels):
            exact = [label for label in labels.tolist() if type(label) is int]
            self._words.update(words_of(as_objects(exact)).encode())
        elif labels.dtype.kind == "O":
            self._words.update(words_of(labels).encode("utf-8", "surrogatepass"))
            labels = np.zeros(rows)
        keys = np.empty(rows, np.uint64)
        key_rows(*entries_of(block, rows), bits_of(labels), bits_of(block.importance[:rows]), keys)
        self._keys.update(keys.astype("<u8", copy=False).tobytes())

    def hexdigest(self) -> str:
        """The digest of all rows so far."""
        return VERSION + hashlib.sha256(self._keys.digest() + self._words.digest()).hexdigest()


def bits_of(numbers: np.ndarray) -> np.ndarray:
    """The bits of numbers in double precision."""
    return np.ascontiguousarray(numbers, np.float64).view(np.uint64)


def words_of(labels: np.ndarray) -> str:
    """Labels as one text, an end behind each; one within a label is written otherwise."""
    words = labels.tolist()
    try:
        joined = WORD_END.join([*words, ""])
    except TypeError:  # there is one that is no word
        words = list(map(str, words))
        joined = WORD_END.join([*words, ""])
    if ESCAPE in joined or joined.count(WORD_END) > len(words):
        escaped = [word.replace(ESCAPE, 2 * ESCAPE).replace(WORD_END, f"{ESCAPE}e") for word in words]
        return WORD_END.join([*escaped, ""])
    return joined


def entries_of(block: Block, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the first rows start; and columns, or the hashes of names, and the bits of values of all their features."""
    if block.named is not None:
        starts, columns, values = block.named.starts, block.named.hashes, block.named.values
    elif isinstance(block.rows, DenseRows):
        values = block.rows.values[:rows]
        starts = np.arange(rows + 1, dtype=np.int64) * values.shape[1]
        return starts, np.zeros(values.size, np.uint32), bits_of(values).reshape(-1)  # the place is the column
    else:
        starts, columns, values = block.rows
    entries = slice(int(starts[0]), int(starts[rows]))
    return starts[: rows + 1].astype(np.int64) - int(starts[0]), columns[entries], bits_of(values[entries])
