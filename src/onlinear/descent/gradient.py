"""Gradient descent: every step sees every row."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.descent.course import Course, Solution, started, whole_steps
from onlinear.descent.objective import Objective, is_hinge, is_perceptron, row_scale
from onlinear.registry import schedule_of
from onlinear.rules.schedules import Constant, Pegasos, Power
from onlinear.system.threads import one_blas_thread


@one_blas_thread
def gradient_descent(
    objective: Objective,
    epsilon: float = 1e-4,
    schedule: Any = None,
    optimum: float | None = None,
    max_steps: int = 100_000,
    start: Any = None,
) -> Solution:
    """``w <- w - rate_t gradient(w)`` from the ``start`` (0) until the gap is at most epsilon.

    The rate is that of the ``schedule`` (:mod:`onlinear.rules.schedules`) at t = 1, 2, ... Without one it is ``1/L``
    for a smooth loss, whose gap every step then multiplies by ``1 - l2/L`` at most (Polyak 1963), and ``1/(l2 t)``
    for the hinge, whose gap falls like ``log(t)/t``. Without a penalty it is ``t^-1/2 / max |x|^2`` for the hinge, and
    1 for the perceptron loss: the batch perceptron, ``w <- w + mean(y x)`` over the rows that are wrong, which on
    separable rows ends within ``n (R / margin)^2`` steps, when none is.

    On the penalised hinge the subgradient steps are those of Frank and Wolfe on the dual: the shares a of the rows
    follow as ``a <- (1 - rate l2) a + rate l2 [y s <= margin]``, which keeps ``w = mean(a y x)/l2``; they certify the
    gap (Bach 2015, "Duality between subgradient and conditional gradient methods").

    >>> from onlinear.descent import mean_loss
    >>> from onlinear.losses import Squared
    >>> gradient_descent(mean_loss([[1.0], [1.0]], [0.0, 2.0], Squared(), l2=1.0), epsilon=1e-9).weights
    array([0.5])
    """
    schedule = default_schedule(objective) if schedule is None else schedule_of(schedule)
    dual, max_steps = is_hinge(objective), whole_steps(max_steps)
    w, shares = started(objective, start), np.zeros(len(objective.targets))
    course = Course(objective, epsilon, optimum)
    for t in range(1, max_steps + 1):
        if course.look(t - 1, w, shares.copy):
            return course.solution(w)
        rate, slopes = schedule.at(float(t)), objective.slopes(w)
        w = w - rate * (objective.pull(slopes) + objective.l2 * w)
        if dual:
            shares += min(1.0, rate * objective.l2) * (-objective.targets * slopes - shares)
    course.look(max_steps, w, shares.copy)
    return course.solution(w)


def default_schedule(objective: Objective) -> Any:
    if objective.smooth:
        return Constant(1.0 / (objective.smoothness or 1.0))
    if objective.l2 > 0.0:
        return Pegasos(objective.l2)
    return Constant(1.0) if is_perceptron(objective) else Power(1.0 / row_scale(objective), 0.5)
