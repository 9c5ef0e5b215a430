"""The witness that floats propose: the point nearest to 0 in the convex hull of vectors, and what it is made of.

``min |Z' a|^2 + (1 - sum a)^2`` over ``a >= 0`` (Lawson & Hanson 1974, chapter 23) is reached at a multiple of that
point. If it is not 0, its product with every vector is at least its squared length, so that it separates them. It is
looked for among some vectors first; those on which it is wrong join those that it is made of, which it moves nearer to
0 each time (Wolfe 1976), until it is wrong on none or is 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.optimize

from onlinear.theory.operations import Operations
from onlinear.theory.vectors import Vectors

#: vectors that join at once, at least
FEWEST = 100
#: products that are not above this, beside a length, may be 0
DOUBTFUL = 1e-10
#: steps of the active set for each vector that is looked at
MOST_STEPS = 10


class Nearest(NamedTuple):
    """A point, and how much of which vectors it is made of."""

    numbers: np.ndarray
    multipliers: np.ndarray
    point: np.ndarray

    @property
    def length(self) -> float:
        return float(np.linalg.norm(self.point))


class NearestSearch(NamedTuple):
    """Where floats end: the vectors looked at last, their nearest point, and whether that separates all vectors."""

    chosen: np.ndarray
    nearest: Nearest | None
    separates: bool


def search(vectors: Vectors, operations: Operations) -> NearestSearch:
    """The nearest point of all vectors, as far as floats tell and until it separates them."""
    count = vectors.near.shape[0]
    chosen = np.unique(np.linspace(0, count - 1, min(count, FEWEST + 2 * vectors.width)).astype(np.int64))
    before = np.inf
    while True:
        found = nearest(vectors, chosen, operations)
        if found is None or not found.length < before:
            return NearestSearch(chosen, found, separates=False)
        before = found.length
        operations.take(int(vectors.near.nnz) + count)
        products = vectors.near @ found.point
        wrong = np.flatnonzero(products <= DOUBTFUL * found.length)
        if not len(wrong) or np.isin(wrong, chosen).any():
            return NearestSearch(chosen, found, separates=bool(products.min() > 0.0))
        worst = wrong[np.argsort(products[wrong], kind="stable")[: max(FEWEST, vectors.width)]]
        chosen = np.union1d(found.numbers, worst)


def nearest(vectors: Vectors, chosen: np.ndarray, operations: Operations) -> Nearest | None:
    """The nearest point of some vectors, or None if it takes more steps than it should."""
    rows = vectors.near[chosen].toarray()
    system = np.vstack([rows.T, np.ones(len(rows))])
    wanted = np.zeros(len(system))
    wanted[-1] = 1.0
    step = system.size
    operations.take(step)
    steps = min(MOST_STEPS * len(rows), operations.left // step)
    try:
        multipliers, _ = scipy.optimize.nnls(system, wanted, maxiter=max(steps, 1))
    except RuntimeError:
        operations.take((steps + 1) * step)
        return None
    there = np.flatnonzero(multipliers > 0.0)
    operations.take(len(there) * step)
    multipliers = multipliers[there] / multipliers.sum()
    return Nearest(chosen[there], multipliers, multipliers @ rows[there])
