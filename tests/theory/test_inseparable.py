"""Bounds on the updates over rows that nothing has to separate: section 4 of docs/theory.md."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings, strategies as st

import onlinear
from onlinear import verify as verifier
from onlinear.theory.best_margin import linear_problem
from onlinear.theory.comparators import least_deviation, least_hinge_loss
from onlinear.theory.examples import Examples, examples_of
from onlinear.theory.hypotheses import ExactWeights
from onlinear.theory.inseparable import inseparable_bounds
from onlinear.theory.margins import margins_of
from onlinear.theory.soft_margins import SoftMargins
from onlinear.theory.spaces import ClassSpace, LinearSpace, Space
from theory.drawn import draw, draw_classes, fitted
from theory.test_verify import rows_of


def perceptron(passes: int) -> Any:
    return onlinear.Perceptron(shuffle=False, max_iter=passes, tol=None)


def rows_and_radius(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """The vectors z with the constant feature 1, and the length of the longest."""
    signed = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    return signed, math.sqrt((signed**2).sum(axis=1).max())


def freund_schapire(u: np.ndarray, signed: np.ndarray, radius: float, passes: int) -> float:
    short = np.maximum(0.0, 1.0 - signed @ u)
    return (radius * math.sqrt(u @ u) + math.sqrt(passes * (short @ short))) ** 2


def hinge_loss(u: np.ndarray, signed: np.ndarray, radius: float, passes: int) -> float:
    length, loss = radius * math.sqrt(u @ u), passes * np.maximum(0.0, 1.0 - signed @ u).sum()
    return 0.25 * (length + math.sqrt(length**2 + 4.0 * loss)) ** 2


def test_section_4_bounds_are_least_at_their_gamma() -> None:
    """Given the weights, no gamma of many proves less by either theorem."""
    X, y = draw(2, 60, flipped=9)
    model = fitted(perceptron(3), X, y)
    weights, examples = ExactWeights(model.coef_[0], model.intercept_[0], Fraction(1)), examples_of(X, y)
    found = inseparable_bounds([weights], examples, margins_of(weights, examples), model.updates_, 3)
    signed, radius = rows_and_radius(X, y)
    w = np.append(model.coef_, model.intercept_)
    for deviation, bound_of in zip(found, (freund_schapire, hinge_loss), strict=True):
        least = min(bound_of(w / gamma, signed, radius, 3) for gamma in np.linspace(1e-3, 40.0, 4000))
        assert deviation.bound.value <= least * (1.0 + 1e-9)
        assert math.isclose(deviation.bound.value, least, rel_tol=1e-3)
        assert deviation.bound.holds


@given(st.integers(0, 10**6), st.sampled_from([1, 4, 60]), st.sampled_from([0, 3, 8]))
@settings(max_examples=20, deadline=None)
def test_section_4_the_bounds_are_those_of_the_best_weights(seed: int, passes: int, flipped: int) -> None:
    """No weights that a search of another kind finds prove less than 1 % under them, and a stranger believes them."""
    X, y = draw(seed, 20, 2, flipped=flipped)
    found = onlinear.certify(fitted(perceptron(passes), X, y), X, y)
    signed, radius = rows_and_radius(X, y)
    for name, bound_of in (("inseparable_bound", freund_schapire), ("hinge_bound", hinge_loss)):
        certified = found[name]["bound"]
        for start in (np.linalg.lstsq(signed, np.ones(len(y)))[0], np.zeros(3)):
            answer = scipy.optimize.minimize(
                bound_of, start, (signed, radius, found["passes"]), "Nelder-Mead", options={"maxiter": 400}
            )
            assert certified <= answer.fun * 1.01
        assert found["updates"] <= certified
        assert found["bound"] <= certified or found[name]["vacuous"]
        assert found[name]["vacuous"] == (certified >= found["examples"])
    said, _ = verifier.verify(json.loads(json.dumps(found)), rows_of(X, y))
    for kind in ("Freund-Schapire", "hinge loss"):
        assert any(f" passes ({kind}" in line for line in said)


def problems(seed: int, flipped: int) -> list[tuple[Examples, Space]]:
    (X, y), (Z, classes) = draw(seed, flipped=flipped), draw_classes(seed, 2, flipped=flipped)
    return [
        (examples_of(X, y), LinearSpace(3, Fraction(1))),
        (examples_of(Z, classes), ClassSpace(2, 2, Fraction(1, 100))),
    ]


@given(st.integers(0, 10**6), st.sampled_from([1, 5, 100]), st.sampled_from([0, 3]), st.sampled_from([0.01, 1e-3]))
@settings(max_examples=30, deadline=None)
def test_section_4_multipliers_show_how_near_the_best_weights_are(
    seed: int, passes: int, flipped: int, gap: float
) -> None:
    for examples, space in problems(seed, flipped):
        problem = linear_problem(examples, space)
        assert problem is not None
        search = SoftMargins(problem.signed)
        squared = least_deviation(search, problem.rivals, passes, gap)
        linear = least_hinge_loss(search, problem.rivals, passes, gap, squared.l2)
        for found in (squared, linear):
            assert found.least <= found.root * (1.0 + 1e-9)
            assert found.root**2 * (1.0 - gap) <= found.least**2


@given(st.integers(0, 10**6), st.integers(3, 4), st.sampled_from([0, 4]))
@settings(max_examples=15, deadline=None)
def test_section_5_the_bounds_of_several_classes_are_no_worse_than_those_of_the_learner(
    seed: int, classes: int, flipped: int
) -> None:
    X, y = draw_classes(seed, classes, flipped=flipped)
    model = onlinear.OnlineClassifier(loss="multiclass_perceptron", rule="perceptron", max_iter=3)
    found = onlinear.certify(fitted(model, X, y), X, y)
    products = X @ model.coef_.T + model.intercept_
    own = np.arange(classes) == y[:, None]
    scores = products[own] - np.where(own, -np.inf, products).max(axis=1)
    norm = math.sqrt((model.coef_**2).sum() + (model.intercept_**2).sum())
    for gamma in np.linspace(1e-2, 30.0, 50):
        length, short = math.sqrt(2.0) * found["radius"] * norm / gamma, np.maximum(0.0, 1.0 - scores / gamma)
        deviation, loss = math.sqrt(found["passes"] * (short**2).sum()), found["passes"] * short.sum()
        assert found["inseparable_bound"]["bound"] <= (length + deviation) ** 2 * (1.0 + 1e-9)
        root = 0.5 * (length + math.sqrt(length**2 + 4.0 * loss))
        assert found["hinge_bound"]["bound"] <= root**2 * (1.0 + 1e-9)
    rows = [(int(t), dict(enumerate(row))) for row, t in zip(X.tolist(), y, strict=True)]
    verifier.verify(json.loads(json.dumps(found)), rows)


def test_exclusive_or_has_a_bound_that_is_vacuous() -> None:
    """The best u is 0, and proves that there were no more updates than trials."""
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1.0, 1.0, 1.0, -1.0])
    found = onlinear.certify(fitted(perceptron(25), X, y), X, y)
    assert found["separable"] is False
    for name in ("inseparable_bound", "hinge_bound"):
        assert (found[name]["bound"], found[name]["vacuous"]) == (100.0, True)
    assert found["bound"] == 100.0


def test_the_learner_of_the_best_bounds_is_held_against_them() -> None:
    """Of rows that one label spoils the bounds say more than the number of trials."""
    X, y = draw(5, 200, flipped=1)
    found = onlinear.certify(fitted(perceptron(3), X, y), X, y)
    assert found["separable"] is False
    assert not found["hinge_bound"]["vacuous"]
    assert found["updates"] <= found["bound"] < 0.5 * found["examples"]


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_bounds_do_not_depend_on_the_scale(scale: float) -> None:
    X, y = draw(2, 40, 2, flipped=5)
    plain = onlinear.Perceptron(fit_intercept=False, shuffle=False, max_iter=2, tol=None)
    one, other = (onlinear.certify(fitted(plain, rows, y), rows, y) for rows in (X, scale * X))
    for name in ("inseparable_bound", "hinge_bound"):
        assert math.isclose(one[name]["bound"], other[name]["bound"], rel_tol=0.01)
