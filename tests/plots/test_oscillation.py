"""Oscillation: the weights of a perceptron in plain Python, and the average that an averaged perceptron learns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onlinear import AveragedPerceptron, Perceptron, Refused
from onlinear.plots import OscillationDisplay
from onlinear.streams.synthetic import Noisy


@pytest.mark.parametrize("passes", [1, 3])
def test_the_arrays_are_those_of_a_slow_perceptron(passes: int) -> None:
    X, y = next(Noisy(60, 2, flips=12).arrays(60))
    w, path = np.zeros(3), []
    for row, label in zip(np.tile(np.column_stack([X, np.ones(60)]), (passes, 1)), np.tile(y, passes), strict=True):
        if label * float(row @ w) <= 0.0:
            w = w + label * row
        path.append(w)
    shown = OscillationDisplay.from_estimator(Perceptron(), X, y, passes=passes, plot=False)
    assert len(shown.examples) == 60 * passes
    np.testing.assert_allclose(shown.weights, path, rtol=1e-12)
    for t in (0, 7, 60 * passes - 1):
        np.testing.assert_allclose(shown.averaged[t], np.mean(path[: t + 1], axis=0), rtol=1e-12)
    assert shown.names == ["$w_{1}$", "$w_{2}$", "intercept"]


def test_the_average_is_that_of_an_averaged_perceptron() -> None:
    X, y = next(Noisy(200, 3, flips=40).arrays(200))
    shown = OscillationDisplay.from_estimator(Perceptron(), X, y, features=[0, 1, 2, 3], plot=False)
    model = AveragedPerceptron().partial_fit(X, y, classes=[-1, 1])
    np.testing.assert_allclose(shown.averaged[-1], np.append(model.coef_[0], model.intercept_), rtol=1e-9)


def test_the_average_comes_to_rest_where_the_weights_do_not() -> None:
    X, y = next(Noisy(2000, 3, noise=0.15).arrays(2000))
    shown = OscillationDisplay.from_estimator(Perceptron(), X, y, plot=False)
    late = slice(1000, None)
    assert (shown.averaged[late].std(axis=0) < 0.2 * shown.weights[late].std(axis=0)).all()


def test_the_largest_averages_are_shown_in_their_order() -> None:
    X, y = next(Noisy(300, 8, noise=0.1).arrays(300))
    model = Perceptron(fit_intercept=False)
    every = OscillationDisplay.from_estimator(model, X, y, features=range(8), plot=False)
    shown = OscillationDisplay.from_estimator(model, X, y, plot=False)
    sizes = np.abs(every.averaged[-1])
    wanted = [k for k in range(8) if sorted(sizes, reverse=True).index(sizes[k]) < 3]
    assert shown.names == [f"$w_{{{k + 1}}}$" for k in wanted]
    np.testing.assert_array_equal(shown.weights, every.weights[:, wanted])


def test_the_lines_are_the_arrays() -> None:
    shown = OscillationDisplay(examples=[1, 2], weights=[[1, 5], [3, 6]], averaged=[[1, 5], [2, 5.5]]).plot()
    for lines, wanted in ((shown.weight_lines_, [[1, 3], [5, 6]]), (shown.averaged_lines_, [[1, 2], [5, 5.5]])):
        np.testing.assert_array_equal([line.get_ydata() for line in lines], wanted)
    thin, thick = shown.weight_lines_[0], shown.averaged_lines_[0]
    assert thin.get_color() == thick.get_color() != shown.weight_lines_[1].get_color()
    assert thin.get_linewidth() < thick.get_linewidth()
    texts = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert texts == ["$w_{1}$", "$w_{1}$, averaged", "$w_{2}$", "$w_{2}$, averaged"]
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("examples", "weight")


@pytest.mark.parametrize("features", [[3], [-1], []])
def test_weights_that_are_not_there_are_refused(features: Any) -> None:
    X, y = next(Noisy(9, 2, flips=1).arrays(9))
    with pytest.raises(Refused, match="there are 3 weights, counted from 0: choose among them"):
        OscillationDisplay.from_estimator(Perceptron(), X, y, features=features)
