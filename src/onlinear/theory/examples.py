"""The rows that a certificate speaks of: blocks of a matrix and targets, as often as they are wanted.

Targets are the places of labels among the sorted classes; :func:`against_rest` makes them +1 and -1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from onlinear.data.batch import rows_of
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.errors import Refused
from onlinear.features.blocks import Block
from onlinear.kernels.learn.lengths import measure_rows
from onlinear.learning.classes import Classes

#: rows of an array that are looked at together
BLOCK = 8192


class ExactRow(NamedTuple):
    """The non-zero entries of a row, and its target."""

    columns: Sequence[int]
    values: np.ndarray
    target: float

    @property
    def key(self) -> tuple[bytes, bytes]:
        """What rows with the same entries have in common."""
        return np.array(self.columns, dtype=np.int64).tobytes(), self.values.tobytes()


class ExactRows(NamedTuple):
    """A block: compressed or dense rows, and a target for each."""

    rows: SparseRows | DenseRows
    features: int
    targets: np.ndarray
    importance: np.ndarray | None = None  # with which they were learned, where that is known

    def products_and_lengths(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The products with the rows, and the rows' squared lengths: in floats."""
        shape = (1, 1, len(weights)) if isinstance(self.rows, DenseRows) else (len(weights), 1, 1)
        products, lengths = np.empty(len(self.targets)), np.empty(len(self.targets))
        measure_rows(self.rows, np.ascontiguousarray(weights).reshape(shape), products, lengths)
        return products, lengths

    @property
    def longest(self) -> int:
        """How many entries a row has at most."""
        return self.features if isinstance(self.rows, DenseRows) else int(np.diff(self.rows.starts).max(initial=0))

    def row(self, i: int) -> ExactRow:
        if isinstance(self.rows, DenseRows):
            columns, values = np.arange(self.features), self.rows.values[i]
        else:
            span = slice(self.rows.starts[i], self.rows.starts[i + 1])
            columns, values = self.rows.columns[span], self.rows.values[span]
        there = values != 0
        return ExactRow(columns[there].tolist(), np.asarray(values[there], dtype=np.float64), float(self.targets[i]))

    def entries(self) -> Any:
        """The non-zero entries as a compressed matrix."""
        if isinstance(self.rows, DenseRows):
            return scipy.sparse.csr_array(self.rows.values, dtype=np.float64)
        starts, span = self.rows.starts, slice(self.rows.starts[0], self.rows.starts[-1])
        values = np.array(self.rows.values[span], dtype=np.float64)
        columns = self.rows.columns[span].astype(np.int64)
        matrix = scipy.sparse.csr_array((values, columns, starts - starts[0]), (len(self.targets), self.features))
        matrix.eliminate_zeros()
        return matrix


#: gives all blocks, from the first on, every time it is called
Examples = Callable[[], Iterable[ExactRows]]


def examples_of(matrix: Any, targets: np.ndarray, importance: np.ndarray | None = None) -> Examples:
    """The rows of a matrix, in blocks: views of it."""
    rows, features = rows_of(matrix), matrix.shape[1]

    def blocks() -> Iterator[ExactRows]:
        for start in range(0, len(targets), BLOCK):
            stop = min(start + BLOCK, len(targets))
            own = None if importance is None else importance[start:stop]
            yield ExactRows(part_of(rows, start, stop), features, targets[start:stop], own)

    return blocks


def examples_from(blocks: Callable[[], Iterable[Block]], features: int, classes: Classes) -> Examples:
    """The rows of a stream, if a model of so many features and these classes can have learned them.

    Those of importance 0 are absent, as they are to a learner.
    """

    def checked() -> Iterator[ExactRows]:
        for block in blocks():
            check_features(width_for(block.rows, features), features)
            present = block.importance > 0.0
            rows = block.rows if present.all() else only(block.rows, present)
            yield ExactRows(rows, features, places_of(block.labels[present], classes), block.importance[present])

    return checked


