"""Progressive validation as a table: every example is predicted before it is learned, so its loss is honest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

HEADINGS = ("examples", "loss since last", "loss", "mistakes", "error %")


class Totals(NamedTuple):
    """Sums over all examples so far."""

    examples: int = 0
    mistakes: int = 0
    loss: float = 0.0
    importance: float = 0.0


class ProgressLine(NamedTuple):
    """The figures after so many examples; both losses are means per example."""

    examples: int
    loss_since_last: float
    loss: float
    mistakes: int
    error: float

    def cells(self) -> tuple[str, ...]:
        since, loss, percent = self.loss_since_last, self.loss, 100 * self.error
        return str(self.examples), f"{since:.4f}", f"{loss:.4f}", str(self.mistakes), f"{percent:.2f}"


def progressive_lines(totals: Iterable[tuple[int, float, int]]) -> Iterator[ProgressLine]:
    """Turn running totals of examples, loss and mistakes into means.

    >>> [line.loss_since_last for line in progressive_lines([(1, 0.5, 1), (2, 2.0, 2)])]
    [0.5, 1.5]
    """
    examples_before, loss_before = 0, 0.0
    for examples, loss, mistakes in totals:
        since = (loss - loss_before) / (examples - examples_before)
        yield ProgressLine(examples, since, loss / examples, mistakes, mistakes / examples)
        examples_before, loss_before = examples, loss


def align_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows of cells as lines, the columns right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
