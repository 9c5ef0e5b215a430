"""A run line by line: the rows of a perceptron by hand, as a table of text and as a picture."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from onlinear import Perceptron, Refused, VotedPerceptron
from onlinear.plots import TraceDisplay
from onlinear.streams.synthetic import Noisy

X = np.array([[2.0, 1.0], [-1.0, 1.0], [1.0, 2.0]])
Y = [1, -1, -1]


def test_the_lines_are_those_of_the_board() -> None:
    shown = TraceDisplay.from_estimator(Perceptron(), X, Y, passes=2, plot=False)
    w, expected, t = np.zeros(3), [], 0
    for _ in range(2):
        for row, label in zip(np.column_stack([X, np.ones(3)]), Y, strict=True):
            t, score = t + 1, float(row @ w)
            update = label * score <= 0.0
            w = w + update * label * row
            expected.append((t, tuple(row.tolist()), label, score, update, tuple(w.tolist())))
    assert [tuple(line) for line in shown.lines] == expected
    assert shown.updates == sum(line[4] for line in expected)
    assert type(shown.lines[0].t) is type(shown.lines[0].y) is int
    sparse = TraceDisplay.from_estimator(Perceptron(fit_intercept=False), csr_matrix(X), Y, plot=False)
    assert sparse.lines == TraceDisplay.from_estimator(Perceptron(fit_intercept=False), X, Y, plot=False).lines


def test_the_text_is_a_table() -> None:
    shown = TraceDisplay.from_estimator(Perceptron(fit_intercept=False), X, Y, plot=False)
    assert str(shown).splitlines() == [
        "t        x   y  score  update        w",
        "1   (2, 1)  +1      0     yes   (2, 1)",
        "2  (-1, 1)  -1     -1           (2, 1)",
        "3   (1, 2)  -1      4     yes  (1, -1)",
    ]


def test_updates_alone() -> None:
    rows, y = next(Noisy(60, 3, flips=6).arrays(60))
    whole = TraceDisplay.from_estimator(Perceptron(), rows, y, passes=2, plot=False)
    short = TraceDisplay.from_estimator(Perceptron(), rows, y, passes=2, updates_only=True, plot=False)
    assert short.lines == [line for line in whole.lines if line.update]
    assert 0 < len(short.lines) < len(whole.lines)


def test_wide_rows_are_cut_short() -> None:
    rows, y = next(Noisy(9, 30, flips=1).arrays(9))
    shown = TraceDisplay.from_estimator(Perceptron(), rows, y, plot=False)
    assert len(shown.lines[0].w) == len(shown.lines[0].x) == 31
    assert all(len(line) < 120 for line in str(shown).splitlines())
    assert ", ...)" in str(shown)


def test_the_cells_are_the_lines_and_updates_are_shaded() -> None:
    shown = TraceDisplay.from_estimator(Perceptron(fit_intercept=False), X, Y)
    cells = shown.table_.get_celld()
    assert [cells[0, k].get_text().get_text() for k in range(6)] == ["t", "x", "y", "score", "update", "w"]
    for number, line in enumerate(shown.lines, start=1):
        assert tuple(cells[number, k].get_text().get_text() for k in range(6)) == line.cells()
    plain, shaded = cells[2, 0].get_facecolor(), cells[1, 0].get_facecolor()
    assert plain != shaded == cells[3, 0].get_facecolor()
    assert shown.ax_.get_title() == "2 updates"


def test_a_long_run_is_shown_from_its_beginning() -> None:
    rows, y = next(Noisy(60, 2, flips=6).arrays(60))
    shown = TraceDisplay.from_estimator(Perceptron(), rows, y)
    assert max(row for row, _ in shown.table_.get_celld()) == 20
    assert shown.ax_.get_title() == f"{shown.updates} updates, and 40 more lines"


def test_what_keeps_no_weights_is_refused() -> None:
    with pytest.raises(Refused, match="VotedPerceptron has no weights that could be drawn"):
        TraceDisplay.from_estimator(VotedPerceptron(), X, Y)
