"""Rows that a hidden vector separates, and the same rows with wrong labels among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from onlinear.errors import Refused
from onlinear.streams.arrays import Drawn, Generated, check_margin, direction, in_ball, with_margin

#: rows among which a number of flips can be shared out: NumPy's hypergeometric law knows no more
MOST_ROWS = 10**9 - 1


@dataclass(frozen=True)
class Separable(Generated):
    """Rows within a ball that a hidden unit vector ``u`` separates by a margin.

    Every row has ``|x| <= radius`` and ``y <u, x> >= margin``, exactly, for the floating point numbers as they are.
    Rows are uniform in the ball but for those too close to the border, which are moved to the margin. A perceptron
    without an intercept makes at most ``bound = (radius / margin)^2`` updates on them, in all passes together
    (Novikoff 1962).

    >>> stream = Separable(n=3, d=2, margin=0.1)
    >>> [bool(label * (row @ stream.u) >= 0.1) for X, y in stream.arrays() for row, label in zip(X, y)]
    [True, True, True]
    """

    n: int
    d: int
    margin: float
    radius: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        self.check_size()
        check_margin(self.margin, self.radius, self.d)

    @cached_property
    def u(self) -> np.ndarray:
        """The unit vector that separates the rows."""
        return direction(self.generator(0), self.d)

    @property
    def bound(self) -> float:
        """The most updates of a perceptron."""
        return (self.radius / self.margin) ** 2

    def drawn(self) -> Iterator[Drawn]:
        for rng, start, stop in self.groups():
            points = in_ball(rng, rng.standard_normal((stop - start, self.d)))
            yield with_margin(points, self.u, self.margin, self.radius)


@dataclass(frozen=True)
class Noisy(Generated):
    """The rows of :class:`Separable`, ``clean``, some of them with the wrong label.

    Each label is flipped with the probability ``noise``; or ``flips`` of them are, all choices alike. A flipped row
    lies on the wrong side of ``u`` by at least the margin; with many rows per dimension, no vector separates them all.

    >>> stream = Noisy(n=1000, d=2, flips=30)
    >>> sum(int((label != true).sum()) for (_, label), (_, true) in zip(stream.arrays(), stream.clean.arrays()))
    30
    """

    n: int
    d: int
    noise: float | None = None
    flips: int | None = None
    margin: float = 0.1
    radius: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        _ = self.clean
        if (self.noise is None) == (self.flips is None):
            raise Refused("how many labels are flipped is not said, or twice: give noise, a probability, or flips")
        if self.noise is not None and not 0.0 <= self.noise <= 1.0:
            raise Refused(f"the noise is {self.noise}: it is a probability, from 0 to 1; a number of rows is flips")
        if self.flips is not None and not 0 <= self.flips <= self.n:
            raise Refused(f"{self.flips} labels of {self.n} cannot be flipped: choose from 0 to {self.n}")
        if self.flips is not None and self.n > MOST_ROWS:
            raise Refused(f"flips are counted for up to {MOST_ROWS} rows, not for {self.n}: give noise, a probability")

    @cached_property
    def clean(self) -> Separable:
        """The same rows with their true labels."""
        return Separable(self.n, self.d, self.margin, self.radius, self.seed)

    @property
    def u(self) -> np.ndarray:
        """The unit vector that separates the rows but for the flipped ones."""
        return self.clean.u

    def drawn(self) -> Iterator[Drawn]:
        left = self.flips
        for (rng, start, stop), (X, y) in zip(self.groups(), self.clean.drawn(), strict=True):
            rng = rng.spawn(1)[0]  # the group's own one draws its rows
            if left is None:
                wrong = rng.random(stop - start) < (self.noise or 0.0)
            else:
                flips = int(rng.hypergeometric(left, self.n - start - left, stop - start))
                wrong = rng.permutation(stop - start) < flips
                left -= flips
            yield X, np.where(wrong, -y, y)
