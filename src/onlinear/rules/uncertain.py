"""Second-order rules in diagonal form: each weight with its own certainty."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

from onlinear.parameters import POSITIVE
from onlinear.rules.context import StepContext

Cell = tuple[float, ...]


class AROW(NamedTuple):
    """Adaptive regularisation of weights, diagonal. Crammer, Kulesza & Dredze, NIPS 2009.

    Each weight's precision starts at 1 and grows by ``h x^2 / r``; the step is
    ``hinge / (sum x^2 / precision + r / h)``, and a weight moves by ``step x / precision``.
    """

    r: Annotated[float, "the higher, the smaller the steps", POSITIVE] = 1.0

    CELL = ("weight", "certainty")  # certainty: the precision above its first value 1

    def prepare(self, cell: Cell, x: float, context: StepContext) -> tuple[Cell, float, float]:
        return cell, x * x / (1.0 + cell[1]), 0.0

    def step(self, loss: Any, context: StepContext) -> float:
        if context.value == 0.0:
            return 0.0
        return math.copysign(context.value / (context.reach + self.r / context.importance), -context.slope)

    def move(self, cell: Cell, x: float, step: float, context: StepContext) -> Cell:
        w, certainty = cell
        if step == 0.0:
            return cell
        w += step * x / (1.0 + certainty)
        return w, certainty + context.importance * x * x / self.r

    def fade(self, cell: Cell, keep: float) -> Cell:
        w, certainty = cell
        return w, certainty * keep


class DiagonalSecondOrder(NamedTuple):
    """Second-order perceptron with a diagonal correlation matrix: ``w = v / (a + sum x^2)``.

    For more features than :class:`onlinear.rules.SecondOrder` can hold. Cesa-Bianchi, Conconi & Gentile 2005.
    """

    a: Annotated[float, "the higher, the slower it begins", POSITIVE] = 1.0

    CELL = ("weight", "sum", "squares")
    ODD = (True, True, False)

    def move(self, cell: Cell, x: float, step: float, context: StepContext) -> Cell:
        _, total, squares = cell
        total += step * x
        squares += context.importance * x * x
        return total / (self.a + squares), total, squares

    def fade(self, cell: Cell, keep: float) -> Cell:
        w, _, squares = cell
        return w, w * (self.a + squares * keep), squares * keep


class DiagonalNewton(NamedTuple):
    """Online Newton with a diagonal Hessian: ``H += h curvature x^2; w -= slope x / (a + H)``.

    For more features than :class:`onlinear.rules.OnlineNewton` can hold.
    """

    a: Annotated[float, "the higher, the slower it begins", POSITIVE] = 1.0

    CELL = ("weight", "hessian")

    def needs_curvature(self) -> bool:
        return True

    def prepare(self, cell: Cell, x: float, context: StepContext) -> tuple[Cell, float, float]:
        w, hessian = cell
        hessian += context.importance * context.curvature * x * x
        return (w, hessian), x * x / (self.a + hessian), 0.0

    def move(self, cell: Cell, x: float, step: float, context: StepContext) -> Cell:
        w, hessian = cell
        return w + step * x / (self.a + hessian), hessian

    def fade(self, cell: Cell, keep: float) -> Cell:
        w, hessian = cell
        return w, hessian * keep
