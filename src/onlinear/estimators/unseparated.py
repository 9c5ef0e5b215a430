"""What the drop-in perceptron says where a tolerance has stopped it before separable classes are separated."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from onlinear.data.batch import Batch, take_rows
from onlinear.data.rows import DenseRows
from onlinear.data.targets import Labels
from onlinear.theory.examples import ExactRows
from onlinear.theory.operations import Operations
from onlinear.theory.separability import seems_separable
from onlinear.theory.spaces import LinearSpace

#: multiplications that looking may take, and entries of rows that are looked at: a tenth of a second or so each
MOST_OPERATIONS, MOST_ENTRIES = 50_000_000, 1_000_000


def warn_if_unseparated(estimator: Any, batch: Batch) -> None:
    """Warn if ``tol`` has ended a fit that leaves classes unseparated, and floats find weights that separate them."""
    if estimator.tol is None or estimator.penalty is not None or estimator.n_iter_ == estimator.max_iter:
        return
    rows = batch.rows
    entries = rows.values.size if isinstance(rows, DenseRows) else int(rows.starts[-1])
    if entries > MOST_ENTRIES or not is_left_unseparated(estimator._model.learner, batch):
        return
    warnings.warn(
        f"tol={estimator.tol} ended the fit after {estimator.n_iter_} passes, before the classes were separated, which "
        f"they can be: {estimator._textbook} goes on until no mistake is left, as the perceptron is taught",
        ConvergenceWarning,
        stacklevel=4,
    )


def is_left_unseparated(learner: Any, batch: Batch) -> bool:
    """Whether an output is wrong on a row, or tied, while some weights would be right on all."""
    there = np.flatnonzero(batch.importance > 0.0)
    scores = learner.scores(batch.rows, averaged=False)[there]
    rows, operations = take_rows(batch.rows, there), Operations(MOST_OPERATIONS)
    space = LinearSpace(learner.features, Fraction(int(learner.settings[0].intercept)))
    for output in range(learner.outputs):
        signs = signs_for(batch.targets, output)[there]
        if (signs * scores[:, output] <= 0.0).any():
            block = ExactRows(rows, learner.features, signs)
            if seems_separable(space.signed_rows(block), operations):
                return True
    return False


def signs_for(targets: Any, output: int) -> np.ndarray:
    """What an output is to answer for each row, as -1 and +1."""
    if isinstance(targets, Labels):
        return np.where(targets.values == targets.first + output, 1.0, -1.0)
    return np.asarray(targets.values)
