"""Synthetic streams: the same rows however they are cut, and what they promise holds in exact arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings as budget, strategies as st

import onlinear
from onlinear import losses, rules
from onlinear.errors import BadInput, Refused
from onlinear.learning.classes import Classes
from onlinear.learning.configuration import Settings
from onlinear.learning.model import Model
from onlinear.streams import arrays
from onlinear.streams.arrays import Generated
from onlinear.streams.synthetic import Adversary, Dependent, Drifting, LogisticLabels, Noisy, Separable, TightExample

STREAMS: list[Generated] = [
    Separable(2500, 3, margin=0.2, seed=4),
    Noisy(2500, 3, noise=0.2, seed=4),
    Noisy(2500, 3, flips=500, seed=4),
    Drifting(2500, 3, angle=0.01, seed=4),
    Dependent(2500, 3, correlation=0.9, seed=4),
    TightExample(1300, seed=4),
    LogisticLabels(2500, 3, strength=1.0, seed=4),
]
by_name = pytest.mark.parametrize("stream", STREAMS, ids=repr)


def whole(stream: Generated, block: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    pairs = list(stream.arrays(block))
    return np.concatenate([X for X, _ in pairs]), np.concatenate([y for _, y in pairs])


def exact_dot(a: np.ndarray, b: np.ndarray) -> Fraction:
    return sum((Fraction(p) * Fraction(q) for p, q in zip(a.tolist(), b.tolist(), strict=True)), Fraction(0))


def check_class(x: np.ndarray, y: float, u: np.ndarray, margin: float, radius: float) -> None:
    """Exactly within the radius; the margin holds for u as it is, and for the unit vector in its direction."""
    assert exact_dot(x, x) <= Fraction(radius) ** 2
    score = Fraction(y) * exact_dot(u, x)
    assert score >= Fraction(margin)
    assert score**2 >= Fraction(margin) ** 2 * exact_dot(u, u)


# ------------------------------------------------------------------ the same rows


@by_name
def test_cutting_changes_nothing(stream: Generated) -> None:
    X, y = whole(stream)
    assert X.shape == (stream.n, stream.d) == (len(stream), stream.d)
    assert set(y.tolist()) == {-1.0, 1.0}
    for block in (1, 7, 1024, 1500, 9999):
        sizes = [len(labels) for _, labels in stream.arrays(block)]
        assert set(sizes[:-1]) <= {block}
        assert 1 <= sizes[-1] <= block
        again, labels = whole(stream, block)
        np.testing.assert_array_equal(again, X)
        np.testing.assert_array_equal(labels, y)


@by_name
def test_blocks_and_open_stream_bring_the_same_rows(stream: Generated) -> None:
    X, y = whole(stream)
    for source in (stream, onlinear.open_stream(stream)):
        for _ in range(2):
            blocks = list(source)
            np.testing.assert_array_equal(np.vstack([block.X for block in blocks]), X)
            np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), y)
            places = np.concatenate([block.origin.places for block in blocks])
            np.testing.assert_array_equal(places, np.arange(1, len(y) + 1))


@by_name
def test_another_seed_is_another_stream_and_the_same_is_the_same(stream: Generated) -> None:
    X, y = whole(stream)
    for again, seed in ((replace(stream), 4), (replace(stream, seed=5), 5)):
        same = seed == stream.seed
        rows, labels = whole(again)
        assert ((labels != y).mean() > 0.2) is not same
        assert np.array_equal(rows, X) is (same or isinstance(stream, TightExample))


def test_a_longer_stream_begins_with_the_shorter_one_at_whole_groups() -> None:
    """Groups are known by their numbers alone, so that no row depends on how many there are."""
    short, long = whole(Separable(arrays.ROWS, 2, 0.1))[0], whole(Separable(3 * arrays.ROWS, 2, 0.1))[0]
    np.testing.assert_array_equal(short, long[: arrays.ROWS])
    assert not np.array_equal(long[arrays.ROWS : 2 * arrays.ROWS], short)


def test_only_a_group_is_in_memory() -> None:
    stream = Separable(10**12, 50_000, 0.1)
    X, y = next(iter(stream.arrays()))
    assert X.size <= arrays.CELLS
    assert len(X) == len(y) == arrays.CELLS // 50_000


@by_name
def test_training_on_blocks_is_partial_fit(stream: Generated) -> None:
    training = Model.create(losses.Perceptron(), rules.PerceptronStep(), Settings(intercept=False), Classes([-1, 1]))
    for block in onlinear.open_stream(stream):
        training.learn(block)
    model = perceptron().partial_fit(*whole(stream), classes=[-1, 1])
    np.testing.assert_array_equal(training.learner.weights()[0], model.coef_[0])


# ------------------------------------------------------------------ what they promise


@budget(max_examples=30)
@given(
    d=st.sampled_from([1, 2, 3, 10, 200]),
    share=st.sampled_from([1e-12, 0.01, 0.5, 0.999]),
    radius=st.sampled_from([1e-6, 0.1, 1.0, 3.7, 1e6]),
    seed=st.integers(0, 99),
)
def test_the_margin_holds_exactly(d: int, share: float, radius: float, seed: int) -> None:
    margin = share * radius
    stream = Separable(20, d, margin, radius, seed)
    X, y = whole(stream)
    for x, label in zip(X, y, strict=True):
        check_class(x, label, stream.u, margin, radius)
    if d == 200 and share == 0.5:  # all rows are moved, and rounding takes next to nothing
        np.testing.assert_allclose(y * (X @ stream.u), margin, rtol=1e-11)


@budget(max_examples=15)
@given(d=st.sampled_from([2, 5]), angle=st.floats(-7, 7), seed=st.integers(0, 99))
def test_a_drifting_margin_holds_exactly(d: int, angle: float, seed: int) -> None:
    stream = Drifting(20, d, angle, margin=0.3, seed=seed)
    for t, (x, label) in enumerate(zip(*whole(stream), strict=True)):
        check_class(x, label, stream.u(t), 0.3, 1.0)


def test_a_dependent_margin_holds_exactly() -> None:
    stream = Dependent(50, 4, correlation=0.95, margin=0.3, radius=2.0)
    for x, label in zip(*whole(stream), strict=True):
        check_class(x, label, stream.u, 0.3, 2.0)


def test_both_labels_and_the_whole_ball_are_there() -> None:
    X, y = whole(Separable(4000, 2, 0.1))
    assert abs(y.mean()) < 0.06  # four standard deviations
    inner = np.linalg.norm(X, axis=1) < 0.5  # a quarter of the disc
    assert abs(inner.mean() - 0.25) < 0.05


@pytest.mark.parametrize("flips", [0, 1, 700, 2500])
def test_so_many_labels_are_flipped(flips: int) -> None:
    stream = Noisy(2500, 3, flips=flips)
    X, y = whole(stream)
    clean, true = whole(stream.clean)
    np.testing.assert_array_equal(X, clean)
    assert np.count_nonzero(y != true) == flips
    np.testing.assert_array_equal(stream.u, stream.clean.u)


def test_flips_are_everywhere_and_with_the_wanted_probability() -> None:
    for stream in (Noisy(10_000, 3, noise=0.3), Noisy(10_000, 3, flips=3000)):
        wrong = whole(stream)[1] != whole(stream.clean)[1]
        assert abs(wrong.mean() - 0.3) < 4 * math.sqrt(0.21 / 10_000)
        assert (abs(wrong.reshape(10, 1000).mean(axis=1) - 0.3) < 4 * math.sqrt(0.21 / 1000)).all()
    assert not (whole(Noisy(500, 2, noise=0.0))[1] != whole(Noisy(500, 2, noise=0.0).clean)[1]).any()
    assert (whole(Noisy(500, 2, noise=1.0))[1] != whole(Noisy(500, 2, noise=1.0).clean)[1]).all()


def test_the_hypothesis_turns_by_the_angle() -> None:
    stream = Drifting(10, 4, angle=0.2, seed=3)
    vectors = stream.u(np.arange(10))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(np.arccos((vectors[1:] * vectors[:-1]).sum(axis=1)), 0.2, rtol=1e-12)
    assert np.linalg.matrix_rank(vectors) == 2
    np.testing.assert_array_equal(stream.u(7), vectors[7])


def test_the_chain_is_the_one_it_says() -> None:
    """States correlate by the correlation to the power of their distance, across groups, and are standard normal."""
    stream = Dependent(20_000, 2, correlation=0.8, seed=1)
    z = np.concatenate([states for _, states in stream.chain()])
    for apart in (1, 2, 3):
        assert abs((z[apart:] * z[:-apart]).mean() - 0.8**apart) < 0.05
    assert np.abs(z.mean(axis=0)).max() < 0.1
    assert np.abs(np.cov(z.T) - np.eye(2)).max() < 0.1
    at_seams = z[arrays.ROWS :: arrays.ROWS], z[arrays.ROWS - 1 : -1 : arrays.ROWS]
    assert np.corrcoef(at_seams[0].ravel(), at_seams[1].ravel())[0, 1] > 0.5
    X, _ = whole(stream)
    assert ((X * z).sum(axis=1) > 0.0).all()  # rows lie in the directions of the states, or nearly


def test_dependent_rows_have_the_law_of_separable_ones() -> None:
    """Kolmogorov and Smirnov's distance of far-apart rows' margins from those of independent rows."""
    from scipy.stats import ks_2samp

    chain, free = Dependent(40_000, 3, correlation=0.8, seed=2), Separable(2000, 3, 0.1, seed=3)
    (X, _), (Z, _) = whole(chain), whole(free)
    assert ks_2samp(X[::20] @ chain.u, Z @ free.u).pvalue > 0.001
    assert ks_2samp(np.linalg.norm(X[::20], axis=1), np.linalg.norm(Z, axis=1)).pvalue > 0.001


# ------------------------------------------------------------------ learners on them


def perceptron(**options: Any) -> onlinear.Perceptron:
    return onlinear.Perceptron(fit_intercept=False, shuffle=False, **options)


@pytest.mark.parametrize(("d", "margin"), [(2, 0.05), (10, 0.1), (30, 0.2)])
def test_a_perceptron_stays_below_the_bound(d: int, margin: float) -> None:
    stream = Separable(1500, d, margin, seed=d)
    model = perceptron()
    updates = []
    for _ in range(50):
        for X, y in stream.arrays(500):
            model.partial_fit(X, y, classes=[-1, 1])
        updates.append(model.updates_)
        if updates[-2:] == updates[-1:] * 2:
            break
    assert 2 < model.updates_ <= stream.bound == (1.0 / margin) ** 2
    X, y = whole(stream)
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("rounds", [1, 2, 10, 30])
def test_the_tight_example_meets_the_bound(rounds: int, seed: int | None) -> None:
    stream = TightExample(rounds, seed)
    model = perceptron()
    X, y = whole(stream)
    for _ in range(2):
        model.partial_fit(X, y, classes=[-1, 1])
        assert model.updates_ == rounds == stream.bound
    if seed is None:
        assert model.mistakes_ == rounds
    np.testing.assert_allclose(y * (X @ stream.u), stream.margin, rtol=1e-15)
    assert round((stream.radius / stream.margin) ** 2) == rounds


LEARNERS: list[Any] = [
    perceptron(),
    onlinear.Perceptron(),
    onlinear.AROWClassifier(),
    onlinear.PassiveAggressiveClassifier(),
    onlinear.SGDClassifier(loss="log_loss"),
]


@pytest.mark.compiles
@pytest.mark.parametrize("model", LEARNERS, ids=repr)
def test_every_round_of_the_adversary_is_a_mistake(model: Any) -> None:
    adversary = Adversary(d=20, margin=0.5, radius=2.0)
    assert adversary.rounds == 16
    weights, intercept = np.zeros(20), 0.0
    shown = []
    for t in range(adversary.rounds):
        x, y = adversary.next_row(weights, intercept)
        assert y * (weights @ x + intercept) <= 0.0
        shown.append((x, y))
        if t:
            assert model.predict([x])[0] != y
        model.partial_fit([x], [y], classes=[-1.0, 1.0])
        weights, intercept = model.coef_[0], model.intercept_[0]
        for row, label in shown:
            check_class(row, label, adversary.u, 0.5, 2.0)
    assert model.mistakes_ == adversary.shown == 16
    with pytest.raises(Refused, match="all 16 rounds are over"):
        adversary.next_row(weights)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 6, 7, 10, 99, 1000])
def test_an_adversary_has_as_many_rounds_as_the_bound_allows(d: int) -> None:
    assert Adversary(d).rounds == d
    assert Adversary(2 * d, margin=1 / math.sqrt(d)).rounds == d
    assert Adversary(2 * d, margin=1.0 / math.sqrt(d + 0.999)).rounds == d
    assert Adversary(2 * d, margin=1.0 / math.sqrt(d + 1.001)).rounds == min(d + 1, 2 * d)
    assert Adversary(d, margin=0.01).rounds == min(d, 10_000)


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Separable(-1, 2, 0.1), "-1 rows of 2 numbers"),
        (lambda: Separable(1, 0, 0.1), "1 rows of 0 numbers"),
        (lambda: Separable(1, 2, 0.0), "let both be positive and finite"),
        (lambda: Separable(1, 2, 0.1, math.inf), "let both be positive and finite"),
        (lambda: Separable(1, 2, math.nan), "let both be positive and finite"),
        (lambda: Separable(1, 2, 1.0), "make it smaller than the radius"),
        (lambda: Separable(1, 2, 0.1, seed=-1), "the seed is -1: choose 0 or more"),
        (lambda: Noisy(1, 2), "give noise, a probability, or flips"),
        (lambda: Noisy(1, 2, 0.1, 1), "give noise, a probability, or flips"),
        (lambda: Noisy(9, 2, noise=3), "a number of rows is flips"),
        (lambda: Noisy(9, 2, flips=10), "choose from 0 to 9"),
        (lambda: Noisy(10**9, 2, flips=10), "flips are counted for up to 999999999 rows"),
        (lambda: Drifting(9, 1, 0.1), "of at least 2"),
        (lambda: Drifting(9, 2, math.inf), "let it be finite, in radians"),
        (lambda: Dependent(9, 2, 1.0), "let it lie between -1 and 1"),
        (lambda: TightExample(0), "0 rows of 0 numbers"),
        (lambda: Adversary(0), "at least one"),
        (lambda: Adversary(2, margin=2.0), "let 0 < margin <= radius"),
        (lambda: Separable(1, 2, 0.1).arrays(0), "let it have at least one"),
        (
            lambda: onlinear.open_stream(Separable(1, 2, 0.1), target="y"),
            "target says nothing of the format 'synthetic'",
        ),
    ],
)
def test_what_cannot_be_is_refused(make: Any, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        make()


def test_an_adversary_refuses_weights_that_say_nothing() -> None:
    adversary = Adversary(3)
    with pytest.raises(BadInput, match="2 weights for 3 dimensions"):
        adversary.next_row([1.0, 2.0])
    with pytest.raises(BadInput, match="not numbers"):
        adversary.next_row([np.nan, 0.0, 0.0])
    assert adversary.shown == 0


def test_so_many_rows_that_a_number_of_flips_is_still_shared_out() -> None:
    stream = Noisy(10**9 - 1, 2, flips=10**9 - 1)
    (_, y), (_, true) = next(stream.arrays()), next(stream.clean.arrays())
    assert (y == -true).all()


def test_no_rows_at_all() -> None:
    assert list(Separable(0, 2, 0.1).arrays(5)) == list(Noisy(0, 2, flips=0)) == []
