"""How far at most an objective lies above its lowest value, where no penalty makes it strongly convex."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from onlinear.descent.objective import FAINT, WIDE, Objective, squared_lengths
from onlinear.losses import Squared

#: rows that are turned at once
BLOCK = 4096


class Axes(NamedTuple):
    """A regular Hessian, its columns scaled so that the diagonal is 1: columns of unlike units would look dependent."""

    scale: Any
    eigenvalues: Any
    vectors: Any


class GapWithoutPenalty:
    """The least that is known: the value itself, since no loss is below 0, and what a regular Hessian proves.

    Let ``d = sqrt(g' H^-1 g)`` be Newton's decrement at w. The squared loss is a quadratic, and ``d^2 / 2`` the gap.
    The logistic loss has ``|l'''| <= l''``, so that along a step h the mean's second derivative falls no faster than
    ``exp(-t max|<x, h>|)`` (Bach 2010, "Self-concordant analysis for logistic regression"), and ``max|<x, h>|`` is at
    most ``k sqrt(h' H h)`` where ``k^2 = max x' H^-1 x``. Integrated twice and minimised over h, with ``q = d k < 1``,
    the gap is at most ``(q + (1 - q) log(1 - q)) / k^2``, about ``d^2 / 2``.

    Nothing but the value is known of a hinge, where columns depend on each other, and of more than 1000 columns.
    """

    def __init__(self, objective: Objective) -> None:
        self.objective, self.quadratic = objective, isinstance(objective.loss, Squared)
        self.fixed = axes_of(objective, np.zeros(objective.features)) if self.quadratic else None

    def at(self, w: Any, value: float) -> float:
        objective = self.objective
        axes = self.fixed if self.quadratic else axes_of(objective, w)
        if axes is None:
            return value
        along = axes.vectors.T @ (axes.scale * objective.gradient(w))
        decrement = float(np.sum(along**2 / axes.eigenvalues))
        if self.quadratic:
            return min(value, 0.5 * decrement)
        reach = longest(objective, axes.scale[:, None] * axes.vectors / np.sqrt(axes.eigenvalues))
        return min(value, damped_half(math.sqrt(decrement * reach)) / reach)


def axes_of(objective: Objective, w: Any) -> Axes | None:
    """The Hessian at w; None if there is none, or it is not certainly regular."""
    if not objective.smooth or objective.features > WIDE:
        return None
    hessian = objective.hessian(w)
    diagonal = np.diag(hessian)
    if not diagonal.min() > 0.0:
        return None
    scale = 1.0 / np.sqrt(diagonal)
    eigenvalues, vectors = np.linalg.eigh(hessian * np.outer(scale, scale))
    return Axes(scale, eigenvalues, vectors) if eigenvalues[0] > FAINT * eigenvalues[-1] else None


def damped_half(q: float) -> float:
    """``q + (1 - q) log(1 - q)`` for q in [0, 1), which is q^2 / 2 for small q; else infinite.

    >>> round(damped_half(0.5), 12), round(damped_half(1e-6) / 1e-12, 12), damped_half(1.0)
    (0.15342640972, 0.500000166667, inf)
    """
    if q >= 1.0:
        return math.inf
    if q < 0.01:  # the sum of q^n / (n (n - 1)), where the closed form would cancel
        return sum(q**n / (n * (n - 1)) for n in range(2, 9))
    return q + (1.0 - q) * math.log1p(-q)


def longest(objective: Objective, turn: Any) -> float:
    """The largest ``|turn' x|^2`` of a row that counts; some rows at a time, as the products are dense."""
    parts = (slice(start, start + BLOCK) for start in range(0, len(objective.targets), BLOCK))
    return max(float((squared_lengths(objective.rows[p] @ turn) * (objective.shares[p] > 0.0)).max()) for p in parts)
