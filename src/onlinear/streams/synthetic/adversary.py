"""The worst that rows within a margin class can do: the basis vectors, and an adversary who labels them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from onlinear.errors import BadInput, Refused
from onlinear.streams.arrays import Drawn, Generated

#: (R / margin)^2 may fall short of a whole number by so much, relatively: 1 / sqrt(3) is rounded up
ROUNDING = 1e-12


@dataclass(frozen=True)
class TightExample(Generated):
    """The basis vectors e_1, ..., e_T, for which the mistake bound holds with equality.

    A perceptron without an intercept knows nothing of a basis vector it has not seen: it makes T updates in the first
    pass, and none after it. The best margin is ``1 / sqrt(T)``, of ``u = (y_1, ..., y_T) / sqrt(T)``, and R is 1:
    ``(R / margin)^2 = T``. Labels are +1, or drawn if there is a ``seed``.

    >>> stream = TightExample(4)
    >>> stream.margin, stream.bound
    (0.5, 4)
    """

    T: int
    seed: int | None = None

    def __post_init__(self) -> None:
        self.check_size()

    @property
    def n(self) -> int:  # type: ignore[override]
        return self.T

    @property
    def d(self) -> int:  # type: ignore[override]
        return self.T

    @property
    def radius(self) -> float:
        return 1.0

    @property
    def margin(self) -> float:
        """The best margin that a unit vector has."""
        return 1.0 / math.sqrt(self.T)

    @property
    def bound(self) -> int:
        """The most updates of a perceptron, and as many as it makes."""
        return self.T

    @cached_property
    def labels(self) -> np.ndarray:
        """The labels of all rows."""
        if self.seed is None:
            return np.ones(self.T)
        return self.generator(0).choice([-1.0, 1.0], self.T)

    @property
    def u(self) -> np.ndarray:
        """The unit vector with the best margin."""
        return self.labels / math.sqrt(self.T)

    def drawn(self) -> Iterator[Drawn]:
        for _, start, stop in self.groups():
            X = np.zeros((stop - start, self.T))
            X[np.arange(stop - start), np.arange(start, stop)] = 1.0
            yield X, self.labels[start:stop]


class Adversary:
    """Whoever shows each learner a row that it gets wrong, while some unit vector separates all rows by the margin.

    In round t the row is ``radius e_t``, and its label the one that the learner's score speaks against. The vector
    ``u = (y_1, ..., y_T) / sqrt(T)`` has the margin ``radius / sqrt(T)`` on all of them. So whatever the learner does,
    it makes ``rounds = floor((radius / margin)^2)`` mistakes, if there are as many dimensions: as many as the
    perceptron's bound allows. The default margin is the largest that needs all dimensions.

    >>> from onlinear import Perceptron
    >>> adversary, model = Adversary(d=9), Perceptron(fit_intercept=False)
    >>> weights = np.zeros(9)
    >>> for _ in range(adversary.rounds):
    ...     x, y = adversary.next_row(weights)
    ...     weights = model.partial_fit([x], [y], classes=[-1, 1]).coef_[0]
    >>> model.mistakes_
    9
    """

    def __init__(self, d: int, margin: float | None = None, radius: float = 1.0) -> None:
        if d < 1:
            raise Refused(f"there are {d} dimensions: an adversary needs at least one")
        margin = radius / math.sqrt(d) if margin is None else margin
        if not (0.0 < margin <= radius < math.inf):
            raise Refused(f"the margin is {margin} and the radius {radius}: let 0 < margin <= radius")
        self.d, self.margin, self.radius = d, margin, radius
        self.rounds = min(d, math.floor((radius / margin) ** 2 * (1.0 + ROUNDING)))
        self._labels: list[float] = []

    def __repr__(self) -> str:
        return f"Adversary(d={self.d}, margin={self.margin}, radius={self.radius})"

    @property
    def shown(self) -> int:
        """How many rows were shown."""
        return len(self._labels)

    @property
    def u(self) -> np.ndarray:
        """A unit vector that separates all rows so far by the margin; what was not shown is taken for positive."""
        u = np.zeros(self.d)
        u[: self.rounds] = 1.0 / math.sqrt(self.rounds)
        u[: self.shown] *= self._labels
        return u

    def next_row(self, weights: Any, intercept: float = 0.0) -> tuple[np.ndarray, float]:
        """A row and its label, for which ``y (<weights, x> + intercept) <= 0``.

        With a score of 0, which estimators take for the first class, the label is +1.
        """
        weights = np.asarray(weights, dtype=np.float64).reshape(-1)
        if weights.shape != (self.d,):
            raise BadInput(f"there are {len(weights)} weights for {self.d} dimensions: give the weights of one output")
        if self.shown == self.rounds:
            raise Refused(f"all {self.rounds} rounds are over, more mistakes cannot be forced: start a new adversary")
        x = np.zeros(self.d)
        x[self.shown] = self.radius
        score = float(weights[self.shown]) * self.radius + float(intercept)
        if math.isnan(score):
            raise BadInput("the weights are not numbers: an adversary has to know how they answer")
        y = -1.0 if score > 0.0 else 1.0
        self._labels.append(y)
        return x, y
