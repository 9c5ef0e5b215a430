"""The decision boundary: the grid and the margins against the scores point by point, and what is drawn of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.svm import SVC

from onlinear import BadInput, KernelPerceptron, MarginPerceptron, Perceptron, Refused
from onlinear.plots import BoundaryDisplay
from onlinear.streams.synthetic import Noisy, Separable


def circle() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(60, 2))
    length = np.linalg.norm(X, axis=1)
    X = X[(length < 0.8) | (length > 1.2)]
    return X, np.where(np.linalg.norm(X, axis=1) < 1.0, "in", "out")


def test_every_point_of_the_grid_has_its_own_score() -> None:
    X, y = circle()
    model = SVC(C=1e4).fit(X, y)
    shown = BoundaryDisplay.from_estimator(model, X, y, plot=False)
    across, up = shown.axes
    assert shown.scores.shape == (len(up), len(across))
    for i, j in ((0, 0), (3, 150), (150, 3), (199, 199)):
        assert shown.scores[i, j] == pytest.approx(model.decision_function([[across[j], up[i]]])[0])
    for axis, column in zip(shown.axes, X.T, strict=True):
        assert axis[0] < column.min() < column.max() < axis[-1]
    smallest = min(s if label == "out" else -s for s, label in zip(model.decision_function(X), y, strict=True))
    assert shown.margin == pytest.approx(smallest)
    assert not shown.mistakes.any()


def test_the_lines_of_a_plane_are_where_the_score_is_zero_and_the_margin() -> None:
    X, y = next(Separable(60, 2, 0.1, seed=3).arrays(60))
    model = MarginPerceptron(5.0).fit(X, y)
    shown = BoundaryDisplay.from_estimator(model, X, y)
    assert shown.margin is not None
    np.testing.assert_allclose(shown.lines_.levels, [-shown.margin, 0.0, shown.margin])
    for level, lines in zip(shown.lines_.levels, shown.lines_.allsegs, strict=True):
        assert lines
        for line in lines:
            np.testing.assert_allclose(model.decision_function(line), level, atol=1e-9)


def test_rows_are_drawn_by_their_labels_and_mistakes_are_marked() -> None:
    X, y = next(Noisy(60, 2, flips=10, seed=3).arrays(60))
    model = Perceptron().partial_fit(X, y)
    shown = BoundaryDisplay.from_estimator(model, X, y)
    wrong = model.predict(X) != y
    assert 0 < np.count_nonzero(wrong) < 60
    np.testing.assert_array_equal(shown.mistakes, wrong)
    np.testing.assert_array_equal(shown.mistakes_.get_offsets(), X[wrong])
    for drawn, sign in zip(shown.rows_, (-1.0, 1.0), strict=True):
        np.testing.assert_array_equal(drawn.get_offsets(), X[y == sign])
    assert shown.margin is None
    assert shown.lines_.levels.tolist() == [0.0]
    assert [text.get_text() for text in shown.ax_.get_legend().get_texts()] == ["-1", "1", "mistakes"]
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("feature 1", "feature 2")


@pytest.mark.parametrize("d", [1, 2])
def test_mistakes_of_learning_are_those_before_each_row_is_known(d: int) -> None:
    X, y = next(Noisy(50, d, flips=8, seed=1).arrays(50))
    rows, w, wrong = np.column_stack([X, np.ones(50)]), np.zeros(d + 1), []
    for row, label in zip(rows, y, strict=True):
        wrong.append(label * float(row @ w) <= 0.0)
        if wrong[-1]:
            w = w + label * row
    model = Perceptron()
    shown = BoundaryDisplay.from_learning(model, X, y)
    assert shown.mistakes.tolist() == wrong
    assert not hasattr(model, "coef_")
    np.testing.assert_allclose(shown.row_scores, rows @ w)


def test_a_line_has_the_score_over_the_feature() -> None:
    X, y = np.array([[-2.0], [-1.0], [1.0], [4.0]]), [0, 0, 1, 1]
    shown = BoundaryDisplay.from_learning(Perceptron(fit_intercept=False), X, y)
    (grid,) = shown.axes
    np.testing.assert_allclose(shown.score_line_.get_xydata(), np.column_stack([grid, 2.0 * grid]))
    np.testing.assert_array_equal(np.concatenate([rows.get_offsets() for rows in shown.rows_])[:, 0], X[:, 0])
    np.testing.assert_allclose(shown.mistakes_.get_offsets(), [[-2.0, -4.0]])
    levels = sorted(line.get_ydata()[0] for line in shown.ax_.lines if line is not shown.score_line_)
    assert levels == [-2.0, 0.0, 2.0]
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("feature 1", "score")


class OneSided:
    """A classifier that always says yes, whose boundary is nowhere."""

    def decision_function(self, X: Any) -> np.ndarray:
        return np.ones(len(X))


def test_a_boundary_that_is_nowhere_is_not_drawn() -> None:
    X, y = circle()
    shown = BoundaryDisplay.from_estimator(OneSided(), X, y)
    assert not hasattr(shown, "lines_")
    np.testing.assert_array_equal(shown.mistakes, y == "in")


def test_rows_to_be_marked_may_be_given() -> None:
    X, y = circle()
    marks = np.arange(len(y)) == 3
    shown = BoundaryDisplay.from_estimator(OneSided(), X, y, mistakes=marks)
    np.testing.assert_array_equal(shown.mistakes_.get_offsets(), X[3:4])
    for wrong in ([0, 1], marks[1:]):
        with pytest.raises(BadInput, match="give True or False for each row"):
            BoundaryDisplay.from_estimator(OneSided(), X, y, mistakes=wrong)


def test_several_classes_are_refused() -> None:
    X, y = circle()
    several = np.arange(len(y)) % 3
    model = Perceptron().fit(X, several)
    with pytest.raises(Refused, match=r"Perceptron has several scores a row: .* choose it by class_"):
        BoundaryDisplay.from_estimator(model, X, y)
    with pytest.raises(Refused, match=r"there are 3 classes: this picture is of two, .* choose it by class_"):
        BoundaryDisplay.from_estimator(model, X, several)
    with pytest.raises(Refused, match=r"class_ is 7, and y has \[0, 1, 2\]"):
        BoundaryDisplay.from_estimator(model, X, several, class_=7)


def test_one_of_several_classes_is_drawn_by_its_own_score() -> None:
    X, y = circle()
    several = np.where(X[:, 0] > 0.5, "right", y)
    model = KernelPerceptron(max_iter=20, vote="last").fit(X, several)
    for place, label in enumerate(model.classes_):
        shown = BoundaryDisplay.from_estimator(model, X, several, class_=label)
        np.testing.assert_array_equal(shown.row_scores, model.decision_function(X)[:, place])
        np.testing.assert_array_equal(shown.y > 0.0, several == label)
        assert [text.get_text() for text in shown.ax_.get_legend().get_texts()][:2] == ["the rest", label]
    binary = SVC(C=1e4).fit(X, y)
    for label, turn in (("in", -1.0), ("out", 1.0)):
        shown = BoundaryDisplay.from_estimator(binary, X, y, class_=label, plot=False)
        np.testing.assert_array_equal(shown.row_scores, turn * binary.decision_function(X))


@pytest.mark.parametrize("vote", ["vote", "average", "last"])
def test_mistakes_of_a_kernel_are_those_before_each_row_is_known(vote: str) -> None:
    X, y = circle()
    shown = BoundaryDisplay.from_learning(KernelPerceptron(vote=vote), X, y)
    asked, wrong = KernelPerceptron(vote=vote), []
    for i, label in enumerate(y):
        score = 0.0 if i == 0 else asked.decision_function(X[i : i + 1])[0]
        wrong.append(bool(score == 0.0 or (score > 0.0) != (label == "out")))
        asked.partial_fit(X[i : i + 1], [label], classes=["in", "out"])
    assert shown.mistakes.tolist() == wrong
    assert 3 < sum(wrong) < 30


def test_a_kernel_has_margins() -> None:
    X, y = circle()
    model = KernelPerceptron(vote="last", max_iter=100).fit(X, y)
    shown = BoundaryDisplay.from_estimator(model, X, y)
    assert shown.margin == pytest.approx((np.where(y == "out", 1.0, -1.0) * model.decision_function(X)).min())
    assert len(shown.lines_.levels) == 3
    sparse = BoundaryDisplay.from_estimator(model, csr_matrix(X), y, plot=False)
    np.testing.assert_array_equal(sparse.scores, shown.scores)


@pytest.mark.parametrize("intercept", [False, True])
def test_the_normal_is_an_arrow_from_the_boundary_along_the_weights(intercept: bool) -> None:
    X, y = next(Separable(60, 2, 0.1, seed=3).arrays(60))
    model = Perceptron(fit_intercept=intercept).fit(X, y)
    w, b = model.coef_[0], float(model.intercept_[0])
    for shown in (
        BoundaryDisplay.from_estimator(model, X, y, normal=True),
        BoundaryDisplay.from_estimator(model, 100.0 * X, y, normal=True),
    ):
        np.testing.assert_allclose(shown.weights, w)
        assert shown.normal_ is not None
        start, end = (np.asarray(place) for place in (shown.normal_.xyann, shown.normal_.xy))
        assert start @ w + b == pytest.approx(0.0, abs=1e-6)
        assert (end - start) @ w == pytest.approx(np.linalg.norm(end - start) * np.linalg.norm(w))
        assert shown.ax_.get_aspect() == 1.0  # else it would not look perpendicular
    assert BoundaryDisplay.from_estimator(model, 9.0 + X, y, normal=True).normal_ is None  # it is not in the picture
    plain = BoundaryDisplay.from_learning(Perceptron(), X, y)
    assert not hasattr(plain, "normal_")
    assert plain.ax_.get_aspect() == "auto"


def test_only_a_straight_boundary_has_a_normal() -> None:
    X, y = circle()
    bent = KernelPerceptron("rbf", vote="last").fit(X, y)
    with pytest.raises(Refused, match="only a straight boundary in two dimensions has one normal"):
        BoundaryDisplay.from_estimator(bent, X, y, normal=True)
    with pytest.raises(Refused, match="leave out normal=True"):
        BoundaryDisplay.from_learning(Perceptron(), X[:, :1], y, normal=True)
    with pytest.raises(Refused, match="only a straight boundary"):
        BoundaryDisplay.from_estimator(OneSided(), X, y, normal=True)


@pytest.mark.parametrize("d", [3, 7])
def test_more_dimensions_are_refused(d: int) -> None:
    X, y = next(Separable(9, d, 0.1).arrays(9))
    with pytest.raises(Refused, match=f"the rows have {d} features: a boundary is drawn in one or two dimensions"):
        BoundaryDisplay.from_learning(Perceptron(), X, y)
