"""A race is its configurations run alone: the same weights and the same counts, to the bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from onlinear import losses, rules
from onlinear.data.batch import Batch, rows_of
from onlinear.errors import Refused
from onlinear.learning.configuration import Configuration
from onlinear.learning.learner import Learner
from onlinear.selection.configurations import configuration, grid
from onlinear.selection.race import Race, RaceExamples, RaceTask


def drawn(classes: int, rows: int = 60, features: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows, and the codes of classes or, of none, numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features)) * (rng.random((rows, features)) < 0.7)
    scores = X @ rng.normal(size=(features, max(classes, 1))) + 0.5 * rng.normal(size=(rows, max(classes, 1)))
    if not classes:
        return X, scores[:, 0]
    return X, (scores[:, 0] > 0.0).astype(np.int64) if classes == 2 else scores.argmax(axis=1)


def examples(X: Any, y: np.ndarray, folds: np.ndarray | None = None) -> RaceExamples:
    return RaceExamples(rows_of(X), y, np.ones(len(y)), folds)


def mixed(classes: int) -> list[Configuration]:
    """Two kinds of rules, with penalties and averages, and for several classes a loss of the whole row."""
    loss = losses.Logistic() if classes else losses.Squared()
    found = grid(loss=loss, rule=[rules.SGD(rules.Constant(rate)) for rate in (0.02, 0.1)], l2=[0.0, 0.01])
    found += grid(loss=loss, rule=[rules.AdaGrad(rate=rate) for rate in (0.1, 0.5)], average=[False, True])
    return found + ([configuration("softmax", "adagrad")] if classes > 2 else [])


def alone(one: Configuration, task: RaceTask, features: int, compiled: bool) -> Learner:
    outputs = task.width(one.loss)
    return Learner(one.loss, one.rule, features=features, outputs=outputs, settings=one.settings, compiled=compiled)


def answers(learner: Learner, x: np.ndarray) -> np.ndarray:
    return learner.weights() @ x + learner.intercepts()


def badness(task: RaceTask, scores: np.ndarray, target: float) -> float:
    """1 for a mistake, or the squared distance."""
    if not task.classes:
        return float((scores[0] - target) ** 2)
    answer = int(scores[0] > 0.0) if len(scores) == 1 else int(scores.argmax())
    return float(answer != target)


@pytest.mark.parametrize(
    ("classes", "sparse", "compiled"),
    [
        *((classes, sparse, False) for classes in (0, 2, 3) for sparse in (False, True)),
        pytest.param(2, True, True, marks=pytest.mark.compiles),  # one kind, for the sake of time
    ],
)
def test_members_are_configurations_run_alone(classes: int, sparse: bool, compiled: bool) -> None:
    X, y = drawn(classes)
    task, configurations = RaceTask(classes), mixed(classes)
    data = examples(scipy.sparse.csr_matrix(X) if sparse else X, y)
    race = Race(configurations, task, X.shape[1], compiled=compiled)
    race.learn(data, np.arange(0, 25))
    race.learn(data, np.arange(25, 60))
    finishes = {finish.number: finish for finish in race.finishes()}
    for number, one in enumerate(configurations):
        lone, total = alone(one, task, X.shape[1], compiled), 0.0
        for i in range(len(y)):
            total += badness(task, answers(lone, X[i]), y[i])
            lone.learn(Batch(data.rows, task.targets(y, one.loss), data.importance), np.array([i]))
        score = total / len(y) if classes else math.sqrt(total / len(y))
        assert finishes[number].score == pytest.approx(score, rel=1e-9)
        assert finishes[number].stopped_at is None
        np.testing.assert_array_equal(race.learner(number).weights(), lone.weights())
        np.testing.assert_array_equal(race.learner(number).intercepts(), lone.intercepts())


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_folds_are_models_that_never_saw_them(classes: int) -> None:
    X, y = drawn(classes)
    task, folds, configurations = RaceTask(classes), np.arange(60) * 7 % 5, mixed(classes)
    race = Race(configurations, task, X.shape[1], folds=5, compiled=False)
    orders = [np.random.default_rng(k).permutation(60) for k in range(2)]
    for order in orders:
        race.learn(examples(X, y, folds), order)
        race.end_pass()
    for finish in race.finishes():
        one, total = configurations[finish.number], 0.0
        for fold in range(5):
            lone = alone(one, task, X.shape[1], compiled=False)
            for order in orders:
                counted = 0.0
                for i in order:
                    if folds[i] == fold:
                        counted += badness(task, answers(lone, X[i]), y[i])
                    else:
                        lone.learn(Batch(rows_of(X), task.targets(y, one.loss), np.ones(60)), np.array([i]))
            total += counted  # of the last pass
        assert finish.score == pytest.approx(total / 60 if classes else math.sqrt(total / 60), rel=1e-9)
        assert [count for count, _ in finish.curve] == [60, 120]


def test_batches_of_any_length_one_after_another_are_one() -> None:
    """Whatever is remembered of one batch must not be taken for another's, which may lie in the same place."""
    X, y = drawn(2)
    folds, configurations = np.arange(60) * 7 % 5, mixed(2)
    whole = Race(configurations, RaceTask(2), X.shape[1], folds=5, compiled=False)
    whole.learn(examples(X, y, folds))
    parts = Race(configurations, RaceTask(2), X.shape[1], folds=5, compiled=False)
    for start, stop in ((0, 3), (3, 6), (6, 20), (20, 22), (22, 60)):
        parts.learn(examples(X[start:stop], y[start:stop], folds[start:stop]))
    assert [finish[:2] for finish in parts.finishes()] == [finish[:2] for finish in whole.finishes()]


