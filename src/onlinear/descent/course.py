"""The course of a solver: what it reached after how many steps and seconds, and when to stop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from onlinear.descent.gaps import GapWithoutPenalty
from onlinear.descent.objective import Objective, is_hinge, is_perceptron
from onlinear.errors import BadInput, Diverged


class Point(NamedTuple):
    """Where a solver stood: the objective's value, and by how much at most it lies above the lowest."""

    steps: int
    value: float
    gap: float
    seconds: float


class Solution(NamedTuple):
    """Weights with a certificate: up to rounding, no weights have an objective below ``value - gap``.

    A solver that ran out of steps says so by a ``gap`` above the epsilon it was asked for. ``seconds`` were spent on
    steps; looking at the gap is not counted.
    """

    weights: Any
    value: float
    gap: float
    steps: int
    seconds: float = 0.0
    course: tuple[Point, ...] = ()


class Course:
    """Looks at a solver from time to time, with the clock stopped, and says when it has arrived.

    The clock starts when the course is made.

    The gap is ``value - optimum`` if the optimum is known. Otherwise it is certified, with a penalty:

    * ``f(w) - f* <= |gradient|^2 / (2 l2)`` for a smooth loss, because f is l2-strongly convex,
    * ``f(w) - dual`` for the hinge, where the solver brings shares ``0 <= a <= 1`` of the rows: see
      :meth:`~onlinear.descent.objective.Objective.dual_value`. (The bound above holds for the hinge too, but need not
      go to 0: at the optimum only some of its subgradients vanish.)

    Without one it is what :class:`~onlinear.descent.gaps.GapWithoutPenalty` knows, at worst the value itself. Of the
    perceptron loss that is the gap, since the weights 0 have the value 0; as they say nothing of any row, a solver has
    arrived only where every row is right.
    """

    def __init__(self, objective: Objective, epsilon: float, optimum: float | None) -> None:
        if not epsilon > 0.0:
            raise BadInput(f"epsilon is {epsilon}: give a gap above 0 to stop at")
        self.objective, self.epsilon, self.optimum = objective, epsilon, optimum
        self.rows_decide = is_perceptron(objective) and objective.l2 == 0.0
        if objective.l2 == 0.0 and optimum is None:
            self.unpenalised = GapWithoutPenalty(objective)
        self.points: list[Point] = []
        self.bound = -math.inf  # the best dual so far
        self.spent = 0.0
        self.since = time.perf_counter()

    def look(self, steps: int, w: Any, shares: Callable[[], Any] = lambda: None) -> bool:
        """Whether the weights are within epsilon of the optimum; for the hinge, ``shares()`` are the dual's."""
        self.spent += time.perf_counter() - self.since
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.objective.value(w)
        if not math.isfinite(value):
            raise Diverged(f"the objective is {value} after {steps} steps: take smaller rates")
        gap = self.gap(value, w, shares)
        self.points.append(Point(steps, value, gap, self.spent))
        self.since = time.perf_counter()
        return gap <= self.epsilon and not (self.rows_decide and self.objective.slopes(w).any())

    def gap(self, value: float, w: Any, shares: Callable[[], Any]) -> float:
        if self.optimum is not None:
            return value - self.optimum
        if self.objective.l2 == 0.0:
            return self.unpenalised.at(w, value)
        if is_hinge(self.objective):
            self.bound = max(self.bound, self.objective.dual_value(shares()))
            return value - self.bound
        gradient = self.objective.gradient(w)
        return float(gradient @ gradient) / (2.0 * self.objective.l2)

    def solution(self, w: Any) -> Solution:
        last = self.points[-1]
        return Solution(w, last.value, last.gap, last.steps, last.seconds, tuple(self.points))


def whole_steps(max_steps: Any) -> int:
    """How many steps may be taken: a whole number, also as a float.

    >>> whole_steps(1e5)
    100000
    """
    is_number = isinstance(max_steps, Real)
    if not is_number or not 0 <= max_steps < math.inf or max_steps != int(max_steps):
        raise BadInput(f"max_steps is {max_steps!r:.40}: give a whole number, not below 0")
    return int(max_steps)


def started(objective: Objective, start: Any) -> Any:
    """The weights that a solver starts with: 0, or a copy of those given."""
    if start is None:
        return np.zeros(objective.features)
    weights = np.array(start, dtype=np.float64).reshape(-1)
    if len(weights) != objective.features or not np.isfinite(weights).all():
        raise BadInput(
            f"the start has {len(weights)} numbers for {objective.features} features: give a finite number for each"
        )
    return weights
