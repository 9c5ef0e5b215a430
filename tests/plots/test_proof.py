"""The two quantities of the proof: by a slow perceptron, between the lines that the theorem puts around them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings as budget, strategies as st
from scipy.sparse import csr_matrix

from onlinear import (
    AveragedPerceptron,
    KernelPerceptron,
    MarginPerceptron,
    OnlineClassifier,
    Perceptron,
    PolynomialProducts,
    Refused,
    SGDClassifier,
)
from onlinear.plots import ProofDisplay
from onlinear.streams.synthetic import Noisy, Separable, TightExample


@budget(max_examples=10)
@given(seed=st.integers(0, 99), intercept=st.booleans(), own=st.booleans())
def test_the_quantities_are_those_of_a_slow_perceptron(seed: int, intercept: bool, own: bool) -> None:
    stream = Separable(40, 3, 0.1, seed=seed)
    X, y = next(stream.arrays(40))
    rows, w, path = np.column_stack([X, np.full(40, float(intercept))]), np.zeros(4), [np.zeros(4)]
    for _ in range(1000):
        before = len(path)
        for row, label in zip(rows, y, strict=True):
            if label * float(row @ w) <= 0.0:
                w = w + label * row
                path.append(w)
        if len(path) == before:
            break
    u = w / np.linalg.norm(w) if own else np.append(stream.u, 0.0)
    model = Perceptron(fit_intercept=intercept)
    shown = ProofDisplay.from_estimator(model, X, y, u=None if own else 7.0 * stream.u, plot=False)
    np.testing.assert_array_equal(shown.updates, np.arange(len(path)))
    np.testing.assert_allclose(shown.progress, np.array(path) @ u, atol=1e-9)
    np.testing.assert_allclose(shown.length, np.linalg.norm(path, axis=1), atol=1e-9)
    assert shown.radius == pytest.approx(np.linalg.norm(rows, axis=1).max())
    assert shown.margin == pytest.approx(min(y * (rows @ u)))
    assert shown.bound == pytest.approx((shown.radius / shown.margin) ** 2)


def in_order(shown: ProofDisplay) -> None:
    """Novikoff's chain of inequalities, and what follows."""
    chain = [shown.at_least(shown.updates), shown.progress, shown.length, shown.at_most(shown.updates)]
    for lower, upper in pairwise(chain):
        assert (lower <= upper * (1.0 + 1e-12) + 1e-12).all()
    assert shown.updates[-1] <= shown.bound * (1.0 + 1e-12)
    np.testing.assert_allclose(shown.at_least(shown.bound), shown.at_most(shown.bound))


@pytest.mark.parametrize(
    "model",
    [
        Perceptron(),
        Perceptron(eta0=0.25, fit_intercept=False),
        MarginPerceptron(0.5, rate=0.25),
        MarginPerceptron(2.0, rate=0.5, fit_intercept=False),
        SGDClassifier(loss="hinge", penalty=None, learning_rate="constant", eta0=0.5),
        KernelPerceptron("rbf"),
        KernelPerceptron("linear"),
    ],
    ids=str,
)
@pytest.mark.parametrize("sparse", [False, True])
def test_every_learner_with_a_bound_stays_between_the_lines(model: Any, sparse: bool) -> None:
    X, y = next(Separable(60, 3, 0.2, seed=3).arrays(60))
    shown = ProofDisplay.from_estimator(model, csr_matrix(X) if sparse else X, y, plot=False)
    in_order(shown)
    assert shown.updates[-1] >= 2


def test_a_kernel_has_its_quantities_in_its_own_space() -> None:
    X, y = next(Separable(60, 3, 0.1, seed=4).arrays(60))
    features = PolynomialProducts(degree=2).fit_transform(X)
    plain = ProofDisplay.from_estimator(Perceptron(fit_intercept=False), features, y, plot=False)
    kernel = ProofDisplay.from_estimator(KernelPerceptron(degree=2), X, y, plot=False)
    for name in ("updates", "progress", "length", "radius", "margin"):
        np.testing.assert_allclose(getattr(kernel, name), getattr(plain, name), rtol=1e-9, atol=1e-12)


def test_on_the_tight_example_all_four_meet() -> None:
    stream = TightExample(9, seed=1)
    X, y = next(stream.arrays(9))
    shown = ProofDisplay.from_estimator(Perceptron(fit_intercept=False), X, y, plot=False)
    in_order(shown)
    assert shown.bound == pytest.approx(9.0)
    np.testing.assert_allclose(shown.progress, shown.at_least(shown.updates), atol=1e-12)
    np.testing.assert_allclose(shown.length, shown.at_most(shown.updates), atol=1e-12)


def test_the_lines_are_the_arrays() -> None:
    shown = ProofDisplay(updates=[0, 1, 2], progress=[0, 0.8, 1.6], length=[0, 1, 1.7], radius=1.5, margin=0.5).plot()
    for line, wanted in ((shown.progress_line_, shown.progress), (shown.length_line_, shown.length)):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([shown.updates, wanted]))
    for line, slope in ((shown.least_line_, shown.at_least), (shown.most_line_, shown.at_most)):
        np.testing.assert_allclose(line.get_ydata(), slope(line.get_xdata()))
        assert line.get_xdata()[-1] > shown.bound == 9.0
    assert shown.bound_line_.get_xdata() == [9.0, 9.0]
    assert (shown.ax_.get_xscale(), shown.ax_.get_yscale()) == ("linear", "linear")
    assert [text.get_text() for text in shown.ax_.get_legend().get_texts()] == [
        r"at most $R\,\sqrt{k}$",
        "$|w|$",
        r"$\langle w, u\rangle$",
        r"at least $k\,\gamma$",
        "they cross at 9",
    ]


def test_a_far_bound_is_on_logarithmic_axes() -> None:
    shown = ProofDisplay(updates=[0, 1], progress=[0, 1.2], length=[0, 9.0], radius=10.0, margin=1.0).plot()
    assert shown.bound == 100.0
    assert (shown.ax_.get_xscale(), shown.ax_.get_yscale()) == ("log", "log")
    for line, slope in ((shown.least_line_, 1.0), (shown.most_line_, 0.5)):
        rise = np.diff(np.log(line.get_ydata())) / np.diff(np.log(line.get_xdata()))
        np.testing.assert_allclose(rise, slope)


@pytest.mark.parametrize(
    ("model", "options", "reason"),
    [
        (OnlineClassifier(), {}, "no bound on the updates of this OnlineClassifier is known"),
        (AveragedPerceptron(), {}, "AveragedPerceptron does not add up signed rows"),
        (Perceptron(), {}, "the weights after 5 passes separate nothing"),
        (Perceptron(), {"u": [1.0, 0.0]}, "u separates nothing"),
        (Perceptron(), {"u": [1.0] * 5}, "5 entries for 3 weights"),
        (KernelPerceptron(), {"u": [1.0, 0.0]}, "a kernel hides its features"),
    ],
    ids=str,
)
def test_what_has_no_such_proof_is_refused(model: Any, options: dict[str, Any], reason: str) -> None:
    X, y = next(Noisy(40, 2, flips=8, seed=2).arrays(40))
    with pytest.raises(Refused, match=reason):
        ProofDisplay.from_estimator(model, X, y, passes=5, **options)
