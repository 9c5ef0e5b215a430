"""One update: the step by hand, the update that a learner makes, and the arrows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from onlinear import BadInput, MarginPerceptron, Perceptron, Refused, SGDClassifier
from onlinear.plots import UpdateDisplay
from onlinear.streams.synthetic import Separable


def test_the_arrows_are_w_and_x_and_their_sum() -> None:
    shown = UpdateDisplay.from_example([2.0, 0.5], [1.0, 2.0], -1, step=0.5)
    assert (shown.score, shown.score_after) == (3.0, 0.5)
    assert shown.before_ is not None
    assert shown.after_ is not None
    for arrow, start, end in (
        (shown.before_, (0, 0), (2.0, 0.5)),
        (shown.example_, (0, 0), (1.0, 2.0)),
        (shown.move_, (2.0, 0.5), (1.5, -0.5)),
        (shown.after_, (0, 0), (1.5, -0.5)),
    ):
        assert (arrow.xyann, arrow.xy) == (start, end)
    assert [name.get_text() for name in shown.names_] == ["$x$, $y = -1$", "$w$", r"$w - 0.5\,x$"]
    assert shown.ax_.get_title() == r"$y\langle w, x\rangle$: -3 before, -0.5 after"


def test_the_lines_are_where_the_score_is_zero() -> None:
    shown = UpdateDisplay.from_example([2.0, 0.5], [-1.0, 2.0], 1)
    for line, weights in ((shown.before_line_, shown.w), (shown.after_line_, shown.after)):
        np.testing.assert_allclose(line.get_xydata() @ weights, 0.0, atol=1e-12)
        assert np.linalg.norm(np.diff(line.get_xydata(), axis=0)) > 2.0  # it crosses the picture
    assert shown.ax_.get_aspect() == 1.0


def test_weights_of_zero_have_neither_arrow_nor_line() -> None:
    shown = UpdateDisplay.from_example([0.0, 0.0], [1.0, 2.0], 1)
    assert shown.before_ is shown.before_line_ is None
    assert [name.get_text() for name in shown.names_] == ["$x$, $y = +1$", "$w + x$"]
    ended = UpdateDisplay.from_example([1.0, 2.0], [1.0, 2.0], -1)
    assert ended.after_ is ended.after_line_ is None


@pytest.mark.parametrize("intercept", [False, True])
def test_the_update_of_a_learner_is_one_of_its_own(intercept: bool) -> None:
    X, y = next(Separable(40, 1 if intercept else 2, 0.1, seed=2).arrays(40))
    rows = np.column_stack([X, np.ones(40)]) if intercept else X
    w, path = np.zeros(2), []
    for row, label in zip(rows, y, strict=True):
        if label * float(row @ w) <= 0.0:
            path.append((w, row, label))
            w = w + label * row
    model = Perceptron(fit_intercept=intercept)
    for number, (before, row, label) in enumerate(path, start=1):
        for table in (X, csr_matrix(X)) if not intercept else (X,):
            shown = UpdateDisplay.from_estimator(model, table, y, update=number, plot=False)
            np.testing.assert_allclose(shown.w, before, atol=1e-12)
            np.testing.assert_allclose(shown.x, row)
            np.testing.assert_allclose(shown.after, before + label * row, atol=1e-12)
            assert shown.y == label
            assert shown.step == pytest.approx(1.0)


def test_the_step_is_that_of_the_learner() -> None:
    X, y = [[1.0, 2.0], [2.0, 0.0]], [1, 0]
    half = UpdateDisplay.from_estimator(
        MarginPerceptron(1.0, rate=0.5, fit_intercept=False), X, y, update=2, plot=False
    )
    assert half.formula == r"$w - 0.5\,x$"
    decaying = SGDClassifier(alpha=0.5, fit_intercept=False)
    other = UpdateDisplay.from_estimator(decaying, X, y, update=2, plot=False)
    assert other.formula == "new $w$"  # its weights shrink besides


@pytest.mark.parametrize(
    ("draw", "kind", "reason"),
    [
        (lambda: UpdateDisplay.from_example([1.0], [1.0], 1), BadInput, "an update is drawn in the plane"),
        (lambda: UpdateDisplay.from_example([1.0, 0.0], [1.0, 0.0], 0), BadInput, "-1 or .1 for y"),
        (lambda: UpdateDisplay.from_estimator(Perceptron(), [[1.0, 2.0]] * 2, [0, 1]), Refused, "there are 3 weights"),
        (
            lambda: UpdateDisplay.from_estimator(Perceptron(), [[1.0], [-1.0]], [0, 1], update=9),
            Refused,
            "there are 2 u",
        ),
    ],
)
def test_what_cannot_be_drawn(draw: Any, kind: type[Exception], reason: str) -> None:
    with pytest.raises(kind, match=reason):
        draw()