def test_halving_stops_the_worse_half_and_leaves_the_others_alone() -> None:
    X, y = drawn(2, rows=200)
    rates = [1e-4, 0.3, 1e-3, 0.03, 3.0, 0.1, 1e-5]
    configurations = [configuration("log_loss", rules.SGD(rules.Constant(rate))) for rate in rates]
    whole = Race(configurations, RaceTask(2), X.shape[1], compiled=False)
    halved = Race(configurations, RaceTask(2), X.shape[1], rungs=[25, 50, 100], compiled=False)
    running = []
    for stop in (25, 50, 100, 200):
        whole.learn(examples(X, y), np.arange(whole.examples, stop))
        halved.learn(examples(X, y), np.arange(halved.examples, stop))
        running.append(halved.running)
        if stop == 25:  # the better half of seven, by what had been counted then
            order = sorted(range(7), key=lambda n: (dict(whole_scores(whole))[n], n))
            assert halved.running == sorted(order[:4])
    assert [len(each) for each in running] == [4, 2, 1, 1]
    (winner,) = halved.running
    assert halved.finishes()[0].number == winner
    np.testing.assert_array_equal(halved.learner(winner).weights(), whole.learner(winner).weights())
    assert sorted(f.stopped_at or 0 for f in halved.finishes()) == [0, 25, 25, 25, 50, 50, 100]
    with pytest.raises(Refused, match="has no model"):
        halved.learner(halved.finishes()[-1].number)


def whole_scores(race: Race) -> list[tuple[int, float]]:
    return [(finish.number, finish.score) for finish in race.finishes()]


def test_curves_are_kept_at_powers_of_two() -> None:
    X, y = drawn(2, rows=20)
    race = Race([configuration("hinge", "adagrad")], RaceTask(2), X.shape[1], compiled=False)
    race.learn(examples(X, y))
    (finish,) = race.finishes()
    assert [count for count, _ in finish.curve] == [1, 2, 4, 8, 16, 20]
    assert finish.curve[-1][1] == finish.score


def test_a_configuration_that_diverges_stops_and_the_others_go_on() -> None:
    X, y = drawn(0, rows=300)
    tame, wild = (configuration("squared_error", rules.SGD(rules.Constant(rate))) for rate in (0.01, 1e300))
    race = Race([wild, tame, wild, tame], RaceTask(0), X.shape[1], compiled=False)
    race.learn(examples(X, y))
    finishes = race.finishes()
    assert [(finish.number, finish.score == math.inf) for finish in finishes] == [(1, 0), (3, 0), (0, 1), (2, 1)]
    assert 0 < (finishes[-1].stopped_at or 0) <= 300
    lone = alone(tame, RaceTask(0), X.shape[1], compiled=False)
    lone.learn(Batch(rows_of(X), RaceTask(0).targets(y, tame.loss), np.ones(300)))
    for number in race.running:
        np.testing.assert_array_equal(race.learner(number).weights(), lone.weights())


def test_no_configuration_and_no_folds_are_refused() -> None:
    X, y = drawn(2)
    with pytest.raises(Refused, match="no configuration"):
        Race([], RaceTask(2), 5)
    with pytest.raises(Refused, match="fold of each row"):
        Race(mixed(2), RaceTask(2), 5, folds=3, compiled=False).learn(examples(X, y))