def width_for(rows: SparseRows | DenseRows, features: int) -> int:
    """How many features rows have; of sparse ones at least as many as the model, whose table must have them all."""
    if isinstance(rows, DenseRows):
        return int(rows.values.shape[1])
    columns = rows.columns[rows.starts[0] : rows.starts[-1]]
    return max(int(columns.max()) + 1 if len(columns) else 0, features)


def check_features(found: int, known: int) -> None:
    if found != known:
        raise Refused(
            f"the rows have {found} features and the model {known}: "
            "certify a model on the rows that it has learned from"
        )


def places_of(labels: np.ndarray, classes: Classes) -> np.ndarray:
    """The places of labels among the sorted classes."""
    codes = classes.codes_of(labels)
    unknown = set(labels[codes < 0].tolist())
    if unknown:
        raise Refused(
            f"there is a row with the label {min(unknown, key=str)!r}, which the model has not learned: "
            "certify a model on the rows that it has learned from"
        )
    return np.argsort(classes.order)[codes].astype(np.float64)


def against_rest(examples: Examples, place: int) -> Examples:
    """The same rows with the target +1 for the class at a place, and -1 for all others."""
    return lambda: (block._replace(targets=signs(block.targets == place)) for block in examples())


def signs(positive: np.ndarray) -> np.ndarray:
    return np.where(positive, 1.0, -1.0)


def part_of(rows: SparseRows | DenseRows, start: int, stop: int) -> SparseRows | DenseRows:
    if isinstance(rows, DenseRows):
        return DenseRows(rows.values[start:stop])
    return SparseRows(rows.starts[start : stop + 1], rows.columns, rows.values)


def only(rows: SparseRows | DenseRows, wanted: np.ndarray) -> SparseRows | DenseRows:
    """The rows for which there is a True."""
    if isinstance(rows, DenseRows):
        return DenseRows(rows.values[wanted])
    counts, span = np.diff(rows.starts), slice(rows.starts[0], rows.starts[-1])
    entries = np.repeat(wanted, counts)
    starts = np.concatenate([[0], np.cumsum(counts[wanted])]).astype(rows.starts.dtype)
    return SparseRows(starts, rows.columns[span][entries], rows.values[span][entries])


def all_rows(examples: Examples) -> Iterator[ExactRow]:
    """One row after the other."""
    for block in examples():
        for i in range(len(block.targets)):
            yield block.row(i)


def places_in(examples: Examples) -> list[int]:
    """The places of the classes that there are rows of."""
    seen = set[int]()
    for block in examples():
        seen |= set(np.unique(block.targets).astype(int).tolist())
    if not seen:
        raise Refused("there are no examples: a certificate speaks of at least one")
    return sorted(seen)


def columns_in_use(examples: Examples) -> np.ndarray:
    """The columns that are not 0 in every row."""
    used = np.empty(0, dtype=np.int64)
    for block in examples():
        used = np.union1d(used, block.entries().indices)
    return used


def select_columns(block: ExactRows, columns: np.ndarray) -> ExactRows:
    """The same rows with these columns alone."""
    return ExactRows(rows_of(block.entries()[:, columns]), len(columns), block.targets)


def digest_of(examples: Examples) -> str:
    """SHA-256 of the rows, in order: of the digests of classes, counts of entries, columns from 0 on, and values."""
    parts = [hashlib.sha256() for _ in range(4)]
    for block in examples():
        matrix = block.entries()
        arrays = [np.maximum(block.targets, 0.0).astype("<i4"), np.diff(matrix.indptr).astype("<u8")]
        arrays += [matrix.indices.astype("<u8"), matrix.data.astype("<f8")]
        for part, array in zip(parts, arrays, strict=True):
            part.update(array.tobytes())
    return hashlib.sha256(b"".join(part.digest() for part in parts)).hexdigest()
