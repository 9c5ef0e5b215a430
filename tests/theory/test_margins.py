"""The least margin and the radius, by floats and a few exact rows, against all rows exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

from onlinear.theory.examples import digest_of, examples_of
from onlinear.theory.hypotheses import ExactWeights, MulticlassWeights
from onlinear.theory.margins import margins_of
from theory.drawn import draw, draw_classes


def slowly(X: np.ndarray, y: np.ndarray, w: np.ndarray, b: float, constant: Fraction) -> tuple[Fraction, Fraction]:
    scores = [
        Fraction(t) * (sum(Fraction(x) * Fraction(v) for x, v in zip(row, w, strict=True)) + Fraction(b))
        for row, t in zip(X.tolist(), y.tolist(), strict=True)
    ]
    return min(scores), max(sum(Fraction(x) ** 2 for x in row) for row in X.tolist()) + constant


@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.sampled_from([np.float64, np.float32]))
@settings(max_examples=40, deadline=None)
def test_exact(seed: int, whole: bool, sparse: bool, dtype: type) -> None:
    X, y = draw(seed, whole=whole)
    X = X.astype(dtype)
    w = np.random.default_rng(seed + 1).normal(size=X.shape[1])
    found = margins_of(ExactWeights(w, 0.3, Fraction(1)), examples_of(scipy.sparse.csr_matrix(X) if sparse else X, y))
    assert (found.least, found.radius_squared) == slowly(X, y, w, 0.3, Fraction(1))
    assert found.examples == len(y)


@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_exact_against_the_best_rival(seed: int, whole: bool, sparse: bool, classes: int) -> None:
    X, y = draw_classes(seed, classes, whole=whole)
    w = np.random.default_rng(seed + 1).normal(size=(classes, 2))
    b = [0.3, -0.7, 0.1, 0.0][:classes]
    weights = MulticlassWeights([ExactWeights(*one, Fraction(1)) for one in zip(w, b, strict=True)])
    found = margins_of(weights, examples_of(scipy.sparse.csr_matrix(X) if sparse else X, y))
    slow = min(
        slowly(row[None], np.ones(1), w[int(t)], b[int(t)], Fraction(0))[0]
        - slowly(row[None], np.ones(1), w[r], b[r], Fraction(0))[0]
        for row, t in zip(X, y, strict=True)
        for r in range(classes)
        if r != t
    )
    assert found.least == slow
    assert found.norm_squared == sum(Fraction(x) ** 2 for x in [*w.ravel().tolist(), *b])


def test_scores_that_cancel_in_floats() -> None:
    """Of these the float scores are 0 or wrong by more than their size."""
    X = np.array([[1e16, 1.0, -1e16], [1e16, 2.0, -1e16], [1.0, 0.0, 0.0]])
    y = np.array([1.0, -1.0, 1.0])
    found = margins_of(ExactWeights(np.ones(3), 0.0, Fraction(0)), examples_of(X, y))
    assert found.least == -2


@pytest.mark.parametrize("size", [1e-200, 1e-160, 1e160, 1e200])
def test_lengths_beyond_floats(size: float) -> None:
    X, y = draw(6)
    w = np.array([size, -size, 2.0 * size])
    found = margins_of(ExactWeights(w, 0.0, Fraction(1)), examples_of(size * X, y))
    assert (found.least, found.radius_squared) == slowly(size * X, y, w, 0.0, Fraction(1))


@pytest.mark.parametrize("block", [1, 3, 100])
def test_blocks_do_not_matter(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = draw(5)
    weights = ExactWeights(np.ones(X.shape[1]), 0.0, Fraction(1))
    whole = margins_of(weights, examples_of(X, y)), digest_of(examples_of(X, y))
    monkeypatch.setattr("onlinear.theory.examples.BLOCK", block)
    assert whole == (margins_of(weights, examples_of(X, y)), digest_of(examples_of(scipy.sparse.csr_matrix(X), y)))
