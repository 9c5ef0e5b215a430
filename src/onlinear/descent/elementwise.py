"""The losses of :mod:`onlinear.losses` on whole arrays: the same mathematics, an element at a time.

The scalar class stays the definition, and the tests hold each form to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.special import expit

from onlinear.errors import Refused
from onlinear.losses import Hinge, Logistic, Perceptron, Squared
from onlinear.parameters import NOT_NEGATIVE, POSITIVE


class SmoothedHinge(NamedTuple):
    """The hinge with its kink rounded off: ``max over 0 <= a <= 1 of a (margin - y s) - width a^2 / 2``.

    It lies under the hinge, by at most ``width / 2``, and its slope is ``-a y`` for the best a. Nesterov 2005; in the
    primal training of support vector machines: Chapelle 2007.

    >>> SmoothedHinge(1.0, 0.5).value(0.0, 1.0), SmoothedHinge(1.0, 0.5).slope(0.75, 1.0)
    (0.75, -0.5)
    """

    margin: Annotated[float, NOT_NEGATIVE]
    width: Annotated[float, POSITIVE]

    def share(self, score: float, target: float) -> float:
        """The best a."""
        return min(max((self.margin - target * score) / self.width, 0.0), 1.0)

    def value(self, score: float, target: float) -> float:
        a = self.share(score, target)
        return a * (self.margin - target * score) - 0.5 * self.width * a * a

    def slope(self, score: float, target: float) -> float:
        return -target * self.share(score, target)

    def curvature(self, score: float, target: float) -> float:
        return 1.0 / self.width if 0.0 < self.share(score, target) < 1.0 else 0.0


class Form(NamedTuple):
    """A loss on arrays: each takes the loss, the scores and the targets; ``bend`` is the largest curvature."""

    values: Callable[[Any, Any, Any], Any]
    slopes: Callable[[Any, Any, Any], Any]
    curvatures: Callable[[Any, Any, Any], Any] | None = None
    bend: Callable[[Any], float] = lambda loss: float("inf")


def share(loss: SmoothedHinge, s: Any, y: Any) -> Any:
    return np.clip((loss.margin - y * s) / loss.width, 0.0, 1.0)


def smoothed_values(loss: SmoothedHinge, s: Any, y: Any) -> Any:
    a = share(loss, s, y)
    return a * (loss.margin - y * s) - 0.5 * loss.width * a * a


def smoothed_curvatures(loss: SmoothedHinge, s: Any, y: Any) -> Any:
    a = share(loss, s, y)
    return ((a > 0.0) & (a < 1.0)) / loss.width


FORMS: dict[type, Form] = {
    Squared: Form(
        values=lambda loss, s, y: 0.5 * (s - y) * (s - y),
        slopes=lambda loss, s, y: s - y,
        curvatures=lambda loss, s, y: np.ones_like(s),
        bend=lambda loss: 1.0,
    ),
    Logistic: Form(
        values=lambda loss, s, y: np.logaddexp(0.0, -y * s),
        slopes=lambda loss, s, y: -y * expit(-y * s),
        curvatures=lambda loss, s, y: expit(s) * expit(-s),
        bend=lambda loss: 0.25,
    ),
    Hinge: Form(
        values=lambda loss, s, y: np.maximum(0.0, loss.margin - y * s),
        slopes=lambda loss, s, y: np.where(y * s <= loss.margin, -y, 0.0),
    ),
    Perceptron: Form(
        values=lambda loss, s, y: np.maximum(0.0, -y * s),
        slopes=lambda loss, s, y: np.where(y * s <= 0.0, -y, 0.0),
    ),
    SmoothedHinge: Form(
        values=smoothed_values,
        slopes=lambda loss, s, y: -y * share(loss, s, y),
        curvatures=smoothed_curvatures,
        bend=lambda loss: 1.0 / loss.width,
    ),
}


def form_of(loss: Any) -> Form:
    """The loss on arrays; a loss without one is refused by name."""
    if type(loss) not in FORMS:
        raise Refused(
            f"the batch solvers do not take the loss {type(loss).__name__}: they take Squared(), Logistic(), Hinge() "
            "and Perceptron(); descend takes any function with its gradient"
        )
    return FORMS[type(loss)]
