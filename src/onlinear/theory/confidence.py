"""Confidence sequences: intervals for the mean chance of a mistake that hold at all times together.

Let S be the mistakes of the first t predictions, and p_i the chance, given all that came before, that the i-th is one.
For every rate r, ``exp(r S) / prod(1 + p_i (e^r - 1))`` is a martingale of mean 1. The logarithm is concave, so with
the mean p of the p_i it is at least ``exp(r S - t ln(1 + p (e^r - 1)))``. A mixture of martingales is one, and by
Ville's inequality it ever reaches 1 / delta with a chance of at most delta: at all times, the p at which the mixture is
below 1 / delta contain the mean.

Howard, Ramdas, McAuliffe & Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", *Annals of
Statistics* 49 (2021), lemma 2 and theorem 2, whose psi is here that of each row's own chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from onlinear.errors import BadInput

#: the rates of the mixture, which all weigh the same; the last ones serve 10^11 mistakes
RATES = [4.0 * 2.0 ** (-k / 2) for k in range(40)]
#: steps by which the end of an interval is found, and the share of it by which it is moved outward, for rounding
HALVINGS, OUTWARD = 60, 1e-9


def confidence_sequence(mistakes: int, examples: int, delta: float = 0.05) -> tuple[float, float]:
    """Between what the mean chance of a mistake is, with confidence ``1 - delta`` for all numbers of examples at once.

    Nothing is assumed but that each prediction was made before its row was seen. So one may look at any time, and stop
    when the interval pleases.

    >>> [round(end, 3) for end in confidence_sequence(100, 1000)]
    [0.069, 0.138]
    """
    check_counts(mistakes, examples, delta)
    reach = math.log(2.0 / delta)  # each end has half of delta

    def is_below(p: float) -> bool:
        return log_mixture(RATES, mistakes, examples, p) >= reach

    def is_above(p: float) -> bool:
        return log_mixture([-rate for rate in RATES], mistakes, examples, p) >= reach

    low = edge(0.0, 1.0, is_below) if mistakes else 0.0
    high = edge(1.0, 0.0, is_above) if mistakes < examples else 1.0
    return max(0.0, low * (1.0 - OUTWARD)), min(1.0, high * (1.0 + OUTWARD))


def log_mixture(rates: list[float], mistakes: int, examples: int, p: float) -> float:
    """The logarithm of the mean over the rates r of ``exp(r S - t ln(1 + p (e^r - 1)))``."""
    powers = [rate * mistakes - examples * math.log1p(p * math.expm1(rate)) for rate in rates]
    highest = max(powers)
    return highest + math.log(math.fsum(math.exp(power - highest) for power in powers) / len(powers))


def edge(outside: float, inside: float, is_outside: Callable[[float], bool]) -> float:
    """Where one side ends, on that side; the given end of it if nothing is found to be outside."""
    for _ in range(HALVINGS):
        middle = 0.5 * (outside + inside)
        if is_outside(middle):
            outside = middle
        else:
            inside = middle
    return outside


def check_counts(mistakes: float, examples: int, delta: float) -> None:
    if not 0.0 < delta < 1.0:
        raise BadInput(f"delta is {delta}: give the chance that a bound may fail, between 0 and 1, as 0.05")
    if examples < 1 or not 0 <= mistakes <= examples:
        raise BadInput(f"{mistakes} mistakes in {examples} examples are impossible: give a count of the examples")
