"""Passive-aggressive rules: the smallest change that mends this example.

Crammer, Dekel, Keshet, Shalev-Shwartz & Singer, "Online passive-aggressive algorithms", JMLR 7 (2006), figure 1.
In the formulas ``loss`` is how far the score is from no loss: of a squared hinge or epsilon-insensitive loss, the root.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

from onlinear.parameters import POSITIVE_OR_INFINITE
from onlinear.rules.context import StepContext


class PA(NamedTuple):
    """Passive-aggressive without slack: afterwards the example has no loss; ``tau = loss / |x|^2``."""

    def needs_norm(self) -> bool:
        return True

    def step(self, loss: Any, context: StepContext) -> float:
        if context.slope == 0.0 or context.norm <= 0.0:
            return 0.0
        short = math.sqrt(context.value) if context.curvature > 0.0 else context.value
        return math.copysign(short / (context.norm * context.together), -context.slope) * context.importance


class PA1(NamedTuple):
    """PA-I: the step is at most ``C``: ``tau = min(C, loss / |x|^2)``."""

    C: Annotated[float, "the largest step", POSITIVE_OR_INFINITE] = 1.0

    def needs_norm(self) -> bool:
        return True

    def step(self, loss: Any, context: StepContext) -> float:
        if context.slope == 0.0 or context.norm <= 0.0:
            return 0.0
        short = math.sqrt(context.value) if context.curvature > 0.0 else context.value
        return (
            math.copysign(min(self.C, short / (context.norm * context.together)), -context.slope) * context.importance
        )


class PA2(NamedTuple):
    """PA-II: slack is squared: ``tau = loss / (|x|^2 + 1 / (2 C))``."""

    C: Annotated[float, "the higher, the larger the steps", POSITIVE_OR_INFINITE] = 1.0

    def needs_norm(self) -> bool:
        return True

    def step(self, loss: Any, context: StepContext) -> float:
        if context.slope == 0.0:
            return 0.0
        short = math.sqrt(context.value) if context.curvature > 0.0 else context.value
        size = short / (context.norm * context.together + 0.5 / self.C)
        return math.copysign(size, -context.slope) * context.importance


class DecayingPA1(NamedTuple):
    """PA-I beside a penalty, as scikit-learn's SGD pairs them: the penalty is paid at the rate ``C``."""

    C: Annotated[float, "the largest step", POSITIVE_OR_INFINITE] = 1.0

    def needs_norm(self) -> bool:
        return True

    def step(self, loss: Any, context: StepContext) -> float:
        if context.slope == 0.0 or context.norm <= 0.0:
            return 0.0
        return math.copysign(min(self.C, context.value / context.norm), -context.slope) * context.importance

    def penalty_rate(self, t: float) -> float:
        return self.C


class DecayingPA2(NamedTuple):
    """PA-II beside a penalty, as scikit-learn's SGD pairs them: the penalty is paid at the rate ``C``."""

    C: Annotated[float, "the higher, the larger the steps", POSITIVE_OR_INFINITE] = 1.0

    def needs_norm(self) -> bool:
        return True

    def step(self, loss: Any, context: StepContext) -> float:
        if context.slope == 0.0:
            return 0.0
        size = context.value / (context.norm + 0.5 / self.C)
        return math.copysign(size, -context.slope) * context.importance

    def penalty_rate(self, t: float) -> float:
        return self.C
