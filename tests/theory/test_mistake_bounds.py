"""The mistake bounds hold, on whatever data; on the tight example with equality."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings as budget, strategies as st

from onlinear import losses, rules
from onlinear.data.batch import Batch, rows_of
from onlinear.data.targets import Signs
from onlinear.learning.configuration import Settings
from onlinear.learning.learner import Learner

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 8)

NO_INTERCEPT = Settings(intercept=False)


def perceptron(features: int, margin: float = 0.0, rate: float = 1.0, intercept: bool = False) -> Learner:
    loss = losses.Hinge(margin) if margin else losses.Perceptron()
    return Learner(
        loss,
        rules.PerceptronStep(rate),
        features=features,
        settings=Settings(intercept=intercept),
        compiled=False,
    )


def signs(X: np.ndarray, y: np.ndarray) -> Batch:
    return Batch(rows_of(X), Signs(y), np.ones(len(y)))


def separable(seed: int, features: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Rows and labels, and the margin by which a unit vector separates them."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=features)
    u /= np.linalg.norm(u)
    X = rng.normal(size=(30, features)) * rng.exponential(size=(30, 1))
    X = X[np.abs(X @ u) > 0.1]
    y = np.where(X @ u > 0.0, 1.0, -1.0)
    return X, y, float(np.min(y * (X @ u), initial=np.inf))


def until_no_update(learner: Learner, batch: Batch, most: float) -> int:
    """Pass after pass until one brings no update; how many updates that took."""
    while True:
        before = int(learner.updates[0])
        learner.learn(batch)
        if learner.updates[0] == before or learner.updates[0] > most:
            return int(learner.updates[0])


@budget(max_examples=60)
@given(seed=seeds, features=sizes)
def test_novikoff(seed: int, features: int) -> None:
    """Novikoff 1962: at most (R / margin)^2 updates, over all passes."""
    X, y, margin = separable(seed, features)
    if not len(y):
        return
    bound = (np.linalg.norm(X, axis=1).max() / margin) ** 2
    learner = perceptron(features)
    updates = until_no_update(learner, signs(X, y), bound)
    # the bound is real, the count an integer: rounding decides nothing but ties
    assert 1 <= updates <= bound * (1.0 + 1e-12)
    assert learner.mistakes[0] <= updates
    assert (y * learner.scores(X)[:, 0] > 0.0).all()


@budget(max_examples=40)
@given(seed=seeds, features=sizes)
def test_novikoff_with_an_intercept(seed: int, features: int) -> None:
    """An intercept is a column of ones: R^2 grows by 1, the separating vector has none."""
    X, y, margin = separable(seed, features)
    if not len(y):
        return
    bound = ((X**2).sum(axis=1).max() + 1.0) / margin**2
    learner = perceptron(features, intercept=True)
    assert until_no_update(learner, signs(X, y), bound) <= bound * (1.0 + 1e-12)


@pytest.mark.parametrize("features", [1, 2, 7, 16])
def test_the_standard_basis_needs_exactly_as_many_updates_as_the_bound_allows(features: int) -> None:
    """R = 1, and the best margin is 1 / sqrt(d), of the vector of all labels: (R / margin)^2 = d."""
    y = np.where(np.arange(features) % 3 == 1, -1.0, 1.0)
    X = np.eye(features)
    margin = (y * (X @ (y / np.sqrt(features)))).min()
    learner = perceptron(features)
    updates = until_no_update(learner, signs(X, y), features)
    assert updates == features == round((1.0 / margin) ** 2)
    np.testing.assert_array_equal(learner.weights()[0], y)


@budget(max_examples=60)
@given(
    seed=seeds,
    features=sizes,
    wanted=st.floats(0.01, 3.0),
    rate=st.sampled_from([0.25, 1.0, 2.0]),
)
def test_margin_perceptron(seed: int, features: int, wanted: float, rate: float) -> None:
    """Updates at ``y s <= wanted``: at most (R^2 + 2 wanted / rate) / margin^2 of them.

    As in Novikoff's proof ``|w|^2`` grows by at most ``rate^2 R^2 + 2 rate wanted`` and ``u.w`` by
    ``rate margin`` (Krauth & Mezard 1987; Shalev-Shwartz & Singer 2005).
    """
    X, y, margin = separable(seed, features)
    if not len(y):
        return
    radius = np.linalg.norm(X, axis=1).max()
    bound = (radius**2 + 2.0 * wanted / rate) / margin**2
    learner = perceptron(features, wanted, rate)
    if bound > 20_000:
        return  # it holds, but takes long to see
    assert until_no_update(learner, signs(X, y), bound) <= bound * (1.0 + 1e-12)
    assert (y * learner.scores(X)[:, 0] > wanted * (1.0 - 1e-12)).all()


@budget(max_examples=60)
@given(seed=seeds, features=sizes, margin=st.floats(0.05, 3.0), guess=seeds)
def test_freund_and_schapire_on_any_data(seed: int, features: int, margin: float, guess: int) -> None:
    """Freund & Schapire 1999, theorem 2: in one pass at most ((R + D) / margin)^2, for every unit vector and margin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, features))
    y = rng.choice([-1.0, 1.0], size=60)
    learner = perceptron(features)
    learner.learn(signs(X, y))
    radius = np.linalg.norm(X, axis=1).max()
    hindsight = (y[:, None] * X).sum(axis=0)
    for u in (hindsight, np.random.default_rng(guess).normal(size=features), learner.weights()[0]):
        length = np.linalg.norm(u)
        if length == 0.0:
            continue
        shortfall = np.maximum(0.0, margin - y * (X @ (u / length)))
        bound = ((radius + np.linalg.norm(shortfall)) / margin) ** 2
        assert learner.updates[0] <= bound * (1.0 + 1e-12)


def test_the_bound_for_inseparable_data_is_met_by_opposite_labels_of_one_row() -> None:
    """One row with both labels by turns: every example is an update, and the bound cannot be far away."""
    n = 40
    X, y = np.ones((n, 1)), np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    learner = perceptron(1)
    learner.learn(signs(X, y))
    assert learner.updates[0] == n
    best = min(((1.0 + np.sqrt((np.maximum(0.0, g - y) ** 2).sum())) / g) ** 2 for g in np.linspace(0.01, 50, 5000))
    assert n <= best <= 1.6 * n
