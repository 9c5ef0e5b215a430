"""Features in place of kernels, and one feature of its own for every example."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_matrix

from onlinear import BadInput, KernelPerceptron, PolynomialProducts, RandomFeatures, VotedPerceptron, unique_features
from onlinear.learning.dual.kernel import Kernel
from onlinear.learning.dual.unique import best_delta, extended_bound

ROWS = np.random.default_rng(2).normal(size=(150, 4))


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize(("gamma", "coef0"), [(1.0, 1.0), (0.5, 2.0), (2.0, 0.0)])
def test_products_are_the_polynomial_kernel(degree: int, gamma: float, coef0: float) -> None:
    features = PolynomialProducts(degree, gamma=gamma, coef0=coef0).fit_transform(ROWS)
    expected = Kernel("poly", degree, gamma, coef0).matrix(ROWS, ROWS)
    np.testing.assert_allclose(features @ features.T, expected, rtol=1e-9, atol=1e-9)


def test_a_linear_learner_of_products_is_the_kernel_perceptron() -> None:
    y = ROWS[:, 0] * ROWS[:, 1] > 0.1
    kernel = KernelPerceptron("poly", degree=2, max_iter=1).fit(ROWS, y)
    features = PolynomialProducts(2).fit_transform(ROWS)
    flat = VotedPerceptron(fit_intercept=False).fit(features, y)
    assert flat.updates_ == kernel.updates_ > 10
    np.testing.assert_allclose(flat.decision_function(features), kernel.decision_function(ROWS))


def test_random_features_are_about_the_rbf_kernel() -> None:
    features = RandomFeatures(20_000, gamma=0.3).fit_transform(ROWS)
    expected = Kernel("rbf", gamma=0.3).matrix(ROWS, ROWS)
    errors = features @ features.T - expected
    assert abs(errors).max() < 6.0 / np.sqrt(20_000)  # each is a mean of terms whose deviation is at most 1


@pytest.mark.parametrize(
    "expansion", [RandomFeatures(37, gamma=0.7), PolynomialProducts(3)], ids=["random", "products"]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_becomes_the_same_features_in_any_company(
    expansion: RandomFeatures | PolynomialProducts, dtype: type
) -> None:
    rows = ROWS.astype(dtype)
    whole = expansion.fit(rows[:1]).transform(rows)
    assert whole.dtype == dtype
    parts = [expansion.transform(rows[part]) for part in (slice(0, 1), slice(1, 70), slice(70, 150))]
    assert (np.concatenate(parts) == whole).all()
    assert (expansion.transform(csr_matrix(rows)) == whole).all()


def test_too_many_products_are_refused() -> None:
    with pytest.raises(BadInput, match="KernelPerceptron"):
        PolynomialProducts(4).fit(np.ones((1, 500)))


@given(st.fractions(1, 9), st.fractions(1, 9), st.fractions(1, 9), st.fractions(Fraction(1, 9), 9))
def test_the_best_delta_gives_the_inseparable_bound(r: Fraction, d: Fraction, g: Fraction, other: Fraction) -> None:
    """R = r^2 and D = d^2, so that sqrt(R D) = r d is a fraction, and the identity exact."""
    radius, deviation = r * r, d * d
    assert extended_bound(radius, deviation, g, r * d) == ((radius + deviation) / g) ** 2
    assert extended_bound(radius, deviation, g, other) >= ((radius + deviation) / g) ** 2
    assert best_delta(float(radius), float(deviation)) == pytest.approx(float(r * d))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 999), noise=st.floats(0.1, 2.0))
def test_rows_with_features_of_their_own_are_separable_within_the_bound(seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    rows, u = rng.normal(size=(60, 3)), np.array([1.0, 0.0, 0.0])
    y = np.where(rows @ u + rng.normal(0, noise, 60) > 0, 1, -1)
    margin = 0.5
    short = np.maximum(0.0, margin - y * (rows @ u))
    radius, deviation = float(np.linalg.norm(rows, axis=1).max()), float(np.linalg.norm(short))
    delta = best_delta(radius, deviation)
    extended = unique_features(rows, delta)
    witness = np.concatenate([u, y * short / delta]) / np.sqrt(1 + deviation**2 / delta**2)
    assert np.linalg.norm(witness) == pytest.approx(1.0)
    assert (y * (extended @ witness)).min() >= margin / np.sqrt(1 + deviation**2 / delta**2) - 1e-9
    once = [VotedPerceptron(fit_intercept=False).fit(X, y).updates_ for X in (rows, extended)]
    assert once[0] == once[1] <= ((radius + deviation) / margin) ** 2
    often = VotedPerceptron(fit_intercept=False, max_iter=10_000).fit(extended, y)
    assert often.converged_
    assert often.updates_ <= ((radius + deviation) / margin) ** 2


def test_parts_have_the_same_columns() -> None:
    rows = ROWS[:5]
    whole = unique_features(rows, 2.0).toarray()
    parts = [unique_features(rows[:2], 2.0, examples=5), unique_features(rows[2:], 2.0, first=2, examples=5)]
    assert (np.concatenate([part.toarray() for part in parts]) == whole).all()
    with pytest.raises(BadInput, match="raise examples"):
        unique_features(rows, 2.0, examples=4)
    with pytest.raises(BadInput, match="positive number"):
        unique_features(rows, 0.0)
