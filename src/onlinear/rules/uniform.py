"""Rules that move every weight by ``step * x``."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from onlinear.parameters import POSITIVE, SCHEDULE
from onlinear.rules.context import StepContext
from onlinear.rules.dispatch import rate_at
from onlinear.rules.schedules import Constant


class PerceptronStep(NamedTuple):
    """The perceptron's step: ``w += rate y x`` on an update. Rosenblatt 1958; Novikoff 1962.

    The rate only scales the weights when they start at zero and nothing is penalised.
    """

    rate: Annotated[float, "how far a step goes", POSITIVE] = 1.0

    def keeps_radius(self) -> bool:
        return True

    def step(self, loss: Any, context: StepContext) -> float:
        return -self.rate * context.slope * context.importance

    def penalty_rate(self, t: float) -> float:
        return self.rate


class SGD(NamedTuple):
    """Stochastic gradient descent: ``w -= rate(t) slope x``. Robbins & Monro 1951.

    Slopes are clipped to +-1e12, as scikit-learn does.
    """

    schedule: Annotated[Any, "the rate at each example; a number is a constant one", SCHEDULE] = Constant(0.1)

    def step(self, loss: Any, context: StepContext) -> float:
        slope = min(max(context.slope, -1e12), 1e12)
        return -rate_at(self.schedule, context.t) * slope * context.importance

    def penalty_rate(self, t: float) -> float:
        return rate_at(self.schedule, t)
