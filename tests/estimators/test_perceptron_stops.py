"""Perceptrons that stop: scikit-learn's by its tolerance, with a warning; the textbook's when no mistake is left."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

from onlinear import MarginPerceptron, Perceptron


def separable(seed: int, rows: int = 100) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    return X, X @ rng.normal(size=3) > 0.0


def warned(model: Any, X: Any, y: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("as_rows", [np.asarray, scipy.sparse.csr_matrix])
def test_separable_classes_are_separated_or_spoken_of(as_rows: Any) -> None:
    left = 0
    for seed in range(20):
        X, y = separable(seed)
        model = Perceptron()
        said = warned(model, as_rows(X), y)
        assert bool(said) or model.score(as_rows(X), y) == 1.0
        left += model.score(as_rows(X), y) < 1.0
        textbook = MarginPerceptron(0.0, max_iter=1000)
        assert warned(textbook, as_rows(X), y) == []
        assert textbook.converged_
        assert textbook.score(as_rows(X), y) == 1.0
    assert left > 3


@pytest.mark.parametrize(("rows", "columns"), [(1000, 10), (2000, 20)])
def test_rows_that_take_many_more_passes_are_spoken_of(rows: int, columns: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    y = X @ rng.normal(size=columns) > 0.0
    model = Perceptron()
    (said,) = warned(model, X, y)
    assert "before the classes were separated, which they can be: MarginPerceptron(0.0)" in said
    assert model.score(X, y) < 1.0
    y[0] = not y[0]
    assert warned(Perceptron(), X, y) == []  # nothing separates them any more


def test_one_class_of_several_that_can_be_separated_is_spoken_of() -> None:
    """Rows of c that stand in b, too, leave a separable from the rest; if they stand in both, nothing is."""
    X, y = separable(0)
    for twice, count in ((~y, 1), (np.ones(len(y), dtype=bool), 0)):
        rows = np.vstack([X, X[twice]])
        labels = [*np.where(y, "a", "b"), *["c"] * np.count_nonzero(twice)]
        assert len(warned(Perceptron(), rows, labels)) == count


def test_rows_of_importance_0_are_not_looked_at() -> None:
    X, y = separable(0)
    wrong, weights = np.append(y, ~y[:1]), np.append(np.ones(len(y)), 0.0)
    with pytest.warns(ConvergenceWarning, match="which they can be"):
        Perceptron().fit(np.vstack([X, X[:1]]), wrong, sample_weight=weights)


def test_the_warning_names_the_class_to_take_and_the_line_of_the_user() -> None:
    with pytest.warns(ConvergenceWarning, match=r"tol=0.001 .*MarginPerceptron\(0.0\) goes on") as caught:
        Perceptron().fit(*separable(0))
    assert caught[0].filename == __file__


def test_nothing_is_learned_by_looking() -> None:
    X, y = separable(0)
    models = [Perceptron(), Perceptron()]
    models[1]._textbook = None
    for model in models:
        warned(model, X, y)
    assert models[0].coef_.tobytes() == models[1].coef_.tobytes()
    assert models[0].updates_ == models[1].updates_


@pytest.mark.parametrize("parameters", [{}, {"penalty": "l2"}, {"early_stopping": True}, {"tol": None, "max_iter": 20}])
def test_classes_that_nothing_separates_are_not_spoken_of(parameters: dict[str, Any]) -> None:
    X, _ = separable(1)
    assert warned(Perceptron(**parameters), X, np.random.default_rng(2).random(100) > 0.5) == []
