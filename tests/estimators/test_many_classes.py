"""Classes that appear one after the other: the table grows by doubling, and not beyond all reason."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onlinear
from commands import run_here
from onlinear.errors import Refused
from onlinear.learning import outputs
from onlinear.learning.growth import HUGE_PAGE, LOOKED_AT, copy_touched, sparse_zeros

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
    arrays = learner.table.cells, learner.table.bias, learner.counters.array
    return [*(array.tobytes() for array in arrays), model.classes_.tolist()]


def test_the_table_moves_seldom() -> None:
    model = onlinear.OnlineClassifier(bits=6)
    places = []
    for number in range(CLASSES):
        model.learn_one({"a": 1.0, f"w{number}": 2.0}, number)
        places.append(model._learner.table.cells.__array_interface__["data"][0])
    moves = sum(one != other for one, other in itertools.pairwise(places))
    assert moves <= 2 * CLASSES.bit_length()
    assert len(model.classes_) == CLASSES


def test_room_for_more_classes_is_no_part_of_a_model(tmp_path: Path) -> None:
    rows = examples(120, 23)
    model = learned(rows[:80], bits=6)
    learner = model._learner
    assert learner.table.output_room > learner.outputs  # or there is nothing to test
    model.save(tmp_path / "first")
    again = onlinear.load(tmp_path / "first")
    assert again._learner.table.output_room == again._learner.outputs
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


def touched_features(model: Any) -> list[int]:
    """The features whose cells were ever written to: -0.0 is something, too."""
    return np.flatnonzero(model._learner.table.base.view(np.int64).any(axis=(1, 2))).tolist()


def test_only_features_that_were_seen_take_memory() -> None:
    model = learned(examples(80, 23), bits=12)
    names = ["a", "b", *(f"w{k}" for k in range(7))]
    assert touched_features(model) == sorted(int(model._model.names.look_up({name: 1.0})[0][0]) for name in names)
    again = pickle.loads(pickle.dumps(model))
    assert touched_features(again) == touched_features(model)


def test_features_that_stay_zero_are_not_written_to() -> None:
    given = np.zeros((3 * LOOKED_AT, 2, 1))
    given[[5, LOOKED_AT, -1], 1, 0] = 1.0, -0.0, 2.0
    taken = np.full((len(given), 4, 1), 7.0)
    copy_touched(given, taken[:, :2])
    written = (taken[:, :2] != 7.0).all(axis=(1, 2))
    assert np.flatnonzero(written).tolist() == [5, LOOKED_AT, len(given) - 1]
    assert np.array_equal(taken[written, :2].view(np.int64), given[written].view(np.int64))
    assert (taken[:, 2:] == 7.0).all()


def test_a_large_table_of_zeros_is_like_any_other() -> None:
    table = sparse_zeros((HUGE_PAGE // 16, 2, 1))
    assert type(table) is np.ndarray
    assert table.flags.writeable
    assert table.nbytes == HUGE_PAGE
    assert not table.any()


# ------------------------------------------------------------------ too many

SMALL = 1 << 17  # bytes for 64 classes at 6 bits


def small_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "MOST_BYTES_OF_IDS", SMALL)


def ids(count: int, first: int = 0) -> tuple[list[dict[str, float]], list[str]]:
    return [{"a": 1.0, f"w{k % 5}": 1.0} for k in range(count)], [f"id {k}" for k in range(first, first + count)]


def test_a_label_that_is_an_id_is_refused_before_anything_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    small_budget(monkeypatch)
    model = onlinear.OnlineClassifier(bits=6)
    rows, labels = ids(64)
    for x, y in zip(rows, labels, strict=True):
        model.learn_one(x, y)
    before = bits_of(model)
    with pytest.raises(Refused, match=r"65 different labels in 65 examples.*64 features.*GB.*an id, a free text"):
        model.learn_one({"a": 1.0}, "one more")
    assert bits_of(model) == before
    assert model.learn_one({"a": 1.0}, "id 3") is not None  # it goes on with those it knows


def learn_dicts(model: Any, rows: list[dict[str, float]], labels: list[str]) -> None:
    model.learn_many(rows, labels)


def learn_arrays(model: Any, rows: list[dict[str, float]], labels: list[str]) -> None:
    X = np.zeros((len(rows), 64))
    X[:, 0] = 1.0
    model.partial_fit(X, labels)


@pytest.mark.parametrize("learn", [learn_dicts, learn_arrays])
def test_a_batch_with_too_many_labels_is_refused_whole(monkeypatch: pytest.MonkeyPatch, learn: Any) -> None:
    small_budget(monkeypatch)
    bits = 6 if learn is learn_dicts else None
    model = onlinear.OnlineClassifier(bits=bits)
    with pytest.raises(Refused, match=r"65 different labels in 65 examples"):
        learn(model, *ids(65))
    assert model._learner is None
    learn(model, *ids(20))
    before = bits_of(model)
    with pytest.raises(Refused, match="70 different labels in 70 examples"):
        learn(model, *ids(50, first=20))
    assert bits_of(model) == before
    learn(model, *ids(44, first=20))
    assert len(model.classes_) == 64


def test_labels_that_are_refused_bring_no_names() -> None:
    model = onlinear.OnlineClassifier().learn_many([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    with pytest.raises(onlinear.OnlinearError, match="the label is None"):
        model.learn_many([{"c": 1.0}], [None])
    assert model.feature_names_ == ["a", "b"]


def test_classes_that_come_again_may_take_more(monkeypatch: pytest.MonkeyPatch) -> None:
    small_budget(monkeypatch)
    rows, labels = ids(80)
    model = onlinear.OnlineClassifier(bits=6).learn_many(rows * 2, labels * 2)
    assert len(model.classes_) == 80
    monkeypatch.setattr(outputs, "MOST_BYTES", SMALL)
    with pytest.raises(Refused, match=r"nobody has named.*name all classes in the first call"):
        model.learn_one({"a": 1.0}, "one more")


def test_classes_that_were_named_may_take_what_they_take(monkeypatch: pytest.MonkeyPatch) -> None:
    small_budget(monkeypatch)
    rows, labels = ids(80)
    named = onlinear.OnlineClassifier(bits=6).learn_many([], [], classes=labels)
    assert named.classes_.tolist() == sorted(labels)
    assert named._learner.table.output_room == 80
    for x, y in zip(rows, labels, strict=True):
        named.learn_one(x, y)
    assert bits_of(named) == bits_of(onlinear.OnlineClassifier(bits=6).learn_many(rows, labels, classes=labels))
    with pytest.raises(onlinear.OnlinearError, match="'one more' of row 0 is not among the classes"):
        named.learn_many([{"a": 1.0}], ["one more"])
    with pytest.raises(onlinear.OnlinearError, match="not the same as on last call"):
        named.learn_many(rows, labels, classes=labels[1:])


def test_train_refuses_a_target_that_is_an_id_at_once(tmp_path: Path) -> None:
    file, model = tmp_path / "rows.csv", tmp_path / "m.model"
    file.write_text("a,b,id\n" + "".join(f"{k % 7},{'xyz'[k % 3]},id{k}\n" for k in range(500)))
    ended = run_here("train", file, "--target", "id", "--model", model)
    assert ended.code == 2
    assert "500 different labels in 500 examples" in ended.err
    assert "4.19 GB" in ended.err  # 500 classes x 2^18 features x 4 numbers x 8 bytes
    assert [option for option in ("--target", "--ignore", "--bits", "--classes") if option not in ended.err] == []
    assert not model.exists()
