"""Block: the examples of one piece of a stream, with labels as the file has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from onlinear.batch import Rows
from onlinear.errors import BadLine
from onlinear.rows import DenseRows, SparseRows

if TYPE_CHECKING:
    from onlinear.streams.naming import NamedRows


class Origin(Protocol):
    """Where rows come from."""

    def error(self, row: int, reason: str) -> BadLine:
        """What is wrong with a row, with the place of its line."""

    def text(self, row: int) -> bytes:
        """The row as it stands in the file."""

    def since(self, row: int) -> Origin:
        """That of the rows from this one on."""


#: the first row of a block that is refused, and why; None if none is
Refusal = Callable[["Block"], tuple[int, str] | None]


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

    def split(self, row: int) -> tuple[Block, Block]:
        """The rows before this one with the bad lines before the last of them, and the rest; both are views."""
        last = self.origin.error(row - 1, "").line if row and self.bad else 0
        early = sum(line.line < last for line, _ in self.bad)
        named = (None, None) if self.named is None else self.named.split(row)
        before, behind = split_rows(self.rows, row) if self.named is None else (self.rows, self.rows)
        first = Block(before, self.labels[:row], self.importance[:row], self.origin, self.bad[:early])
        rest = Block(behind, self.labels[row:], self.importance[row:], self.origin.since(row), self.bad[early:])
        for part, names in zip((first, rest), named, strict=True):
            part.read, part.width, part.named = self.read, self.width, names
        return first, rest


def good_parts(block: Block, refused: Refusal) -> Iterator[tuple[Block, list[tuple[BadLine, bytes]]]]:
    """The rows of a block between those that are refused, each part with the bad lines behind it."""
    while (found := refused(block) if len(block) else None) is not None:
        row, reason = found
        part, rest = block.split(row)
        last, block = rest.split(1)
        yield part, [*part.bad, (rest.origin.error(0, reason), rest.origin.text(0)), *last.bad]
    yield block, block.bad


def split_rows(rows: Rows, row: int) -> tuple[Rows, Rows]:
    """The rows before this one, and the rest."""
    if isinstance(rows, SparseRows):
        return rows._replace(starts=rows.starts[: row + 1]), rows._replace(starts=rows.starts[row:])
    return DenseRows(rows.values[:row]), DenseRows(rows.values[row:])
