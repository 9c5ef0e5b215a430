"""Regret, against the best weights of a fine grid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

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
    suffered = model.updates_ if name == "perceptron" else model.loss_ * len(y)
    assert found.of == pytest.approx(suffered - found.best)


def test_weights_in_hindsight_have_no_regret_of_zero_loss() -> None:
    """Rows that a vector within the ball separates by 1 cost it no hinge loss: all loss is regret."""
    X, y = np.array([[1.0, 0.0], [0.0, -1.0], [1.0, -1.0]]), np.array([1, 1, 1])
    X, y = np.vstack([X, -X]), np.concatenate([y, -y])
    model = fitted(onlinear.SGDClassifier(loss="hinge", fit_intercept=False, **ONCE), X, y)
    found = regret(model, X, y, bound=1.5, epsilon=1e-6)
    assert found.best <= found.gap
    assert found.of >= found.progressive - found.gap


@given(seed=st.integers(0, 10_000), flipped=st.sampled_from([0, 10]), bound=st.sampled_from([0.5, 2.0, 20.0]))
@settings(max_examples=25, deadline=None)
def test_a_perceptron_makes_few_mistakes_beside_the_best_hinge_loss(seed: int, flipped: int, bound: float) -> None:
    """M <= L + R |u| sqrt(M), L being the sum of the hinge losses of any u: for the best one in the ball, too."""
    X, y = draw(seed, 60, 3, flipped=flipped)
    model = fitted(onlinear.Perceptron(eta0=0.5, **ONCE), X, y)
    found = regret(model, X, y, bound=bound)
    assert found.progressive == model.updates_ >= model.mistakes_
    radius = np.sqrt((X**2).sum(axis=1).max() + 1.0)
    assert found.allowed == pytest.approx(radius * bound * np.sqrt(model.updates_))
    assert found.of <= found.allowed


def test_steps_of_several_sizes_have_no_theorem() -> None:
    X, y = draw(3)
    model = fitted(onlinear.SGDClassifier(loss="perceptron", learning_rate="invscaling", eta0=1.0, **ONCE), X, y)
    assert regret(model, X, y, bound=1.0).allowed is None


def test_several_passes_are_refused() -> None:
    X, y = draw(3)
    model = fitted(onlinear.Perceptron(max_iter=2, tol=None, shuffle=False), X, y)
    with pytest.raises(onlinear.Refused, match="one pass"):
        regret(model, X, y, bound=1.0)
