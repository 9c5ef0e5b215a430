"""What weights of one's own prove of rows: their margin, and Freund and Schapire's bound with its plain numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from onlinear.data.batch import array_of_numbers, plain_number
from onlinear.descent.objective import checked_matrix, squared_lengths
from onlinear.errors import BadInput
from onlinear.learning.classes import label_array, sorted_unique
from onlinear.learning.dual.unique import best_delta, extended_bound
from onlinear.theory.exact import signed_root_below
from onlinear.theory.examples import examples_of
from onlinear.theory.hypotheses import ExactWeights
from onlinear.theory.inseparable import best_gamma
from onlinear.theory.margins import margins_of

#: parts and multiples of the best Delta for which a bound is printed
SWEPT = (0.25, 0.5, 1.0, 2.0, 4.0)


def margin(w: Any, X: Any, y: Any, intercept: Any = 0.0) -> float:
    """The margin of the weights w on the rows: ``min y <w, x> / |w|``, in exact arithmetic and rounded down.

    An ``intercept`` is the weight of one more feature, 1, and so counts in ``|w|``. Labels are -1 and +1, or any two,
    of which the second in order is +1. Below 0 a row is on the wrong side.

    >>> margin([3.0, 4.0], [[1.0, 1.0], [-1.0, -0.5]], [1, -1])
    1.0
    >>> margin([0.0, 1.0], np.eye(2), [1, -1])
    -1.0
    """
    weights, matrix, targets, intercept = checked(w, X, y, intercept)
    own = ExactWeights(weights, intercept, Fraction(int(intercept != 0.0)))
    return signed_root_below(margins_of(own, examples_of(matrix, targets)).signed_square)


class InseparableBound(NamedTuple):
    """At most how many updates a perceptron makes in so many trials, and the numbers that say so, as floats.

    ``bound`` is ``((R + D) / gamma)^2``: ``radius`` is R, the length of the longest row, and ``deviation`` D, where D^2
    sums ``max(0, gamma - y <u, x>)^2`` over all trials for the unit vector u. ``delta`` is the value sqrt(R D) of the
    feature that each trial is given in the proof, for which the bound is least; :meth:`at` has it for any other.
    """

    radius: float
    deviation: float
    gamma: float
    delta: float
    bound: float
    trials: int

    @property
    def vacuous(self) -> bool:
        """Whether it says nothing: there are no more updates than trials anyway."""
        return self.bound >= self.trials

    def at(self, delta: Any) -> Any:
        """The bound with another Delta, or with each of several: ``(R^2 + Delta^2) (1 + D^2 / Delta^2) / gamma^2``."""
        delta = array_of_numbers(delta, "Delta")
        if not (delta > 0.0).all():
            raise BadInput(f"Delta is {delta.min()}: it is a value above 0 that each trial has for itself")
        return extended_bound(self.radius, self.deviation, self.gamma, delta)

    def lines(self) -> Iterator[str]:
        yield f"R = {self.radius:.6g}, D = {self.deviation:.6g}, gamma = {self.gamma:.6g}"
        for share in SWEPT if self.delta else ():
            best = "  the least" if share == 1.0 else ""
            yield f"Delta = {share * self.delta:<12.6g} at most {float(self.at(share * self.delta)):,.1f} updates{best}"
        said = f"vacuous: not below the {self.trials:,} trials" if self.vacuous else f"in {self.trials:,} trials"
        yield f"((R + D) / gamma)^2 = {self.bound:,.1f}, {said}"

    def __str__(self) -> str:
        return "\n".join(self.lines())


def freund_schapire(
    u: Any, X: Any, y: Any, gamma: float | None = None, intercept: Any = 0.0, passes: int = 1
) -> InseparableBound:
    """The bound that weights u of one's own prove, at ``gamma`` or at the best one.

    Only the direction of u counts; with an ``intercept`` every row has one more feature, 1. Labels are those of
    :func:`margin`. The theorem speaks of trials, so that every pass adds to D. Freund & Schapire 1999, theorem 2;
    :func:`onlinear.certify` proves it in exact arithmetic.

    >>> found = freund_schapire([1.0], [[1.0], [2.0], [-0.5], [-1.0]], [1, 1, 1, -1], gamma=1.0)
    >>> print(found)
    R = 2, D = 1.5, gamma = 1
    Delta = 0.433013     at most 54.4 updates
    Delta = 0.866025     at most 19.0 updates
    Delta = 1.73205      at most 12.2 updates  the least
    Delta = 3.4641       at most 19.0 updates
    Delta = 6.9282       at most 54.4 updates
    ((R + D) / gamma)^2 = 12.2, vacuous: not below the 4 trials
    """
    weights, matrix, targets, intercept = checked(u, X, y, intercept)
    if not isinstance(passes, Integral) or passes < 1:
        raise BadInput(f"there are {passes} passes: give a whole number, 1 or more")
    if gamma is not None and not 0.0 < plain_number(gamma, "gamma") < np.inf:
        raise BadInput(f"gamma is {gamma}: give a margin above 0, or leave it out for the best")
    # Only the direction of u counts, and R, D and gamma grow with the rows: in units in which the largest number of
    # each is near 1, no square leaves the range of numbers. Powers of 2 change no digit.
    unit, own = power_of_two(matrix.data if issparse(matrix) else matrix), power_of_two(np.append(weights, intercept))
    rows, constant = scaled(matrix, -unit), float(np.ldexp(intercept != 0.0, -unit))
    weights, intercept = np.ldexp(weights, -own), float(np.ldexp(intercept, -own))
    scores = targets * (rows @ weights + intercept * constant) / np.hypot(np.linalg.norm(weights), intercept)
    radius = float(np.sqrt(squared_lengths(rows).max() + constant**2))
    chosen = best_gamma(scores, radius, passes) if gamma is None else float(np.ldexp(float(gamma), -unit))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a gamma far below the rows proves nothing
        short = np.sqrt(passes * np.sum(np.maximum(0.0, 1.0 - scores / chosen) ** 2))
        bound = float(np.square(radius / np.float64(chosen) + short))
    chosen = float(np.ldexp(chosen, unit)) if gamma is None else float(gamma)
    radius, deviation = float(np.ldexp(radius, unit)), float(chosen * short)
    return InseparableBound(radius, deviation, chosen, best_delta(radius, deviation), bound, passes * len(targets))


def power_of_two(numbers: np.ndarray) -> int:
    """The least power of 2 above the largest of the numbers."""
    return int(np.frexp(np.abs(numbers).max(initial=0.0))[1])


def scaled(matrix: Any, power: int) -> Any:
    """The rows times a power of 2."""
    if not issparse(matrix):
        return np.ldexp(matrix, power)
    matrix = matrix.copy()
    matrix.data = np.ldexp(matrix.data, power)
    return matrix


def checked(w: Any, X: Any, y: Any, intercept: Any) -> tuple[np.ndarray, Any, np.ndarray, float]:
    """Weights that are not all 0, rows of their width, the signs of the labels, and the intercept as a number."""
    matrix, targets = checked_matrix(X), signs_of(y)
    weights, intercepts = array_of_numbers(w, "the vector of weights"), array_of_numbers(intercept, "the intercept")
    if weights.shape == (1, matrix.shape[1]):
        weights = weights[0]  # as coef_ has them
    if weights.shape != (matrix.shape[1],):
        raise BadInput(
            f"the weights have the shape {weights.shape}, and the rows {matrix.shape[1]} columns: give one for each"
        )
    if intercepts.size != 1:
        raise BadInput(f"the intercept has the shape {intercepts.shape}: give one number")
    if matrix.shape[0] != len(targets) or not len(targets):
        raise BadInput(
            f"there are {matrix.shape[0]} rows and {len(targets)} labels: give a label for each, of one at least"
        )
    if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()) or not (weights.any() or intercepts.any()):
        raise BadInput("the weights are all 0, or not finite: they have no direction, and so no margin")
    return weights, matrix, targets, float(intercepts.item())


def signs_of(y: Any) -> np.ndarray:
    """Labels as -1 and +1."""
    labels = label_array(y)
    found = sorted_unique(labels).tolist()
    if len(found) <= 2 and set(found) <= {-1, 1}:
        return labels.astype(np.float64)
    if len(found) != 2:
        raise BadInput(f"y has {len(found)} different labels: give -1 and +1, or any two")
    return np.where(labels == found[1], 1.0, -1.0)
