"""Matrix rules: a square matrix over the features, for up to about 2000 of them.

A matrix rule keeps the inverse ``P`` of ``a I + sum c x x^T``, brought up to date by Sherman-Morrison. Given
``z = P x``, ``reach = x.z`` it says by how much the matrix grows, ``growth(context)``, and the step along the new
``P x``, ``step(loss, context)``.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from onlinear.parameters import POSITIVE
from onlinear.rules.context import StepContext

#: the most features a matrix rule takes: 2000 x 2000 doubles are 32 MB for each output
MOST_FEATURES = 2000


class SecondOrder(NamedTuple):
    """Second-order perceptron: ``w = (a I + sum x x^T)^-1 sum y x`` over the updates.

    Cesa-Bianchi, Conconi & Gentile, SIAM J. Comput. 34 (2005). The paper scores with the matrix that already
    holds the present row; that divides the score by a positive number, so the predictions are the same.
    """

    a: Annotated[float, "the higher, the slower it begins", POSITIVE] = 1.0

    MATRIX = True

    def growth(self, context: StepContext) -> float:
        return context.importance if context.slope != 0.0 else 0.0

    def step(self, loss: Any, context: StepContext) -> float:
        # w' = (A + h x x^T)^-1 (v + h y x) = w + h (y - s) P' x, as A w = v
        return context.importance * (context.target - context.score) if context.slope != 0.0 else 0.0


class OnlineNewton(NamedTuple):
    """Online Newton ("2 SGD"): ``H += h curvature x x^T; w -= H^-1 h slope x``, from ``H = a I``.

    With the squared loss it is recursive least squares: after every row the ridge solution of strength ``a``.
    Bottou & Bousquet 2008; Hazan, Agarwal & Kale 2007.
    """

    a: Annotated[float, "the higher, the slower it begins", POSITIVE] = 1.0

    MATRIX = True

    def growth(self, context: StepContext) -> float:
        return context.importance * context.curvature

    def step(self, loss: Any, context: StepContext) -> float:
        return -context.slope * context.importance
