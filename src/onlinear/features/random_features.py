"""Random features in place of columns: their inner products are about those of the RBF kernel. Rahimi & Recht 2007.

Feature k of a row x is ``sqrt(2 / n) cos(w_k.x + b_k)``, with ``w`` from a normal distribution of variance ``2 gamma``
and ``b`` uniform on a circle. What is drawn for a column comes behind what was drawn for those before it, so that
columns may still come while rows are learned; and a row has the same bits in any company, and beside any columns that
it has no entries in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from onlinear.data.batch import Rows
from onlinear.data.products import products
from onlinear.data.rows import DenseRows
from onlinear.errors import OnlinearError, Refused
from onlinear.features.blocks import Block, width_of

#: rows that are multiplied at once, always as many: products of other shapes may round otherwise
ROWS = 64
#: the most that the numbers drawn for all columns may take, in bytes
MOST_BYTES = 1 << 30
#: seeds that the generator takes
MOST_SEED = (1 << 32) - 1


class RandomFeaturesState(NamedTuple):
    """Which random features there are, and for how many columns."""

    features: int
    gamma: float
    seed: int
    columns: int = 0


class Draws:
    """The numbers that a generator draws: an offset for each feature, and then for each column a weight for each."""

    def __init__(self, count: int, gamma: float, generator: np.random.RandomState) -> None:
        self.gamma, self.generator = gamma, generator
        self.offsets = generator.uniform(0.0, 2.0 * math.pi, count)
        self.weights = np.empty((0, count))

    def make_room(self, columns: int) -> None:
        """Draw for so many columns, at least."""
        more = columns - len(self.weights)
        if more > 0:
            drawn = math.sqrt(2.0 * self.gamma) * self.generator.normal(size=(more, len(self.offsets)))
            self.weights = np.concatenate([self.weights, drawn])


def cosines(block: np.ndarray, weights: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The features of the rows of a table with :data:`ROWS` of them."""
    angles = products(block, weights.T)
    angles += offsets
    np.cos(angles, out=angles)
    angles *= math.sqrt(2.0 / len(offsets))
    return angles


class RandomFeatureStage:
    """A stage that gives each row random features in place of its columns."""

    State = RandomFeaturesState

    def __init__(self, drawn: RandomFeaturesState) -> None:
        if (
            drawn.features < 1
            or not 0.0 < drawn.gamma < math.inf
            or not 0 <= drawn.seed <= MOST_SEED
            or drawn.columns < 0
        ):
            raise OnlinearError(f"there are no random features {tuple(drawn)!r:.80}: both numbers are above 0")
        self._drawn = drawn
        self._draws = Draws(drawn.features, drawn.gamma, np.random.RandomState(drawn.seed))
        self._make_room(drawn.columns)

    def state(self) -> RandomFeaturesState:
        """What there is to remember: all else is drawn again."""
        return self._drawn._replace(columns=len(self._draws.weights))

    def begin(self) -> None:
        """Nothing: a row has the same features whenever it comes."""

    def learn(self, block: Block) -> Block:
        """The block with its features, of columns that may be new."""
        self._make_room(width_of(block.rows))
        return self.apply(block)

    def _make_room(self, columns: int) -> None:
        count, size = self._drawn.features, 8 * columns * self._drawn.features
        if size > MOST_BYTES:
            raise Refused(
                f"{count:,} random features of {columns:,} columns are drawn by {size / 1e9:.2f} GB of numbers, and "
                f"{MOST_BYTES / 1e9:.2f} GB is the most: take fewer of them, or fewer columns"
            )
        self._draws.make_room(columns)

    def apply(self, block: Block, *, again: bool = False) -> Block:
        """The block with its features; columns that nobody has learned count nothing. Changes nothing."""
        features = np.empty((len(block), self._drawn.features))
        for start, table in self._tables(block.rows, len(block)):
            part = features[start : start + ROWS]
            part[:] = cosines(table, self._draws.weights, self._draws.offsets)[: len(part)]
        return replace(block, rows=DenseRows(features), width=0)

    def _tables(self, rows: Rows, count: int) -> Iterator[tuple[int, np.ndarray]]:
        """The rows as tables with all known columns, each with its first row."""
        width = len(self._draws.weights)
        for start in range(0, count, ROWS):
            table = np.zeros((ROWS, width))
            stop = min(start + ROWS, count)
            if isinstance(rows, DenseRows):
                part: Any = rows.values[start:stop, :width]
                table[: len(part), : part.shape[1]] = part
            else:
                entries = slice(int(rows.starts[start]), int(rows.starts[stop]))
                places = np.repeat(np.arange(stop - start), np.diff(rows.starts[start : stop + 1]))
                columns = rows.columns[entries]
                known = columns < width
                table[places[known], columns[known]] = rows.values[entries][known]
            yield start, table

    def name_of(self, column: int) -> str | None:
        """What the column of a feature is called."""
        return f"random feature {column + 1}"
