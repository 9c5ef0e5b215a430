"""Regret of gradient descent to the best weights in a ball: of a learner's pass, and of one that stays in the ball."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from scipy.special import logsumexp, softmax

from onlinear import losses, rules
from onlinear.data.matrices import as_csr
from onlinear.data.whole_numbers import exact_array
from onlinear.descent import best_in_ball
from onlinear.descent.objective import squared_lengths
from onlinear.errors import BadInput, Refused
from onlinear.learning.outputs import has_row_loss
from onlinear.theory.certifying import check_names, check_rows_and_labels, learner_of
from onlinear.theory.examples import examples_of, places_of, signs
from onlinear.theory.rule_bounds import check_run
from onlinear.theory.subjects import steps_of

AT_A_CONSTANT_RATE = "Zinkevich 2003, theorem 1, at a constant rate: Orabona 2019, theorem 2.13"
PROJECTED = "Zinkevich 2003, theorem 1, with the gradients that were met"
#: losses of two classes by name
OF_TWO: dict[str, losses.Hinge | losses.Logistic] = {"hinge": losses.Hinge(), "log_loss": losses.Logistic()}
#: steps towards the best weights of a softmax
MOST_STEPS = 5000


class BallRegret(NamedTuple):
    """What a run has lost more than the best u with ``|u| <= bound``, over all rows, and the most that this can be.

    ``of`` is at most the true regret, and misses it by at most ``gap``. Weights have a row for each class of several;
    behind those of the features comes that of the constant feature, if there is an intercept.
    """

    of: float
    gap: float
    suffered: float
    best: float
    at_most: float
    theorem: str
    weights: np.ndarray
    bound: float


def regret_in_ball(model: Any, X: Any, y: Any, bound: float, epsilon: float = 1e-4) -> BallRegret:
    """The regret of one pass of gradient descent at a constant rate: hinge and log loss of two classes, or softmax.

    It is at most ``bound^2 / (2 rate) + rate / 2 sum |g|^2``, and |g| at most a slope, which the learner has counted,
    times the length of the longest row. ``epsilon`` is the gap per row to which the best weights are sought.

    >>> import numpy as np, onlinear
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> descent = onlinear.OnlineClassifier(loss="softmax", rule=onlinear.rules.SGD(onlinear.rules.Constant(0.1)))
    >>> found = regret_in_ball(descent.partial_fit(X, X.argmax(axis=1)), X, X.argmax(axis=1), bound=3.0)
    >>> found.of <= found.at_most, found.gap <= 0.02
    (True, True)
    """
    learner, classes = learner_of(model), model._classes
    check_names(model, X)
    matrix, labels = check_rows_and_labels(X, y, model.coef_.shape[1])
    places, together = places_of(labels, classes), has_row_loss(learner)
    steps = steps_of(learner, classes, None if together else 1)
    loss, rule = steps.loss, steps.rule
    if type(rule) is not rules.SGD or type(rule.schedule) is not rules.Constant or not rule.schedule.rate > 0.0:
        raise Refused(
            "the regret of gradient descent is bounded here at a constant rate: take sgd with the schedule constant"
        )
    name = name_of_loss(loss)
    if not name or (len(classes) != 2 and not together):
        raise Refused("the losses are the hinge and the log loss of two classes, and the softmax of several")
    if learner.examples != len(labels):
        raise Refused(
            f"the model has learned from {learner.examples} examples, and these are {len(labels)} rows: "
            "regret is that of one pass over them"
        )
    check_run(steps, examples_of(matrix, places))
    rate = rule.schedule.rate
    setting = steps.setting
    rows = with_constant(matrix, math.sqrt(setting.intercept_rate) if setting.intercept else 0.0)
    sums = learner.counters.unaveraged_loss_sums[steps.outputs]
    suffered = float(sums.mean() if together else sums.sum())
    squares = float(learner.counters.squared_step_sums[steps.outputs].sum())
    gradients = squares / rate**2 * float(squared_lengths(rows).max())
    at_most = bound**2 / (2.0 * rate) + 0.5 * rate * gradients
    weights, best, gap = best_of_ball(rows, places, name, len(classes), bound, epsilon)
    return BallRegret(suffered - best, gap, suffered, best, at_most, AT_A_CONSTANT_RATE, weights, float(bound))


def name_of_loss(loss: Any) -> str | None:
    """By which name a loss is known here; None for others. Tuples of the same numbers are equal, of any class."""
    if type(loss) is losses.Hinge:
        return "hinge" if loss == OF_TWO["hinge"] else None
    return {losses.Logistic: "log_loss", losses.Binomial: "log_loss", losses.Softmax: "softmax"}.get(type(loss))


def projected_descent(
    X: Any, y: Any, loss: str, bound: float, rate: float | None = None, epsilon: float = 1e-4
) -> BallRegret:
    """One pass of gradient descent that returns to the ball ``|w| <= bound`` after each step, and its regret.

    From 0, ``w <- w - rate / sqrt(t) g``, and if w is too long then ``w <- bound w / |w|``. Its regret is at most ``(2
    bound)^2 sqrt(T) / (2 rate) + sum rate / (2 sqrt(t)) |g_t|^2`` (Zinkevich 2003, theorem 1, has rate 1 and the
    largest g). Without a ``rate`` it is ``sqrt(2) bound / R``. The ``loss`` is "hinge" or "log_loss" of two classes,
    the second in order being +1, or "softmax". There is no intercept: give X a constant column.

    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> found = projected_descent(X, X[:, 0] > 0.0, "hinge", bound=2.0)
    >>> 0.0 < found.of <= found.at_most
    True
    """
    matrix = scipy.sparse.csr_matrix(as_csr(X)) if scipy.sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    labels = exact_array(y)
    if matrix.ndim != 2 or len(labels) != matrix.shape[0] or not len(labels):
        raise BadInput(f"X has the shape {matrix.shape} and y {labels.shape}: give a label for each row of a matrix")
    classes, places = np.unique(labels, return_inverse=True)
    if loss not in (*OF_TWO, "softmax") or len(classes) < 2 or (loss != "softmax" and len(classes) != 2):
        raise Refused(
            f"{loss!r} of {len(classes)} classes: the losses are hinge and log_loss of two, and softmax of two or more"
        )
    longest = math.sqrt(float(squared_lengths(matrix).max()))
    rate = math.sqrt(2.0) * bound / max(longest, 1e-300) if rate is None else rate
    if not 0.0 < rate < math.inf or not 0.0 < bound < math.inf:
        raise BadInput(f"bound is {bound} and rate {rate}: give finite numbers above 0")
    w = np.zeros((len(classes) if loss == "softmax" else 1, matrix.shape[1]))
    suffered, squares = 0.0, 0.0
    for t, place in enumerate(places.tolist(), 1):
        x = matrix[t - 1].toarray()[0] if scipy.sparse.issparse(matrix) else matrix[t - 1]
        lost, slopes = loss_and_slopes(loss, w @ x, place)
        gradient = np.outer(slopes, x)
        suffered += lost
        squares += rate / (2.0 * math.sqrt(t)) * float((gradient * gradient).sum())
        w = w - rate / math.sqrt(t) * gradient
        w *= bound / max(float(np.linalg.norm(w)), bound)
    at_most = 2.0 * bound**2 * math.sqrt(len(places)) / rate + squares
    weights, best, gap = best_of_ball(matrix, places, loss, len(classes), bound, epsilon)
    return BallRegret(suffered - best, gap, suffered, best, at_most, PROJECTED, weights, float(bound))


def loss_and_slopes(loss: str, scores: np.ndarray, place: int) -> tuple[float, np.ndarray]:
    if loss == "softmax":
        slopes = np.asarray(softmax(scores))
        slopes[place] -= 1.0
        return float(logsumexp(scores) - scores[place]), slopes
    scalar, target = OF_TWO[loss], 1.0 if place else -1.0
    score = float(scores[0])
    return scalar.value(score, target), np.array([scalar.slope(score, target)])


def with_constant(matrix: Any, constant: float) -> Any:
    """The rows with the constant feature that stands for the intercept."""
    if not constant:
        return matrix
    column = np.full((matrix.shape[0], 1), constant)
    if scipy.sparse.issparse(matrix):
        return scipy.sparse.hstack([matrix, column], format="csr")
    return np.hstack([matrix, column])


def best_of_ball(
    rows: Any, places: np.ndarray, loss: str, classes: int, bound: float, epsilon: float
) -> tuple[np.ndarray, float, float]:
    """Good weights in the ball, what they lose on all rows, and how much more at most than the best there."""
    if loss == "softmax":
        return best_softmax(rows, places.astype(np.int64), classes, bound, epsilon * len(places))
    found = best_in_ball(rows, signs(places == 1), OF_TWO[loss], bound, epsilon)
    return found.weights, found.value * len(places), found.gap * len(places)


def best_softmax(
    rows: Any, places: np.ndarray, classes: int, bound: float, gap: float
) -> tuple[np.ndarray, float, float]:
    """The same of a softmax, by gradient steps with momentum in the ball (Nesterov 1983; Beck & Teboulle 2009).

    For any weights u there and the gradient g, no weights of the ball lose less than ``f(u) - <g, u> - bound |g|``
    (Frank & Wolfe 1956): so the gap holds whatever the search has found.
    """
    own = np.arange(len(places)), places
    bend = 0.5 * float(squared_lengths(rows).sum())  # no curvature of the sum is larger
    u = ahead = np.zeros((classes, rows.shape[1]))
    momentum, best, lowest = 1.0, (u, math.inf), -math.inf
    for _ in range(MOST_STEPS):
        value, gradient = softmax_and_gradient(rows, own, ahead)
        if value < best[1]:
            best = ahead, value
        reach = bound * float(np.linalg.norm(gradient))
        lowest = max(lowest, value - float((gradient * ahead).sum()) - reach)
        if best[1] - lowest <= gap or not bend:
            break
        moved = ahead - gradient / bend
        moved *= bound / max(float(np.linalg.norm(moved)), bound)
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
        if float(((ahead - moved) * (moved - u)).sum()) > 0.0:  # it goes back: begin the momentum anew
            following = 1.0
        ahead = moved + (momentum - 1.0) / following * (moved - u) if following > 1.0 else moved
        ahead = ahead * (bound / max(float(np.linalg.norm(ahead)), bound))
        u, momentum = moved, following
    return best[0], best[1], max(best[1] - lowest, 0.0) + 1e-12 * abs(best[1])


def softmax_and_gradient(rows: Any, own: tuple[np.ndarray, np.ndarray], u: np.ndarray) -> tuple[float, np.ndarray]:
    """The softmax loss of all rows, and its gradient."""
    scores = np.asarray(rows @ u.T)
    value = float((logsumexp(scores, axis=1) - scores[own]).sum())
    chances = np.asarray(softmax(scores, axis=1))
    chances[own] -= 1.0
    return value, np.asarray((rows.T @ chances).T)
