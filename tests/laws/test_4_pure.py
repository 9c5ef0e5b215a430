"""Law 4: predicting changes nothing, also beside a learning thread."""

from __future__ import annotations

import copy
import threading
import time
from typing import Any

import numpy as np
import pytest

from cases import bits_of
from covering import Case, every_case
from onlinear import losses, rules
from onlinear.data.batch import Batch, rows_of
from onlinear.data.targets import Signs
from onlinear.learning.configuration import Settings
from onlinear.learning.learner import Learner
from onlinear.learning.predictor import Predictor


@every_case
def test_reading_changes_no_bit(case: Case) -> None:
    for settings in case.settings():
        learner = case.learner(settings)
        learner.learn(case.batch())
        bits, layout, version = bits_of(learner), learner.table.layout, learner.version
        first = learner.weights(), learner.intercepts()
        learner.weights(averaged=False)
        learner.scores(case.data().X)
        learner.scores(case.data().sparse())
        learner.marks()
        Predictor.of(learner, None)
        copy.deepcopy(learner)
        assert (bits_of(learner), learner.table.layout, learner.version) == (bits, layout, version)
        np.testing.assert_array_equal(learner.weights(), first[0])
        np.testing.assert_array_equal(learner.intercepts(), first[1])


def test_what_is_read_is_nobody_elses() -> None:
    case = Case("log_loss", "sgd", "dense", "float64", False)
    learner = case.learner()
    learner.learn(case.batch())
    bits = bits_of(learner)
    for array in (learner.weights(), learner.intercepts(), learner.counters.loss_sums):
        array[...] = np.nan
    assert bits_of(learner) == bits
    snapshot = Predictor.of(learner, None)
    kept = snapshot.weights.copy()
    learner.learn(case.batch())
    np.testing.assert_array_equal(snapshot.weights, kept)
    assert not np.array_equal(learner.weights(), kept)
    with pytest.raises(ValueError, match="read-only"):
        snapshot.weights[0, 0] = 1.0


def ones(features: int, rows: int) -> Batch:
    """Rows of ones: after every whole example all weights and the intercept are the same number."""
    y = np.where(np.arange(rows) % 3 == 0, 1.0, -1.0)
    return Batch(rows_of(np.ones((rows, features))), Signs(y), np.ones(rows))


@pytest.mark.compiles
@pytest.mark.parametrize("average", [0.0, 1.0])
def test_a_snapshot_beside_a_learning_thread_is_of_a_whole_example(average: float) -> None:
    learner = Learner(losses.Logistic(), rules.SGD(), features=300, settings=Settings(average=average))
    batch = ones(300, 200)
    learner.learn(batch)  # compiles here, so that the threads race
    stop = threading.Event()

    def learn() -> None:
        while not stop.is_set():
            learner.learn(batch)

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        versions: set[int] = set()
        patience = time.monotonic() + 60.0
        while len(versions) < 20 and time.monotonic() < patience:  # on a busy machine it may take its time
            snapshot = Predictor.of(learner, None)
            assert np.isfinite(learner.scores(np.ones((1, 300)))).all()
            # one sum for all: not even the last bit may differ, unless halves of examples are seen
            np.testing.assert_allclose(snapshot.weights, snapshot.intercepts[0], rtol=1e-12)
            versions.add(learner.version)
    finally:
        stop.set()
        thread.join()
    assert len(versions) == 20  # it did learn meanwhile


def test_the_table_does_not_turn_while_someone_reads() -> None:
    case = Case("log_loss", "sgd", "sparse", "float64", False)
    learner = case.learner()
    layout, base = learner.table.layout, learner.table.base
    with learner.lock:  # a reader holds it
        thread = threading.Thread(target=learner.learn, args=(case.batch(),))
        thread.start()
        thread.join(timeout=0.3)
        undisturbed = learner.table.layout is layout and learner.table.base is base
    thread.join()
    assert learner.examples > 0
    assert undisturbed


def test_readers_beside_a_thread_that_learns_dense_and_sparse_rows_by_turns() -> None:
    """Interpreted: the threads change places between any two lines."""
    dense = Case("log_loss", "sgd", "dense", "float64", False)
    learner = dense.learner()
    batches = [dense.batch(), dense._replace(kind="sparse").batch()]
    errors: list[Any] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            try:
                learner.scores(dense.data().X[:1])
            except Exception as error:
                errors.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    for _ in range(50):
        for batch in batches:
            learner.learn(batch)
    stop.set()
    thread.join()
    assert not errors
