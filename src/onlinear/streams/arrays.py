"""Arrays and SciPy's sparse matrices as streams: columns are features, exactly, and have no names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from onlinear.data.batch import Rows, importance_of, length_of, rows_of
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.whole_numbers import exact_array, with_exact
from onlinear.errors import BadInput, BadLine
from onlinear.features.blocks import Block, RowNumbers
from onlinear.features.naming import Naming
from onlinear.streams.tables import rows_of_a_piece

NOT_FINITE = "{value} is not a finite number: mend it, or leave the row out"


class Matrix(NamedTuple):
    """Rows in memory with their labels and importance, checked but for their values."""

    rows: Rows
    width: int
    labels: np.ndarray
    importance: np.ndarray

    def parts(self) -> Iterator[Part]:
        """The rows, so many at once."""
        length = length_of(self.rows)
        size = rows_of_a_piece(self.rows.values.size / max(1, length))
        for start in range(0, length, size):
            stop = min(start + size, length)
            labels, importance = self.labels[start:stop], self.importance[start:stop]
            yield Part(Matrix(between(self.rows, start, stop), self.width, labels, importance), start)


class Part(NamedTuple):
    """The rows of a matrix from the one at ``start`` on, counted from 0."""

    matrix: Matrix
    start: int

    def text_at(self, place: int) -> bytes:
        """The row that is counted so, from 1, as JSON."""
        return json.dumps(shown_row(self.matrix.rows, place - 1 - self.start)).encode()


class HasParts(Protocol):
    """Rows that come in parts: a matrix, or something that makes them as they are asked for."""

    def parts(self) -> Iterator[Part]: ...


class Arrays(NamedTuple):
    """The format."""

    def pieces(self, source: HasParts) -> Iterator[Part]:
        return source.parts()

    @property
    def naming(self) -> Naming | None:
        """None: columns are numbers, not names."""
        return None

    def numbers(self) -> list[str]:
        """None: columns have no names."""
        return []

    def adapted(self, sources: Sequence[HasParts], labelled: bool) -> Arrays:
        """The same: columns are found by their numbers."""
        return self

    def parse(self, part: Part, source: str, stop_at_bad: bool) -> Block:
        """The rows of a part; after a bad one none, or all but the bad ones."""
        rows, width, labels, importance = part.matrix
        origin = RowNumbers(source, np.arange(part.start + 1, part.start + 1 + len(labels)), part.text_at)
        places = first_not_finite(rows)
        if not places:
            return Block(rows, labels, importance, origin, width=width)
        places = places[:1] if stop_at_bad else places
        bad = [bad_row(rows, origin, row, at) for row, at in places]
        left = np.ones(len(labels), np.bool_)
        left[[row for row, _ in places]] = False
        if stop_at_bad:
            left[places[0][0] :] = False
        return Block(chosen(rows, left), labels[left], importance[left], origin.only(left), bad, width=width)


def is_matrix(thing: Any) -> bool:
    """Whether it is an array, or a sparse matrix of SciPy's."""
    return isinstance(thing, np.ndarray) or hasattr(type(thing), "tocsr")


def matrix_of(X: Any, target: Any, weight: Any) -> Matrix:
    """Rows with their labels and importance, each an array or None."""
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise BadInput(
            f"X has {X.ndim} dimensions and the type {X.dtype}: give a table of numbers, with rows and columns"
        )
    rows = rows_of(X)
    return Matrix(rows, X.shape[1], labels_of(target, X.shape[0]), importance_of(weight, X.shape[0]))


def labels_of(target: Any, length: int) -> np.ndarray:
    """Labels as numbers, or as whatever else they are; NaN where there are none."""
    labels = np.full(length, np.nan) if target is None else exact_array(target)
    if labels.shape != (length,):
        raise BadInput(
            f"the target has shape {labels.shape}, but there are {length} rows: give an array, one label a row"
        )
    if labels.dtype.kind not in "iuf":
        labels = labels.astype(object)
        labels[[label is None for label in labels.tolist()]] = np.nan  # as a number that is missing
        return labels
    numbers = labels.astype(np.float64)
    if np.isinf(numbers).any():
        raise BadInput(f"the label of row {int(np.isinf(numbers).argmax()) + 1} is infinite: mend it, or drop the row")
    return with_exact(numbers, lambda places: labels[places].tolist())


def between(rows: Rows, start: int, stop: int) -> Rows:
    if isinstance(rows, DenseRows):
        return DenseRows(rows.values[start:stop])
    first, last = rows.starts[start], rows.starts[stop]
    return SparseRows(rows.starts[start : stop + 1] - first, rows.columns[first:last], rows.values[first:last])


def chosen(rows: Rows, left: np.ndarray) -> Rows:
    """Those rows alone for which there is a True."""
    if isinstance(rows, DenseRows):
        return DenseRows(rows.values[left])
    lengths = np.diff(rows.starts)
    entries = np.repeat(left, lengths)
    starts = np.append(0, np.cumsum(lengths[left])).astype(rows.starts.dtype)
    return SparseRows(starts, rows.columns[entries], rows.values[entries])


def first_not_finite(rows: Rows) -> list[tuple[int, int]]:
    """Rows with a value that is not finite, each with the place of the first such value among all."""
    bad = np.flatnonzero(~np.isfinite(rows.values.ravel()))
    if isinstance(rows, DenseRows):
        where = bad // max(1, rows.values.shape[1])
    else:
        where = np.searchsorted(rows.starts, bad, side="right") - 1
    found, firsts = np.unique(where, return_index=True)
    return list(zip(found.tolist(), bad[firsts].tolist(), strict=True))


def bad_row(rows: Rows, origin: RowNumbers, row: int, at: int) -> tuple[BadLine, bytes]:
    """What is wrong with a row, and the row."""
    reason = NOT_FINITE.format(value=rows.values.ravel()[at])
    column = at % rows.values.shape[1] if isinstance(rows, DenseRows) else int(rows.columns[at])
    return BadLine(origin.source, int(origin.places[row]), column + 1, reason), origin.text(row)


def shown_row(rows: Rows, row: int) -> Any:
    """A row as a list, or as a dict of columns."""
    if isinstance(rows, DenseRows):
        return rows.values[row].tolist()
    entries = slice(rows.starts[row], rows.starts[row + 1])
    return dict(zip(rows.columns[entries].tolist(), rows.values[entries].tolist(), strict=True))
