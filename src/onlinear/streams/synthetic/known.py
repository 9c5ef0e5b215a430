"""Rows whose labels are drawn with a known chance, so that the risk of any weights is known, too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from onlinear.errors import BadInput, Refused
from onlinear.streams.arrays import Drawn, Generated, direction

#: what a wrong answer costs, and an uncertain one
LOSSES = ("log_loss", "zero_one")
#: beyond so many standard deviations nothing is seen in floats, and in how many steps it is summed up to there
FAR, STEPS = 12.0, 100_000
#: the share of weights that rounding may leave across the direction in which they lie
FAINT = 1e-12


class Risks(NamedTuple):
    """The mean loss of weights: over all rows that may come, over those that came, and the lowest there is at all."""

    true: float
    empirical: float
    best: float


@dataclass(frozen=True)
class LogisticLabels(Generated):
    """Standard normal rows whose label is +1 with the probability ``1 / (1 + exp(-strength <u, x> - intercept))``.

    The hidden ``u`` is a unit vector. Logistic regression is the right model, of the weights ``strength u``: no answers
    have a lower log loss, and none fewer errors, than theirs. The true risk of any weights is an integral over a line.

    >>> from onlinear import OnlineClassifier
    >>> stream = LogisticLabels(n=5000, d=3, strength=2.0)
    >>> model = OnlineClassifier()
    >>> for X, y in stream.arrays(block=500):
    ...     model = model.partial_fit(X, y, classes=[-1, 1])
    >>> true, empirical, best = stream.risks(model.coef_, model.intercept_)
    >>> bool(best < true < best + 0.02), bool(abs(true - empirical) < 0.02)
    (True, True)
    """

    n: int
    d: int
    strength: float = 3.0
    intercept: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        self.check_size()
        if not (0.0 <= self.strength < math.inf and math.isfinite(self.intercept)):
            raise Refused(
                f"the strength is {self.strength} and the intercept {self.intercept}: let both be finite, and the "
                "strength 0 or more"
            )

    @cached_property
    def u(self) -> np.ndarray:
        """The unit vector along which the probability rises."""
        return direction(self.generator(0), self.d)

    @property
    def weights(self) -> np.ndarray:
        """The weights of the truth."""
        return self.strength * self.u

    def probability(self, X: Any) -> np.ndarray:
        """P(y = +1 given x) for each row."""
        return chance((np.asarray(X, dtype=np.float64) * self.weights).sum(axis=1) + self.intercept)

    def drawn(self) -> Iterator[Drawn]:
        for rng, start, stop in self.groups():
            X = rng.standard_normal((stop - start, self.d))
            yield X, np.where(rng.random(stop - start) < self.probability(X), 1.0, -1.0)

    def risks(self, weights: Any, intercept: Any = 0.0, loss: str = "log_loss") -> Risks:
        """The true risk of weights, beside that on the rows of this stream and the lowest that any answers have."""
        w, b = self.checked(weights, intercept)
        total = 0.0
        for X, y in self.drawn():
            scores = (X * w).sum(axis=1) + b
            total += float(suffered(scores, y, loss).sum())
        best = self.true_risk(self.weights, self.intercept, loss)
        return Risks(self.true_risk(w, b, loss), total / self.n if self.n else math.nan, best)

    def true_risk(self, weights: Any, intercept: Any = 0.0, loss: str = "log_loss") -> float:
        """The mean loss of weights over all rows that may come: ``log_loss``, or ``zero_one``, the error.

        A score has the law of ``a z + r g + b`` with z = <u, x> and g independent and standard normal, a = <u, w> and
        r the length of what is left of w. A score of 0 is an answer for -1, as that of an estimator.
        """
        w, b = self.checked(weights, intercept)
        a = float(self.u @ w)
        r = float(np.linalg.norm(w - a * self.u))
        if loss == "zero_one":
            return self.true_error(a, r, b)
        check_loss(loss)
        # p log(1 + e^-s) + (1 - p) log(1 + e^s) = log(1 + e^s) - p s, and g is independent of p
        spread = math.hypot(a, r)
        cost = mean_over_normal(lambda z: np.logaddexp(0.0, spread * z + b))
        return cost - mean_over_normal(lambda z: chance(self.strength * z + self.intercept) * (a * z + b))

    def true_error(self, a: float, r: float, b: float) -> float:
        """The same of ``zero_one``, on either side of the z at which the answer turns."""
        from scipy.special import ndtr

        turn = min(max(-b / a, -FAR), FAR) if a else 0.0

        def error(z: np.ndarray, side: float) -> np.ndarray:
            p = chance(self.strength * z + self.intercept)
            positive = ndtr((a * z + b) / r) if r > FAINT * abs(a) else float(side * a > 0.0 or (a == 0.0 and b > 0.0))
            return p * (1.0 - positive) + (1.0 - p) * positive

        below = mean_over_normal(lambda z: error(z, -1.0), -FAR, turn)
        return below + mean_over_normal(lambda z: error(z, 1.0), turn, FAR)

    def checked(self, weights: Any, intercept: Any) -> tuple[np.ndarray, float]:
        """Weights of one output and their intercept."""
        w, b = np.asarray(weights, dtype=np.float64).reshape(-1), np.asarray(intercept, dtype=np.float64).reshape(-1)
        if w.shape != (self.d,) or b.shape != (1,) or not (np.isfinite(w).all() and np.isfinite(b).all()):
            raise BadInput(
                f"there are {len(w)} weights for {self.d} columns, or some are not finite: give one for each"
            )
        return w, float(b[0])


def chance(scores: Any) -> Any:
    """``1 / (1 + e^-s)``."""
    tail = np.exp(-np.abs(scores))
    return np.where(scores >= 0.0, 1.0, tail) / (1.0 + tail)


def suffered(scores: np.ndarray, y: np.ndarray, loss: str) -> np.ndarray:
    """The loss of each row."""
    check_loss(loss)
    if loss == "zero_one":
        return (np.where(scores > 0.0, 1.0, -1.0) != y).astype(np.float64)
    return np.logaddexp(0.0, -y * scores)


def check_loss(loss: str) -> None:
    if loss not in LOSSES:
        raise Refused(f"the loss is {loss!r:.40}: the true risk is known of {' and '.join(LOSSES)}")


def mean_over_normal(function: Callable[[np.ndarray], np.ndarray], low: float = -FAR, high: float = FAR) -> float:
    """The integral of a function times the normal density from one number to another, by trapezoids."""
    z = np.linspace(low, high, STEPS + 1)
    heights = function(z) * np.exp(-0.5 * z * z)
    return float((heights.sum() - 0.5 * (heights[0] + heights[-1])) * (high - low) / STEPS / math.sqrt(2.0 * math.pi))
