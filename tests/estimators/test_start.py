"""Fits that start from weights: the first answers are theirs, and what follows is as if it had always been so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import onlinear
from onlinear import BadInput, losses
from onlinear.estimators.linear import DataShape
from onlinear.registry import RULES, loss_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = X @ RNG.normal(size=4) > 0.0
W, B = np.array([0.5, -1.0, 0.25, 2.0]), 0.75

NATIVE: list[Any] = [
    onlinear.AROWClassifier(),
    onlinear.AveragedPerceptron(order="stream"),
    onlinear.FTRLClassifier(),
    onlinear.FTRLClassifier(l1=0.1, l2=0.2),
    onlinear.FTRLRegressor(l1=0.01),
    onlinear.MarginPerceptron(0.5, order="stream"),
    onlinear.OnlineRegressor(),
    onlinear.SecondOrderPerceptron(),
    *(onlinear.OnlineClassifier(losses.Hinge(), rule) for rule in ("normalised", "sgd", "adagrad", "importance_aware")),
    *(onlinear.OnlineClassifier(losses.Perceptron(), rule) for rule in ("diagonal_second_order", "perceptron")),
    *(onlinear.OnlineClassifier("log_loss", rule) for rule in ("newton", "diagonal_newton", "ftrl")),
]


@pytest.mark.parametrize("as_rows", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("model", NATIVE, ids=repr)
def test_the_first_answer_is_that_of_the_weights(model: Any, as_rows: Any) -> None:
    rows, y = as_rows(X[:2]), np.array([1.0, 0.0])
    model.set_params(max_iter=1).fit(rows, y, coef_init=W, intercept_init=[B])
    score = float(X[0] @ W + B)
    loss = loss_of(model._configuration(DataShape(4)).loss)
    assert model.history_[0].loss == pytest.approx(loss.value(score, 1.0), rel=1e-12)


@pytest.mark.parametrize("model", NATIVE, ids=repr)
def test_weights_stay_until_a_row_has_their_features(model: Any) -> None:
    """Those that it does not have stay where they began, and others move from there as their rule would have it."""
    rows = np.array([[1.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0]])
    model.set_params(max_iter=1).fit(rows, np.array([1.0, 0.0]), coef_init=W, intercept_init=[0.0])
    np.testing.assert_allclose(np.ravel(model.coef_)[1:], W[1:], rtol=1e-12)


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.1, 0.3)])
def test_ftrl_starts_with_the_lead_of_its_weights(l1: float, l2: float) -> None:
    """A step from w0 is that of the closed form, by hand: algorithm 1 of the paper with a lead that makes w0."""
    model = onlinear.FTRLRegressor(alpha=0.5, beta=2.0, l1=l1, l2=l2, fit_intercept=False, max_iter=1)
    model.fit([[1.0]], [3.0], coef_init=[0.5], intercept_init=[0.0])
    gradient = 0.5 - 3.0
    lead = -((2.0 / 0.5 + l2) * 0.5 + l1) + gradient - abs(gradient) / 0.5 * 0.5
    wanted = (np.copysign(l1, lead) - lead) / ((2.0 + abs(gradient)) / 0.5 + l2)
    assert model.coef_[0] == pytest.approx(wanted, rel=1e-12)


def test_the_perceptron_goes_its_way_from_there() -> None:
    w, b = W.copy(), B
    for x, target in zip(X, np.where(Y, 1.0, -1.0), strict=True):
        if target * (x @ w + b) <= 0.0:
            w, b = w + target * x, b + target
    model = onlinear.MarginPerceptron(0.0, order="stream", max_iter=1).fit(X, Y, coef_init=W, intercept_init=B)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, b, rtol=1e-9)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_to_start_from_zero_is_to_start(rule: str) -> None:
    loss = losses.Hinge() if rule in ("arow", "pa", "pa1", "pa2") else losses.Perceptron()
    if rule in ("newton", "diagonal_newton"):
        loss = losses.Logistic()
    plain, started = (onlinear.OnlineClassifier(loss, rule) for _ in range(2))
    plain.fit(X, Y)
    started.fit(X, Y, coef_init=np.zeros(4), intercept_init=0.0)
    assert plain.coef_.tobytes() == started.coef_.tobytes()


@pytest.mark.parametrize(
    ("start", "says"),
    [
        ({"coef_init": np.ones(3)}, r"its shape is \(3,\), and \(1, 4\) is needed"),
        ({"coef_init": [np.nan, 0, 0, 0]}, "coef_init or intercept_init holds NaN or infinity"),
        ({"intercept_init": np.inf}, "coef_init or intercept_init holds NaN or infinity"),
    ],
)
@pytest.mark.parametrize("model", [onlinear.OnlineClassifier(), onlinear.SGDClassifier()], ids=repr)
def test_weights_that_cannot_be_are_refused(model: Any, start: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        model.fit(X, Y, **start)
    assert not hasattr(model, "coef_")


def test_given_weights_take_the_place_of_a_warm_start() -> None:
    model = onlinear.MarginPerceptron(0.0, warm_start=True, order="stream", max_iter=1).fit(X, Y)
    other = onlinear.MarginPerceptron(0.0, order="stream", max_iter=1).fit(X, Y, coef_init=W)
    assert model.fit(X, Y, coef_init=W).coef_.tobytes() == other.coef_.tobytes()
