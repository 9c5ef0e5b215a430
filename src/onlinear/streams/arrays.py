"""Rows that are numbers alone: arrays, SciPy's sparse matrices, and rows that are made as they are asked for.

Columns are features, exactly, and have no names.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from onlinear.data.batch import Rows, importance_of, length_of, rows_of
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.whole_numbers import exact_array, with_exact
from onlinear.errors import BadInput, BadLine, Refused
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

    def parts(self) -> Iterator[MatrixPart]:
        """The rows, so many at once."""
        length = length_of(self.rows)
        size = rows_of_a_piece(self.rows.values.size / max(1, length))
        for start in range(0, length, size):
            stop = min(start + size, length)
            labels, importance = self.labels[start:stop], self.importance[start:stop]
            yield MatrixPart(Matrix(rows_between(self.rows, start, stop), self.width, labels, importance), start)


class MatrixPart(NamedTuple):
    """The rows of a matrix from the one at ``start`` on, counted from 0."""

    matrix: Matrix
    start: int

    def text_at(self, place: int) -> bytes:
        """The row that is counted so, from 1, as JSON."""
        return json.dumps(shown_row(self.matrix.rows, place - 1 - self.start)).encode()


class HasParts(Protocol):
    """Rows that come in parts: a matrix, or something that makes them as they are asked for."""

    def parts(self) -> Iterator[MatrixPart]: ...


class Arrays(NamedTuple):
    """The format."""

    def pieces(self, source: HasParts) -> Iterator[MatrixPart]:
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

    def parse(self, part: MatrixPart, source: str, stop_at_bad: bool) -> Block:
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
        return Block(choose_rows(rows, left), labels[left], importance[left], origin.only(left), bad, width=width)


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


def rows_between(rows: Rows, start: int, stop: int) -> Rows:
    if isinstance(rows, DenseRows):
        return DenseRows(rows.values[start:stop])
    first, last = rows.starts[start], rows.starts[stop]
    return SparseRows(rows.starts[start : stop + 1] - first, rows.columns[first:last], rows.values[first:last])


def choose_rows(rows: Rows, left: np.ndarray) -> Rows:
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


#: rows that are drawn together, and cells where rows are long: part of what a seed means
ROWS, CELLS = 1 << 10, 1 << 20
#: rows and labels
Drawn = tuple[np.ndarray, np.ndarray]


class Generated(ABC):
    """``n`` rows of ``d`` numbers with labels -1 and +1. Each iteration is a pass, and brings the same rows.

    Rows are drawn in groups of a fixed size, each from a generator of its own that is known by ``seed`` and the number
    of the group: how the stream is cut changes nothing, and no more than a group need be in memory. With another
    release of NumPy a seed may mean other rows.
    """

    n: int
    d: int
    seed: int | None

    @abstractmethod
    def drawn(self) -> Iterator[Drawn]:
        """A pass: the groups, in order."""

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Iterator[Block]:
        """A pass of blocks, as those of :func:`onlinear.open_stream`."""
        name = type(self).__name__
        return (Arrays().parse(part, name, stop_at_bad=True) for part in self.parts())

    def parts(self) -> Iterator[MatrixPart]:
        """A pass, for :func:`onlinear.open_stream`."""
        start = 0
        for X, y in self.drawn():
            yield MatrixPart(Matrix(DenseRows(X), self.d, y, np.ones(len(y))), start)
            start += len(y)

    def arrays(self, block: int | None = None) -> Iterator[Drawn]:
        """A pass of pairs ``X, y`` with ``block`` rows each, the last one perhaps with fewer."""
        if block is None:
            return self.drawn()
        if block < 1:
            raise Refused(f"a block has {block} rows: let it have at least one")
        return recut(self.drawn(), block)

    def generator(self, number: int) -> np.random.Generator:
        """The generator with this number, of those that the seed stands for."""
        return np.random.default_rng(np.random.SeedSequence(self.seed or 0, spawn_key=(number,)))

    def groups(self) -> Iterator[tuple[np.random.Generator, int, int]]:
        """For each group its generator (number 0 is for what all share), its first row, and the one behind its last."""
        size = max(1, min(ROWS, CELLS // self.d))
        for number, start in enumerate(range(0, self.n, size), 1):
            yield self.generator(number), start, min(start + size, self.n)

    def check_size(self, fewest: int = 1) -> None:
        """Refuse sizes and seeds that cannot be."""
        if self.n < 0 or self.d < fewest:
            raise Refused(f"there are {self.n} rows of {self.d} numbers: ask for none or more, of at least {fewest}")
        if self.seed is not None and self.seed < 0:
            raise Refused(f"the seed is {self.seed}: choose 0 or more")


def recut(groups: Iterator[Drawn], size: int) -> Iterator[Drawn]:
    """The same rows, so many at once."""
    kept: list[Drawn] = []
    count = 0
    for X, y in groups:
        kept.append((X, y))
        count += len(y)
        if count < size:
            continue
        X, y = join_draws(kept)
        whole = count - count % size
        yield from ((X[start : start + size], y[start : start + size]) for start in range(0, whole, size))
        kept, count = [(X[whole:], y[whole:])], count - whole
    if count:
        yield join_draws(kept)


def join_draws(kept: list[Drawn]) -> Drawn:
    if len(kept) == 1:
        return kept[0]
    return np.concatenate([X for X, _ in kept]), np.concatenate([y for _, y in kept])


def check_margin(margin: float, radius: float, d: int) -> None:
    """Refuse a margin that no row within the radius can have."""
    if not (0.0 < radius < math.inf and 0.0 < margin < math.inf):
        raise Refused(f"the margin is {margin} and the radius {radius}: let both be positive and finite")
    if lifted(margin / radius, d) >= 1.0 - slack_of(d):
        raise Refused(f"no row of length {radius} at most has a margin of {margin}: make it smaller than the radius")


def slack_of(d: int) -> float:
    """More than the rounding errors of a product of two unit vectors, and of what is done with it here."""
    return (d + 8) * 2.0**-50


def lifted(margin: float, d: int) -> float:
    """So much more that the margin holds after rounding."""
    return margin * (1.0 + slack_of(d)) + slack_of(d)


def direction(rng: np.random.Generator, d: int) -> np.ndarray:
    """A unit vector, all directions alike."""
    return unit(rng.standard_normal((1, d)))[0]


def unit(X: np.ndarray) -> np.ndarray:
    """The rows, each divided by its length."""
    return X / lengths(X)


def lengths(X: np.ndarray) -> np.ndarray:
    """The length of each row, as a column; summed here, as BLAS sums differently with another number of threads."""
    return np.sqrt((X * X).sum(axis=1, keepdims=True))


def in_ball(rng: np.random.Generator, directions: np.ndarray) -> np.ndarray:
    """Points of the unit ball in these directions; uniformly distributed if the directions are."""
    rows, d = directions.shape
    return unit(directions) * rng.random((rows, 1)) ** (1.0 / d) * (1.0 - 2.0 * slack_of(d))


def with_margin(points: np.ndarray, u: np.ndarray, margin: float, radius: float) -> Drawn:
    """Points of the unit ball as rows within the radius, labelled by the side of ``u`` on which they are.

    Those too close to the border are moved along ``u`` to the margin, and towards ``u`` where they would leave the
    ball. ``u`` is a unit vector, or one for each row.
    """
    d = points.shape[1]
    slack = slack_of(d)
    along = (points * u).sum(axis=1, keepdims=True)
    y = np.where(along >= 0.0, 1.0, -1.0)
    moved = np.maximum(np.abs(along), lifted(margin / radius, d))
    across = points - along * u
    room = np.sqrt((1.0 - slack) ** 2 - moved * moved)
    across *= np.minimum(1.0, room / np.maximum(lengths(across), slack))
    return radius * (across + y * moved * u), y[:, 0]
