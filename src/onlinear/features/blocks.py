"""Block: the examples of one piece of a stream, with labels as the file has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from onlinear.data.batch import Rows
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.errors import BadLine, OnlinearError

if TYPE_CHECKING:
    from onlinear.features.naming import NamedRows

#: entries that the starts of a block's rows can count
MOST_ENTRIES = 2**31 - 1
#: how much smaller pieces are of which each row grows: all products of one are in memory at once
SMALLER = 16


class Origin(Protocol):
    """Where rows come from: the place of each, in a text or a table."""

    places: np.ndarray

    def error(self, row: int, reason: str) -> BadLine:
        """What is wrong with a row, with the place of its line."""

    def label_error(self, row: int, reason: str) -> BadLine:
        """What is wrong with the label of a row, with its place."""

    def text(self, row: int) -> bytes:
        """The row as it stands in the file."""

    def starts(self, rows: int) -> np.ndarray:
        """Where each of the first rows starts in the text of its source, in bytes; 0 if that is no text."""

    def behind(self, row: int) -> Origin:
        """Where the rows from this one on come from, counted from 0 again."""

    def only(self, rows: np.ndarray) -> Origin:
        """The origin of those rows alone for which there is a True."""


@dataclass(slots=True)
class RowNumbers:
    """The origin of rows of a table, which are counted from 1."""

    source: str
    places: np.ndarray
    #: the text of the row at a place
    text_at: Callable[[int], bytes]
    #: the column of the labels, counted from 1
    label_column: int = 1

    def error(self, row: int, reason: str) -> BadLine:
        return BadLine(self.source, int(self.places[row]), 1, reason)

    def label_error(self, row: int, reason: str) -> BadLine:
        return BadLine(self.source, int(self.places[row]), self.label_column, reason)

    def text(self, row: int) -> bytes:
        return self.text_at(int(self.places[row]))

    def starts(self, rows: int) -> np.ndarray:
        return np.zeros(rows, np.int64)

    def behind(self, row: int) -> RowNumbers:
        return replace(self, places=self.places[row:])

    def only(self, rows: np.ndarray) -> RowNumbers:
        return replace(self, places=self.places[rows])


@dataclass(slots=True)
class Block:
    """Rows with their labels and importance. ``bad`` lines among them were left out.

    ``read`` is how much of the file on disk was needed so far; ``width`` one more than the highest column of the rows,
    where that is not known beforehand. Rows whose names wait for their columns are ``named``.
    """

    rows: Rows
    labels: np.ndarray
    importance: np.ndarray
    origin: Origin
    bad: list[tuple[BadLine, bytes]] = field(default_factory=list)
    read: int = 0
    width: int = 0
    named: NamedRows | None = None
    columns: int = 0  # of X: those there may be
    numbers: np.ndarray | None = None  # of the rows among those of a pass, where somebody counts them

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def X(self) -> Any:  # noqa: N802
        """The rows as estimators take them: a sparse matrix of SciPy's, or an array."""
        if isinstance(self.rows, DenseRows):
            return self.rows.values
        if not self.columns:
            raise OnlinearError("nobody knows how many columns there will be: open the stream with features=N")
        from scipy.sparse import csr_matrix

        starts, columns, values = self.rows
        return csr_matrix((values, columns.astype(np.int32), starts), shape=(len(self), self.columns))

    @property
    def y(self) -> np.ndarray:
        """The labels."""
        return self.labels

    def split(self, row: int) -> tuple[Block, Block]:
        """The rows before this one with the bad lines before its line, and the rest: no entry is copied.

        All bad lines come before the line of a row that is not there.
        """
        before = len(self.bad)
        if self.bad and row < len(self):
            line = self.origin.error(row, "").line
            before = sum(bad.line < line for bad, _ in self.bad)
        head = self._part(0, row, self.origin, self.bad[:before])
        return head, self._part(row, len(self), self.origin.behind(row), self.bad[before:])

    def _part(self, start: int, stop: int, origin: Origin, bad: list[tuple[BadLine, bytes]]) -> Block:
        rows = self.rows if self.named else part_of(self.rows, start, stop)
        named = self.named and self.named.part(start, stop)
        width = width_of(rows) if self.width else 0
        return Block(
            rows,
            self.labels[start:stop],
            self.importance[start:stop],
            origin,
            bad,
            self.read,
            width,
            named,
            self.columns,
            None if self.numbers is None else self.numbers[start:stop],
        )


def numbered(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks of a pass, with the numbers of their rows, counted from 0."""
    first = 0
    for block in blocks:
        yield replace(block, numbers=np.arange(first, first + len(block)))
        first += len(block)


def part_of(rows: Rows, start: int, stop: int) -> Rows:
    """The rows from one to another: no entry is copied."""
    if isinstance(rows, DenseRows):
        return DenseRows(rows.values[start:stop])
    starts = rows.starts[start : stop + 1]
    entries = slice(int(starts[0]), int(starts[-1]))
    return SparseRows(starts - starts[0], rows.columns[entries], rows.values[entries])


def width_of(rows: Rows) -> int:
    """One more than the highest column."""
    if isinstance(rows, DenseRows):
        return int(rows.values.shape[1])
    return int(rows.columns.max()) + 1 if len(rows.columns) else 0


def piece_size(usual: int, grows: bool) -> int:
    """How much is read at once, bytes or rows, where rows are small or grow."""
    return max(1, usual // SMALLER) if grows else usual
