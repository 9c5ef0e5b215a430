"""Regret, against the best weights of a fine grid."""

from __future__ import annotations

import numpy as np
import pytest

import onlinear
from onlinear import losses
from onlinear.theory.regret import regret
from theory.drawn import draw, fitted

ONCE = {"max_iter": 1, "tol": None, "shuffle": False, "penalty": None}


@pytest.mark.parametrize(
    ("name", "rival"), [("hinge", losses.Hinge()), ("log_loss", losses.Logistic()), ("perceptron", losses.Hinge())]
)
@pytest.mark.parametrize("intercept", [False, True])
def test_against_a_grid(name: str, rival: losses.Hinge | losses.Logistic, intercept: bool) -> None:
    X, y = draw(3, 30, 1 if intercept else 2, flipped=4)
    model = fitted(onlinear.SGDClassifier(loss=name, fit_intercept=intercept, **ONCE), X, y)
    found = regret(model, X, y, bound=2.0, epsilon=1e-6)
    rows = np.hstack([X, np.ones((len(X), 1))]) if intercept else X
    angles, lengths = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 361), np.linspace(0.0, 2.0, 81))
    grid = np.stack([lengths * np.cos(angles), lengths * np.sin(angles)], axis=-1).reshape(-1, 2)
    value = np.vectorize(rival.value)
    sums = value(rows @ grid.T, y[:, None]).sum(axis=0)
    assert found.best <= sums.min() + found.gap
    assert sums.min() <= found.best + 0.05 * len(X)  # how far apart the grid's points are
    assert np.linalg.norm(found.weights) <= 2.0 * (1.0 + 1e-12)
    assert found.of == pytest.approx(model.loss_ * len(y) - found.best)


def test_weights_in_hindsight_have_no_regret_of_zero_loss() -> None:
    """Rows that a vector within the ball separates by 1 cost it no hinge loss: all loss is regret."""
    X, y = np.array([[1.0, 0.0], [0.0, -1.0], [1.0, -1.0]]), np.array([1, 1, 1])
    X, y = np.vstack([X, -X]), np.concatenate([y, -y])
    model = fitted(onlinear.SGDClassifier(loss="hinge", fit_intercept=False, **ONCE), X, y)
    found = regret(model, X, y, bound=1.5, epsilon=1e-6)
    assert found.best <= found.gap
    assert found.of >= found.progressive - found.gap


def test_several_passes_are_refused() -> None:
    X, y = draw(3)
    model = fitted(onlinear.Perceptron(max_iter=2, tol=None, shuffle=False), X, y)
    with pytest.raises(onlinear.Refused, match="one pass"):
        regret(model, X, y, bound=1.0)
