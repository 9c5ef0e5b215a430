"""Bounds on the updates of a perceptron for rows that nothing has to separate: they hold for every u and gamma > 0.

* Freund and Schapire's: at most ``((R |u| + D) / gamma)^2``, where ``D^2`` sums ``max(0, gamma - y <u, x>)^2`` over all
  trials, every pass again. "Large margin classification using the perceptron algorithm", 1999, theorem 2. (Summed once
  over the data it is false for several passes.)
* That of the hinge loss: ``k <= (L + R |u| sqrt(k)) / gamma``, where L sums ``max(0, gamma - y <u, x>)`` over all
  trials. Gentile, "The robustness of the p-norm algorithms", 2003; Mohri & Rostamizadeh, "Perceptron mistake bounds",
  2013.

With several classes R^2 is twice as large, and the score is that against the best rival. Both are of the form
``(middle + sqrt(product)) / gamma^2``, so that one number, the root, is rounded. The best u are sought in floats, and
the least bound that any of some weights prove is made exact.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from onlinear.theory.best_margin import MarginProblem
from onlinear.theory.bounds import Bound, inseparable_holds
from onlinear.theory.comparators import hinge_root, least_deviation, least_hinge_loss
from onlinear.theory.exact import root_above
from onlinear.theory.examples import Examples, all_rows
from onlinear.theory.hypotheses import Hypothesis
from onlinear.theory.margins import Margins
from onlinear.theory.soft_margins import SoftMargins

#: between which squares of ``R |u|`` all numbers on the way are floats; the others are left alone, and prove nothing
LEAST, MOST = Fraction(1, 1 << 900), Fraction(1 << 900)
FREUND_SCHAPIRE, HINGE_LOSS = "Freund-Schapire", "hinge loss"


class Deviation(NamedTuple):
    """The bound at one gamma: everything needed to check it again."""

    weights: Hypothesis  # a multiple of u
    gamma: Fraction
    loss: Fraction  # D^2, or L of the hinge loss: over all trials
    root: float  # what takes a root in the bound, rounded up
    bound: Bound
    vacuous: bool  # not below the number of trials, which bounds the updates anyway


class Chosen(NamedTuple):
    """Weights, a theorem and a gamma, and in floats the root of the bound that they prove."""

    root: float
    kind: str
    gamma: float
    weights: Hypothesis


def inseparable_bounds(
    candidates: list[Hypothesis], examples: Examples, margins: Margins, updates: int, passes: int
) -> list[Deviation]:
    """The least bound of each kind that any of some weights prove; weights of 0 prove as many as there were trials."""
    lengths = [weights.stretch * margins.radius_squared * weights.norm_squared for weights in candidates]
    found = [
        chosen
        for weights, length in zip(candidates, lengths, strict=True)
        if length == 0 or LEAST < length < MOST
        for chosen in choices_of(weights, examples, margins, passes)
    ]
    best = [
        min((each for each in found if each.kind == kind), key=lambda chosen: chosen.root, default=None)
        for kind in (FREUND_SCHAPIRE, HINGE_LOSS)
    ]
    return [bound_by(each, examples, margins, updates, passes) for each in best if each is not None]


def best_comparators(problem: MarginProblem, passes: int, gap: float) -> list[Hypothesis]:
    """The weights with which each of the theorems proves a bound within a share ``gap`` of the least, or nearly so."""
    search = SoftMargins(problem.signed)
    squared = least_deviation(search, problem.rivals, passes, gap)
    linear = least_hinge_loss(search, problem.rivals, passes, gap, squared.l2)
    return [problem.weights(found.weights) for found in (squared, linear)]


def choices_of(weights: Hypothesis, examples: Examples, margins: Margins, passes: int) -> list[Chosen]:
    """What weights prove by each of the theorems, at its best gamma."""
    scores = np.concatenate([weights.intervals(block)[0].middle for block in examples()])
    scaled_radius = math.sqrt(weights.stretch * margins.radius_squared * weights.norm_squared)
    gamma = best_gamma(scores, scaled_radius, passes)
    deviation = math.sqrt(passes) * float(np.linalg.norm(np.maximum(gamma - scores, 0.0)))
    other = best_hinge_gamma(scores, scaled_radius, passes)
    loss = passes * float(np.maximum(other - scores, 0.0).sum())
    return [
        Chosen((scaled_radius + deviation) / gamma, FREUND_SCHAPIRE, gamma, weights),
        Chosen(hinge_root(scaled_radius, loss * other) / other, HINGE_LOSS, other, weights),
    ]


def bound_by(chosen: Chosen, examples: Examples, margins: Margins, updates: int, passes: int) -> Deviation:
    """The bound that weights prove at a gamma, exactly."""
    weights, gamma, power = chosen.weights, Fraction(chosen.gamma), 2 if chosen.kind == FREUND_SCHAPIRE else 1
    short = (gamma - weights.score(row) for row in all_rows(examples))
    loss = passes * sum((each**power for each in short if each > 0), Fraction(0))
    scaled_radius = weights.stretch * margins.radius_squared * weights.norm_squared
    middle, product = middle_and_product(chosen.kind, scaled_radius, loss, gamma)
    root = root_above(product)
    value = (middle + Fraction(root)) / gamma**2
    bound = Bound(chosen.kind, value, inseparable_holds(updates, gamma, middle, product))
    return Deviation(weights, gamma, loss, root, bound, value >= passes * margins.examples)


def middle_and_product(
    kind: str, scaled_radius: Fraction, loss: Fraction, gamma: Fraction
) -> tuple[Fraction, Fraction]:
    """The two numbers in ``(middle + sqrt(product)) / gamma^2``, given the square of ``R |u|``."""
    if kind == FREUND_SCHAPIRE:
        return scaled_radius + loss, 4 * scaled_radius * loss
    return scaled_radius / 2 + gamma * loss, scaled_radius * (scaled_radius / 4 + gamma * loss)


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


def best_hinge_gamma(scores: np.ndarray, scaled_radius: float, passes: int) -> float:
    """The gamma at which the root of the hinge loss's bound is least: a score, for between two of them it only grows
    or falls.

    In ``h = 1 / gamma`` it is ``x = (r h + sqrt(r^2 h^2 + 4 p (j - h s1))) / 2``, whose slope is 0 nowhere unless
    ``p s1^2 = j r^2``.
    """
    ordered = np.sort(scores)
    gammas = ordered[ordered > 0.0]
    if not len(gammas):
        return max(1.0, scaled_radius)
    below = np.searchsorted(ordered, gammas, side="left")
    losses = passes * (below * gammas - np.concatenate([[0.0], np.cumsum(ordered)])[below])
    roots = scaled_radius + np.sqrt(scaled_radius**2 + 4.0 * np.maximum(losses, 0.0) * gammas)
    return float(gammas[np.argmin(roots / gammas)])
