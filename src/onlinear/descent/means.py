"""Mean estimation as stochastic approximation: SGD at its simplest."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.data.batch import numbers_of
from onlinear.registry import schedule_of
from onlinear.rules.schedules import Power


def running_means(draws: Any, schedule: Any = None) -> Any:
    """The estimates ``w <- w + rate_t (x_t - w)`` after each draw, from w = 0: SGD on ``E (x - w)^2 / 2``.

    With the rate ``1/t``, which is taken without a schedule, the estimate is the mean of the draws so far. It converges
    to E x with any rates that sum to infinity while their squares do not (Robbins & Monro 1951; with probability 1:
    Blum 1954), if the draws have *bounded variance*. These conditions suffice: rates ``t^-1/2`` still find the mean in
    mean square. Rates that sum to a finite number stop short, a constant rate keeps the noise of the last draws, and
    with rates ``t^-0.6`` symmetric Pareto draws of index 1.2, whose mean is 0 and whose variance is infinite, throw the
    estimate off for ever.

    >>> running_means([4.0, 0.0, 2.0])
    array([4., 2., 2.])
    >>> from onlinear.rules import Constant
    >>> running_means([4.0, 0.0, 2.0], Constant(0.5))
    array([2. , 1. , 1.5])
    """
    schedule = Power(rate=1.0, power=1.0) if schedule is None else schedule_of(schedule)
    numbers = numbers_of(draws, len(draws))
    estimates, w = np.empty_like(numbers), 0.0
    for t, x in enumerate(numbers.tolist(), start=1):
        w += schedule.at(float(t)) * (x - w)
        estimates[t - 1] = w
    return estimates
