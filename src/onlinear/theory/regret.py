"""Regret: what a learner has suffered more than the best fixed weights of bounded length would have."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from onlinear import losses
from onlinear.descent import best_in_ball
from onlinear.errors import Refused
from onlinear.learning.learner import Learner
from onlinear.theory.certifying import check_names, check_rows_and_labels, learner_of
from onlinear.theory.examples import places_of, signs

#: losses that the comparator suffers in place of others: best fixed weights for the perceptron loss are 0
RIVALS = {losses.Perceptron: losses.Hinge(), losses.Binomial: losses.Logistic()}  # the latter are one, computed twice


class Regret(NamedTuple):
    """The progressive loss of a run beside that of the best weights u with ``|u| <= bound``, summed over the rows.

    ``of`` is at most the true regret and misses it by at most ``gap``: the best loss is only known to that. The
    comparator suffers the loss named ``against``: for the perceptron loss, whose best fixed weights are 0, the hinge.
    """

    of: float
    gap: float
    progressive: float
    best: float
    weights: np.ndarray
    bound: float
    against: str


def regret(model: Any, X: Any, y: Any, bound: float, epsilon: float = 1e-4) -> Regret:
    """The regret of a classifier of two classes that went once over these rows, against ``|u| <= bound``.

    The losses are those of the weights that learn, also where their average answers: of those regret bounds speak. The
    intercept is the weight of a constant feature, and counts in the norm. ``epsilon`` is the gap per row to which
    the best weights are sought.

    >>> import onlinear
    >>> rows, labels = [[1.0], [-1.0], [2.0], [-0.5]], [1, 0, 1, 0]
    >>> model = onlinear.Perceptron(max_iter=1, tol=None, shuffle=False).fit(rows, labels)
    >>> found = regret(model, rows, labels, bound=1.0)
    >>> found.against, round(found.best, 1), found.gap <= 4e-4
    ('Hinge', 0.5, True)
    """
    learner = learner_of(model)
    check_names(model, X)
    matrix, labels = check_rows_and_labels(X, y, len(model.coef_[0]))
    classes, places = model.classes_.tolist(), places_of(labels, model._classes)
    loss = learner.losses[0]
    if len(classes) != 2 or hasattr(loss, "slopes"):
        raise Refused("regret is that of two classes here: compare each class with the rest")
    if learner.examples != matrix.shape[0]:
        raise Refused(
            f"the model has learned from {learner.examples} examples, and these are {matrix.shape[0]} rows: "
            "regret is that of one pass over them"
        )
    rival = RIVALS.get(type(loss), loss)
    rows = with_constant(matrix, learner)
    best = best_in_ball(rows, signs(places == 1), rival, bound, epsilon)
    suffered = float(learner.unaveraged_loss_sums[0]) / max(learner.importance, 1e-300)
    progressive, total = suffered * len(labels), best.value * len(labels)
    return Regret(
        progressive - total,
        best.gap * len(labels),
        progressive,
        total,
        best.weights,
        float(bound),
        type(rival).__name__,
    )


def with_constant(matrix: Any, learner: Learner) -> Any:
    """The rows with the constant feature that stands for the intercept."""
    setting = learner.settings[0]
    if not setting.intercept:
        return matrix
    constant = np.full((matrix.shape[0], 1), np.sqrt(setting.intercept_rate))
    if scipy.sparse.issparse(matrix):
        return scipy.sparse.hstack([matrix, scipy.sparse.csr_matrix(constant)], format="csr")
    return np.hstack([matrix, constant])
