"""The rows of a run in floats, and weights to hold it against: for bounds that are computed, and checked by nobody."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse

from onlinear import losses
from onlinear.descent.elementwise import SmoothedHinge
from onlinear.descent.newton import damped_step
from onlinear.descent.objective import Objective
from onlinear.theory.examples import Examples

#: share by which a product of a row and weights may be off, for each of their lengths
ROUNDING = 1e-13
#: a smoothed hinge of this width is the square of the hinge, but for a factor, wherever the hinge is less
WIDE = 1e4


class Trials(NamedTuple):
    """The rows that a run went over, so many times each, with a constant feature for the intercept.

    Targets are -1 and +1, or for several classes that move together the places of the classes.
    """

    rows: Any
    targets: np.ndarray
    passes: int
    columns: np.ndarray  # that are used; the constant feature comes behind them
    constant: float
    outputs: int  # 1, or the number of classes

    @property
    def count(self) -> int:
        """How many trials there were."""
        return self.passes * len(self.targets)

    @property
    def squared_lengths(self) -> np.ndarray:
        """Of the vectors z, which of several classes are twice as long, squared."""
        lengths: np.ndarray = np.asarray(self.rows.multiply(self.rows).sum(axis=1)).ravel()
        return lengths * (1.0 if self.outputs == 1 else 2.0)

    def scores(self, u: np.ndarray) -> np.ndarray:
        """Of each row and output."""
        return np.asarray(self.rows @ u.T)

    def margins(self, u: np.ndarray) -> np.ndarray:
        """The products of weights, a row for each output, with the vectors z; never above the true ones."""
        scores = self.scores(u)
        slack = ROUNDING * np.sqrt(self.squared_lengths) * np.linalg.norm(u)
        if self.outputs == 1:
            return self.targets * scores[:, 0] - slack
        own = np.arange(len(self.targets)), self.targets.astype(np.int64)
        of_class = scores[own]
        scores[own] = -np.inf
        return np.asarray(of_class - scores.max(axis=1) - slack)

    def weights_in(self, parts: list[dict[str, Any]]) -> np.ndarray:
        """Weights as a certificate writes them."""
        found = np.zeros((len(parts), len(self.columns) + (self.constant > 0.0)))
        for row, part in zip(found, parts, strict=True):
            known = dict(zip(part["columns"], part["values"], strict=True))
            row[: len(self.columns)] = [known.get(j, 0.0) for j in self.columns.tolist()]
            if self.constant:
                row[-1] = part["intercept"] / self.constant
        return found


def trials_of(examples: Examples, passes: int, constant: float, outputs: int) -> Trials:
    blocks = [(block.entries(), block.targets) for block in examples()]
    matrix = scipy.sparse.csr_matrix(scipy.sparse.vstack([entries for entries, _ in blocks]))
    columns = np.unique(matrix.indices)
    matrix = matrix[:, columns]
    if constant:
        matrix = scipy.sparse.hstack([matrix, np.full((matrix.shape[0], 1), constant)], format="csr")
    return Trials(matrix, np.concatenate([targets for _, targets in blocks]), passes, columns, constant, outputs)


# ------------------------------------------------------------------ weights that are good for a bound


def least_penalised(trials: Trials, loss: Any, strength: float) -> np.ndarray:
    """Weights that make ``|u|^2 + strength`` times the loss of all trials small.

    The loss is "squared_hinge", "hinge", "log_loss" or "softmax". How small decides nothing: bounds are of all weights.
    """
    if loss == "softmax":
        return least_softmax(trials, strength)
    if trials.outputs > 1 or not trials.rows.shape[1]:
        return np.zeros((trials.outputs, trials.rows.shape[1]))
    objective = Objective(trials.rows, trials.targets, np.full(len(trials.targets), 1.0 / len(trials.targets)), None)
    mean = strength * trials.count  # times the mean loss
    if loss == "squared_hinge":
        stand_ins: list[tuple[Any, float]] = [(SmoothedHinge(1.0, WIDE), 2.0 * WIDE)]
    elif loss == "hinge":
        stand_ins = [(SmoothedHinge(1.0, width), 1.0) for width in (1.0, 0.1, 0.01, 0.001)]
    else:
        stand_ins = [(losses.Logistic(), 1.0)]
    w = np.zeros(trials.rows.shape[1])
    for stand_in, factor in stand_ins:
        w = minimise(replace(objective, loss=stand_in, l2=2.0 / (factor * mean)), w)
    return w[None]


def minimise(objective: Objective, w: np.ndarray, most_steps: int = 50) -> np.ndarray:
    """Newton's steps until they bring nothing."""
    for _ in range(most_steps):
        gradient = objective.gradient(w)
        if not gradient.any():
            break
        w, hidden = damped_step(objective, w, gradient)
        if hidden:
            break
    return w


def least_softmax(trials: Trials, strength: float) -> np.ndarray:
    shape = trials.outputs, trials.rows.shape[1]
    own = np.arange(len(trials.targets)), trials.targets.astype(np.int64)

    def value_and_gradient(flat: np.ndarray) -> tuple[float, np.ndarray]:
        u = flat.reshape(shape)
        scores = trials.scores(u)
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        chances[own] -= 1.0
        gradient = 2.0 * u + strength * trials.passes * np.asarray((trials.rows.T @ chances).T)
        return float((u * u).sum()) + strength * softmax_sum(trials, u), gradient.ravel()

    found = scipy.optimize.minimize(value_and_gradient, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(found.x).reshape(shape)


def softmax_sum(trials: Trials, u: np.ndarray) -> float:
    """The softmax loss of all trials."""
    scores = trials.scores(u)
    top = scores.max(axis=1)
    own = scores[np.arange(len(scores)), trials.targets.astype(np.int64)]
    values = np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top - own
    return trials.passes * math.fsum(values.tolist())


# ------------------------------------------------------------------ the best length


def least_over_scale(value: Callable[[float], float], start: float) -> float:
    """The scale at which a convex function of it is least, or nearly so."""
    grid = [start * 2.0**k for k in range(-30, 31)]
    values = [value(scale) for scale in grid]
    best = int(np.argmin(values))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    for _ in range(30):
        third = (high - low) / 3.0
        if value(low + third) <= value(high - third):
            high -= third
        else:
            low += third
    middle = 0.5 * (low + high)
    return middle if value(middle) <= values[best] else grid[best]


def scaled(trials: Trials, candidates: list[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray, float, float]]:
    """Each of some weights that are not 0 with its margins, its squared norm, and a scale to begin with."""
    for u in candidates:
        norm = float((u * u).sum()) * (1.0 + ROUNDING * u.size)
        if 0.0 < norm < math.inf:
            margins = trials.margins(u)
            typical = float(np.median(np.abs(margins)))
            yield u, margins, norm, 1.0 / typical if typical > 0.0 else 1.0 / math.sqrt(norm)
