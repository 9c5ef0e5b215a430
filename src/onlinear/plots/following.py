"""A learner followed row by row: what it scored, and which weights it had after each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from onlinear.errors import BadInput, Refused

#: by how much, relatively to the weights, a move may differ from a multiple of the row
ROUNDING = 1e-9


class Examples(NamedTuple):
    """Rows, their labels as -1 and +1, and the two labels that these stand for."""

    X: np.ndarray
    y: np.ndarray
    classes: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        return self.classes[(self.y > 0.0).astype(np.intp)]


class Step(NamedTuple):
    """One example learned: its row, its score before, and the updates and the weights after it."""

    row: int
    score: float
    updates: int
    weights: np.ndarray


def two_classes(X: Any, y: Any) -> Examples:
    """The rows of two classes, checked. The label that sorts last is +1."""
    if hasattr(X, "toarray"):
        raise Refused("pictures are drawn of arrays, not of sparse matrices: give X.toarray()")
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise BadInput(f"X has shape {X.shape} and y {y.shape}: give a table of rows, and a label for each")
    if not np.isfinite(X).all():
        raise BadInput("X has values that are not finite: drop their rows or impute them")
    classes = np.unique(y)
    if len(classes) != 2:
        raise Refused(f"there are {len(classes)} classes: this picture is of two")
    return Examples(X, np.where(y == classes[1], 1.0, -1.0), classes)


def follow(estimator: Any, examples: Examples, passes: int = 1) -> Iterator[Step]:
    """Learn the rows one after the other with a clone, pass after pass, until a whole pass brings no update."""
    model, updates = clone(estimator), 0
    weights = np.zeros(examples.X.shape[1] + has_intercept(estimator))
    for _ in range(passes):
        before = updates
        for i, label in enumerate(examples.labels):
            row = examples.X[i : i + 1]
            score = float(extended(row, estimator)[0] @ weights)
            model.partial_fit(row, [label], classes=examples.classes)
            now = weights_of(model, estimator)
            updates = int(getattr(model, "updates_", updates + (not np.array_equal(now, weights))))
            weights = now
            yield Step(i, score, updates, weights)
        if updates == before:
            return


def has_intercept(estimator: Any) -> bool:
    return bool(getattr(estimator, "fit_intercept", False))


def extended(X: np.ndarray, estimator: Any) -> np.ndarray:
    """The rows as the theorems see them: an intercept is the weight of one more feature, which is always 1."""
    return np.column_stack([X, np.ones(len(X))]) if has_intercept(estimator) else X


def weights_of(model: Any, estimator: Any) -> np.ndarray:
    """A copy of the weights, with that of the intercept behind them if there is one."""
    weights = np.asarray(model.coef_, dtype=np.float64).reshape(-1)
    return np.append(weights, model.intercept_) if has_intercept(estimator) else weights.copy()


def factor_of(move: np.ndarray, signed_row: np.ndarray, size: float) -> float:
    """The a >= 0 of a move ``a y x`` of weights of some size; NaN if it was no such move."""
    if not move.any():
        return 0.0
    squared = float(signed_row @ signed_row)
    a = float(move @ signed_row) / squared if squared else 0.0
    far = float(np.linalg.norm(move - a * signed_row))
    return a if a >= 0.0 and far <= ROUNDING * (size + np.linalg.norm(move)) else np.nan
