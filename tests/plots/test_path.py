"""The boundary on its way: the weights by hand, the frames, and the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from PIL import Image
from scipy.sparse import csr_matrix

from onlinear import BadInput, Perceptron, Refused
from onlinear.plots import BoundaryPathDisplay
from onlinear.streams.synthetic import Noisy, Separable


def slow_updates(X: np.ndarray, y: np.ndarray, intercept: bool) -> tuple[list[np.ndarray], list[int]]:
    """Weights after each update, and the rows that made them, until a pass makes none."""
    rows, w, path, made = np.column_stack([X, np.full(len(X), float(intercept))]), np.zeros(3), [], []
    while True:
        before = len(made)
        for i, (row, label) in enumerate(zip(rows, y, strict=True)):
            if label * float(row @ w) <= 0.0:
                w = w + label * row
                path.append(w)
                made.append(i)
        if len(made) == before:
            return path, made


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("table", [np.asarray, csr_matrix])
def test_there_is_a_boundary_for_each_update(intercept: bool, table: Any) -> None:
    X, y = next(Separable(40, 2, 0.1, seed=5).arrays(40))
    path, made = slow_updates(X, y, intercept)
    model = Perceptron(fit_intercept=intercept)
    if intercept and table is csr_matrix:  # scikit-learn's smaller steps of the intercept on sparse rows
        return
    shown = BoundaryPathDisplay.from_learning(model, table(X), y, passes=100, plot=False)
    np.testing.assert_allclose(shown.weights, path, atol=1e-12)
    assert shown.rows.tolist() == made
    np.testing.assert_array_equal(shown.X, X)
    assert not hasattr(model, "coef_")


def shown_path() -> BoundaryPathDisplay:
    X, y = next(Separable(40, 2, 0.05, seed=3).arrays(40))
    return BoundaryPathDisplay.from_learning(Perceptron(), X, y, plot=False)


def test_the_last_boundary_and_its_normal_are_drawn_and_fainter_those_before() -> None:
    shown = shown_path().plot()
    number = len(shown.rows) - 1
    assert number >= 4
    drawn = shown.weights[max(0, number - 6) :]
    assert len(shown.lines_) == len(drawn)
    for line, weights in zip(shown.lines_, drawn, strict=True):
        np.testing.assert_allclose(line.get_xydata() @ weights[:2] + weights[2], 0.0, atol=1e-9)
    faint = [line.get_alpha() for line in shown.lines_]
    assert faint == sorted(faint)
    assert faint[-1] == 1.0
    assert shown.normal_ is not None
    along = np.subtract(shown.normal_.xy, shown.normal_.xyann)
    last = shown.weights[-1]
    assert along @ last[:2] == pytest.approx(np.linalg.norm(along) * np.linalg.norm(last[:2]))  # one direction
    assert np.asarray(shown.normal_.xyann) @ last[:2] + last[2] == pytest.approx(0.0, abs=1e-9)
    assert shown.ax_.get_aspect() == 1.0


def test_a_boundary_beside_the_picture_has_no_arrow_in_it() -> None:
    far = BoundaryPathDisplay(X=[[0.0, 0.0], [1.0, 1.0]], y=[-1, 1], weights=[[0.0, 1.0, 50.0]], rows=[1]).plot()
    assert far.normal_ is None


def test_each_frame_encircles_the_row_of_its_update() -> None:
    shown = shown_path()
    axes = pyplot.subplots()[1]
    for number, row in enumerate(shown.rows):
        axes.clear()
        shown.draw_update(axes, number)
        np.testing.assert_allclose(shown.mistake_.get_offsets(), [shown.X[row]])
        assert axes.get_title() == f"after update {number + 1} of {len(shown.rows)}"
    assert sum(len(points.get_offsets()) for points in shown.points_) == 40
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["-1", "1"]


def test_an_animation_has_a_frame_for_each_update(tmp_path: Path) -> None:
    shown = shown_path()
    shown.animate(pyplot.subplots()[1], interval=40).save(tmp_path / "fast.gif", dpi=20)
    pyplot.close("all")
    shown.save(tmp_path / "path.gif", interval=500, dpi=20)
    for name, duration in (("fast.gif", 40), ("path.gif", 500)):
        with Image.open(tmp_path / name) as picture:
            assert picture.format == "GIF"
            assert picture.n_frames == len(shown.rows)
            assert picture.info["duration"] == duration
    assert not pyplot.get_fignums()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fast.gif", "path.gif"]


def test_only_a_gif_is_written(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"path.mp4: an animation is written as a GIF"):
        shown_path().save(tmp_path / "path.mp4")
    assert not list(tmp_path.iterdir())


def test_what_has_no_such_path_is_refused() -> None:
    X, y = next(Separable(9, 3, 0.1).arrays(9))
    with pytest.raises(Refused, match="the rows have 3 features: this picture has two dimensions"):
        BoundaryPathDisplay.from_learning(Perceptron(), X, y)
    X, y = next(Noisy(200, 2, flips=90).arrays(200))
    with pytest.raises(Refused, match="updates: between 1 and 200 are drawn"):
        BoundaryPathDisplay.from_learning(Perceptron(), X, y, passes=9)
