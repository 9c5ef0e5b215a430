"""Weights of one's own: their margin, and the numbers of Freund and Schapire's bound."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_matrix

import onlinear
from onlinear.errors import BadInput
from onlinear.streams.synthetic import TightExample
from onlinear.theory import freund_schapire, margin
from theory.drawn import draw

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, length=st.sampled_from([1e-200, 1.0, 3e7]), intercept=st.sampled_from([0.0, -0.5]))
@settings(max_examples=40, deadline=None)
def test_the_margin_is_the_largest_float_below_the_exact_one(seed: int, length: float, intercept: float) -> None:
    X, y = draw(seed, 20, 3)
    w = length * np.random.default_rng(seed).standard_normal(3)
    b = length * intercept
    products = [sum(Fraction(a) * Fraction(c) for a, c in zip(w, x, strict=True)) + Fraction(b) for x in X]
    least = min(int(label) * product for label, product in zip(y, products, strict=True))
    squared = Fraction(b) ** 2 + sum(Fraction(a) ** 2 for a in w)

    def is_below(number: float) -> bool:
        """Whether it is at most the margin, without a root."""
        n = Fraction(number)
        return (n <= 0 or n * n * squared <= least**2) if least >= 0 else (n < 0 and n * n * squared >= least**2)

    found = margin(w, X, y, intercept=b)
    assert is_below(found)
    assert not is_below(np.nextafter(found, np.inf))
    assert margin(w, csr_matrix(X), y, b) == found == margin(w[None], X, np.where(y > 0, "yes", "no"), b)


def test_the_margin_of_the_tight_example_is_that_of_its_u() -> None:
    stream = TightExample(16)
    X, y = next(iter(stream.arrays()))
    assert margin(stream.u, X, y) == pytest.approx(stream.margin, rel=1e-15)
    assert onlinear.theory.margin(np.ones(16), X, y) == 0.25
    assert margin([1.0], [[2.0]], [-1]) == -2.0


@given(seed=seeds, features=st.integers(1, 6), gamma=st.none() | st.floats(0.05, 3.0), intercept=st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_bound_holds_of_any_weights_at_any_gamma_and_delta(
    seed: int, features: int, gamma: float | None, intercept: bool
) -> None:
    """Freund & Schapire 1999, theorem 2, over three passes of a perceptron in plain Python."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, features)), rng.choice([-1.0, 1.0], 40)
    u, b = rng.standard_normal(features), float(rng.standard_normal()) if intercept else 0.0
    rows = np.hstack([X, np.ones((40, 1))]) if intercept else X
    w, updates = np.zeros(rows.shape[1]), 0
    for _ in range(3):
        for x, label in zip(rows, y, strict=True):
            if label * (x @ w) <= 0.0:
                w, updates = w + label * x, updates + 1
    found = freund_schapire(u, X, y, gamma, b, passes=3)
    assert updates <= found.bound * (1.0 + 1e-12)
    assert found.radius == pytest.approx(np.linalg.norm(rows, axis=1).max())
    own = np.append(u, b) if intercept else u
    short = np.maximum(0.0, found.gamma - y * (rows @ (own / np.linalg.norm(own))))
    assert found.deviation == pytest.approx(np.sqrt(3.0 * np.sum(short**2)))
    assert found.trials == 120
    assert found.vacuous is (found.bound >= 120)
    swept = found.at(found.delta * np.array([0.3, 0.9, 1.0, 1.1, 4.0]))
    assert swept[2] == pytest.approx(found.bound)
    assert (swept >= swept[2] * (1.0 - 1e-12)).all()
    if gamma is not None:
        best = freund_schapire(u, X, y, None, b, passes=3)
        assert best.bound <= found.bound * (1.0 + 1e-12) or (best.vacuous and found.vacuous)


def test_separable_rows_have_no_deviation_at_their_margin() -> None:
    found = freund_schapire(np.ones(9), np.eye(9), np.ones(9), gamma=margin(np.ones(9), np.eye(9), np.ones(9)))
    assert (found.deviation, found.delta) == (0.0, 0.0)
    assert found.bound == pytest.approx(9.0)
    assert "Delta" not in str(found)


def test_it_prints_whether_it_says_anything() -> None:
    X, y = draw(1, 400, 2, flipped=4)
    assert "vacuous" not in str(freund_schapire(y @ X, X, y))
    assert str(freund_schapire([1.0], [[1.0]] * 4, [1, -1, 1, -1])).endswith("vacuous: not below the 4 trials")


BAD: list[tuple[dict[str, Any], str]] = [
    ({"u": [1.0]}, r"shape \(1,\), and the rows 2 columns"),
    ({"u": [0.0, 0.0]}, "no direction"),
    ({"u": [1.0, np.nan]}, "not finite"),
    ({"y": [0, 0]}, "1 different labels"),
    ({"y": [1]}, "2 rows and 1 labels"),
    ({"X": [[1.0, np.inf], [0.0, 1.0]]}, "infinity"),
    ({"gamma": 0.0}, "gamma is 0.0"),
    ({"passes": 0}, "0 passes"),
]


@pytest.mark.parametrize(("change", "said"), BAD)
def test_bad_input_is_a_sentence(change: dict[str, Any], said: str) -> None:
    good: dict[str, Any] = {"u": [1.0, 0.0], "X": np.eye(2), "y": [1, -1]}
    with pytest.raises(BadInput, match=said):
        freund_schapire(**{**good, **change})
    with pytest.raises(BadInput, match="above 0 that each trial"):
        freund_schapire(**good).at(0.0)


@given(
    seed=seeds,
    weights=st.sampled_from([-1070, -700, 0, 900]),
    rows=st.sampled_from([-1000, -600, 0, 600, 1000]),
    own=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_the_bound_is_the_same_in_any_units(seed: int, weights: int, rows: int, own: bool) -> None:
    """Squares of the lengths would leave the range of numbers, and prove that there is no update."""
    X, y = draw(seed, 20, 3)
    X, u = X.astype(float), np.random.default_rng(seed).integers(1, 9, 3).astype(float)
    gamma = 0.5 if own else None
    plain = freund_schapire(u, X, y, gamma)
    found = freund_schapire(np.ldexp(u, weights), np.ldexp(X, rows), y, gamma and float(np.ldexp(gamma, rows)))
    assert (found.bound, found.trials) == (plain.bound, plain.trials)
    for name in ("radius", "deviation", "gamma", "delta"):
        assert getattr(found, name) == pytest.approx(float(np.ldexp(getattr(plain, name), rows)), rel=1e-12)
    assert str(found).count("updates") == str(plain).count("updates")


def test_a_gamma_far_from_the_rows() -> None:
    X, y = [[1.0], [-2.0]], [1, -1]
    assert freund_schapire([1.0], X, y, gamma=1e-320).vacuous
    assert freund_schapire([1.0], X, y, gamma=1e300).bound == pytest.approx(2.0)
    assert freund_schapire([1.0], np.zeros((2, 1)), y).vacuous
    for wrong in ({"gamma": "1"}, {"passes": 1.5}, {"gamma": np.ones(2)}, {"intercept": "1"}):
        with pytest.raises(BadInput):
            freund_schapire([1.0], X, y, **wrong)
