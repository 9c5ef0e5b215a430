"""Several orders of the same rows: the updates of each by hand, and one bound above all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings as budget, strategies as st

from onlinear import BadInput, KernelPerceptron, MarginPerceptron, OnlineClassifier, Perceptron, Refused
from onlinear.plots import OrdersDisplay
from onlinear.plots.theorems import MARGIN_PERCEPTRON, PERCEPTRON
from onlinear.streams.synthetic import Noisy, Separable


def slow_counts(X: np.ndarray, y: np.ndarray, passes: int) -> list[int]:
    """Updates after each example, until a pass makes none."""
    w, made, counts = np.zeros(X.shape[1]), 0, []
    for _ in range(passes):
        before = made
        for row, label in zip(X, y, strict=True):
            if label * float(row @ w) <= 0.0:
                w, made = w + label * row, made + 1
            counts.append(made)
        if made == before:
            break
    return counts


@pytest.mark.parametrize("intercept", [False, True])
def test_each_order_is_a_run_of_its_own(intercept: bool) -> None:
    X, y = next(Separable(30, 2, 0.1, seed=1).arrays(30))
    shown = OrdersDisplay.from_estimator(Perceptron(fit_intercept=intercept), X, y, orders=4, seed=5, plot=False)
    rows, drawn = np.column_stack([X, np.ones(30)]) if intercept else X, np.random.default_rng(5)
    for k, updates in enumerate(shown.updates):
        order = drawn.permutation(30) if k else np.arange(30)
        assert updates.tolist() == slow_counts(rows[order], y[order], 100)
    assert len(shown.updates) == 4
    assert shown.total.tolist() == [each[-1] for each in shown.updates]


@budget(max_examples=8)
@pytest.mark.parametrize("model", [Perceptron(), MarginPerceptron(1.0), KernelPerceptron("rbf")], ids=str)
@given(seed=st.integers(0, 99), own=st.booleans())
def test_no_order_makes_more_updates_than_the_bound(model: Any, seed: int, own: bool) -> None:
    stream = Separable(25, 2, 0.15, seed=seed)
    X, y = next(stream.arrays(25))
    known = {} if own or isinstance(model, KernelPerceptron) else {"u": stream.u}
    shown = OrdersDisplay.from_estimator(model, X, y, orders=3, seed=seed, plot=False, **known)
    assert (shown.total <= shown.bound).all()
    assert shown.label == (MARGIN_PERCEPTRON if isinstance(model, MarginPerceptron) else PERCEPTRON)


def test_rows_that_nothing_separates_have_no_such_bound() -> None:
    X, y = next(Noisy(40, 2, flips=8, seed=2).arrays(40))
    shown = OrdersDisplay.from_estimator(Perceptron(), X, y, orders=3, passes=2)
    assert shown.bound == np.inf
    assert shown.bound_line_ is None
    assert [len(each) for each in shown.updates] == [80, 80, 80]


def test_the_lines_are_the_arrays() -> None:
    shown = OrdersDisplay(updates=[[1, 1, 2], [1, 2, 2, 3, 3], [0, 1]], bound=4.0).plot()
    assert [line.get_ydata().tolist() for line in shown.lines_] == [[1, 1, 2, 2], [1, 2, 2, 3, 3, 3], [0, 1, 1]]
    assert [line.get_xdata().tolist()[-1] for line in shown.lines_] == [5, 5, 5]  # all to the end of the longest
    given, others = shown.lines_[0], shown.lines_[1:]
    assert all(given.get_linewidth() > line.get_linewidth() for line in others)
    assert shown.bound_line_ is not None
    assert shown.bound_line_.get_ydata() == [4.0, 4.0]
    texts = {text.get_text() for text in shown.ax_.get_legend().get_texts()}
    assert texts == {"as the rows came", "2 other orders", PERCEPTRON}
    assert shown.ax_.get_title() == "1 to 3 updates, bound 4"


def test_a_bound_out_of_sight_is_said_and_not_drawn() -> None:
    shown = OrdersDisplay(updates=[[1, 2]], bound=1234.5).plot()
    assert shown.bound_line_ is None
    assert shown.ax_.get_title() == "2 updates, bound 1234"


@pytest.mark.parametrize(
    ("model", "options", "kind", "reason"),
    [
        (Perceptron(), {"orders": 0}, BadInput, "orders is 0: give a number from 1 on"),
        (OnlineClassifier(), {}, Refused, "no bound on the updates of this OnlineClassifier is known"),
        (KernelPerceptron(), {"u": [1.0, 0.0]}, Refused, "a kernel hides its features"),
    ],
    ids=str,
)
def test_what_is_refused(model: Any, options: dict[str, Any], kind: type[Exception], reason: str) -> None:
    X, y = next(Separable(9, 2, 0.1).arrays(9))
    with pytest.raises(kind, match=reason):
        OrdersDisplay.from_estimator(model, X, y, **options)
