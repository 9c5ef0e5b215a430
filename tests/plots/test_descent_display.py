"""Methods of descent beside each other: the points of their courses, and what is drawn of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onlinear import BadInput, Refused
from onlinear.descent import Objective, gradient_descent, mean_loss, newton
from onlinear.plots import DescentDisplay


def objective(loss: str = "log_loss") -> Objective:
    X = np.random.default_rng(0).normal(size=(60, 3))
    return mean_loss(X, np.where(X[:, 0] > 0.3, 1, -1), loss, l2=0.1)


def test_the_arrays_are_the_courses() -> None:
    solutions = {"slow": gradient_descent(objective(), 1e-4), "fast": newton(objective(), 1e-4)}
    shown = DescentDisplay.from_solutions(solutions, plot=False)
    assert shown.names == ["slow", "fast"]
    for k, solution in enumerate(solutions.values()):
        assert shown.steps[k].tolist() == [point.steps for point in solution.course]
        assert shown.seconds[k].tolist() == [point.seconds for point in solution.course]
        assert shown.gaps[k].tolist() == [point.gap for point in solution.course]


@pytest.mark.parametrize(
    ("loss", "names"),
    [("log_loss", ["GD", "Newton", "SGD", "second-order SGD"]), ("hinge", ["GD", "SGD", "second-order SGD"])],
)
def test_an_objective_is_descended_by_all_that_take_its_loss(loss: str, names: list[str]) -> None:
    shown = DescentDisplay.from_objective(objective(loss), 0.05, plot=False)
    assert shown.names == names
    assert all(gaps[-1] <= 0.05 < gaps[0] for gaps in shown.gaps)


def test_the_gap_may_be_the_true_one() -> None:
    lowest = newton(objective(), 1e-14).value
    shown = DescentDisplay.from_objective(objective(), 1e-6, methods=["GD"], optimum=lowest, plot=False)
    certified = DescentDisplay.from_objective(objective(), 1e-6, methods=["GD"], plot=False)
    shared = min(len(shown.gaps[0]), len(certified.gaps[0]))
    assert (shown.gaps[0][:shared] <= certified.gaps[0][:shared]).all()


@pytest.mark.parametrize("by", ["steps", "seconds"])
def test_the_lines_are_the_arrays_where_they_have_a_logarithm(by: str) -> None:
    shown = DescentDisplay(
        steps=[[0, 1, 5], [0, 2]],
        seconds=[[0.01, 0.1, 0.3], [0.0, 0.2]],
        gaps=[[1.0, 0.5, 0.0], [1.0, 0.25]],
        names=["a", "b"],
        by=by,
    ).plot()
    wanted = {"steps": [[[1, 0.5]], [[2, 0.25]]], "seconds": [[[0.1, 0.5]], [[0.2, 0.25]]]}[by]
    assert [line.get_xydata().tolist() for line in shown.lines_] == wanted
    assert (shown.ax_.get_xlabel(), shown.ax_.get_xscale(), shown.ax_.get_yscale()) == (by, "log", "log")
    assert [text.get_text() for text in shown.ax_.get_legend().get_texts()] == ["a", "b"]
    assert len({line.get_color() for line in shown.lines_}) == len({line.get_linestyle() for line in shown.lines_}) == 2


@pytest.mark.parametrize(
    ("draw", "kind", "reason"),
    [
        (
            lambda: DescentDisplay.from_objective(objective(), 0.1, methods=["Adam"]),
            Refused,
            "no method 'Adam': choose",
        ),
        (lambda: DescentDisplay.from_objective(objective(), 0.1, by="time"), BadInput, "by is 'time': choose steps or"),
        (lambda: DescentDisplay.from_solutions({}), Refused, "there are 0 methods: choose 1 to 5"),
        (lambda: DescentDisplay.from_objective(objective("hinge"), 0.1, methods=["Newton"]), Refused, "no curvature"),
    ],
)
def test_what_cannot_be_drawn(draw: Any, kind: type[Exception], reason: str) -> None:
    with pytest.raises(kind, match=reason):
        draw()
