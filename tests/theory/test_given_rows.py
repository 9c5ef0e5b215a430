"""Rows and labels that a user gives to theorems, descents and pictures: what is no number or label is a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from onlinear import KernelPerceptron, MarginPerceptron, OnlineSearch, Perceptron, SGDRegressor, certify
from onlinear.descent import mean_loss
from onlinear.errors import BadInput, OnlinearError, Refused
from onlinear.losses import Hinge
from onlinear.plots import BoundaryDisplay, MistakeBoundDisplay, OscillationDisplay
from onlinear.theory import freund_schapire, margin
from onlinear.theory.ball_regret import projected_descent
from onlinear.theory.penalised_pick import penalised_pick

ROWS = np.array([[1.0, 2.0], [-1.0, 0.5], [0.5, 1.5], [-2.0, -1.0]])
LABELS = np.array([1, -1, 1, -1])

TAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "margin": lambda X, y: margin([1.0, 0.1], X, y),
    "freund_schapire": lambda X, y: freund_schapire([1.0, 0.1], X, y).bound,
    "projected_descent": lambda X, y: projected_descent(X, y, "hinge", bound=1.0).suffered,
    "penalised_pick": lambda X, y: penalised_pick(Perceptron(), X, y).bound,
    "certify": lambda X, y: certify(MarginPerceptron(0.0).fit(ROWS, LABELS), X, y)["updates"],
    "picture": lambda X, y: MistakeBoundDisplay.from_estimator(MarginPerceptron(0.0), X, y, plot=False).bound.tolist(),
    "boundary": lambda X, y: BoundaryDisplay.from_learning(MarginPerceptron(0.0), X, y, plot=False).X.tolist(),
}
each_taker = pytest.mark.parametrize("take", TAKERS.values(), ids=TAKERS)


@each_taker
@pytest.mark.parametrize(
    "X",
    [
        np.ma.array(ROWS, mask=ROWS > 1.9),
        ROWS + 1j,
        scipy.sparse.csr_matrix(ROWS + 1j),
        ROWS.astype("datetime64[s]"),
        [["a", "b"]] * 4,
        [[1.0, 2.0], [3.0]] * 2,
        [[{}, 1.0]] * 4,
        np.where(ROWS > 1.9, np.nan, ROWS),
    ],
    ids=["masked", "complex", "complex and sparse", "dates", "texts", "ragged", "objects", "NaN"],
)
def test_rows_that_are_no_numbers(take: Callable[[Any, Any], Any], X: Any) -> None:
    with pytest.raises(OnlinearError):
        take(X, LABELS)
    if isinstance(X, np.ndarray):
        with pytest.raises(OnlinearError):
            mean_loss(X, LABELS, Hinge())


@each_taker
@pytest.mark.parametrize(
    "y",
    [[1, None, 1, -1], ["1", 1, "1", 1], [1.0, np.nan, 1.0, np.nan], LABELS[:, None], LABELS[:3], [[1]] * 4],
    ids=["None", "mixed", "NaN", "a column", "too few", "lists"],
)
def test_labels_that_are_none(take: Callable[[Any, Any], Any], y: Any) -> None:
    with pytest.raises(OnlinearError):
        take(ROWS, y)


@each_taker
def test_tables_and_columns_of_any_kind(take: Callable[[Any, Any], Any]) -> None:
    expected = take(ROWS, LABELS)
    assert take(ROWS.tolist(), LABELS.tolist()) == expected
    assert take(ROWS.astype(object), LABELS.astype(float)) == expected
    assert take(np.ma.array(ROWS), LABELS) == expected
    assert np.allclose(take(scipy.sparse.coo_array(ROWS), LABELS), expected)


@pytest.mark.parametrize("model", [SGDRegressor(), KernelPerceptron(), OnlineSearch(), Perceptron, None])
def test_what_has_no_weights_of_a_class(model: Any) -> None:
    for draw in (
        lambda: penalised_pick(model, ROWS, LABELS),
        lambda: OscillationDisplay.from_estimator(model, ROWS, LABELS, plot=False),
    ):
        with pytest.raises(Refused, match=r"is no linear classifier|learns no labels row by row|has no weights"):
            draw()


def test_a_boundary_is_one_of_a_classifier() -> None:
    with pytest.raises(Refused, match="SGDRegressor learns no labels row by row"):
        BoundaryDisplay.from_learning(SGDRegressor(), ROWS, LABELS)
    with pytest.raises(Refused, match="SGDRegressor has no scores of classes"):
        BoundaryDisplay.from_estimator(SGDRegressor().fit(ROWS, LABELS), ROWS, LABELS)
    with pytest.raises(Refused, match="has learned no classes"):
        certify(Perceptron, ROWS, LABELS)


def test_weights_of_ones_own_may_be_those_of_a_model() -> None:
    model = MarginPerceptron(0.0).fit(ROWS, LABELS)
    expected = margin(model.coef_[0], ROWS, LABELS, float(model.intercept_[0]))
    assert margin(model.coef_, ROWS, LABELS, model.intercept_) == expected
    assert margin(scipy.sparse.csr_matrix(model.coef_), ROWS, LABELS, model.intercept_) == expected
    found = freund_schapire(model.coef_, ROWS, LABELS, intercept=model.intercept_)
    assert found == freund_schapire(model.coef_[0], ROWS, LABELS, intercept=float(model.intercept_[0]))
    against = scipy.sparse.csr_matrix(model.coef_), model.intercept_
    assert certify(model, ROWS, LABELS, against=against) == certify(
        model, ROWS, LABELS, against=(model.coef_, model.intercept_)
    )
    for wrong in ("ab", [[1.0, 2.0], [3.0]], [10**400, 1.0], np.ma.array([1.0, 2.0], mask=[False, True])):
        with pytest.raises(BadInput):
            margin(wrong, ROWS, LABELS)
        with pytest.raises(BadInput):
            certify(model, ROWS, LABELS, against=(wrong, 0.0))
