"""Claim: the batch solvers grow with the rows and with 1/epsilon as theory says.

The classical table (Bottou & Bousquet 2008, "The tradeoffs of large scale learning", table 2), measured: the time of a
step, the steps to a gap of epsilon, and the time of them all, for gradient descent, Newton's method, SGD and
second-order SGD. The objective is the mean logistic loss of drawn rows whose labels are noisy, with an L2 penalty; the
gap is the true one, to the optimum that Newton's method finds first. The steps of the stochastic methods are means
over several seeds; the time of a step is that of the fastest stretch of a run, on one core. Growth is fitted as a
power: the slope of log against log.

    python benchmarks/descent.py             # the tables and the laws
    python benchmarks/descent.py --check     # exits 1 unless every law holds within its margin
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from claims import duration, machine
from threadpoolctl import threadpool_limits

from onlinear.descent import Objective, Solution, gradient_descent, mean_loss, newton, second_order_sgd, sgd
from onlinear.losses import Logistic

FEATURES = 16
L2 = 0.02
ROWS = (1 << 12, 1 << 14, 1 << 16)
GAPS = (1e-2, 10**-2.5, 1e-3, 10**-3.5, 1e-4)
MIDDLE = (ROWS[1], GAPS[2])  # what is held fixed while the other grows
DIGITS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
SEEDS = range(6)
MARGIN = 0.3  # by how much a fitted power may miss the theory's


class Method(NamedTuple):
    """A solver, and what a step and the number of steps should cost."""

    name: str
    solve: Callable[..., Solution]
    seeded: bool
    step: str
    steps: str
    step_power: float  # of the rows
    gap_power: float | None  # of 1/epsilon; None where the steps grow slower than any power


METHODS = (
    Method("GD", gradient_descent, False, "n d", "log 1/e", 1.0, None),
    Method("Newton", newton, False, "n d^2", "log log 1/e", 1.0, None),
    Method("SGD", sgd, True, "d", "1/e", 0.0, 1.0),
    Method("2nd-order SGD", second_order_sgd, True, "d^2", "1/e", 0.0, 1.0),
)


# Measuring


@cache
def problem(rows: int) -> tuple[Objective, float]:
    """The objective, and its optimum; features of unequal scale, labels drawn from a logistic model."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, FEATURES)) * np.linspace(0.3, 1.0, FEATURES)
    chances = 1.0 / (1.0 + np.exp(-X @ rng.standard_normal(FEATURES)))
    objective = mean_loss(X, np.where(rng.random(rows) < chances, 1.0, -1.0), Logistic(), l2=L2)
    return objective, newton(objective, 1e-15).value


class Cost(NamedTuple):
    """Steps to the gap, in the mean over the seeds, and the seconds of one."""

    steps: float
    step_seconds: float

    @property
    def seconds(self) -> float:
        return self.steps * self.step_seconds


@cache
def cost(method: Method, rows: int, gap: float) -> Cost:
    objective, optimum = problem(rows)
    choices: list[dict[str, Any]] = [{"seed": seed} for seed in SEEDS] if method.seeded else [{}] * 4
    runs = [method.solve(objective, gap, optimum=optimum, **choice) for choice in choices]
    return Cost(float(np.mean([run.steps for run in runs])), min(map(step_seconds, runs)))


def step_seconds(run: Solution) -> float:
    """The time of a step in the fastest stretch between two looks; a short one would show the clock, not the step."""
    stretches = [(after.steps - before.steps, after.seconds - before.seconds) for before, after in pairwise(run.course)]
    longest = max(steps for steps, _ in stretches)
    return min(seconds / steps for steps, seconds in stretches if 4 * steps >= longest)


def power(amounts: Sequence[float], costs: Sequence[float]) -> float:
    """The slope of log cost against log amount."""
    return float(np.polyfit(np.log(amounts), np.log(costs), 1)[0])


def steps_of_digits() -> list[float]:
    """Steps of gradient descent for each two further digits."""
    steps = [cost(METHODS[0], MIDDLE[0], gap).steps for gap in DIGITS]
    return [after - before for before, after in pairwise(steps)]


