"""The bound of Freund and Schapire, for rows that nothing separates.

For every u and gamma > 0, the perceptron makes at most ``((R |u| + D) / gamma)^2`` updates, where ``D^2`` sums
``max(0, gamma - y <u, x>)^2`` over all trials, every pass again. With several classes R^2 is twice as large, and the
score is that against the best rival. Freund & Schapire, "Large margin classification using
the perceptron algorithm", 1999, theorem 2. (Summed once over the data it is false for several passes.)
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from onlinear.theory.bounds import Bound, inseparable_holds
from onlinear.theory.exact import root_above
from onlinear.theory.examples import Examples, all_rows
from onlinear.theory.hypotheses import Hypothesis
from onlinear.theory.margins import Margins

#: between which squares of ``R |u|`` all numbers on the way are floats; the others are left alone, and prove nothing
LEAST, MOST = Fraction(1, 1 << 900), Fraction(1 << 900)


class Deviation(NamedTuple):
    """The bound at one gamma: everything needed to check it again."""

    weights: Hypothesis  # a multiple of u
    gamma: Fraction
    squared: Fraction  # D^2, over all trials
    root: float  # R |u| D, rounded up: what takes a root in ``(R |u| + D)^2``
    bound: Bound
    vacuous: bool  # not below the number of trials, which bounds the updates anyway


def inseparable_bound(
    candidates: list[Hypothesis], examples: Examples, margins: Margins, updates: int, passes: int
) -> Deviation | None:
    """The least bound that any of some weights prove; None if all are 0, or as good as 0, which prove nothing."""
    found = [
        bound_by(weights, examples, margins, updates, passes)
        for weights in candidates
        if LEAST < weights.stretch * margins.radius_squared * weights.norm_squared < MOST
    ]
    return min(found, key=lambda deviation: deviation.bound.value, default=None)


def bound_by(weights: Hypothesis, examples: Examples, margins: Margins, updates: int, passes: int) -> Deviation:
    """The bound that weights prove at the best gamma."""
    scores = np.concatenate([weights.intervals(block)[0].middle for block in examples()])
    scaled_radius = weights.stretch * margins.radius_squared * weights.norm_squared
    gamma = Fraction(best_gamma(scores, math.sqrt(scaled_radius), passes))
    squared = passes * sum(
        (max(gamma - weights.score(row), Fraction(0)) ** 2 for row in all_rows(examples)), Fraction(0)
    )
    root = root_above(scaled_radius * squared)
    value = (scaled_radius + squared + 2 * Fraction(root)) / gamma**2
    bound = Bound("Freund-Schapire", value, inseparable_holds(updates, gamma, scaled_radius, squared))
    return Deviation(weights, gamma, squared, root, bound, value >= passes * margins.examples)


def best_gamma(scores: np.ndarray, scaled_radius: float, passes: int) -> float:
    """The gamma at which ``(R |u| + D(gamma)) / gamma`` is least.

    In ``h = 1 / gamma`` this is ``R |u| h + sqrt(p (j - 2 h s1 + h^2 s2))``, where the j lowest scores are those below
    gamma, and s1 and s2 sum them and their squares: convex, and between two scores a matter of one formula.
    """
    ordered = np.sort(scores)
    counts = np.arange(1, len(ordered) + 1)
    sums, squares = np.cumsum(ordered), np.cumsum(ordered**2)
    candidates = [ordered[ordered > 0.0], stationary(counts, sums, squares, scaled_radius, passes)]
    gammas = np.concatenate(candidates)
    gammas = gammas[np.isfinite(gammas) & (gammas > 0.0)]
    if not len(gammas):
        return max(1.0, scaled_radius)
    below = np.searchsorted(ordered, gammas, side="left")
    s0, s1, s2 = (np.concatenate([[0.0], part])[below] for part in (counts, sums, squares))
    deviations = np.sqrt(np.maximum(passes * (s0 * gammas**2 - 2.0 * gammas * s1 + s2), 0.0))
    return float(gammas[np.argmin((scaled_radius + deviations) / gammas)])


def stationary(
    counts: np.ndarray, sums: np.ndarray, squares: np.ndarray, scaled_radius: float, passes: int
) -> np.ndarray:
    """Where the slope in ``h`` is 0, for each number of scores below gamma; nan where it never is.

    With ``q(h) = j - 2 h s1 + h^2 s2`` the slope is ``r + sqrt(p) (h s2 - s1) / sqrt(q)``, so that ``x = h s2 - s1``,
    below 0, solves ``p x^2 = r^2 q``, and ``s2 q = x^2 + j s2 - s1^2``.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = counts * squares - sums**2
        x = -scaled_radius * np.sqrt(np.maximum(spread, 0.0) / (passes * squares - scaled_radius**2))
        return squares / (sums + x)
