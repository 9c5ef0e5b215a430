"""Every rule against ``naive.py``: dense and sparse, importance, penalties, averages, forgetting, intercept or none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from cases import (
    PLAIN,
    SCHEDULES,
    Data,
    batch_of,
    cut,
    data_for,
    learner_for,
    loss_of,
    naively,
    rule_of,
)
from onlinear import registry
from onlinear.data.batch import Batch, rows_of
from onlinear.data.targets import Numbers
from onlinear.learning.configuration import Settings
from onlinear.learning.learner import Learner
from onlinear.losses import Squared
from onlinear.rules import SGD, AdaGrad, Constant

# Lazy forms sum in another order than eager ones, the naive dot product in another than ours, and Sherman-Morrison is
# not a solver: some dozen operations a row, 30 rows, condition numbers up to 100. 1e-10 is 500 000 eps.
CLOSE: dict[str, float] = {"rtol": 1e-10, "atol": 1e-11}

PAIRS = registry.pairs()
KINDS = ("dense", "sparse")


def scores_as_learned(learner: Learner, batch: Batch) -> np.ndarray:
    """Learn row by row; the scores the kernel made before each, NaN where the importance is 0."""
    from onlinear.kernels.learn.state import SCORE

    scores = np.full((len(batch), learner.outputs), np.nan)
    for i in range(len(batch)):
        learner.learn(cut(batch, i, i + 1))
        if batch.importance[i] > 0.0:
            scores[i] = learner.counters.array[:, SCORE]
    return scores


def compare(loss: Any, rule: Any, data: Data, kind: str, settings: Settings = PLAIN) -> Learner:
    expected = naively(loss, rule, data, settings)
    learner = learner_for(loss, rule, data, settings)
    name = registry.name_of(learner.losses[0], registry.LOSSES)
    assert name is not None
    scores = scores_as_learned(learner, batch_of(data, name, kind))
    np.testing.assert_allclose(scores, expected.scores, **CLOSE)
    np.testing.assert_allclose(learner.weights(), expected.weights, **CLOSE)
    np.testing.assert_allclose(learner.intercepts(), expected.intercepts, **CLOSE)
    np.testing.assert_array_equal(learner.updates, expected.updates)
    np.testing.assert_array_equal(learner.mistakes, expected.answer_mistakes)
    np.testing.assert_array_equal(learner.counters.unaveraged_mistakes, expected.mistakes)
    for sums, losses in (
        (learner.counters.loss_sums, expected.answer_losses),
        (learner.counters.unaveraged_loss_sums, expected.losses),
    ):
        np.testing.assert_allclose(sums, np.nansum(losses * data.importance[:, None], axis=0), **CLOSE)
    assert np.abs(expected.weights).max() > 0.0
    return learner


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("loss", "rule"), PAIRS)
def test_every_pair(loss: str, rule: str, kind: str) -> None:
    for intercept in (True, False):
        compare(loss, rule, data_for(loss), kind, Settings(intercept=intercept))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("loss", "rule"), [(loss, rule) for loss, rule in PAIRS if loss in registry.BINARY])
def test_every_pair_one_against_the_rest(loss: str, rule: str, kind: str) -> None:
    compare(loss, rule, data_for(loss, against_the_rest=True), kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("loss", "rule"), PAIRS)
def test_every_pair_averaged(loss: str, rule: str, kind: str) -> None:
    for start in (1.0, 12.0):
        learner = compare(loss, rule, data_for(loss), kind, Settings(average=start))
        assert not np.array_equal(learner.weights(), learner.weights(averaged=False))


def test_before_its_first_example_the_average_is_the_weights() -> None:
    data = data_for("hinge", plain=True)
    learner = compare("hinge", "perceptron", data, "dense", Settings(average=len(data.y) + 1.0))
    np.testing.assert_array_equal(learner.weights(), learner.weights(averaged=False))


PENALTIES = {"l2": (0.0, 0.1), "l1": (0.03, 0.0), "elastic net": (0.03, 0.1)}
PENALISED = [(loss, rule) for loss, rule in PAIRS if rule in registry.PENALISED]


@pytest.mark.parametrize("average", [0.0, 5.0])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("loss", "rule"), PENALISED)
def test_every_penalty(loss: str, rule: str, kind: str, penalty: str, average: float) -> None:
    l1, l2 = PENALTIES[penalty]
    learner = compare(loss, rule, data_for(loss), kind, Settings(l1=l1, l2=l2, average=average))
    free = learner_for(loss, rule, data_for(loss), Settings(average=average))
    free.learn(batch_of(data_for(loss), loss, kind))
    assert not np.allclose(learner.weights(), free.weights(), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("loss", "rule"), [(loss, rule) for loss, rule in PAIRS if rule in registry.FORGETTING])
def test_forgetting(loss: str, rule: str, kind: str) -> None:
    learner = compare(loss, rule, data_for(loss), kind, Settings(forget=0.05))
    remembering = learner_for(loss, rule, data_for(loss))
    remembering.learn(batch_of(data_for(loss), loss, kind))
    assert not np.allclose(learner.weights(), remembering.weights(), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda schedule: type(schedule).__name__)
def test_schedules_with_a_penalty(schedule: Any, kind: str) -> None:
    settings = Settings(l1=0.01, l2=0.05)
    compare("log_loss", SGD(schedule), data_for("log_loss"), kind, settings)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", ["sgd", "pa1"])
def test_habits_of_the_intercept(rule: str, kind: str) -> None:
    settings = Settings(intercept_rate=0.01, intercept_in_norm=False, average=3.0)
    compare("hinge", rule, data_for("hinge"), kind, settings)


@pytest.mark.parametrize("kind", KINDS)
def test_a_strong_l2_wears_the_scale_out(kind: str) -> None:
    """The scale falls by half with each example: it is written into the table every 30 examples."""
    half, whole = SGD(Constant(0.1)), SGD(Constant(0.2))
    data = data_for("log_loss", rows=100)
    compare("log_loss", half, data, kind, Settings(l2=5.0))
    # rate * l2 = 1: every example forgets everything before it
    compare("log_loss", whole, data, kind, Settings(l2=5.0))
    compare("log_loss", whole, data, kind, Settings(l2=5.0, average=2.0))
    # the lazy average is the difference of sums that are 1 / scale times as large as the weights: it
    # has lost nine digits when the scale, at 1e-9, is written into the table
    settings = Settings(l2=5.0, average=2.0)
    learner = learner_for("log_loss", half, data, settings)
    learner.learn(batch_of(data, "log_loss", kind))
    expected = naively("log_loss", half, data, settings)
    np.testing.assert_allclose(learner.weights(), expected.weights, rtol=1e-16 * 1e9 * 10)


TURNS = (("dense", "sparse"), ("sparse", "dense"), ("dense", "sparse", "dense", "sparse"))


@pytest.mark.parametrize("kinds", TURNS, ids="-".join)
@pytest.mark.parametrize("average", [0.0, 7.0])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("rule", sorted(registry.PENALISED))
def test_dense_and_sparse_rows_in_one_stream(rule: str, penalty: str, average: float, kinds: tuple[str, ...]) -> None:
    """The table turns to face the rows between batches; nothing owed may be lost on the way."""
    l1, l2 = PENALTIES[penalty]
    settings = Settings(l1=l1, l2=l2, average=average)
    data = data_for("hinge", rows=40)
    learner = learner_for("hinge", rule, data, settings)
    size = 40 // len(kinds)
    for part, kind in enumerate(kinds):
        learner.learn(cut(batch_of(data, "hinge", kind), size * part, size * (part + 1)))
    expected = naively("hinge", rule, data, settings)
    np.testing.assert_allclose(learner.weights(), expected.weights, **CLOSE)
    np.testing.assert_allclose(learner.intercepts(), expected.intercepts, **CLOSE)


def test_the_naive_rules_are_all_of_them() -> None:
    assert {rule for _, rule in PAIRS} == set(registry.RULES)
    assert {loss for loss, _ in PAIRS} == set(registry.LOSSES)
    for name in registry.LOSSES:
        loss_of(name)
    for name in registry.RULES:
        rule_of(name)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.compiles)])
@pytest.mark.parametrize("settings", [PLAIN, Settings(l1=0.01, l2=0.1)])
def test_adagrad_without_epsilon(settings: Settings, compiled: bool) -> None:
    """A weight whose gradients are all 0 so far stays where it is: as with an epsilon that is next to nothing."""
    X = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0], [2.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    for rows in (rows_of(X), rows_of(scipy.sparse.csr_matrix(X))):
        batch = Batch(rows, Numbers(np.array([0.0, 1.0, -2.0, 0.5])), np.ones(4))  # the first is right: its slope is 0
        found = []
        for epsilon in (0.0, 1e-300):
            learner = Learner(Squared(), AdaGrad(0.1, epsilon), features=3, settings=settings, compiled=compiled)
            learner.learn(batch)
            found.append((learner.weights().tolist(), learner.intercepts().tolist()))
        assert found[0] == found[1]
        assert np.all(np.asarray(found[0][0]) != 0.0)
