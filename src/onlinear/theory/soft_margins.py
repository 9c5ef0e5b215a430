"""Weights that miss margins by least, in floats: squared or rounded hinge losses with an L2 penalty.

For vectors z of the rows, and shortfalls ``t = 1 - <w, z>``, it minimises ``l2 / 2 |w|^2 + sum h(t)``, where the slope
``h'(t)`` is t between 0 and a cap: the squared hinge without a cap, the hinge (times the cap) as the cap goes to 0.
Newton's method ends after few steps, for the loss is made of pieces of second degree.
Every problem of this package that asks for the best weights of a mistake bound is one of these at some l2:

* the largest margin, as l2 goes to 0, and the slopes are then the multipliers of the nearest convex combination to 0;
* the least ``R |w| + c |t+|`` of Freund and Schapire's bound;
* the least sum of hinge losses beside ``R |w|``, with a small cap.

Nothing is proven here: what is found is made exact, and checked, by those who ask.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse

#: up to which a system of equations is solved directly, and beyond which by conjugate gradients
MOST_EQUATIONS = 2000
#: steps of Newton's method at one l2, of the search along one of them, and of conjugate gradients for one
MOST_STEPS, MOST_TRIES, MOST_PRODUCTS = 60, 60, 400
#: multiplications for one problem, after which the best that was found until then has to do
MOST_WORK = 2e10
#: a share of entries that are not 0, from which on rows are quicker as an array
DENSE = 0.2


class SoftMarginState(NamedTuple):
    """Weights, their products with all z, and the slopes that shortfalls have there."""

    weights: np.ndarray
    scores: np.ndarray
    slopes: np.ndarray
    pull: np.ndarray  # sum of slope times z


class SoftMargins:
    """The vectors z of rows, and the weights last found, from which the next search begins."""

    def __init__(self, signed: Any) -> None:
        rows, columns = signed.shape
        dense = signed.nnz > DENSE * rows * columns and columns <= MOST_EQUATIONS
        self.signed: Any = signed.toarray() if dense else signed
        self.turned: Any = self.signed.T if dense else signed.T.tocsr()
        self.radius = float(np.sqrt(squares_of(self.signed).max()))
        self.work = 0.0
        self.weights = np.zeros(columns)
        self.scores = np.zeros(rows)

    @property
    def is_spent(self) -> bool:
        """Whether the search has taken as many multiplications as it may."""
        return self.work > MOST_WORK

    def state(self, cap: float) -> SoftMarginState:
        slopes = np.clip(1.0 - self.scores, 0.0, cap)
        return SoftMarginState(self.weights, self.scores, slopes, self.turned @ slopes)

    def steps(self, l2: float, cap: float = np.inf) -> Iterator[SoftMarginState]:
        """Newton's steps to the best weights at one l2, beginning with where they are."""
        state = self.state(cap)
        yield state
        for _ in range(MOST_STEPS):
            if self.is_spent:
                return
            short = 1.0 - state.scores
            curved = (short > 0.0) & (short < cap)
            move = self.newton_point(state, curved, l2, cap) - state.weights
            change = self.signed @ move
            share = best_share(state, move, change, l2, cap)
            self.weights = state.weights + share * move
            self.scores = self.signed @ self.weights
            state = self.state(cap)
            yield state
            left = np.linalg.norm(l2 * state.weights - state.pull)
            same = share == 1.0 and bool((curved == ((state.slopes > 0.0) & (state.slopes < cap))).all())
            if same or share == 0.0 or left <= 1e-12 * np.linalg.norm(state.pull):
                return

    def newton_point(self, state: SoftMarginState, curved: np.ndarray, l2: float, cap: float) -> np.ndarray:
        """The best weights if rows kept their side of both kinks: ``l2 w = sum over the curved t z + cap sum z``."""
        flat = self.turned @ np.where(state.slopes >= cap, cap, 0.0) if np.isfinite(cap) else np.zeros_like(state.pull)
        rows = self.signed[curved]
        count, columns = rows.shape
        least = min(count, columns)
        self.work += (20.0 + min(least, MOST_EQUATIONS)) * rows.size + min(least, MOST_EQUATIONS) ** 3 / 3.0
        if least > MOST_EQUATIONS:
            return self.conjugate_gradients(state, rows, l2)
        if columns <= count:
            system = as_array(rows.T @ rows)
            system[np.diag_indices(columns)] += l2
            return solve(system, rows.T @ np.ones(count) + flat)
        system = as_array(rows @ rows.T)
        system[np.diag_indices(count)] += l2
        return (rows.T @ solve(system, np.full(count, l2) - rows @ flat) + flat) / l2

    def conjugate_gradients(self, state: SoftMarginState, rows: Any, l2: float) -> np.ndarray:
        turned = rows.T.tocsr()
        gradient = l2 * state.weights - state.pull
        move, rest = np.zeros_like(gradient), -gradient
        towards, size = rest.copy(), float(rest @ rest)
        stop = 1e-6 * size
        for _ in range(MOST_PRODUCTS):
            if size <= stop:
                break
            self.work += 2.0 * rows.size
            image = turned @ (rows @ towards) + l2 * towards
            length = size / float(towards @ image)
            move += length * towards
            rest -= length * image
            size, before = float(rest @ rest), size
            towards = rest + size / before * towards
        return state.weights + move


def best_share(state: SoftMarginState, move: np.ndarray, change: np.ndarray, l2: float, cap: float) -> float:
    """How much of a move is best: where the slope along it is 0, which rises in straight pieces."""
    start, bend = l2 * float(state.weights @ move), l2 * float(move @ move)
    short = 1.0 - state.scores

    def slope_at(share: float) -> tuple[float, float]:
        left = short - share * change
        curved = (left > 0.0) & (left < cap)
        slope = start + share * bend - float(np.clip(left, 0.0, cap) @ change)
        return slope, bend + float(np.square(change[curved]).sum())

    low, high, share = 0.0, np.inf, 1.0
    enough = 1e-3 * abs(slope_at(0.0)[0])
    for _ in range(MOST_TRIES):
        slope, rise = slope_at(share)
        if abs(slope) <= enough:
            return share
        low, high = (share, high) if slope < 0.0 else (low, share)
        after = share - slope / rise if rise > 0.0 else np.inf
        share = after if low < after < high else (0.5 * (low + high) if high < np.inf else 2.0 * low)
    return low


def solve(system: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The solution of a symmetric system that is positive definite, but for rounding."""
    try:
        return np.asarray(scipy.linalg.cho_solve(scipy.linalg.cho_factor(system), wanted))
    except np.linalg.LinAlgError:
        return np.asarray(scipy.linalg.lstsq(system, wanted)[0])


def squares_of(matrix: Any) -> np.ndarray:
    """The squared length of every row."""
    return np.asarray((matrix * matrix).sum(axis=1)).ravel()


def as_array(matrix: Any) -> np.ndarray:
    return matrix.toarray() if scipy.sparse.issparse(matrix) else matrix
