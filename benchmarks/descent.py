"""Claim: the batch solvers grow with the rows and with 1/epsilon as theory says.

The classical table (Bottou & Bousquet 2008, "The tradeoffs of large scale learning", table 2), measured: the time of a
step, the steps to a gap of epsilon, and the time of them all, for gradient descent, Newton's method, SGD and
second-order SGD, by `onlinear.descent.growth`. The objective is the mean logistic loss of drawn rows whose labels are
noisy, with an L2 penalty, or plain least squares (`--loss squared_error`); the gap is the true one, to the optimum that
Newton's method finds first. The steps of the stochastic methods are means over several seeds; the time of a step is
that of the fastest stretch of a run, on one core. Growth is fitted as a power: the slope of log against log.

    python benchmarks/descent.py             # the tables and the laws
    python benchmarks/descent.py --check     # exits 1 unless every law holds within its margin
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from claims import machine
from threadpoolctl import threadpool_limits

from onlinear.descent import Objective, StepsTable, drawn_problem, newton
from onlinear.descent.growth import GAPS, METHODS, ROWS, Cost, Method, costs_of

FEATURES = 16
MIDDLE = (ROWS[1], GAPS[2])  # what is held fixed while the other grows
DIGITS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
SEEDS = range(6)
MARGIN = 0.3  # by how much a fitted power may miss the theory's


#: the powers of the rows in the time of a step, and of 1/epsilon in the steps; None where those grow slower than any
POWERS: dict[str, tuple[float, float | None]] = {
    "GD": (1.0, None),
    "Newton": (1.0, None),
    "SGD": (0.0, 1.0),
    "2nd-order SGD": (0.0, 1.0),
}


# Measuring


@cache
def problem(loss: str, rows: int) -> tuple[Objective, float]:
    """The objective, and its optimum."""
    objective = drawn_problem(loss, rows, FEATURES)
    return objective, newton(objective, 1e-15).value


@cache
def cost(loss: str, method: Method, rows: int, gap: float) -> Cost:
    objective, optimum = problem(loss, rows)
    return costs_of(method, objective, (gap,), optimum, SEEDS)[0]


def power(amounts: Sequence[float], costs: Sequence[float]) -> float:
    """The slope of log cost against log amount."""
    return float(np.polyfit(np.log(amounts), np.log(costs), 1)[0])


def steps_of_digits(loss: str) -> list[float]:
    """Steps of gradient descent for each two further digits."""
    steps = [cost(loss, METHODS[0], MIDDLE[0], gap).steps for gap in DIGITS]
    return [after - before for before, after in pairwise(steps)]


def newtons_digits() -> list[float]:
    """The digits of the certified gap after each of Newton's steps, while rounding leaves it alone."""
    course = newton(problem("log_loss", MIDDLE[0])[0], 1e-24).course
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


def laws(loss: str) -> Iterator[Law]:
    rows, gap = MIDDLE
    for method in METHODS:
        step_power, gap_power = POWERS[method.name]
        costs = [cost(loss, method, n, gap) for n in ROWS]
        says = f"{method.name}: power of n in the time of a step"
        yield Law(says, step_power, power(ROWS, [c.step_seconds for c in costs]))
        yield Law(f"{method.name}: power of n in the steps", 0.0, power(ROWS, [c.steps for c in costs]))
        if gap_power is not None:
            steps = [cost(loss, method, rows, g).steps for g in GAPS]
            says = f"{method.name}: power of 1/epsilon in the steps"
            yield Law(says, gap_power, power([1.0 / g for g in GAPS], steps))
    per_digit = steps_of_digits(loss)
    yield Law("GD: steps for the last two digits over those for the first", 1.0, per_digit[-1] / per_digit[0])
    if loss == "log_loss":  # a quadratic takes one step
        digits = newtons_digits()
        growth = math.exp(float(np.mean(np.diff(np.log(digits)))))
        yield Law("Newton: by how much a step multiplies the digits", 2.0, growth)


# Printing


def table(loss: str, heading: str, amounts: Sequence[str], points: Sequence[tuple[int, float]]) -> StepsTable:
    costs = {method.name: tuple(cost(loss, method, n, gap) for n, gap in points) for method in METHODS}
    return StepsTable(heading, tuple(amounts), costs)


def report(loss: str) -> Iterator[str]:
    rows, gap = MIDDLE
    yield from list(machine())[:2]
    yield f"{loss}, {FEATURES} features, l2 = {problem(loss, rows)[0].l2:g}"
    yield ""
    yield str(table(loss, f"n rows, to a gap of {gap:g}", [f"{n:,}" for n in ROWS], [(n, gap) for n in ROWS]))
    yield ""
    yield str(table(loss, f"epsilon, {rows:,} rows", [f"{g:.1e}" for g in GAPS], [(rows, g) for g in GAPS]))
    yield ""
    yield f"GD, steps for digits 3-4, 5-6, 7-8, 9-10:   {', '.join(f'{steps:.0f}' for steps in steps_of_digits(loss))}"
    if loss == "log_loss":
        yield f"Newton, digits of the gap after each step:  {', '.join(f'{digits:.1f}' for digits in newtons_digits())}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help=f"exit 1 unless every law holds within {MARGIN}")
    parser.add_argument("--loss", choices=("log_loss", "squared_error"), default="log_loss", help="which objective")
    options = parser.parse_args()
    with threadpool_limits(1):  # threads that wait for each other on a busy machine would hide how a step grows
        for line in report(options.loss):
            print(line, flush=True)
        found = list(laws(options.loss))
    print("", f"{'growth':<58} {'theory':>6} {'measured':>9}", *found, sep="\n")
    broken = sum(not law.holds for law in found)
    print(f"{len(found) - broken} of {len(found)} laws hold within {MARGIN}")
    return 1 if options.check and broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
