"""The classical table, measured: how many steps, and how long ones, a method takes to a gap of epsilon.

Bottou & Bousquet 2008, "The tradeoffs of large scale learning", table 2: with n rows of d features and under strong
convexity and noise, gradient descent takes ``n d log 1/e``, Newton's method ``n d^2 log log 1/e`` (it builds its
Hessian), SGD ``d 1/e`` and second-order SGD ``d^2 1/e``, whatever n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from onlinear.descent.course import Solution
from onlinear.descent.gradient import gradient_descent
from onlinear.descent.newton import newton
from onlinear.descent.objective import Objective, mean_loss
from onlinear.descent.stochastic import second_order_sgd, sgd
from onlinear.errors import BadInput
from onlinear.losses import Squared
from onlinear.registry import loss_of

#: gaps that are half a digit apart
GAPS = (1e-2, 10**-2.5, 1e-3, 10**-3.5, 1e-4)
#: numbers of rows, each four times the one before
ROWS = (1 << 12, 1 << 14, 1 << 16)
#: runs of a method that is not random, of which the fastest counts
TIMED = 4
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


class Method(NamedTuple):
    """A solver, what a step should cost, and how their number grows (Bottou & Bousquet 2008, table 2)."""

    name: str
    title: str
    solve: Callable[..., Solution]
    is_random: bool
    step: str
    steps: str


METHODS = (
    Method("GD", "gradient descent", gradient_descent, False, "n d", "log 1/e"),
    Method("Newton", "Newton", newton, False, "n d^2", "log log 1/e"),
    Method("SGD", "SGD", sgd, True, "d", "1/e"),
    Method("2nd-order SGD", "second-order SGD", second_order_sgd, True, "d^2", "1/e"),
)


class Cost(NamedTuple):
    """Steps to the gap, in the mean over the seeds, and the seconds of one; whether all runs have come to the gap."""

    steps: float
    step_seconds: float
    arrived: bool

    @property
    def seconds(self) -> float:
        return self.steps * self.step_seconds


class StepsTable(NamedTuple):
    """What each method costs, for each of several gaps or numbers of rows; printed, it is the table."""

    heading: str
    amounts: tuple[str, ...]
    costs: dict[str, tuple[Cost, ...]]

    def lines(self) -> Iterator[str]:
        yield line_of(self.heading, self.amounts)
        for method in METHODS:
            if method.name in self.costs:
                costs = self.costs[method.name]
                yield line_of(f"{method.name}, a step: {method.step}", [duration(c.step_seconds) for c in costs])
                steps = [f"{'' if c.arrived else '>'}{c.steps:,.0f}" for c in costs]
                yield line_of(f"  steps: {method.steps}", steps)
                yield line_of("  in all", [duration(c.seconds) for c in costs])

    def __str__(self) -> str:
        return "\n".join(self.lines())


def steps_table(objective: Objective, gaps: Sequence[float] = GAPS, seeds: int = 3, max_steps: int = 0) -> StepsTable:
    """The steps that each method takes to each gap of an objective; Newton's method is left out for a hinge.

    The gap is the true one for a smooth loss, to the optimum that Newton's method finds first, and else the certified
    one. The steps of stochastic methods are means over so many ``seeds``; ``max_steps`` is the solver's own if it is 0,
    and ``>`` says that it was not enough.

    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> table = steps_table(mean_loss(X, X.sum(axis=1) + X[:, 0] ** 2, "squared_error"), gaps=(0.1, 0.01))
    >>> table.costs["Newton"][1].steps, table.costs["SGD"][0].steps < table.costs["SGD"][1].steps
    (1.0, True)
    """
    if not gaps or not min(gaps) > 0.0 or seeds < 1:
        raise BadInput(
            f"the gaps are {tuple(gaps)} and there are {seeds} seeds: give gaps above 0, and one seed or more"
        )
    optimum = optimum_of(objective)
    costs = {
        method.name: costs_of(method, objective, gaps, optimum, range(seeds), max_steps)
        for method in methods_for(objective)
    }
    return StepsTable(f"epsilon, {len(objective.targets):,} rows", tuple(f"{gap:.1e}" for gap in gaps), costs)


def rows_table(
    loss: Any = "log_loss", rows: Sequence[int] = ROWS, gap: float = 1e-3, seeds: int = 3, max_steps: int = 0
) -> StepsTable:
    """The same to one gap, on drawn problems of so many rows: that of stochastic methods does not depend on them."""
    problems = [drawn_problem(loss, n) for n in rows]
    optima = [optimum_of(objective) for objective in problems]
    costs = {
        method.name: tuple(
            costs_of(method, objective, (gap,), optimum, range(seeds), max_steps)[0]
            for objective, optimum in zip(problems, optima, strict=True)
        )
        for method in methods_for(problems[0])
    }
    return StepsTable(f"n rows, to a gap of {gap:g}", tuple(f"{n:,}" for n in rows), costs)


def drawn_problem(loss: Any, rows: int, features: int = 16, l2: float | None = None) -> Objective:
    """The mean loss of drawn rows with features of unequal scale, whose targets are noisy.

    Numbers for the squared loss, which has no penalty if none is asked for; labels of a logistic model for the others,
    with a penalty of 0.02.
    """
    loss, rng = loss_of(loss), np.random.default_rng(0)
    X = rng.standard_normal((rows, features)) * np.linspace(0.3, 1.0, features)
    scores = X @ rng.standard_normal(features)
    if isinstance(loss, Squared):
        return mean_loss(X, scores + rng.standard_normal(rows), loss, l2=0.0 if l2 is None else l2)
    y = np.where(rng.random(rows) < 1.0 / (1.0 + np.exp(-scores)), 1.0, -1.0)
    return mean_loss(X, y, loss, l2=0.02 if l2 is None else l2)


def methods_for(objective: Objective) -> list[Method]:
    return [method for method in METHODS if objective.smooth or method.solve is not newton]


def optimum_of(objective: Objective) -> float | None:
    """The lowest value of a smooth objective, to rounding."""
    return newton(objective, 1e-15).value if objective.smooth else None


def costs_of(
    method: Method,
    objective: Objective,
    gaps: Sequence[float],
    optimum: float | None,
    seeds: Sequence[int],
    max_steps: int = 0,
) -> tuple[Cost, ...]:
    """The cost of a method to each gap: those on the way to the least are seen in passing."""
    most: dict[str, Any] = {"max_steps": max_steps} if max_steps else {}
    choices: list[dict[str, Any]] = [{"seed": seed} for seed in seeds] if method.is_random else [{}] * TIMED
    runs = [method.solve(objective, min(gaps), optimum=optimum, **choice, **most) for choice in choices]
    fastest = min(map(step_seconds, runs))

    def cost(gap: float) -> Cost:
        ends = [next((point for point in run.course if point.gap <= gap), run.course[-1]) for run in runs]
        return Cost(float(np.mean([end.steps for end in ends])), fastest, all(end.gap <= gap for end in ends))

    return tuple(map(cost, gaps))


def step_seconds(run: Solution) -> float:
    """The time of a step in the fastest stretch between two looks; a short one would show the clock, not the step."""
    stretches = [(after.steps - before.steps, after.seconds - before.seconds) for before, after in pairwise(run.course)]
    longest = max((steps for steps, _ in stretches), default=0)
    return min((seconds / steps for steps, seconds in stretches if 4 * steps >= longest), default=run.seconds)


def line_of(name: str, cells: Sequence[str]) -> str:
    return f"{name:<30}" + "".join(f"{cell:>12}" for cell in cells)


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them.

    >>> duration(0.00212), duration(3e-6), duration(12.0)
    ('2.12 ms', '3 us', '12 s')
    """
    scale, unit = next((unit for unit in UNITS if seconds >= unit[0]), UNITS[-1])
    return f"{seconds / scale:.3g} {unit}"
