"""The best margin from both sides, which sections 1 and 2 of docs/theory.md speak of: within the gap, and proven."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import onlinear
from onlinear import verify as verifier
from onlinear.theory import kernel_problem, soft_margins
from onlinear.theory.comparators import largest_margin
from onlinear.theory.soft_margins import SoftMargins
from theory.drawn import draw, draw_classes, fitted
from theory.test_verify import rows_of


def learned(X: Any, y: np.ndarray, intercept: bool = True) -> Any:
    return fitted(onlinear.Perceptron(fit_intercept=intercept, max_iter=2, tol=None, shuffle=False), X, y)


def as_read(certificate: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(certificate))
    return found


@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.sampled_from([0.3, 0.01, 1e-4]))
@settings(max_examples=30, deadline=None)
def test_section_1_the_box_is_as_narrow_as_the_gap(seed: int, intercept: bool, sparse: bool, gap: float) -> None:
    X, y = draw(seed)
    rows = scipy.sparse.csr_matrix(X) if sparse else X
    found = onlinear.certify(learned(rows, y, intercept), X, y, gap=gap)
    if found["separable"]:
        assert found["margin_upper"] * (1.0 - gap) <= found["margin_lower"] <= found["margin_upper"]
        novikoff = (found["radius"] / found["margin_lower"]) ** 2
        assert found["updates"] <= found["bound"] <= novikoff * (1.0 + 1e-9)
        said, word = verifier.verify(as_read(found), rows_of(X, y))
        assert f"The best margin is at most {found['margin_upper']}." in said
        assert any(f"at most {math.floor(novikoff)} updates" in line and "any number of" in line for line in said)
        assert not any("margin is" in line for line in word)


@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans())
@settings(max_examples=20, deadline=None)
def test_section_5_the_box_of_classes_that_move_together(seed: int, classes: int, intercept: bool) -> None:
    X, y = draw_classes(seed, classes)
    model = onlinear.OnlineClassifier(
        loss="multiclass_perceptron", rule="perceptron", fit_intercept=intercept, max_iter=2
    )
    found = onlinear.certify(fitted(model, X, y), X, y)
    rows = [(int(t), dict(enumerate(row))) for row, t in zip(X.tolist(), y, strict=True)]
    said, _ = verifier.verify(as_read(found), rows)
    assert bool(found["combination"]) == found["separable"]
    if found["separable"]:
        assert found["margin_upper"] * 0.99 <= found["margin_lower"] <= found["margin_upper"]
        assert f"The best margin is at most {found['margin_upper']}." in said


@given(
    st.integers(0, 10**6),
    st.sampled_from([("poly", 2, 1.0), ("poly", 3, 0.0), ("rbf", 1, 1.0)]),
    st.sampled_from([0.1, 0.01]),
)
@settings(max_examples=20, deadline=None)
def test_section_6_the_box_in_the_space_of_a_kernel(seed: int, kernel: tuple[str, int, float], gap: float) -> None:
    X, y = draw(seed, 15)
    name, degree, coef0 = kernel
    model = onlinear.KernelPerceptron(name, degree=degree, gamma=0.5, coef0=coef0, max_iter=4, vote="last")
    found = onlinear.certify(fitted(model, X, y), X, y, gap=gap)
    assert found["margin_upper"] >= found["margin_lower"]
    if found["separable"]:
        assert found["margin_upper"] * (1.0 - gap) <= found["margin_lower"]
        assert found["updates"] <= found["bound"] <= (found["radius"] / found["margin_lower"]) ** 2 * (1.0 + 1e-9)
        said, _ = verifier.verify(as_read(found), rows_of(X, y))
        assert f"The best margin is at most {found['margin_upper']}." in said


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_section_6_a_kernel_and_its_features_have_one_best_margin(seed: int) -> None:
    """``(x.z)^2`` is the product of all products of two columns."""
    X, y = draw(seed, 15)
    products = (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)
    model = onlinear.KernelPerceptron("poly", degree=2, coef0=0.0, max_iter=4, vote="last")
    by_kernel = onlinear.certify(fitted(model, X, y), X, y)
    by_features = onlinear.certify(learned(products, y, False), products, y)
    assert bool(by_kernel["separable"]) == by_features["separable"]
    if by_kernel["separable"]:
        assert by_kernel["margin_lower"] <= by_features["margin_upper"] * (1.0 + 1e-9)
        assert by_features["margin_lower"] <= by_kernel["margin_upper"] * (1.0 + 1e-9)


def test_too_many_rows_of_a_kernel_have_the_box_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = draw(3, 15)
    model = fitted(onlinear.KernelPerceptron("poly", degree=2, max_iter=4, vote="last"), X, y)
    within = onlinear.certify(model, X, y)
    monkeypatch.setattr(kernel_problem, "MOST_PRODUCTS", 8 * 15**2 - 1)
    found = onlinear.certify(model, X, y)
    assert found["margin_lower"] < within["margin_lower"]
    assert found["margin_upper"] > within["margin_upper"]


@pytest.mark.parametrize("T", [2, 9, 100])
def test_the_best_margin_of_the_standard_basis(T: int) -> None:
    """It is ``1 / sqrt(T)``, of the vector of ones, and as many rows in equal shares are as near to 0."""
    y = np.where(np.arange(T) % 3 == 1, 1.0, -1.0)
    found = onlinear.certify(learned(np.eye(T), y, False), np.eye(T), y)
    assert found["margin_lower"] <= 1.0 / math.sqrt(T) <= found["margin_upper"]
    assert (found["bound_exact"], Fraction(found["margin_upper"]) ** 2 * T >= 1) == (str(T), True)


@pytest.mark.parametrize("distance", [1e-3, 1.0, 1e3, 1e30, 1e-30])
def test_a_margin_of_any_size(distance: float) -> None:
    """Two lines, ``distance`` on either side of 0."""
    X = distance * np.array([[1.0, 5.0], [1.0, -4.0], [-1.0, 3.0], [-1.0, -7.0]])
    found = onlinear.certify(learned(X, np.array([1.0, 1.0, -1.0, -1.0]), False), X, [1.0, 1.0, -1.0, -1.0])
    assert found["margin_lower"] <= distance <= found["margin_upper"] <= distance * (1.0 + 0.01)


def test_a_learner_that_has_not_converged_on_many_columns() -> None:
    """Rows of more columns than are asked for a witness otherwise: the search for the margin finds one."""
    rng = np.random.default_rng(5)
    X = scipy.sparse.random_array((400, 100_000), density=2e-4, rng=rng, format="csr")
    y = np.where(rng.random(400) < 0.5, 1.0, -1.0)
    model = onlinear.Perceptron(max_iter=1, tol=None, shuffle=False).fit(scipy.sparse.csr_matrix(X), y)
    found = onlinear.certify(model, X, y)
    assert Fraction(found["least_score"]) <= 0
    assert found["separable"]
    assert found["margin_upper"] * 0.99 <= found["margin_lower"] <= found["margin_upper"]


def test_what_is_not_separable_has_no_combination() -> None:
    X, y = draw(3, flipped=3)
    found = onlinear.certify(learned(X, y), X, y)
    assert found["separable"] is False
    assert found["combination"] is None


@pytest.mark.parametrize("gap", [0.0, 1e-9, 1.0, -1.0, math.nan])
def test_a_gap_that_floats_do_not_reach_is_refused(gap: float) -> None:
    X, y = draw(3)
    with pytest.raises(onlinear.Refused, match=r"gap is .*: give the share"):
        onlinear.certify(learned(X, y), X, y, gap=gap)


def test_conjugate_gradients_find_what_equations_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many rows and columns the equations of a step are solved by products alone."""
    X, y = draw(3, 60, 5)
    signed = scipy.sparse.csr_array(X * y[:, None])
    found = largest_margin(SoftMargins(signed), 0.01)
    monkeypatch.setattr(soft_margins, "MOST_EQUATIONS", 1)
    other = largest_margin(SoftMargins(signed), 0.01)
    for each in (found, other):
        assert 0.0 < each.lower <= each.upper <= each.lower / 0.99
    assert max(found.lower, other.lower) <= min(found.upper, other.upper)


def test_a_smaller_gap_is_no_worse_an_answer() -> None:
    """From the weights of a soft penalty to those of a hard one it goes in strides that Newton's steps can follow."""
    rng = np.random.default_rng(0)
    truth, X = rng.normal(size=200), rng.normal(size=(2_000, 200))
    scores = X @ truth
    far = np.abs(scores) > 2.0
    signed = scipy.sparse.csr_array(X[far] * np.sign(scores[far, None]))
    for gap in (1e-2, 1e-4, 1e-6):
        found = largest_margin(SoftMargins(signed), gap)
        assert (1.0 - gap) * found.upper <= found.lower <= found.upper


def test_a_search_that_may_not_go_on_says_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = draw(3, 60, 5)
    monkeypatch.setattr(soft_margins, "MOST_WORK", 1.0)
    found = onlinear.certify(learned(X, y), X, y)
    assert found["separable"]
    assert found["margin_lower"] < 0.9 * found["margin_upper"]
    verifier.verify(as_read(found), rows_of(X, y))
