"""Block: the examples of one piece of a stream, with labels as the file has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from onlinear.batch import Rows
from onlinear.errors import BadLine

if TYPE_CHECKING:
    from onlinear.streams.naming import NamedRows


class Origin(Protocol):
    """Where rows come from: the place of each, in a text or a table."""

    places: np.ndarray

    def error(self, row: int, reason: str) -> BadLine:
        """What is wrong with a row, with the place of its line."""

    def only(self, rows: np.ndarray) -> Origin:
        """The origin of those rows alone for which there is a True."""


@dataclass(slots=True)
class RowNumbers:
    """The origin of rows of a table, which are counted from 1."""

    source: str
    places: np.ndarray

    def error(self, row: int, reason: str) -> BadLine:
        return BadLine(self.source, int(self.places[row]), 1, reason)

    def only(self, rows: np.ndarray) -> RowNumbers:
        return RowNumbers(self.source, self.places[rows])


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

    def __len__(self) -> int:
        return len(self.labels)
