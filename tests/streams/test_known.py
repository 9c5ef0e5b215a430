"""Streams whose P(y given x) is known: labels are drawn by it, and the true risk of weights is what many rows show."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import dblquad

from onlinear import OnlineClassifier
from onlinear.errors import BadInput, Refused
from onlinear.streams.synthetic import LogisticLabels


def whole(stream: LogisticLabels) -> tuple[np.ndarray, np.ndarray]:
    pairs = list(stream.arrays())
    return np.concatenate([X for X, _ in pairs]), np.concatenate([y for _, y in pairs])


def sigmoid(s: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-s))


def test_labels_have_the_probability_that_is_said() -> None:
    stream = LogisticLabels(200_000, 3, strength=2.0, intercept=-0.5, seed=1)
    X, y = whole(stream)
    p = stream.probability(X)
    np.testing.assert_allclose(p, sigmoid(2.0 * (X @ stream.u) - 0.5), rtol=1e-12)
    for low in np.arange(0.0, 1.0, 0.1):
        among = (p >= low) & (p < low + 0.1)
        assert (y[among] > 0.0).mean() == pytest.approx(p[among].mean(), abs=5.0 * 0.5 / math.sqrt(among.sum()))
    assert np.abs(X.mean(axis=0)).max() < 0.02
    assert X.var(axis=0) == pytest.approx(np.ones(3), abs=0.02)


@pytest.mark.parametrize("loss", ["log_loss", "zero_one"])
@pytest.mark.parametrize("weights", [[0.5, -1.0], [0.0, 0.0], [3.0, 0.1]])
@pytest.mark.parametrize("intercept", [0.0, 0.7])
def test_the_true_risk_is_the_integral_over_all_rows(loss: str, weights: list[float], intercept: float) -> None:
    """Against an integral in two dimensions, by other means."""
    stream = LogisticLabels(10, 2, strength=2.0, intercept=0.3)

    def cost(second: float, first: float) -> float:
        x = np.array([first, second])
        p, s = sigmoid(2.0 * (stream.u @ x) + 0.3), float(np.dot(weights, x)) + intercept
        if loss == "zero_one":
            mean = 1.0 - p if s > 0.0 else p
        else:
            mean = p * np.logaddexp(0.0, -s) + (1.0 - p) * np.logaddexp(0.0, s)
        return float(mean * math.exp(-0.5 * x @ x) / (2.0 * math.pi))

    if loss == "zero_one" and any(weights):  # a jump: count on a fine grid instead
        axis = np.arange(-7.0, 7.0, 0.01) + 0.005
        rows = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
        p, s = sigmoid(2.0 * (rows @ stream.u) + 0.3), rows @ weights + intercept
        expected = (
            float(np.sum(np.where(s > 0.0, 1.0 - p, p) * np.exp(-0.5 * (rows**2).sum(axis=1)))) * 1e-4 / 2.0 / math.pi
        )
        assert stream.true_risk(weights, intercept, loss) == pytest.approx(expected, abs=1e-4)
    else:
        expected = dblquad(cost, -8.0, 8.0, -8.0, 8.0, epsabs=1e-7)[0]
        assert stream.true_risk(weights, intercept, loss) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("strength", [0.0, 1.0, 5.0, 100.0])
@pytest.mark.parametrize("loss", ["log_loss", "zero_one"])
def test_no_weights_are_better_than_the_truth(strength: float, loss: str) -> None:
    stream = LogisticLabels(30_000, 4, strength, intercept=0.2, seed=2)
    truth = stream.risks(stream.weights, 0.2, loss)
    assert truth.true == truth.best
    assert truth.empirical == pytest.approx(truth.true, abs=0.02)
    rng = np.random.default_rng(0)
    for spread in (0.01, 0.3, 3.0):
        other = stream.risks(
            stream.weights + spread * rng.standard_normal(4), 0.2 + spread * rng.standard_normal(), loss
        )
        assert other.best == truth.best <= other.true + 1e-12
        assert other.empirical == pytest.approx(other.true, abs=0.1 if spread == 3.0 else 0.02)
    assert stream.true_risk(-stream.weights, -0.2, loss) >= truth.best


def test_the_error_of_the_truth_does_not_hang_on_rounding() -> None:
    """Weights along u leave a remainder across it that is rounding: the answer turns at once, not slowly."""
    stream = LogisticLabels(10, 50, strength=4.0, intercept=1.0)
    z = np.linspace(-12.0, 12.0, 2_000_001)
    p = sigmoid(4.0 * z + 1.0)
    expected = np.trapezoid(np.minimum(p, 1.0 - p) * np.exp(-0.5 * z * z), z) / math.sqrt(2.0 * math.pi)
    for length in (1e-6, 1.0, 1e6):
        assert stream.true_risk(length * 4.0 * stream.u, length, "zero_one") == pytest.approx(expected, abs=1e-9)


def test_learning_brings_the_true_risk_down_to_the_best_as_the_empirical_does() -> None:
    stream = LogisticLabels(20_000, 3, strength=2.0, seed=3)
    model, gaps = OnlineClassifier(average=True), []
    for X, y in stream.arrays(block=5000):
        model = model.partial_fit(X, y, classes=[-1, 1])
        found = stream.risks(model.coef_, model.intercept_)
        gaps.append(found.true - found.best)
        assert found.empirical == pytest.approx(found.true, abs=0.02)
    assert 0.0 < gaps[-1] < gaps[0]


BAD = [
    (lambda: LogisticLabels(5, 2, strength=-1.0), Refused, "strength is -1.0"),
    (lambda: LogisticLabels(5, 2, intercept=math.inf), Refused, "intercept inf"),
    (lambda: LogisticLabels(5, 2).true_risk([1.0]), BadInput, "1 weights for 2 columns"),
    (lambda: LogisticLabels(5, 2).true_risk([1.0, math.nan]), BadInput, "not finite"),
    (lambda: LogisticLabels(5, 2).risks([1.0, 0.0], loss="hinge"), Refused, "log_loss and zero_one"),
]


@pytest.mark.parametrize(("wrong", "error", "said"), BAD)
def test_what_cannot_be_is_a_sentence(wrong: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        wrong()