def newtons_digits() -> list[float]:
    """The digits of the certified gap after each of Newton's steps, while rounding leaves it alone."""
    course = newton(problem(MIDDLE[0])[0], 1e-24).course
    return [-math.log10(point.gap) for point in course if 1e-24 < point.gap < 1e-2]


# The theory beside it


class Law(NamedTuple):
    """A growth that theory foretells, and the one that was measured."""

    says: str
    theory: float
    measured: float

    @property
    def holds(self) -> bool:
        return abs(self.measured - self.theory) <= MARGIN

    def __str__(self) -> str:
        verdict = "ok" if self.holds else "CONTRADICTED"
        return f"{self.says:<58} {self.theory:>6.2f} {self.measured:>9.2f}  {verdict}"


def laws() -> Iterator[Law]:
    rows, gap = MIDDLE
    for method in METHODS:
        costs = [cost(method, n, gap) for n in ROWS]
        says = f"{method.name}: power of n in the time of a step"
        yield Law(says, method.step_power, power(ROWS, [c.step_seconds for c in costs]))
        yield Law(f"{method.name}: power of n in the steps", 0.0, power(ROWS, [c.steps for c in costs]))
        if method.gap_power is not None:
            steps = [cost(method, rows, g).steps for g in GAPS]
            says = f"{method.name}: power of 1/epsilon in the steps"
            yield Law(says, method.gap_power, power([1.0 / g for g in GAPS], steps))
    per_digit = steps_of_digits()
    yield Law("GD: steps for the last two digits over those for the first", 1.0, per_digit[-1] / per_digit[0])
    digits = newtons_digits()
    growth = math.exp(float(np.mean(np.diff(np.log(digits)))))
    yield Law("Newton: by how much a step multiplies the digits", 2.0, growth)


# Printing


def table(heading: str, amounts: Sequence[str], costs: Callable[[Method], list[Cost]]) -> Iterator[str]:
    """A block for each method: the time of a step, the steps, and the time of all."""
    yield f"{heading:<30}" + "".join(f"{amount:>11}" for amount in amounts)
    for method in METHODS:
        of_method = costs(method)
        lines = {
            f"{method.name}, a step: {method.step}": [duration(c.step_seconds) for c in of_method],
            f"  steps: {method.steps}": [f"{c.steps:,.0f}" for c in of_method],
            "  in all": [duration(c.seconds) for c in of_method],
        }
        yield from (f"{name:<30}" + "".join(f"{cell:>11}" for cell in cells) for name, cells in lines.items())


def report() -> Iterator[str]:
    rows, gap = MIDDLE
    yield from list(machine())[:2]
    yield f"logistic loss, {FEATURES} features, l2 = {L2}"
    yield ""
    yield from table(
        f"n rows, to a gap of {gap:g}", [f"{n:,}" for n in ROWS], lambda m: [cost(m, n, gap) for n in ROWS]
    )
    yield ""
    yield from table(f"epsilon, {rows:,} rows", [f"{g:.1e}" for g in GAPS], lambda m: [cost(m, rows, g) for g in GAPS])
    yield ""
    yield f"GD, steps for digits 3-4, 5-6, 7-8, 9-10:   {', '.join(f'{steps:.0f}' for steps in steps_of_digits())}"
    yield f"Newton, digits of the gap after each step:  {', '.join(f'{digits:.1f}' for digits in newtons_digits())}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help=f"exit 1 unless every law holds within {MARGIN}")
    options = parser.parse_args()
    with threadpool_limits(1):  # threads that wait for each other on a busy machine would hide how a step grows
        for line in report():
            print(line, flush=True)
        found = list(laws())
    print("", f"{'growth':<58} {'theory':>6} {'measured':>9}", *found, sep="\n")
    broken = sum(not law.holds for law in found)
    print(f"{len(found) - broken} of {len(found)} laws hold within {MARGIN}")
    return 1 if options.check and broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
