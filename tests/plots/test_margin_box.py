"""The margin box: the best margin, found by looking in all directions, lies in it, and the limits are what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings as budget, strategies as st
from scipy.sparse import csr_matrix

from onlinear import (
    AveragedPerceptron,
    MarginPerceptron,
    PassiveAggressiveClassifier,
    Perceptron,
    Refused,
    VotedPerceptron,
)
from onlinear.plots import MarginBoxDisplay
from onlinear.streams.synthetic import Noisy, Separable


def best_margin(signed: np.ndarray) -> float:
    """The best margin of any direction in the plane, from below, and to 1e-4."""
    turns = np.linspace(0.0, 2.0 * np.pi, 50_000)
    return float((signed @ np.array([np.cos(turns), np.sin(turns)])).min(axis=0).max())


MODELS: list[Any] = [
    Perceptron(fit_intercept=False),
    Perceptron(fit_intercept=False, eta0=0.25),
    MarginPerceptron(3.0, fit_intercept=False),
    PassiveAggressiveClassifier(fit_intercept=False),
]


@budget(max_examples=8)
@pytest.mark.parametrize("model", MODELS, ids=repr)
@given(seed=st.integers(0, 99), noisy=st.booleans())
def test_the_best_margin_is_in_the_box(model: Any, seed: int, noisy: bool) -> None:
    stream: Any = Noisy(30, 2, flips=3, seed=seed) if noisy else Separable(30, 2, 0.1, seed=seed)
    X, y = next(stream.arrays(30))
    best = best_margin(y[:, None] * X)
    shown = MarginBoxDisplay.from_estimator(model, X, y, passes=5, plot=False)
    np.testing.assert_array_equal(shown.updates, np.arange(1, len(shown.lower) + 1))
    assert (shown.lower <= best + 1e-4).all()
    assert (shown.upper >= best).all()
    assert (np.diff(shown.lower) >= 0.0).all()
    assert (np.diff(shown.upper) <= 0.0).all()


def test_the_limits_of_a_perceptron_by_hand() -> None:
    """From (2, 0) and (0, 1), both updates: w = (2, 1), the first row has the score 4, the second 1."""
    X, y = np.array([[-2.0, 0.0], [0.0, 1.0]]), ["no", "yes"]
    shown = MarginBoxDisplay.from_estimator(Perceptron(fit_intercept=False), X, y, plot=False)
    np.testing.assert_allclose(shown.lower, [0.0, 1.0 / 5**0.5])
    np.testing.assert_allclose(shown.upper, [2.0, 5**0.5 / 2.0])


def test_an_intercept_is_one_more_feature() -> None:
    X, y = next(Separable(30, 1, 0.2).arrays(30))
    with_ones = np.column_stack([X, np.ones(30)])
    ours = MarginBoxDisplay.from_estimator(Perceptron(), X, y, plot=False)
    same = MarginBoxDisplay.from_estimator(Perceptron(fit_intercept=False), with_ones, y, plot=False)
    np.testing.assert_allclose(ours.lower, same.lower)
    np.testing.assert_allclose(ours.upper, same.upper)


def test_the_box_closes_with_a_large_margin() -> None:
    X, y = next(Separable(20, 2, 0.3, seed=2).arrays(20))
    shown = MarginBoxDisplay.from_estimator(MarginPerceptron(300.0, fit_intercept=False), X, y, passes=2000, plot=False)
    assert 0.0 < shown.upper[-1] - shown.lower[-1] < 0.02
    assert shown.lower[-1] == pytest.approx(best_margin(y[:, None] * X), abs=0.02)


def test_sparse_rows_kernels_and_one_of_several_classes() -> None:
    X, y = next(Separable(40, 3, 0.1).arrays(40))
    expected = MarginBoxDisplay.from_estimator(Perceptron(), X, y, plot=False)
    several = np.where(y > 0.0, "a", np.where(X[:, 0] > 0.0, "b", "c"))
    for model, rows, labels, class_ in (
        (Perceptron(fit_intercept=False), csr_matrix(np.column_stack([X, np.ones(40)])), y, None),
        (VotedPerceptron(), X, y, None),
        (Perceptron(), X, several, "a"),
    ):
        found = MarginBoxDisplay.from_estimator(model, rows, labels, class_=class_, plot=False)
        np.testing.assert_allclose(found.lower, expected.lower, atol=1e-12)
        np.testing.assert_allclose(found.upper, expected.upper)
    with pytest.raises(Refused, match=r"there are 3 classes: .* choose it by class_"):
        MarginBoxDisplay.from_estimator(Perceptron(), X, several)
    with pytest.raises(Refused, match="with sparse rows one without an intercept"):  # it learns at another rate there
        MarginBoxDisplay.from_estimator(Perceptron(), csr_matrix(X), y)


def test_what_adds_up_no_signed_rows_is_refused() -> None:
    X, y = next(Separable(20, 2, 0.3).arrays(20))
    with pytest.raises(Refused, match="AveragedPerceptron does not add up signed rows"):
        MarginBoxDisplay.from_estimator(AveragedPerceptron(), X, y)


def test_the_lines_are_the_arrays() -> None:
    shown = MarginBoxDisplay(updates=[1, 2, 3], lower=[-1.0, 0.1, 0.2], upper=[0.9, 0.8, 0.5], margin=0.3).plot()
    np.testing.assert_array_equal(shown.lower_line_.get_ydata(), [-1.0, 0.1, 0.2])
    np.testing.assert_array_equal(shown.upper_line_.get_ydata(), [0.9, 0.8, 0.5])
    assert shown.margin_line_.get_ydata() == [0.3, 0.3]
    assert shown.box_ in shown.ax_.collections
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel(), shown.ax_.get_xscale()) == ("updates", "margin", "linear")
    many = MarginBoxDisplay(updates=np.arange(1, 100), lower=np.zeros(99), upper=np.ones(99)).plot()
    assert many.ax_.get_xscale() == "log"
    assert not hasattr(many, "margin_line_")
