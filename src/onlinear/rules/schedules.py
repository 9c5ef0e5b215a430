"""Learning rates as functions of the number of examples.

A schedule says whether it satisfies the Robbins-Monro conditions (the rates sum to infinity, their squares do
not): True, False, or None where the question does not apply.

>>> Power(1.0, 0.75).robbins_monro(), Constant(0.1).robbins_monro(), Adaptive(0.1).robbins_monro()
(True, False, None)
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from onlinear.parameters import FINITE, NOT_NEGATIVE, POSITIVE


class Constant(NamedTuple):
    """The same rate for ever: it follows a drifting stream, and never settles."""

    rate: Annotated[float, "how far a step goes", NOT_NEGATIVE] = 1.0

    def at(self, t: float) -> float:
        return self.rate

    def robbins_monro(self) -> bool | None:
        return False


class Power(NamedTuple):
    """``rate / t^power``: Robbins-Monro for powers above 1/2 up to 1."""

    rate: Annotated[float, "how far the first step goes", NOT_NEGATIVE] = 1.0
    power: Annotated[float, "how fast the rate falls", FINITE] = 0.5

    def at(self, t: float) -> float:
        return self.rate / t**self.power

    def robbins_monro(self) -> bool | None:
        return 0.5 < self.power <= 1.0


#: scikit-learn's name for the same thing
InvScaling = Power


class Pegasos(NamedTuple):
    """``1 / (alpha t)``: the rate for an L2 penalty of strength ``alpha`` (Shalev-Shwartz et al. 2007)."""

    alpha: Annotated[float, "strength of the L2 penalty that the rate is for", POSITIVE] = 0.0001

    def at(self, t: float) -> float:
        return 1.0 / (self.alpha * t)

    def robbins_monro(self) -> bool | None:
        return True


class Optimal(NamedTuple):
    """scikit-learn's ``optimal``: ``1 / (alpha (start + t - 1))``.

    With Bottou's heuristic ``start`` makes the first rate fit the typical size ``alpha^(-1/4)`` of a weight.
    """

    alpha: Annotated[float, "strength of the L2 penalty that the rate is for", POSITIVE] = 0.0001
    start: Annotated[float, "examples that count as seen", POSITIVE] = 1.0

    def at(self, t: float) -> float:
        return 1.0 / (self.alpha * (self.start + t - 1.0))

    def robbins_monro(self) -> bool | None:
        return True


class Adaptive(NamedTuple):
    """A constant rate that is divided by 5 whenever a pass brings no improvement.

    The learner divides it at the end of a pass; a stream without passes keeps it constant. Whether it satisfies
    Robbins-Monro depends on the data.
    """

    rate: Annotated[float, "how far a step goes at first", NOT_NEGATIVE] = 0.01

    def at(self, t: float) -> float:
        return self.rate

    def robbins_monro(self) -> bool | None:
        return None
