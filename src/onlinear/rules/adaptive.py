"""Rules whose steps adapt to what they have seen: a rate for every weight, or steps that obey importance."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

from onlinear.parameters import NOT_NEGATIVE, POSITIVE
from onlinear.rules.context import StepContext
from onlinear.rules.dispatch import loss_flow

Cell = tuple[float, ...]

#: a slope below this share of the targets' size teaches nothing: it is 0 in single precision
LEAST = 2.0**-24


class AdaGrad(NamedTuple):
    """AdaGrad: ``G += g^2; w -= rate g / (sqrt(G) + epsilon)``. Duchi, Hazan & Singer, JMLR 12 (2011).

    With importance h the gradient is ``h slope x``. Where G and epsilon are 0, so is the step.
    """

    rate: Annotated[float, "how far a step goes", NOT_NEGATIVE] = 0.1
    epsilon: Annotated[float, "added to the root of the squared gradients", NOT_NEGATIVE] = 1e-8

    CELL = ("weight", "squares")

    def move(self, cell: Cell, x: float, step: float, context: StepContext) -> Cell:
        w, squares = cell
        pull = step * x
        squares += pull * pull
        divisor = math.sqrt(squares) + self.epsilon
        if divisor == 0.0:
            return cell
        return w + self.rate * pull / divisor, squares

    def pace(self, cell: Cell) -> float:
        divisor = math.sqrt(cell[1]) + self.epsilon
        return 0.0 if divisor == 0.0 else self.rate / divisor

    def fade(self, cell: Cell, keep: float) -> Cell:
        w, squares = cell
        return w, squares * keep


class ImportanceAware(NamedTuple):
    """Importance-invariant gradient descent. Karampatziakis & Langford, UAI 2011.

    The score follows the flow of the loss, ``ds/da = -slope(s)``, for ``rate * importance * |x|^2``: it never
    jumps over the target, and an example of importance h followed by the same example with h' moves the
    weights exactly as h + h' at once.
    """

    rate: Annotated[float, "how far a step goes", NOT_NEGATIVE] = 0.5

    def needs_norm(self) -> bool:
        return True

    def step(self, loss: Any, context: StepContext) -> float:
        if context.slope == 0.0 or context.norm <= 0.0:
            return 0.0
        amount = self.rate * context.importance * context.norm
        return (loss_flow(loss, context, amount) - context.score) / context.norm


class Normalised(NamedTuple):
    """The normalised, adaptive, importance-aware update: unscaled columns just work. Our default.

    Per weight: ``G`` sums the squared gradients (AdaGrad), ``N`` is the largest ``|x|`` seen, and the weight's rate
    is ``1 / (N sqrt(G))``; a weight whose ``N`` grows is scaled down as if it had always seen the new scale. The
    row's step follows the flow of the loss (see :class:`ImportanceAware`), so it cannot overshoot. Multiplying a
    column by a constant changes nothing but rounding; with a regression loss, so does multiplying the targets.

    Ross, Mineiro & Langford, "Normalized online learning", UAI 2013; Duchi, Hazan & Singer 2011;
    Karampatziakis & Langford 2011: together the default of Vowpal Wabbit, whose steps are those of ``rate=0.5``. As
    there, a row whose slope is 0 in single precision leaves its weights alone: a long row that is right anyway would
    scale them down.
    """

    rate: Annotated[float, "how far a step goes", NOT_NEGATIVE] = 0.8

    CELL = ("weight", "squares", "largest", "own_rate")

    def prepare(self, cell: Cell, x: float, context: StepContext) -> tuple[Cell, float, float]:
        w, squares, largest, own_rate = cell
        size = abs(x)
        if size == 0.0 or abs(context.slope) < LEAST * context.size:
            return cell, 0.0, 0.0
        share = min(size, largest) / max(size, largest)
        if size > largest:
            if largest > 0.0:  # a weight given beforehand keeps its size
                w *= share
            largest, share = size, 1.0
        pull = context.slope * x
        squares += context.importance * pull * pull
        own_rate = 1.0 / (largest * math.sqrt(squares)) if squares > 0.0 else 0.0
        return (w, squares, largest, own_rate), x * x * own_rate, share * share

    def step(self, loss: Any, context: StepContext) -> float:
        if context.slope == 0.0 or context.reach <= 0.0:
            return 0.0
        typical = math.sqrt(context.weight / context.spread)
        reach = context.reach * typical
        amount = self.rate * context.importance * reach * context.size
        return typical * (loss_flow(loss, context, amount) - context.score) / reach

    def move(self, cell: Cell, x: float, step: float, context: StepContext) -> Cell:
        w, squares, largest, own_rate = cell
        return w + step * x * own_rate, squares, largest, own_rate

    def pace(self, cell: Cell) -> float:
        return self.rate * cell[2] * cell[2] * cell[3]

    def fade(self, cell: Cell, keep: float) -> Cell:
        w, squares, largest, own_rate = cell
        return w, squares * keep, largest, own_rate


class FTRLProximal(NamedTuple):
    """FTRL-Proximal with per-weight rates, L1 and L2. McMahan et al., KDD 2013, algorithm 1.

    As in the paper the intercept is one more weight, and pays the penalties too.
    """

    alpha: Annotated[float, "how far a step goes", POSITIVE] = 0.1
    beta: Annotated[float, "the higher, the slower a weight begins", NOT_NEGATIVE] = 1.0
    l1: Annotated[float, "strength of the L1 penalty", NOT_NEGATIVE] = 0.0
    l2: Annotated[float, "strength of the L2 penalty", NOT_NEGATIVE] = 0.0

    CELL = ("weight", "lead", "squares")
    ODD = (True, True, False)

    def move(self, cell: Cell, x: float, step: float, context: StepContext) -> Cell:
        w, lead, squares = cell
        gradient = -step * x
        grown = squares + gradient * gradient
        lead += gradient - (math.sqrt(grown) - math.sqrt(squares)) / self.alpha * w
        if abs(lead) <= self.l1:
            return 0.0, lead, grown
        curb = (self.beta + math.sqrt(grown)) / self.alpha + self.l2
        return (math.copysign(self.l1, lead) - lead) / curb, lead, grown
