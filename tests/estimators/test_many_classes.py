"""Classes that appear one after the other: the table grows by doubling, and not beyond all reason."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onlinear
from onlinear import one_against_rest
from onlinear.errors import Refused

CLASSES = 40


def examples(count: int, labels: int) -> list[tuple[dict[str, Any], str]]:
    rng = np.random.default_rng(3)
    rows = [{"a": rng.normal(), "b": rng.normal(), f"w{k % 7}": 1.0} for k in range(count)]
    return [(x, f"label {k // 2 % labels}") for k, x in enumerate(rows)]


def learned(rows: list[tuple[dict[str, Any], str]], **parameters: Any) -> Any:
    model = onlinear.OnlineClassifier(**parameters)
    for x, y in rows:
        model.learn_one(x, y)
    return model


def bits_of(model: Any) -> Any:
    learner = model._learner
    return [learner.table.tobytes(), learner.bias.tobytes(), learner.clock.tobytes(), model.classes_.tolist()]


def test_the_table_moves_seldom() -> None:
    model = onlinear.OnlineClassifier(bits=6)
    places = []
    for number in range(CLASSES):
        model.learn_one({"a": 1.0, f"w{number}": 2.0}, number)
        places.append(model._learner.table.__array_interface__["data"][0])
    moves = sum(one != other for one, other in itertools.pairwise(places))
    assert moves <= 2 * CLASSES.bit_length()
    assert len(model.classes_) == CLASSES


def test_room_for_more_classes_is_no_part_of_a_model(tmp_path: Path) -> None:
    rows = examples(120, 23)
    model = learned(rows[:80], bits=6)
    learner = model._learner
    assert learner.output_room > learner.outputs  # or there is nothing to test
    model.save(tmp_path / "first")
    again = onlinear.load(tmp_path / "first")
    assert again._learner.output_room == again._learner.outputs
    again.save(tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    copies = [again, pickle.loads(pickle.dumps(model))]
    for x, y in rows[80:]:
        wanted = model.learn_one(x, y)
        assert [np.array_equal(wanted, one.learn_one(x, y)) for one in copies] == [True, True]
    assert all(bits_of(one) == bits_of(model) for one in copies)


def test_arrays_and_dicts_grow_alike() -> None:
    """Dense rows keep the outputs in front, dicts behind: classes, mistakes and answers are the same."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) ** 2 % 17
    arrays = onlinear.OnlineClassifier().partial_fit(X, y)
    dicts = onlinear.OnlineClassifier()
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        dicts.learn_one(dict(enumerate(row)), label)
    assert arrays.classes_.tolist() == dicts.classes_.tolist()
    assert arrays.mistakes_ == dicts.mistakes_
    np.testing.assert_allclose(arrays.coef_, dicts.coef_, rtol=1e-9, atol=1e-12)


def test_labels_that_are_ids_are_refused_before_the_table_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_against_rest, "MOST_BYTES_OF_IDS", 1 << 14)
    model = onlinear.OnlineClassifier(bits=6)
    model.learn_one({"a": 1.0}, "id 0")
    while model._learner.outputs < model._learner.output_room or len(model.classes_) < 12:
        model.learn_one({"a": 1.0}, f"id {len(model.classes_)}")
    known, before = len(model.classes_), bits_of(model)
    message = rf"{known} classes in {known} examples.*'one more'.*GB.*id, a text or a number"
    with pytest.raises(Refused, match=message):
        model.learn_one({"a": 1.0}, "one more")
    assert bits_of(model) == before
    assert model.learn_one({"a": 1.0}, "id 3") is not None  # it goes on with those it knows


def test_classes_that_come_again_have_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_against_rest, "MOST_BYTES_OF_IDS", 1 << 10)
    rows = [(x, y) for x, y in examples(40, 20) for _ in range(3)]
    assert len(learned(rows, bits=6).classes_) > 8
    monkeypatch.setattr(one_against_rest, "MOST_BYTES", 1 << 10)
    with pytest.raises(Refused, match="name all classes beforehand"):
        learned(rows, bits=6)
