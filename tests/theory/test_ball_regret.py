"""Regret to the best weights in a ball: below what the theorem allows, and measured from the best there are."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from hypothesis import given, settings, strategies as st

import onlinear
from onlinear import losses, rules
from onlinear.errors import OnlinearError
from onlinear.theory.ball_regret import best_of_ball, projected_descent, regret_in_ball
from theory.drawn import draw, draw_classes, fitted


@given(st.integers(0, 10**6), st.sampled_from([0, 4]), st.booleans(), st.sampled_from([0.5, 3.0]))
@settings(max_examples=25, deadline=None)
def test_a_pass_at_a_constant_rate(seed: int, flipped: int, intercept: bool, bound: float) -> None:
    """Zinkevich 2003, theorem 1 at a constant rate, for hinge, log loss and softmax."""
    which = seed % 3
    X, y = draw_classes(seed, 3, flipped=flipped) if which == 2 else draw(seed, flipped=flipped)
    loss = [losses.Hinge(), losses.Logistic(), losses.Softmax()][which]
    rule = rules.SGD(rules.Constant([0.01, 0.2][seed // 3 % 2]))
    model = onlinear.OnlineClassifier(loss=loss, rule=rule, fit_intercept=intercept, order="stream").fit(X, y)
    found = regret_in_ball(model, X, y, bound, epsilon=1e-3)
    assert found.suffered == pytest.approx(model.loss_ * len(y))
    assert found.of + found.gap <= found.at_most * (1.0 + 1e-9)
    assert np.linalg.norm(found.weights) <= bound * (1.0 + 1e-12)
    assert found.gap <= 2e-3 * len(y)


@given(st.integers(0, 10**6), st.sampled_from([0, 4]), st.sampled_from([None, 0.1, 5.0]), st.sampled_from([0.5, 3.0]))
@settings(max_examples=25, deadline=None)
def test_projected_gradient_descent(seed: int, flipped: int, rate: float | None, bound: float) -> None:
    """Zinkevich 2003, theorem 1: rates that fall, and weights that stay in the ball."""
    which = seed % 3
    X, y = draw_classes(seed, 3, flipped=flipped) if which == 2 else draw(seed, flipped=flipped)
    found = projected_descent(X, y, ["hinge", "log_loss", "softmax"][which], bound, rate, epsilon=1e-3)
    assert found.of + found.gap <= found.at_most * (1.0 + 1e-9)
    sparse = projected_descent(scipy.sparse.csr_matrix(X), y, ["hinge", "log_loss", "softmax"][which], bound, rate)
    assert sparse.suffered == pytest.approx(found.suffered)


@pytest.mark.parametrize("T", [1, 4, 25])
def test_projected_gradient_descent_with_rate_1(T: int) -> None:
    """Zinkevich 2003, theorem 1 as the paper has it: ``(2 B)^2 sqrt(T) / 2 + (sqrt(T) - 1/2) G^2`` is never less."""
    X, y = draw(7, T + 2)
    found = projected_descent(X, y, "hinge", bound=1.5, rate=1.0)
    rounds, largest = math.sqrt(len(y)), float((X**2).sum(axis=1).max())
    assert found.at_most <= (2.0 * 1.5) ** 2 * rounds / 2.0 + (rounds - 0.5) * largest


def test_the_best_softmax_is_the_best() -> None:
    """Against a general solver, and the log loss of two classes, of which the softmax is one in other words."""
    X, y = draw_classes(5, 3, 40, flipped=6)
    weights, value, gap = best_of_ball(X, y, "softmax", 3, 2.0, 1e-5)
    assert gap <= 1e-5 * len(y) * 1.01

    def lost(flat: np.ndarray) -> float:
        scores = X @ flat.reshape(3, -1).T
        return float((np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(y)), y.astype(int)]).sum())

    ball = {"type": "ineq", "fun": lambda flat: 4.0 - flat @ flat}
    other = scipy.optimize.minimize(lost, np.full(weights.size, 0.1), constraints=[ball], method="SLSQP").fun
    assert value - gap <= other * (1.0 + 1e-6)
    assert other <= value * (1.0 + 1e-6)
    assert lost(weights.ravel()) == pytest.approx(value)


def test_what_has_no_such_regret_is_refused() -> None:
    X, y = draw(3)
    constant = rules.SGD(rules.Constant(0.1))
    twice = fitted(onlinear.OnlineClassifier(rule=constant, max_iter=2), X, y)
    for model, reason in [
        (onlinear.OnlineClassifier().fit(X, y), "constant rate"),
        (onlinear.OnlineClassifier(loss="modified_huber", rule=constant).fit(X, y), "the losses are"),
        (onlinear.OnlineClassifier(rule=constant, l2=0.1).fit(X, y), "without a penalty"),
        (twice, "one pass"),
    ]:
        with pytest.raises(OnlinearError, match=reason):
            regret_in_ball(model, X, y, 1.0)
    for loss, bound, labels in [
        ("squared", 1.0, y),
        ("hinge", 0.0, y),
        ("hinge", 1.0, np.arange(len(y))),
        ("hinge", 1.0, y[1:]),
    ]:
        with pytest.raises(OnlinearError):
            projected_descent(X, labels, loss, bound)
