"""Which mistake bound covers a learner: the same that :func:`onlinear.certify` proves."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import Perceptron as TheirPerceptron

from onlinear.errors import Refused
from onlinear.estimators.classifier import LinearClassifier
from onlinear.estimators.dual import DualClassifier
from onlinear.estimators.linear import DataShape
from onlinear.estimators.sgd import SPARSE_INTERCEPT_RATE
from onlinear.rules.dispatch import rule_rate
from onlinear.theory.inseparable import best_gamma
from onlinear.theory.subjects import KINKS, STEPS

PERCEPTRON = r"bound $(R\,/\,\gamma)^2$"
MARGIN_PERCEPTRON = r"bound $(R^2 + 2 \beta\,/\,a)\,/\,\gamma^2$"
FREUND_SCHAPIRE = "Freund-Schapire bound"


class Theorem(NamedTuple):
    """The bound of a learner that steps by ``a y x`` exactly when ``y <w, x> <= beta``: see theory/bounds.py.

    After k such steps ``k a margin <= |w|`` and ``|w|^2 <= k a^2 R^2 + 2 beta k a``.
    """

    beta: float = 0.0
    step: float = 1.0
    constant: float = 1.0  # the feature that the intercept is the weight of
    averaged: bool = False  # it answers with the average of its weights

    def room(self, radius: np.ndarray) -> np.ndarray:
        """What a squared margin divides: ``R^2 + 2 beta / a``."""
        return radius**2 + 2.0 * self.beta / self.step

    @property
    def label(self) -> str:
        return MARGIN_PERCEPTRON if self.beta else PERCEPTRON


def theorem_of(estimator: Any, features: int, sparse: bool) -> Theorem:
    """The theorem that covers an estimator; one that none covers is refused by name."""
    if isinstance(estimator, DualClassifier):
        return Theorem()
    if getattr(estimator, "class_weight", None) is not None:
        raise no_bound(estimator, "class weights make its steps unequal")
    if isinstance(estimator, TheirPerceptron):
        if estimator.penalty is not None:
            raise no_bound(estimator, "it pays a penalty")
        return Theorem(0.0, float(estimator.eta0), math.sqrt(SPARSE_INTERCEPT_RATE) if sparse else 1.0)
    if not isinstance(estimator, LinearClassifier):
        raise no_bound(estimator, "it is no perceptron")
    loss, rule, settings = estimator._checked_configuration(DataShape(features, sparse), None)
    if type(rule) not in STEPS or type(loss) not in KINKS:
        raise no_bound(estimator, f"the loss {type(loss).__name__} with the rule {type(rule).__name__} has none")
    if settings.l1 > 0.0 or settings.l2 > 0.0:
        raise no_bound(estimator, "it pays a penalty")
    if rule_rate(rule, 1.0) != rule_rate(rule, 2.0):
        raise no_bound(estimator, "its steps become smaller")
    margin, constant = getattr(loss, "margin", 0.0), math.sqrt(settings.intercept_rate)
    return Theorem(margin, rule_rate(rule, 1.0), constant, settings.average > 0.0)


def no_bound(estimator: Any, reason: str) -> Refused:
    return Refused(
        f"no bound on the updates of this {type(estimator).__name__} is known, as {reason}: choose a perceptron with "
        "equal steps and no penalty, such as Perceptron or MarginPerceptron"
    )


def freund_schapire(scores: np.ndarray, length: float, radius: np.ndarray) -> np.ndarray:
    """At most how many updates a perceptron makes in the first trial, the first two, ..., whatever the rows are.

    ``((R |u| + D) / gamma)^2``, where ``D^2`` sums ``max(0, gamma - y <u, x>)^2`` over the trials. ``scores`` are the
    ``y <u, x>`` and ``length`` is ``|u|``; gamma is the best one for all trials together.
    """
    if not length:
        return np.full(len(scores), np.inf)
    gamma = best_gamma(scores, float(radius[-1]) * length, 1)
    deviations = np.sqrt(np.cumsum(np.maximum(gamma - scores, 0.0) ** 2))
    found: np.ndarray = ((radius * length + deviations) / gamma) ** 2
    return found
