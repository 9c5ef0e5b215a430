"""Update rules: how large a step a row deserves, and how one weight moves.

A rule is a plain ``NamedTuple`` class whose fields are floats (or another such tuple). There are three kinds.

*Uniform rules* move every weight by ``step * x`` and keep nothing per weight; they offer
``step(loss, context)``.

*Cell rules* keep numbers beside each weight. They name them in ``CELL`` (the weight first; all start at 0) and
offer ``move(cell, x, step, context) -> cell``. Optional are

* ``step(loss, context)``: what the row deserves; ``-slope * importance`` if the rule does not say,
* ``prepare(cell, x, context) -> (cell, reach, spread)``: called for every weight of the row before ``step``,
  which then sees the sums as ``context.reach`` and (with earlier rows) ``context.spread``,
* ``needs_curvature()``: True to be asked also where the slope is 0 but the curvature is not,
* ``pace(cell)``: the weight's own rate, where lazy penalties are possible,
* ``fade(cell, keep) -> cell``: what forgetting does to the cell,
* ``needs_norm``, ``keeps_radius``: there, if a step sees the squared length of the row, or bounds speak of the largest,
* ``penalty_rate(t)``: the rate of penalties under a rule with one rate for all weights,
* ``ODD``: for each number of the cell, whether it changes sign with the targets (only the weight, if not said).

*Matrix rules* keep a square matrix over the features: see :mod:`onlinear.rules.matrix`.

What a step may see is a :class:`StepContext`.
"""

from onlinear.rules.adaptive import AdaGrad, FTRLProximal, ImportanceAware, Normalised
from onlinear.rules.context import StepContext
from onlinear.rules.matrix import OnlineNewton, SecondOrder
from onlinear.rules.passive import PA, PA1, PA2
from onlinear.rules.schedules import Adaptive, Constant, InvScaling, Optimal, Pegasos, Power
from onlinear.rules.uncertain import AROW, DiagonalNewton, DiagonalSecondOrder
from onlinear.rules.uniform import SGD, PerceptronStep

__all__ = [
    "AROW",
    "PA",
    "PA1",
    "PA2",
    "SGD",
    "AdaGrad",
    "Adaptive",
    "Constant",
    "DiagonalNewton",
    "DiagonalSecondOrder",
    "FTRLProximal",
    "ImportanceAware",
    "InvScaling",
    "Normalised",
    "OnlineNewton",
    "Optimal",
    "Pegasos",
    "PerceptronStep",
    "Power",
    "SecondOrder",
    "StepContext",
]
