"""A snapshot that takes over the weights of an earlier one is the snapshot that copies them all, to the bit."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from onlinear import OnlineClassifier, OnlineRegressor, rules
from onlinear.learning.outputs import answering_outputs
from onlinear.learning.predictor import Predictor
from onlinear.learning.reading import read_for_scoring
from onlinear.learning.table_copies import MOST_COPIES, WIDE

BITS = 13

CASES: dict[str, Any] = {
    "normalised": {},
    "sgd whose scale is written into the table": {"rule": rules.SGD(rules.Constant(1.0)), "l2": 0.9},
    "average": {"rule": rules.SGD(rules.Constant(0.5)), "average": True},
}


def all_weights(model: Any) -> np.ndarray:
    """What a snapshot has, read from all cells."""
    learner = model._model.learner
    outputs, sign = answering_outputs(learner, model._model.classes)
    weights, scales, _ = read_for_scoring(learner, slice(None))
    weights = weights[:, outputs]
    shown: np.ndarray = (0.0 - weights if sign < 0.0 else weights) * scales[outputs]
    return shown


def shown_weights(predictor: Predictor) -> np.ndarray:
    return predictor._weights.table * predictor._weights.scales


def learn_something(model: Any, rng: np.random.Generator, labels: list[str]) -> None:
    """A few dicts, one by one or together."""
    rows = [{f"word {word}": 1.0 for word in rng.integers(0, 5000, 6)} for _ in range(3)]
    targets = [str(label) for label in rng.choice(labels, 3)]
    if rng.random() < 0.5:
        model.learn_many(rows, targets)
    else:
        for row, target in zip(rows, targets, strict=True):
            model.learn_one(row, target)


def steps(rng: np.random.Generator) -> Iterator[list[str]]:
    """The labels that may come at each step: two of them, then a third and a fourth."""
    for step in range(60):
        yield list("ab" if step < 20 else "abc" if step < 40 else "abcd")


@pytest.mark.parametrize("name", CASES)
def test_snapshots_are_what_the_learner_has(name: str) -> None:
    rng = np.random.default_rng(0)
    model = OnlineClassifier(bits=BITS, **CASES[name])
    held: list[tuple[Predictor, np.ndarray]] = []
    for step, labels in enumerate(steps(rng)):
        learn_something(model, rng, labels)
        snapshot = model.snapshot()
        found, wanted = shown_weights(snapshot), all_weights(model)
        assert found.tobytes() == wanted.tobytes(), step
        if rng.random() < 0.3:
            held.append((snapshot, found))
        if len(held) > 3:
            del held[int(rng.integers(len(held)))]
        for earlier, numbers in held:
            assert shown_weights(earlier).tobytes() == numbers.tobytes(), step


def test_classes_that_appear() -> None:
    rng = np.random.default_rng(1)
    model = OnlineClassifier(bits=BITS)
    for step, labels in enumerate(["a", "b", "b", "c", "a", "d", "e", "c"]):
        model.learn_one({f"word {word}": 1.0 for word in rng.integers(0, 5000, 6)}, labels)
        assert shown_weights(model.snapshot()).tobytes() == all_weights(model).tobytes(), step


def test_exact_names_that_grow() -> None:
    rng = np.random.default_rng(2)
    model = OnlineRegressor()
    for step in range(40):
        model.learn_one({f"{step} {k}": 1.0 for k in range(300)}, float(rng.normal()))
        found = shown_weights(model.snapshot())
        assert found.tobytes() == all_weights(model)[: len(found)].tobytes()
        assert len(found) == 300 * (step + 1)


def test_weights_that_nobody_holds_are_taken_over() -> None:
    model = OnlineClassifier(bits=BITS)
    model.learn_one({"a": 1.0}, "yes")
    model.learn_one({"b": 1.0}, "no")
    first = model.snapshot()._weights.table
    for step in range(5):
        model.learn_one({f"c{step}": 1.0}, "yes")
        assert np.shares_memory(model.snapshot()._weights.table, first)


def test_those_that_are_held_are_not() -> None:
    model = OnlineClassifier(bits=BITS)
    model.learn_one({"a": 1.0}, "yes")
    held = []
    for step in range(2 * MOST_COPIES):
        model.learn_one({f"c{step}": 1.0}, "no" if step % 2 else "yes")
        held.append(model.snapshot())
    for k, one in enumerate(held):
        assert not any(np.shares_memory(one._weights.table, other._weights.table) for other in held[:k])
    assert len(model._model.learner.changes.copies.copies) == MOST_COPIES


def test_only_wide_tables_are_worth_it() -> None:
    model = OnlineClassifier(bits=8)
    model.learn_one({"a": 1.0}, "yes")
    model.snapshot()
    assert WIDE > 1 << 8
    assert model._model.learner.changes.copies is None


def test_readers_beside_a_learner() -> None:
    """A reader's snapshot stays as it is, however often those of others are taken over."""
    model = OnlineClassifier(bits=BITS)
    rng = np.random.default_rng(3)
    rows = [{f"word {word}": 1.0 for word in rng.integers(0, 300, 20)} for _ in range(300)]
    model.learn_one(rows[0], "a")
    model.learn_one(rows[1], "b")
    faults: list[str] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            snapshot = model.snapshot()
            before = shown_weights(snapshot).tobytes()
            model.snapshot()
            if shown_weights(snapshot).tobytes() != before:
                faults.append("a snapshot has changed")

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=read) for _ in range(3)]
    try:
        for thread in threads:
            thread.start()
        for k, row in enumerate(rows):
            model.learn_one(row, "ab"[k % 2])
    finally:
        done.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert not faults
    gc.collect()
    assert shown_weights(model.snapshot()).tobytes() == all_weights(model).tobytes()
