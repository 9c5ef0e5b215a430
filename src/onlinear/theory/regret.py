"""Regret: what a learner has suffered more than the best fixed weights of bounded length would have."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from onlinear import losses
from onlinear.descent import best_in_ball
from onlinear.descent.objective import squared_lengths
from onlinear.errors import Refused
from onlinear.learning.learner import Learner
from onlinear.theory.certifying import check_names, check_rows_and_labels, learner_of
from onlinear.theory.examples import places_of, signs
from onlinear.theory.subjects import Subject, steps_of, subject_of

#: losses that the comparator suffers in place of others: best fixed weights for the perceptron loss are 0
RIVALS = {losses.Perceptron: losses.Hinge(), losses.Binomial: losses.Logistic()}  # the latter are one, computed twice


class Regret(NamedTuple):
    """The progressive loss of a run beside that of the best weights u with ``|u| <= bound``, summed over the rows.

    ``of`` is at most the true regret and misses it by at most ``gap``: the best loss is only known to that. The
    comparator suffers the loss named ``against``. The best fixed weights of the perceptron loss are 0, and the theorem
    compares others: a perceptron's ``progressive`` is its number of mistakes, a tie being one (its updates), and its
    comparator suffers the hinge. ``allowed`` is then the most that ``of`` can be, ``R bound sqrt(mistakes)``, where all
    steps are of one size; else None.
    """

    of: float
    gap: float
    progressive: float
    best: float
    weights: np.ndarray
    bound: float
    against: str
    allowed: float | None = None


def regret(model: Any, X: Any, y: Any, bound: float, epsilon: float = 1e-4) -> Regret:
    """The regret of a classifier of two classes that went once over these rows, against ``|u| <= bound``.

    That of a perceptron is its mistakes minus the hinge losses of u, at most ``R |u| sqrt(mistakes)``: section 8 of
    ``docs/theory.md``. The losses are those of the weights that learn, also where their average answers: of those
    regret bounds speak. The intercept is the weight of a constant feature, and counts in the norm. ``epsilon`` is the
    gap per row to which the best weights are sought.

    >>> import onlinear
    >>> rows, labels = [[1.0], [-1.0], [2.0], [-0.5]], [1, 0, 1, 0]
    >>> model = onlinear.Perceptron(max_iter=1, tol=None, shuffle=False).fit(rows, labels)
    >>> found = regret(model, rows, labels, bound=1.0)
    >>> found.progressive, found.against, round(found.best, 1), found.gap <= 4e-4, found.of <= found.allowed
    (2.0, 'Hinge', 0.5, True, True)
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
    allowed = None
    if isinstance(loss, losses.Perceptron):
        progressive = float(learner.updates[0])
        allowed = allowed_regret(subject_of(steps_of(learner, model._classes, 1)), rows, bound)
    else:
        counters = learner.counters
        progressive = float(counters.unaveraged_loss_sums[0]) / max(counters.importance, 1e-300) * len(labels)
    total = best.value * len(labels)
    return Regret(
        progressive - total,
        best.gap * len(labels),
        progressive,
        total,
        best.weights,
        float(bound),
        type(rival).__name__,
        allowed,
    )


def allowed_regret(subject: Subject, rows: Any, bound: float) -> float | None:
    """``R bound sqrt(k)`` for k updates of one size; None of a run that the theorem does not cover.

    Each of them adds ``y <u, x>``, at least 1 less the hinge loss of u, to ``<u, w>``, so that k less all these losses
    is at most ``|u| |w| <= bound R sqrt(k)``.
    """
    run = subject.run
    if run is None or not run.is_plain:
        return None
    return bound * float(np.sqrt(squared_lengths(rows).max() * run.updates))


def with_constant(matrix: Any, learner: Learner) -> Any:
    """The rows with the constant feature that stands for the intercept."""
    setting = learner.settings[0]
    if not setting.intercept:
        return matrix
    constant = np.full((matrix.shape[0], 1), np.sqrt(setting.intercept_rate))
    if scipy.sparse.issparse(matrix):
        return scipy.sparse.hstack([matrix, scipy.sparse.csr_matrix(constant)], format="csr")
    return np.hstack([matrix, constant])
