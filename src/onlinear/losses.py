"""Losses: scalar mathematics, value beside slope.

A loss is a plain ``NamedTuple`` class whose fields are floats. It needs two methods:

* ``value(score, target)``: the loss,
* ``slope(score, target)``: its derivative with respect to the score; what it answers *at* a kink is part
  of the specification (see each docstring) and pinned by a test.

Three more are optional:

* ``link(score)``: the probability of the positive class (or the mean) that the score stands for,
* ``flow(score, target, amount)``: where the score ends if it follows ``ds/da = -slope(s)`` during ``amount``.
  The importance-invariant rules use it (Karampatziakis & Langford 2011); a loss without it takes an
  implicit step instead,
* ``curvature(score, target)``: the second derivative, for the Newton rules.

A *row loss* sees all scores of a row at once: ``value(scores, label)``, ``slopes(scores, label, out)`` and
optionally ``link(scores, out)`` and ``row_flow(context, amount)``, the flow of a row.

Functions of :mod:`onlinear.powers`, or ``math``, not NumPy's: compiled and interpreted code then agree to the last bit.

>>> Logistic().value(0.0, 1.0) == math.log(2.0)
True
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple, Protocol, runtime_checkable

from onlinear.parameters import BETWEEN_0_AND_1, NOT_NEGATIVE
from onlinear.powers import exp_of_less, log_of_more
from onlinear.rules.context import StepContext


@runtime_checkable
class Loss(Protocol):
    """What every scalar loss offers."""

    def value(self, score: float, target: float) -> float: ...
    def slope(self, score: float, target: float) -> float: ...


@runtime_checkable
class RowLoss(Protocol):
    """What every loss over all scores of a row offers."""

    def value(self, scores: Any, label: int) -> float: ...
    def slopes(self, scores: Any, label: int, out: Any) -> None: ...


# ---------------------------------------------------------------- binary: targets -1 and +1


class Perceptron(NamedTuple):
    """Perceptron loss: ``max(0, -y s)``.

    The slope at the tie ``y s == 0`` is ``-y``: a tie is an update, or a learner that starts at zero would
    never move. Rosenblatt 1958.

    >>> Perceptron().slope(0.0, 1.0)
    -1.0
    """

    def value(self, score: float, target: float) -> float:
        return max(0.0, -target * score)

    def slope(self, score: float, target: float) -> float:
        return -target if target * score <= 0.0 else 0.0

    def flow(self, score: float, target: float, amount: float) -> float:
        # a whole step: the flow would stop on the tie, where the learner starts
        return score + target * amount if target * score <= 0.0 else score


class Hinge(NamedTuple):
    """Hinge loss: ``max(0, margin - y s)``; the slope at ``y s == margin`` is ``-y``.

    With margin 0 it is the perceptron loss.

    >>> Hinge().value(0.25, 1.0), Hinge().slope(1.0, 1.0)
    (0.75, -1.0)
    """

    margin: Annotated[float, "examples within this margin are learned from", NOT_NEGATIVE] = 1.0

    def value(self, score: float, target: float) -> float:
        return max(0.0, self.margin - target * score)

    def slope(self, score: float, target: float) -> float:
        return -target if target * score <= self.margin else 0.0

    def flow(self, score: float, target: float, amount: float) -> float:
        reached = target * score
        if self.margin <= 0.0:  # the kink is where the learner starts: see Perceptron
            return score + target * amount if reached <= self.margin else score
        if reached >= self.margin:
            return score
        return target * min(reached + amount, self.margin)


class SquaredHinge(NamedTuple):
    """Squared hinge loss: ``max(0, margin - y s)^2``.

    >>> SquaredHinge().value(0.0, -1.0), SquaredHinge().slope(0.0, -1.0)
    (1.0, 2.0)
    """

    margin: Annotated[float, "examples within this margin are learned from", NOT_NEGATIVE] = 1.0

    def value(self, score: float, target: float) -> float:
        short = max(0.0, self.margin - target * score)
        return short * short

    def slope(self, score: float, target: float) -> float:
        return -2.0 * target * max(0.0, self.margin - target * score)

    def flow(self, score: float, target: float, amount: float) -> float:
        short = self.margin - target * score
        if short <= 0.0:
            return score
        return target * (self.margin - short * math.exp(-2.0 * amount))

    def curvature(self, score: float, target: float) -> float:
        return 2.0 if target * score < self.margin else 0.0


def logistic_value(z: float) -> float:
    """``log(1 + e^-z)``."""
    return log_of_more(exp_of_less(-abs(z))) + max(0.0, -z)


def sigmoid(score: float) -> float:
    """``1 / (1 + e^-s)``."""
    tail = exp_of_less(-abs(score))
    return (1.0 if score >= 0.0 else tail) / (1.0 + tail)


def logistic_curvature(score: float) -> float:
    """``p (1 - p)`` for the sigmoid p of the score."""
    tail = exp_of_less(-abs(score))
    return tail / ((1.0 + tail) * (1.0 + tail))


def logistic_flow(z: float, amount: float) -> float:
    """Solve ``z' + e^z' = z + e^z + amount`` for ``z'``.

    With ``d = z' - z`` that is ``d + e^z (e^d - 1) = amount``, solved by Halley's method from a point near the root:
    with ``r = e^z / (1 + e^z)`` and ``u = amount / (1 + e^z)``, the inverse of ``u = d + r (e^d - 1 - d)`` up to the
    fourth power of u. The error is cubed at every step, so a step below ``1e-5 d`` is the last one worth taking.
    """
    if z > 700.0:  # e^z overflows, and e^-z is nothing beside z
        return z
    if z < -40.0:  # e^z is nothing beside 1: the slope is 1 to the last bit
        straight = min(amount, -40.0 - z)
        z += straight
        amount -= straight
        if amount == 0.0:
            return z
    power = math.exp(z)
    u = amount / (1.0 + power)
    if u > 0.5:
        d = min(u, math.log1p(amount / power))
    else:
        r = power / (1.0 + power)
        d = u * (1.0 - r * u * (0.5 - u * ((r / 2.0 - 1.0 / 6.0) - u * ((r * 0.625 - 5.0 / 12.0) * r + 1.0 / 24.0))))
    for _ in range(60):
        grown = power * math.expm1(d)
        rise = 1.0 + power + grown
        newton = (d + grown - amount) / rise
        change = newton / (1.0 - 0.5 * newton * ((power + grown) / rise))
        d -= change
        if abs(change) <= 1e-5 * abs(d):
            break
    return z + d


class Logistic(NamedTuple):
    """Logistic loss: ``log(1 + exp(-y s))``; ``link`` is the probability of +1.

    >>> Logistic().link(0.0)
    0.5
    """

    def value(self, score: float, target: float) -> float:
        return logistic_value(target * score)

    def slope(self, score: float, target: float) -> float:
        z = target * score
        tail = exp_of_less(-abs(z))
        return -target * (tail if z > 0.0 else 1.0) / (1.0 + tail)

    def link(self, score: float) -> float:
        return sigmoid(score)

    def flow(self, score: float, target: float, amount: float) -> float:
        return target * logistic_flow(target * score, amount)

    def curvature(self, score: float, target: float) -> float:
        return logistic_curvature(score)


class Binomial(NamedTuple):
    """The logistic loss with scikit-learn's rounding: its trajectories amplify the last bit of a slope.

    With ``e = exp(-s)`` the slope is ``-e / (1 + e)`` for +1 and ``1 / (1 + e)`` for -1: as exact as that of
    :class:`Logistic`, but not to the last bit the same for ``(s, y)`` and ``(-s, -y)``.

    >>> Binomial().slope(0.0, 1.0)
    -0.5
    """

    def value(self, score: float, target: float) -> float:
        return logistic_value(target * score)

    def slope(self, score: float, target: float) -> float:
        if score > -37.0:
            tail = math.exp(-score)
            return -tail / (1.0 + tail) if target > 0.0 else 1.0 / (1.0 + tail)
        return math.exp(score) - (1.0 if target > 0.0 else 0.0)

    def link(self, score: float) -> float:
        return sigmoid(score)

    def flow(self, score: float, target: float, amount: float) -> float:
        return target * logistic_flow(target * score, amount)

    def curvature(self, score: float, target: float) -> float:
        return logistic_curvature(score)


class ModifiedHuber(NamedTuple):
    """Modified Huber loss (Zhang 2004): ``max(0, 1 - z)^2`` for ``z = y s >= -1``, else ``-4 z``.

    ``link`` is ``(clip(s, -1, 1) + 1) / 2``.

    >>> ModifiedHuber().value(-2.0, 1.0), ModifiedHuber().slope(-1.0, 1.0)
    (8.0, -4.0)
    """

    def value(self, score: float, target: float) -> float:
        z = target * score
        if z >= 1.0:
            return 0.0
        if z >= -1.0:
            return (1.0 - z) * (1.0 - z)
        return -4.0 * z

    def slope(self, score: float, target: float) -> float:
        z = target * score
        if z >= 1.0:
            return 0.0
        if z >= -1.0:
            return -2.0 * target * (1.0 - z)
        return -4.0 * target

    def link(self, score: float) -> float:
        return (min(max(score, -1.0), 1.0) + 1.0) / 2.0

    def flow(self, score: float, target: float, amount: float) -> float:
        z = target * score
        left = amount
        if z < -1.0:
            straight = min(left, (-1.0 - z) / 4.0)
            z += 4.0 * straight
            left -= straight
        if left > 0.0 and z < 1.0:
            z = 1.0 - (1.0 - z) * math.exp(-2.0 * left)
        return target * z

    def curvature(self, score: float, target: float) -> float:
        return 2.0 if -1.0 <= target * score < 1.0 else 0.0


# ---------------------------------------------------------------- regression: any finite target


class Squared(NamedTuple):
    """Half the squared error: ``(s - y)^2 / 2``.

    >>> Squared().value(3.0, 1.0), Squared().slope(3.0, 1.0)
    (2.0, 2.0)
    """

    def value(self, score: float, target: float) -> float:
        return 0.5 * (score - target) * (score - target)

    def slope(self, score: float, target: float) -> float:
        return score - target

    def flow(self, score: float, target: float, amount: float) -> float:
        return target + (score - target) * math.exp(-amount)

    def curvature(self, score: float, target: float) -> float:
        return 1.0


class Absolute(NamedTuple):
    """Absolute error: ``|s - y|``; the slope at ``s == y`` is 0."""

    def value(self, score: float, target: float) -> float:
        return abs(score - target)

    def slope(self, score: float, target: float) -> float:
        if score == target:
            return 0.0
        return 1.0 if score > target else -1.0

    def flow(self, score: float, target: float, amount: float) -> float:
        if score > target:
            return max(score - amount, target)
        return min(score + amount, target)


class Huber(NamedTuple):
    """Huber loss: half the squared error up to ``epsilon``, beyond it ``epsilon |r| - epsilon^2 / 2``.

    >>> Huber(1.0).value(3.0, 0.0), Huber(1.0).slope(-3.0, 0.0)
    (2.5, -1.0)
    """

    epsilon: Annotated[float, "residuals up to this size are squared", NOT_NEGATIVE] = 0.1

    def value(self, score: float, target: float) -> float:
        error = abs(score - target)
        if error <= self.epsilon:
            return 0.5 * error * error
        return self.epsilon * error - 0.5 * self.epsilon * self.epsilon

    def slope(self, score: float, target: float) -> float:
        return min(max(score - target, -self.epsilon), self.epsilon)

    def flow(self, score: float, target: float, amount: float) -> float:
        error = score - target
        left = amount
        if abs(error) > self.epsilon and self.epsilon > 0.0:
            straight = min(left, (abs(error) - self.epsilon) / self.epsilon)
            error -= math.copysign(straight * self.epsilon, error)
            left -= straight
        return target + error * math.exp(-left)

    def curvature(self, score: float, target: float) -> float:
        return 1.0 if abs(score - target) <= self.epsilon else 0.0


class Quantile(NamedTuple):
    """Quantile (pinball) loss: ``q (y - s)`` below the target, ``(1 - q)(s - y)`` above it; 0 slope on it.

    >>> Quantile(0.9).value(0.0, 1.0), Quantile(0.9).slope(0.0, 1.0)
    (0.9, -0.9)
    """

    quantile: Annotated[float, "which quantile is predicted", BETWEEN_0_AND_1] = 0.5

    def value(self, score: float, target: float) -> float:
        short = target - score
        return self.quantile * short if short > 0.0 else (self.quantile - 1.0) * short

    def slope(self, score: float, target: float) -> float:
        if score == target:
            return 0.0
        return -self.quantile if score < target else 1.0 - self.quantile

    def flow(self, score: float, target: float, amount: float) -> float:
        if score > target:
            return max(score - (1.0 - self.quantile) * amount, target)
        return min(score + self.quantile * amount, target)


class EpsilonInsensitive(NamedTuple):
    """Epsilon-insensitive loss: ``max(0, |s - y| - epsilon)``; the slope at the kink is 0."""

    epsilon: Annotated[float, "residuals up to this size cost nothing", NOT_NEGATIVE] = 0.1

    def value(self, score: float, target: float) -> float:
        return max(0.0, abs(score - target) - self.epsilon)

    def slope(self, score: float, target: float) -> float:
        if target - score > self.epsilon:
            return -1.0
        return 1.0 if score - target > self.epsilon else 0.0

    def flow(self, score: float, target: float, amount: float) -> float:
        if score > target + self.epsilon:
            return max(score - amount, target + self.epsilon)
        if score < target - self.epsilon:
            return min(score + amount, target - self.epsilon)
        return score


class SquaredEpsilonInsensitive(NamedTuple):
    """The square of the epsilon-insensitive loss."""

    epsilon: Annotated[float, "residuals up to this size cost nothing", NOT_NEGATIVE] = 0.1

    def value(self, score: float, target: float) -> float:
        beyond = max(0.0, abs(score - target) - self.epsilon)
        return beyond * beyond

    def slope(self, score: float, target: float) -> float:
        error = score - target
        if error > self.epsilon:
            return 2.0 * (error - self.epsilon)
        return 2.0 * (error + self.epsilon) if error < -self.epsilon else 0.0

    def flow(self, score: float, target: float, amount: float) -> float:
        error = score - target
        beyond = abs(error) - self.epsilon
        if beyond <= 0.0:
            return score
        return target + math.copysign(self.epsilon + beyond * math.exp(-2.0 * amount), error)

    def curvature(self, score: float, target: float) -> float:
        return 2.0 if abs(score - target) > self.epsilon else 0.0


# ---------------------------------------------------------------- several classes: all scores of a row


def strongest_rival(scores: Any, label: int) -> int:
    """The class other than ``label`` with the highest score, the first of equals; -1 if there is none."""
    rival = -1
    for m in range(scores.shape[0]):
        if m != label and (rival < 0 or scores[m] > scores[rival]):
            rival = m
    return rival


def highest(scores: Any) -> float:
    """The highest of the scores."""
    top = scores[0]
    for m in range(1, scores.shape[0]):
        top = max(top, scores[m])
    return top


def softmax(scores: Any, out: Any) -> None:
    """Write the softmax of the scores to ``out``."""
    top = highest(scores)
    total = 0.0
    for m in range(scores.shape[0]):
        out[m] = exp_of_less(scores[m] - top)
        total += out[m]
    for m in range(scores.shape[0]):
        out[m] /= total


class MulticlassPerceptron(NamedTuple):
    """Multiclass perceptron loss: ``max(0, s_rival - s_label)``; a tie is an update.

    Only the true class and its strongest rival move. Crammer & Singer 2003.
    """

    def value(self, scores: Any, label: int) -> float:
        rival = strongest_rival(scores, label)
        return 0.0 if rival < 0 else max(0.0, scores[rival] - scores[label])

    def slopes(self, scores: Any, label: int, out: Any) -> None:
        out[:] = 0.0
        rival = strongest_rival(scores, label)
        if rival >= 0 and scores[label] - scores[rival] <= 0.0:
            out[label] = -1.0
            out[rival] = 1.0


class CrammerSinger(NamedTuple):
    """Crammer-Singer hinge: ``max(0, margin - (s_label - s_rival))``; at the kink it is an update.

    Only the true class and its strongest rival move. Crammer & Singer 2001.
    """

    margin: Annotated[float, "examples within this margin are learned from", NOT_NEGATIVE] = 1.0

    def value(self, scores: Any, label: int) -> float:
        rival = strongest_rival(scores, label)
        return 0.0 if rival < 0 else max(0.0, self.margin + scores[rival] - scores[label])

    def slopes(self, scores: Any, label: int, out: Any) -> None:
        out[:] = 0.0
        rival = strongest_rival(scores, label)
        if rival >= 0 and scores[label] - scores[rival] <= self.margin:
            out[label] = -1.0
            out[rival] = 1.0

    def row_flow(self, context: StepContext, amount: float) -> float:
        # the true class and its rival approach the margin from both sides
        return context.score - min(amount, 0.5 * context.value) * context.slope


class Softmax(NamedTuple):
    """Multinomial logistic loss: ``log sum_m exp(s_m) - s_label``; ``link`` is the softmax."""

    def value(self, scores: Any, label: int) -> float:
        top = highest(scores)
        total = 0.0
        for m in range(scores.shape[0]):
            total += exp_of_less(scores[m] - top)
        return math.log(total) + (top - scores[label])

    def slopes(self, scores: Any, label: int, out: Any) -> None:
        softmax(scores, out)
        out[label] -= 1.0

    def link(self, scores: Any, out: Any) -> None:
        softmax(scores, out)

    def row_flow(self, context: StepContext, amount: float) -> float:
        # with the other scores held still, one score's loss is logistic: |slope| = 1 / (1 + e^z)
        size = min(max(abs(context.slope), 1e-300), 1.0 - 1e-16)
        z = math.log1p(-size) - math.log(size)
        return context.score - math.copysign(logistic_flow(z, amount) - z, context.slope)
