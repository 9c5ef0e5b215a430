"""Generated: a stream whose rows are made as they are asked for, the same in every pass."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from onlinear.data.rows import DenseRows
from onlinear.errors import Refused
from onlinear.features.blocks import Block
from onlinear.streams.arrays import Arrays, Matrix, Part

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

    def parts(self) -> Iterator[Part]:
        """A pass, for :func:`onlinear.open_stream`."""
        start = 0
        for X, y in self.drawn():
            yield Part(Matrix(DenseRows(X), self.d, y, np.ones(len(y))), start)
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
        X, y = joined(kept)
        whole = count - count % size
        yield from ((X[start : start + size], y[start : start + size]) for start in range(0, whole, size))
        kept, count = [(X[whole:], y[whole:])], count - whole
    if count:
        yield joined(kept)


def joined(kept: list[Drawn]) -> Drawn:
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
