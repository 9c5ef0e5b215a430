"""Stochastic gradient descent, first and second order: every step sees one row, drawn by its importance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from onlinear.descent.course import Course, Solution, started, whole_steps
from onlinear.descent.objective import Objective, is_hinge, is_perceptron, row_scale, squared_lengths
from onlinear.registry import schedule_of
from onlinear.rules.schedules import Constant, Optimal, Pegasos, Power
from onlinear.system.threads import one_blas_thread

#: the gap, which takes a pass over all rows, is looked at whenever the steps have grown by this much
GROWTH = 1.1
#: how far from the margin a row still says how the hinge bends there
KINK = 0.5


@one_blas_thread
def sgd(
    objective: Objective,
    epsilon: float = 1e-4,
    schedule: Any = None,
    optimum: float | None = None,
    max_steps: int = 1_000_000,
    seed: int = 0,
    start: Any = None,
) -> Solution:
    """``w <- w - rate_t (slope x + l2 w)`` for a drawn row, from the ``start`` (0) until the gap is at most epsilon.

    Without a ``schedule`` the rate is ``1/(l2 (t0 + t))``: Robbins-Monro, and the fastest order for an l2-strongly
    convex objective. ``t0`` makes the first rate ``1/L`` of the longest row for a smooth loss, which would leave the
    range of numbers otherwise; it is 0 for the hinge: Pegasos (Shalev-Shwartz et al. 2007). The gap falls like
    ``1/t``, like ``log(t)/t`` for the hinge (Bottou & Bousquet 2008, table 2). Without a penalty l2 is
    the smallest eigenvalue of the mean of x x' for the squared loss; for the others the rate is ``t^-0.6 / L``, and 1
    for the perceptron loss, which is then the perceptron on drawn rows.

    The gap of a penalised hinge is certified by the share of its draws in which each row was within the margin.

    >>> from onlinear.descent import mean_loss
    >>> from onlinear.losses import Squared
    >>> sgd(mean_loss([[1.0], [1.0]], [0.0, 2.0], Squared(), l2=1.0), epsilon=1e-3).gap <= 1e-3
    True
    """
    schedule = default_schedule(objective) if schedule is None else schedule_of(schedule)
    entries, targets, loss, l2 = RowEntries(objective), objective.targets.tolist(), objective.loss, objective.l2
    w, tally, looks = started(objective, start), Tally(objective), Looks()
    course, max_steps = Course(objective, epsilon, optimum), whole_steps(max_steps)
    if not max_steps:
        course.look(0, w, tally.shares)
    for t, i in enumerate(drawn_rows(objective, seed, max_steps), start=1):
        columns, x = entries.of(i)
        slope = loss.slope(float(x @ w[columns]), targets[i])
        rate = schedule.at(float(t))
        w *= 1.0 - rate * l2
        if slope != 0.0:
            w[columns] -= rate * slope * x
        tally.count(i, slope)
        if (looks.due(t) or t == max_steps) and course.look(t, w, tally.shares):
            break
    return course.solution(w)


@one_blas_thread
def second_order_sgd(
    objective: Objective,
    epsilon: float = 1e-4,
    optimum: float | None = None,
    max_steps: int = 1_000_000,
    seed: int = 0,
    start: Any = None,
) -> Solution:
    """``w <- w - 1/t H_t^-1 (slope x + l2 w)`` for a drawn row: SGD in the metric of the Hessian.

    ``t H_t = A_0 + sum_s (curvature_s x_s x_s' + l2 d e_j e_j')`` with ``j = s mod d`` sums up the curvature of the
    drawn rows where they were met. Each term has rank one, so the inverse follows by Sherman and Morrison's formula
    in O(d^2); the coordinates in turn add up to ``l2 I``. ``A_0 = (bend mean|x|^2 + l2) I`` makes the first step one of
    gradient descent. Method and rate 1/t, free of the condition number, are those of Bottou & Bousquet 2008, table 2
    ("2SGD"); the recursion is that of Bercu, Godichon & Portier 2020. On the squared loss without penalty it is
    recursive least squares: w is the minimiser of all rows so far, and of ``w' A_0 w / 2``.

    The hinge has no curvature, but its mean bends where rows crowd at the margin: their density there is taken from
    those within 1/2 of it, each with curvature 1. The slopes, and so the optimum, are those of the hinge itself.

    >>> from onlinear.descent import mean_loss
    >>> from onlinear.losses import Squared
    >>> second_order_sgd(mean_loss([[1.0], [1.0]], [0.0, 2.0], Squared(), l2=1.0), epsilon=1e-3).gap <= 1e-3
    True
    """
    entries, targets, loss, l2 = RowEntries(objective), objective.targets.tolist(), objective.loss, objective.l2
    w, tally, looks = started(objective, start), Tally(objective), Looks()
    inverse = np.eye(objective.features) / first_scale(objective)
    course, max_steps = Course(objective, epsilon, optimum), whole_steps(max_steps)
    if not max_steps:
        course.look(0, w, tally.shares)
    for t, i in enumerate(drawn_rows(objective, seed, max_steps), start=1):
        columns, x = entries.of(i)
        score, y = float(x @ w[columns]), targets[i]
        shrink(inverse, inverse[:, columns] @ x, columns, x, curvature(objective, score, y))
        if l2 > 0.0:
            j = t % objective.features
            shrink(inverse, inverse[:, j].copy(), j, 1.0, l2 * objective.features)
        gradient = l2 * w
        slope = loss.slope(score, y)
        gradient[columns] += slope * x
        w -= inverse @ gradient
        tally.count(i, slope)
        if (looks.due(t) or t == max_steps) and course.look(t, w, tally.shares):
            break
    return course.solution(w)


def shrink(inverse: Any, image: Any, columns: Any, x: Any, amount: float) -> None:
    """From ``A^-1`` to ``(A + amount x x')^-1`` in place, given ``image = A^-1 x`` (Sherman & Morrison 1950)."""
    if amount > 0.0:
        inverse -= np.outer(image * (amount / (1.0 + amount * float(np.dot(x, image[columns])))), image)


def curvature(objective: Objective, score: float, target: float) -> float:
    if is_hinge(objective):
        return 0.5 / KINK if abs(objective.margin - target * score) <= KINK else 0.0
    return float(objective.loss.curvature(score, target))


def first_scale(objective: Objective) -> float:
    """The scale of A_0."""
    bend = objective.form.bend(objective.loss) if objective.smooth else 0.5 / KINK
    return bend * float(objective.shares @ squared_lengths(objective.rows)) + objective.l2


def default_schedule(objective: Objective) -> Any:
    if is_hinge(objective) and objective.l2 > 0.0:
        return Pegasos(objective.l2)
    if is_perceptron(objective):
        return Constant(1.0)
    convexity = objective.l2 or objective.convexity
    if convexity > 0.0:
        return Optimal(convexity, start=objective.row_smoothness / convexity)
    return Power(1.0 / row_scale(objective), 0.6)


def drawn_rows(objective: Objective, seed: int, count: int, block: int = 4096) -> Iterator[int]:
    """Row numbers, each drawn by its importance with replacement."""
    rng, steps = np.random.default_rng(seed), np.cumsum(objective.shares)
    last = int(np.flatnonzero(objective.shares)[-1])  # the sum of the shares may round to less than 1
    for start in range(0, count, block):
        lots = rng.random(min(block, count - start))
        yield from np.minimum(np.searchsorted(steps, lots, side="right"), last).tolist()


class RowEntries:
    """The columns and values of a row; all columns, as a slice, of a dense one."""

    def __init__(self, objective: Objective) -> None:
        self.rows, self.sparse = objective.rows, issparse(objective.rows)

    def of(self, i: int) -> tuple[Any, Any]:
        if not self.sparse:
            return slice(None), self.rows[i]
        where = slice(self.rows.indptr[i], self.rows.indptr[i + 1])
        return self.rows.indices[where], self.rows.data[where]


class Tally:
    """In which share of its draws a row had a slope: between 0 and 1, so a point of the hinge's dual."""

    def __init__(self, objective: Objective) -> None:
        self.kept = is_hinge(objective)
        self.draws, self.hits = np.zeros(len(objective.targets)), np.zeros(len(objective.targets))

    def count(self, i: int, slope: float) -> None:
        if self.kept:
            self.draws[i] += 1.0
            self.hits[i] += slope != 0.0

    def shares(self) -> Any:
        return self.hits / np.maximum(self.draws, 1.0)


class Looks:
    """When to look: at 1, 2, 3, ... steps, later whenever they have grown by a tenth."""

    def __init__(self) -> None:
        self.next = 1

    def due(self, t: int) -> bool:
        if t < self.next:
            return False
        self.next = max(t + 1, int(t * GROWTH))
        return True
