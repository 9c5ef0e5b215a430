"""The best fixed weights of bounded length, with a certificate: what regret is measured against."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from onlinear.descent.course import Solution
from onlinear.descent.elementwise import SmoothedHinge
from onlinear.descent.newton import damped_step, solve_newton_system
from onlinear.descent.objective import Objective, is_hinge, mean_loss, squared_lengths
from onlinear.errors import BadInput
from onlinear.system.threads import one_blas_thread

#: what sums may lose, relative to the size of their terms: it is added to the gap, so that the bound is true as printed
ROUNDING = 16.0 * sys.float_info.epsilon


@one_blas_thread
def best_in_ball(
    X: Any,
    y: Any,
    loss: Any,
    radius: float,
    epsilon: float,
    sample_weight: Any = None,
    max_steps: int = 1000,
) -> Solution:
    """Minimise the importance-weighted mean loss over ``|w| <= radius``, to a certified gap of epsilon.

    The constrained optimum is that of a penalty: ``w(l2)``, found by Newton's method, shrinks as l2 grows, and l2 is
    sought at which it meets the ball (Moré & Sorensen 1983); if even a penalty of ``epsilon / radius^2`` leaves it
    inside, it is optimal enough. Newton's method works on the hinge with its kink rounded off, ever less.

    The gap is a bound on the suboptimality whatever the search did. For any weights u in the ball and the gradient g
    there, a smooth loss is nowhere in the ball below ``f(u) - <g, u> - radius |g|`` (Frank & Wolfe 1956), and the
    hinge nowhere below ``margin mean(a) - radius |mean(a y x)|`` for any shares ``0 <= a <= 1`` of the rows.

    ``steps`` counts Newton's. If ``max_steps`` are not enough, or rounding forbids it, the gap is above epsilon.

    >>> from onlinear.losses import Hinge, Squared
    >>> best = best_in_ball([[1.0], [1.0]], [0.0, 6.0], Squared(), radius=2.0, epsilon=1e-9)
    >>> best.weights.round(6), round(best.value, 6), best.gap <= 1e-9
    (array([2.]), 5.0, True)
    >>> best_in_ball([[1.0], [1.0], [1.0]], [1.0, 1.0, -1.0], Hinge(), radius=5.0, epsilon=1e-6).weights.round(4)
    array([1.])
    """
    if not 0.0 < radius < float("inf"):
        raise BadInput(f"the radius is {radius}: give a finite length above 0 that the weights may have")
    if not epsilon > 0.0:
        raise BadInput(f"epsilon is {epsilon}: give a gap above 0 to stop at")
    begun = time.perf_counter()
    search = BallSearch(mean_loss(X, y, loss, 0.0, sample_weight), radius, epsilon, max_steps)
    for stand_in, tolerance in stand_ins(search.goal, epsilon):
        if not search.over:
            search.follow(stand_in, tolerance)
    return Solution(search.best, search.value, search.gap, search.steps, time.perf_counter() - begun)


def stand_ins(goal: Objective, epsilon: float) -> Iterator[tuple[Objective, float]]:
    """What Newton's method minimises, each to which gap of its own: a smooth loss itself, or ever sharper hinges.

    The dual of a smoothed hinge is short of the hinge by a quarter of the width at most, at a row with share 1/2: a
    width of 2 epsilon leaves half of epsilon to the search.
    """
    if not is_hinge(goal):
        yield goal, epsilon
        return
    width = max(1.0, 2.0 * epsilon)
    while True:
        yield replace(goal, loss=SmoothedHinge(goal.margin, width)), 0.25 * width
        if width <= 2.0 * epsilon:
            return
        width = max(0.2 * width, 2.0 * epsilon)


class BallSearch:
    """The best weights so far, the highest lower bound so far, and where to go on from."""

    def __init__(self, goal: Objective, radius: float, epsilon: float, max_steps: int) -> None:
        self.goal, self.radius, self.epsilon, self.max_steps = goal, radius, epsilon, max_steps
        self.steps = 0
        self.w = self.best = np.zeros(goal.features)
        self.value, self.bound = goal.value(self.best), -np.inf
        self.lengths = np.sqrt(squared_lengths(goal.rows))
        self.l2 = np.inf

    @property
    def gap(self) -> float:
        return float(self.value - self.bound)

    @property
    def over(self) -> bool:
        return self.gap <= self.epsilon or self.steps >= self.max_steps

    def follow(self, stand_in: Objective, tolerance: float) -> None:
        """Move l2 until the stand-in's penalised optimum, drawn into the ball, is its best there to the tolerance."""
        low, met = tolerance / self.radius**2, False  # met: the optimum at low lies outside
        start = np.zeros_like(self.w)
        high = max(low, float(np.linalg.norm(stand_in.gradient(start))) / self.radius)  # |w(l2)| <= |gradient(0)| / l2
        self.l2 = min(max(self.l2, low), high)
        while not self.over:
            penalised = replace(stand_in, l2=self.l2)
            if self.descend(penalised, stand_in, tolerance) <= tolerance:
                return
            if np.linalg.norm(self.w) > self.radius:
                low, met = self.l2, True
            else:
                high = self.l2
            if high - low <= 1e-15 * high:
                return  # rounding leaves nothing between them
            aim = self.newton_step(penalised)
            if aim <= low and not met:
                self.l2 = low
            else:
                self.l2 = aim if low < aim < high else float(np.sqrt(low * high))

    def newton_step(self, penalised: Objective) -> float:
        """The l2 where ``1/|w(l2)| = 1/radius`` by a step of Newton's: the left side is almost linear in l2."""
        length = float(np.linalg.norm(self.w))
        if length == 0.0:
            return 0.0
        bend = float(self.w @ solve_newton_system(penalised, self.w, self.w)) / length**2
        return penalised.l2 + (length - self.radius) / (self.radius * bend)

    def descend(self, penalised: Objective, stand_in: Objective, tolerance: float) -> float:
        """Newton's steps until the gradient is short beside the tolerance, rounding hides what a step brings, or all is
        done; the stand-in's gap.
        """
        residual, hidden = 0.125 * tolerance / self.radius, False
        gap = self.consider(stand_in)
        while not hidden and not self.over:
            gradient = penalised.gradient(self.w)
            if np.linalg.norm(gradient) <= residual:
                break
            self.w, hidden = damped_step(penalised, self.w, gradient, residual)
            self.steps += 1
            gap = self.consider(stand_in)
        return gap

    def consider(self, stand_in: Objective) -> float:
        """Take the weights, drawn into the ball, if they are better, and their bound if it is; the stand-in's gap."""
        u = self.w * (self.radius / max(float(np.linalg.norm(self.w)), self.radius))
        value, slopes = self.goal.value(u), stand_in.slopes(u)
        if value < self.value:
            self.best, self.value = u, value
        gradient = stand_in.pull(slopes)
        reach = self.radius * float(np.linalg.norm(gradient))
        gap = float(gradient @ u) + reach
        shares = self.goal.shares * abs(slopes)
        bound = self.goal.margin * float(shares.sum()) - reach if is_hinge(self.goal) else value - gap
        blur = ROUNDING * (abs(value) + abs(bound) + self.radius * float(shares @ self.lengths))
        self.bound = max(self.bound, bound - blur)
        return gap
